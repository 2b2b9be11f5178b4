"""The leaderboard: methods, numbers of features and costs, compared on many data sets."""
