"""What a model is judged by, and by how much one model is better than another on the same rows.

Every metric is a loss: smaller is better. Its value is a smooth function of a sum over the rows, so
that its error follows from the rows' influences (the delta method). Unbounded losses are compared
by the signed ranks of the rows, which hold where a few rows outweigh all others. Where rows come in
groups, those of a group are added up first.
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
# The p-value of signed ranks of n values is at least 2^(1 - n), by definition: 5e-4 of 12, which
# decides over 40 comparisons at 5 %. With half as many it is .03, which decides nothing after a
# correction.
LEAST_RANKED = 12
HELD_OUT_LEVEL = 0.95  # of the intervals, as usual; halved, the misses make them a fifth wider


class Loss(NamedTuple):
    """The value of a metric on n rows, and what each row, or group of rows, adds to it."""

    value: float
    values: Array  # whose mean is the value, and whose spread says its error
    rows: Array  # the losses
    n: int

    @property
    def standard_error(self) -> float:
        """The standard error of the value: other rows (groups) in the place of these."""
        return float(stats.sem(self.values)) if len(self.values) > 1 else float("inf")


class Difference(NamedTuple):
    """By how much the loss of one model exceeds that of another, on the same rows."""

    value: float
    low: float  # of the interval of 95 %
    high: float
    p: float  # of no difference, two-sided
    verdict: str  # the first model is ``better``, ``worse`` or too ``near`` to call


def loss(metric: str, truth: Array, said: Array, groups: NDArray[np.int64] | None = None) -> Loss:
    """Return the loss of a model on n rows.

    ``log-loss``: mean of -log of the probability of the right class; ``error``: share of wrong
    classes, in %; ``rmse`` and ``mae``. The truth has shape (n,), of class codes 0 .. K-1 or
    numbers, what is said (n, K) or (n,). `groups` are the numbers of the rows' groups.
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
    """Return by how much the first loss exceeds the second, both of the same rows.

    The p-value is that of Wilcoxon's signed ranks of the rows' losses where these have no bound,
    and 1 where the ranks point the other way; of misclassification McNemar's exact one, of groups
    that of the t test of the influences' differences, which is also that of fewer than
    `LEAST_RANKED` groups with any metric.
    """
    value, each = first.value - second.value, first.rows - second.rows
    error = first._replace(values=first.values - second.values).standard_error
    around = stats.t(max(1, len(each) - 1), value, error or SMALLEST)
    low, high = map(float, around.interval(HELD_OUT_LEVEL))
    if not each.any() or len(each) < 2:
        p = 1.0
    elif metric == "error" and len(each) == first.n:  # where one of the two alone is right
        worse, better = int((each > 0).sum()), int((each < 0).sum())
        p = float(stats.binomtest(worse, worse + better).pvalue)
    elif metric != "error" and len(each) >= LEAST_RANKED:
        smaller = each if value < 0 else -each
        p = min(1.0, 2 * float(stats.wilcoxon(smaller, alternative="less").pvalue))
    else:  # ranks would weigh a large group as a small one
        p = float(2 * min(around.cdf(0), around.sf(0)))
    verdict = "near" if not p < 1 - HELD_OUT_LEVEL else "better" if value < 0 else "worse"
    return Difference(value, low, high, p, verdict)
