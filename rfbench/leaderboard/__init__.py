"""The leaderboard: errors and costs of all methods, compared on many data sets."""
