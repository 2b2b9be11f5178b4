"""Losses of a model, and the comparison of two models on the same rows.

Every metric is a loss: smaller is better. Its value is a smooth function of a sum over the rows,
so its standard error follows from the influence of each row (the delta method). Unbounded losses
are compared by the signed ranks of the rows, which are valid even if a few rows outweigh all
others. If rows have groups, the rows of each group are added up first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from rfbench.arrays import Array
from rfbench.metrics import SMALLEST

CLASS_METRICS = ("log-loss", "error")
NUMBER_METRICS = ("rmse", "mae")
# The p-value of signed ranks of n values is at least 2^(1 - n), by definition. For 12 values this
# is 5e-4, which is enough for 40 comparisons at 5 %. With half as many values it is .03, which is
# not significant after a correction.
LEAST_RANKED = 12
# level of the intervals, as usual; if the share outside is halved, the intervals are a fifth wider
HELD_OUT_LEVEL = 0.95


class Loss(NamedTuple):
    """Value of a metric on n rows, and the contribution of each row or group."""

    value: float
    values: Array  # their mean is the value, and their spread gives its standard error
    rows: Array  # loss of each row or group
    n: int

    @property
    def standard_error(self) -> float:
        """Standard error of the value over samples of rows (or groups)."""
        return float(stats.sem(self.values)) if len(self.values) > 1 else float("inf")


class Difference(NamedTuple):
    """Difference between the losses of two models on the same rows."""

    value: float
    low: float  # lower bound of the 95 % interval
    high: float
    p: float  # two-sided p-value of no difference
    # the first model is ``better`` or ``worse``; ``near`` if the difference is not significant
    verdict: str


def loss(metric: str, truth: Array, said: Array, groups: NDArray[np.int64] | None = None) -> Loss:
    """Return the loss of a model on n rows.

    Parameters
    ----------
    metric : str
        ``log-loss``: mean of -log of the probability of the right class. ``error``: percentage of
        wrong classes. ``rmse`` and ``mae``: root mean squared and mean absolute error.
    truth : array of shape (n,)
        Class codes 0 .. K-1, or numbers.
    said : array of shape (n, K) or (n,)
        Predicted class probabilities, or predicted numbers.
    groups : array of shape (n,), optional
        Group number of each row.

    Returns
    -------
    Loss
        The loss with the contribution of each row or group.
    """
    n = len(truth)
    if metric == "log-loss":
        each = -np.log(np.clip(said[np.arange(n), truth], SMALLEST, None))
    elif metric == "error":
        each = 100.0 * (said.argmax(axis=1) != truth)
    else:
        each = np.abs(said - truth) ** (2 if metric == "rmse" else 1)
    value = float(each.mean())
    influences = each - value
    if metric == "rmse":
        value = float(np.sqrt(value))
        influences = influences / (2 * value or 1.0)
    if groups is not None:
        numbers = np.unique(groups, return_inverse=True)[1]
        influences, each = np.bincount(numbers, influences), np.bincount(numbers, each)
    return Loss(value, value + influences * len(each) / n, each, n)


def compare_losses(first: Loss, second: Loss, metric: str) -> Difference:
    """Return the difference between the first and the second loss on the same rows.

    The p-value depends on the metric. Misclassification of rows without groups: McNemar's exact
    test. Unbounded losses of at least `LEAST_RANKED` rows or groups: Wilcoxon's signed-rank test,
    and 1 if the ranks have the opposite sign to the difference. Otherwise, for misclassification in
    groups and for few rows: the t test of the differences between the influences.
    """
    value, each = first.value - second.value, first.rows - second.rows
    error = first._replace(values=first.values - second.values).standard_error
    around = stats.t(max(1, len(each) - 1), value, error or SMALLEST)
    low, high = map(float, around.interval(HELD_OUT_LEVEL))
    if not each.any() or len(each) < 2:
        p = 1.0
    # count the rows on which only one of the two models is right
    elif metric == "error" and len(each) == first.n:
        worse, better = int((each > 0).sum()), int((each < 0).sum())
        p = float(stats.binomtest(worse, worse + better).pvalue)
    elif metric != "error" and len(each) >= LEAST_RANKED:
        smaller = each if value < 0 else -each
        p = min(1.0, 2 * float(stats.wilcoxon(smaller, alternative="less").pvalue))
    else:  # ranks would weigh a large group as a small one
        p = float(2 * min(around.cdf(0), around.sf(0)))
    verdict = "near" if not p < 1 - HELD_OUT_LEVEL else "better" if value < 0 else "worse"
    return Difference(value, low, high, p, verdict)
