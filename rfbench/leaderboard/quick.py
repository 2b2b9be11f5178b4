"""Ten tables that stand for all: which, and how well they do."""

# Of the half of the tables that take rks least time at M = 400, those over which the means of all
# methods differ least from those over all tables, by the sum of squares: one after the other was
# taken, then one was exchanged for another while that made the sum smaller.
QUICK = (
    "abalone", "airfoil", "ann-thyroid", "energy", "houses", "kin8nm", "magic04", "pendulum", "sml",
    "wine",
)  # fmt: skip
# Of methods left out of the choice, one at a time: Spearman's correlation of their means over the
# tables that the others choose with those over all, and the largest quotient of the two means.
CORRELATION, FURTHEST = 0.91, 1.14
