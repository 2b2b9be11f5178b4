"""What a model is judged by, and by how much one model is better than another on the same rows.

Every metric is a loss: smaller is better. Its value is a smooth function of a sum over the rows, so
that its error follows from the rows' *influences* (the delta method): how far the value moves, in
units of 1/n, where a row gets more weight. The interval of a difference follows from the difference
of the influences row by row. Its p-value follows from the signed ranks of the rows' losses where
these have no bound: the ranks hold where a few rows outweigh all others. Where rows come in groups,
those of a group are added up first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from rfbench.arrays import Array
from rfbench.metrics import SMALLEST

CLASS_METRICS = ("log-loss", "error")
NUMBER_METRICS = ("rmse", "mae")
# The p-value of signed ranks of n values is at least 2^(1 - n): with fewer it decides nothing.
LEAST_RANKED = 12
LEVEL = 0.95  # of the intervals


@dataclass(frozen=True)
class Loss:
    """The value of a metric on n rows, and what each row, or group of rows, adds to it."""

    value: float
    influences: Array  # of sum 0
    rows: Array  # the losses
    n: int

    @property
    def standard_error(self) -> float:
        """The standard error of the value: other rows (groups) in the place of these."""
        count = len(self.influences)
        if count < 2:
            return float("inf")
        return float(np.sqrt(count / (count - 1) * np.sum(self.influences**2)) / self.n)


@dataclass(frozen=True)
class Difference:
    """By how much the loss of one model exceeds that of another, on the same rows."""

    value: float
    low: float  # of the interval of 95 %
    high: float
    p: float  # of no difference, two-sided
    verdict: str  # the first model is ``better``, ``worse`` or too ``near`` to call


def loss(metric: str, truth: Array, said: Array, groups: NDArray[np.int64] | None = None) -> Loss:
    """Return the loss of a model on n rows.

    Parameters
    ----------
    metric : str
        ``log-loss``: mean of -log of the probability of the right class. ``error``: share of wrong
        classes, in %. ``rmse`` and ``mae``.
    truth : array of shape (n,)
        Numbers, or class codes 0 .. K-1.
    said : array of shape (n,) or (n, K)
        Numbers, or the probabilities of the classes.
    groups : array of shape (n,), optional
        Of which group each row is.
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
    return Loss(value, influences, each, n)


def difference(first: Loss, second: Loss, metric: str) -> Difference:
    """Return by how much the first loss exceeds the second, both of the same rows.

    The p-value is that of Wilcoxon's signed ranks of the rows' losses where these have no bound,
    and 1 where the ranks point the other way; of misclassification McNemar's exact one, of groups
    that of the t test of the influences' differences, which is also that of fewer than
    `LEAST_RANKED` groups with any metric.
    """
    value, each = first.value - second.value, first.rows - second.rows
    error = replace(first, influences=first.influences - second.influences).standard_error
    reach = float(stats.t.ppf((1 + LEVEL) / 2, len(each) - 1)) * error if len(each) > 1 else np.inf
    if not each.any() or len(each) < 2:
        p = 1.0
    elif metric == "error" and len(each) == first.n:  # where one of the two alone is right
        worse, better = int((each > 0).sum()), int((each < 0).sum())
        p = float(stats.binomtest(worse, worse + better).pvalue)
    elif metric != "error" and len(each) >= LEAST_RANKED:
        smaller = each if value < 0 else -each
        p = min(1.0, 2 * float(stats.wilcoxon(smaller, alternative="less").pvalue))
    else:  # ranks would weigh a large group as a small one
        p = float(2 * stats.t.sf(abs(value) / error, len(each) - 1)) if error else 1.0
    verdict = "near" if not p < 1 - LEVEL else "better" if value < 0 else "worse"
    return Difference(value, value - reach, value + reach, p, verdict)
