"""Ten data sets that represent all data sets of the leaderboard, for `rfbench rank`."""

# Ten tables that represent all tables of the leaderboard. They were selected from the half of the
# tables on which rks with M = 400 is fastest. The selection minimizes, over all methods, the sum of
# squared differences between the mean over the selected tables and the mean over all tables. Tables
# were added one at a time, and then exchanged as long as this sum decreased.
QUICK = (
    "abalone", "airfoil", "ann-thyroid", "energy", "houses", "kin8nm", "magic04", "pendulum", "sml",
    "wine",
)  # fmt: skip
# Measured agreement of the means over the selected tables with the means over all tables. For each
# method, the tables were selected without the results of this method. CORRELATION is Spearman's
# correlation between the two means. FURTHEST is the largest ratio of the two means.
CORRELATION, FURTHEST = 0.91, 1.14
