"""The leaderboard: a comparison of methods, numbers of features and costs over many data sets."""
