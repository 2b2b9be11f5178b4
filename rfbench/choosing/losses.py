"""What a model is judged by, and by how much one model is better than another on the same rows.

Every metric is a loss: smaller is better. Its value is a smooth function of sums over the rows, so
that its error follows from the rows' *influences* (the delta method): how far the value moves, in
units of 1/n, where a row gets more weight. The interval of a difference follows from the difference
of the influences row by row. Its p-value follows from the signed ranks of the rows' losses where
these have no bound: the ranks hold where a few rows outweigh all others. Where rows come in groups,
those of a group are added up first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.metrics import roc_auc_score

from rfbench.arrays import Array

CLASS_METRICS = ("log-loss", "error", "balanced-error")
NUMBER_METRICS = ("rmse", "mae")
METRICS = (*CLASS_METRICS, *NUMBER_METRICS)
RANKED = ("log-loss", *NUMBER_METRICS)  # a row's loss has no bound
# The p-value of signed ranks of n values is at least 2^(1 - n): with fewer it decides nothing.
LEAST_RANKED = 12
LEVEL = 0.95  # of the intervals
SMALLEST = 1e-15  # of a probability, in the log-loss


@dataclass(frozen=True)
class Predicted:
    """What a model says of n rows: numbers, or class codes with the classes' probabilities."""

    values: NDArray[np.float64 | np.int64]  # shape (n,)
    probabilities: NDArray[np.float64] | None = None  # shape (n, K)


@dataclass(frozen=True)
class Loss:
    """The value of a metric on n rows, and what each row adds to it."""

    value: float
    influences: NDArray[np.float64]  # shape (n,), mean 0
    rows: NDArray[np.float64]  # the losses of the rows, shape (n,)

    def standard_error(self, groups: NDArray[np.int64] | None = None) -> float:
        """Return the standard error of the value: other rows (groups) in the place of these."""
        return _standard_error(self.influences, groups)[0]


@dataclass(frozen=True)
class Difference:
    """By how much the loss of one model exceeds that of another, on the same rows."""

    value: float
    low: float  # of the interval of 95 %
    high: float
    p: float  # of no difference, two-sided
    verdict: str  # the first model is ``better``, ``worse`` or too ``near`` to call


def loss(metric: str, truth: Array, predicted: Predicted) -> Loss:
    """Return the loss of a model on n rows.

    Parameters
    ----------
    metric : str
        ``error``: share of wrong classes, in %. ``balanced-error``: its mean over the classes, in
        %. ``log-loss``: mean of -log of the probability of the right class. ``rmse`` and ``mae``.
    truth : array of shape (n,)
        Numbers, or class codes 0 .. K-1.
    """
    n, values = len(truth), predicted.values
    if metric == "log-loss":
        assert predicted.probabilities is not None
        right = predicted.probabilities[np.arange(n), truth]
        each = -np.log(np.clip(right, SMALLEST, None))
    elif metric in NUMBER_METRICS:
        each = np.abs(values - truth) ** (2 if metric == "rmse" else 1)
    else:
        each = 100.0 * (values != truth)
    mean = float(each.mean())
    if metric == "rmse":
        return Loss(np.sqrt(mean), (each - mean) / (2 * np.sqrt(mean) or 1.0), each)
    if metric == "balanced-error":
        counts = np.bincount(truth)
        present = np.flatnonzero(counts)
        errors = np.bincount(truth, each, len(counts)) / np.maximum(counts, 1)
        weights = n / (len(present) * counts[truth])
        return Loss(float(errors[present].mean()), weights * (each - errors[truth]), weights * each)
    return Loss(mean, each - mean, each)


def area_above(truth: Array, probabilities: Array) -> float:
    """Return 1 - AUC: of several classes the mean over each against the others, of one NaN."""
    present = np.unique(truth)
    if len(present) < 2:
        return float("nan")
    columns = [1] if probabilities.shape[1] == 2 else present
    return 1 - float(np.mean([roc_auc_score(truth == k, probabilities[:, k]) for k in columns]))


def difference(
    first: Loss, second: Loss, metric: str, groups: NDArray[np.int64] | None = None
) -> Difference:
    """Return by how much the first loss exceeds the second, both of the same rows.

    The p-value is that of Wilcoxon's signed ranks of the rows' losses where these have no bound,
    and 1 where the ranks point the other way; of misclassification McNemar's exact one; else, and
    of fewer than `LEAST_RANKED` groups, that of the t test of the influences' differences. All per
    group where there are groups.
    """
    value = first.value - second.value
    error, freedom = _standard_error(first.influences - second.influences, groups)
    reach = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) * error if freedom else np.inf
    each = _summed(first.rows - second.rows, groups)
    if metric == "error" and groups is None:  # where one of the two alone is right
        worse, better = int((each > 0).sum()), int((each < 0).sum())
        p = float(stats.binomtest(worse, worse + better).pvalue) if worse + better else 1.0
    elif metric in RANKED and len(each) >= LEAST_RANKED:
        p = _by_ranks(each, value)
    elif error == 0 or not freedom:
        p = 1.0
    else:  # ranks would weigh a large group as a small one, and a rare class by its weight alone
        p = float(2 * stats.t.sf(abs(value) / error, freedom))
    verdict = "near" if not p < 1 - LEVEL else "better" if value < 0 else "worse"
    return Difference(value, value - reach, value + reach, p, verdict)


def _by_ranks(each: Array, value: float) -> float:
    """Return the p-value of the signed ranks of differences; 1 where their sign is another."""
    each = each[each != 0]
    if len(each) < 2:
        return 1.0
    ranks = np.sign(each) @ stats.rankdata(np.abs(each))
    return float(stats.wilcoxon(each).pvalue) if ranks * value > 0 else 1.0


def _standard_error(influences: Array, groups: NDArray[np.int64] | None) -> tuple[float, int]:
    """Return the standard error of a mean of the influences, and its degrees of freedom."""
    n, sums = len(influences), _summed(influences, groups)
    count = len(sums)
    if count < 2:
        return float("inf"), 0
    return float(np.sqrt(count / (count - 1) * np.sum(sums**2)) / n), count - 1


def _summed(each: Array, groups: NDArray[np.int64] | None) -> Array:
    """Return the values added up per group, where there are groups."""
    if groups is None:
        return each
    return np.bincount(np.unique(groups, return_inverse=True)[1], each).astype(np.float64)
