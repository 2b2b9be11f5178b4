"""Ten tables that stand for all: which, and how well they do."""

from __future__ import annotations

import numpy as np

from rfbench.leaderboard.rule import Logs

# Of the half of the tables that take rks least time at M = 400, those over which the means of all
# methods differ least from those over all tables, by the sum of squares: one after the other was
# taken, then one was exchanged for another while that made the sum smaller.
QUICK = (
    "ann-thyroid", "banana", "energy", "gas", "houses", "kin8nm", "pendulum", "segmentation", "sml",
    "tokyo1",
)  # fmt: skip


def quality(logs: Logs) -> tuple[float, float]:
    """Compare methods' means over the quick tables with those over all.

    Return Spearman's correlation, and the largest quotient of the two means of a method.

    Parameters
    ----------
    logs : DataFrame
        Logarithms of ratios to the baseline: a row per data set, a column per method.
    """
    from scipy.stats import spearmanr

    few, every = logs[logs.index.isin(QUICK)].mean(), logs.mean()
    return float(spearmanr(few, every).statistic), float(np.exp((few - every).abs().max()))
