"""What a model is judged by, and by how much one model is better than another on the same rows.

Every metric is a loss: smaller is better. Its value is a smooth function of sums over the rows, so
that its error follows from the rows' *influences* (the delta method): how far the value moves, in
units of 1/n, where a row gets more weight. Two models are compared by the difference of their
influences row by row; where the metric is a mean over rows whose losses have no bound, a few of
which can outweigh all others, by the signed ranks of the rows' differences. Where rows come in
groups, those of a group are added up first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from rfbench.arrays import Array
from rfbench.errors import DataError

CLASS_METRICS = ("log-loss", "error", "balanced-error", "auc")
NUMBER_METRICS = ("rmse", "mae")
METRICS = (*CLASS_METRICS, *NUMBER_METRICS)
RANKED = ("log-loss", *NUMBER_METRICS)  # compared by signed ranks
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
    rows: NDArray[np.float64] | None = (
        None  # the losses of the rows, where it is made of their mean
    )

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

    @property
    def verdict(self) -> str:
        """Return whether the first model is ``better``, ``worse`` or too ``near`` to call."""
        if not self.p < 1 - LEVEL:
            return "near"
        return "better" if self.value < 0 else "worse"


def loss(metric: str, truth: Array, predicted: Predicted) -> Loss:
    """Return the loss of a model on n rows.

    Parameters
    ----------
    metric : str
        ``error``: share of wrong classes, in %. ``balanced-error``: its mean over the classes, in
        %. ``log-loss``: mean of -log of the probability of the right class. ``auc``: 1 - AUC, of
        several classes the mean over each against the others, of one class NaN. ``rmse`` and
        ``mae``.
    truth : array of shape (n,)
        Numbers, or class codes 0 .. K-1.
    """
    n, values = len(truth), predicted.values
    if metric in ("error", "mae"):
        each = 100.0 * (values != truth) if metric == "error" else np.abs(values - truth)
        return _mean_of_rows(each)
    if metric == "balanced-error":
        wrong, counts = 100.0 * (values != truth), np.bincount(truth)
        present = np.flatnonzero(counts)
        errors = np.bincount(truth, wrong, len(counts)) / np.maximum(counts, 1)
        influences = n / (len(present) * counts[truth]) * (wrong - errors[truth])
        return Loss(float(errors[present].mean()), influences)
    if metric == "rmse":
        squares = _mean_of_rows((values - truth) ** 2)
        root = float(np.sqrt(squares.value))
        influences = squares.influences / (2 * root) if root else squares.influences
        return Loss(root, influences, squares.rows)
    assert predicted.probabilities is not None
    if metric == "log-loss":
        right = predicted.probabilities[np.arange(n), truth]
        return _mean_of_rows(-np.log(np.clip(right, SMALLEST, None)))
    return _auc(truth, predicted.probabilities)


def joined(losses: Sequence[Loss]) -> Loss:
    """Return the loss on the rows of several losses, one after the other; all rows count alike.

    Where it is undefined it is left out, as the AUC of one class. DataError if it is so everywhere.
    """
    sizes = [0 if np.isnan(each.value) else len(each.influences) for each in losses]
    if not any(sizes):
        raise DataError(
            "The AUC is undefined.",
            "The rows on which models are judged are of one class.",
            "Take another metric, or draw rows at random: --time none.",
        )
    value = float(np.average(np.nan_to_num([each.value for each in losses]), weights=sizes))
    return Loss(value, np.concatenate([each.influences for each in losses]))


def difference(
    first: Loss, second: Loss, metric: str, groups: NDArray[np.int64] | None = None
) -> Difference:
    """Return by how much the first loss exceeds the second, both of the same rows.

    The p-value is that of Wilcoxon's signed ranks of the rows' losses where these have no bound,
    and 1 where the ranks point the other way; of misclassification McNemar's exact one; else that
    of the t test of the influences' differences. All per group where there are groups.
    """
    value = first.value - second.value
    influences = first.influences - second.influences
    error, freedom = _standard_error(influences, groups)
    reach = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) * error if freedom else np.inf
    if metric == "error" and groups is None:
        moved = influences + value  # +-100 where one of the two alone is right
        worse, better = int((moved > 50).sum()), int((moved < -50).sum())
        p = float(stats.binomtest(worse, worse + better).pvalue) if worse + better else 1.0
    elif metric in RANKED and first.rows is not None and second.rows is not None:
        p = _by_ranks(_summed(first.rows - second.rows, groups), value)
    elif error == 0 or not freedom:
        p = 1.0
    else:
        p = float(2 * stats.t.sf(abs(value) / error, freedom))
    return Difference(value, value - reach, value + reach, p)


def _mean_of_rows(each: Array) -> Loss:
    mean = float(each.mean())
    return Loss(mean, each - mean, each)


def _by_ranks(each: Array, value: float) -> float:
    """Return the p-value of the signed ranks of differences; 1 where their sign is another."""
    each = each[each != 0]
    if len(each) < 2:
        return 1.0
    ranks = np.sign(each) @ stats.rankdata(np.abs(each))
    return float(stats.wilcoxon(each).pvalue) if ranks * value > 0 else 1.0


def _auc(truth: Array, probabilities: Array) -> Loss:
    """Return 1 - AUC; its influences are the placements of DeLong et al. (1988)."""
    n, K = probabilities.shape
    columns = [1] if K == 2 else range(K)
    total, influences, count = 0.0, np.zeros(n), 0
    for column in columns:
        positive, score = truth == column, probabilities[:, column]
        if positive.all() or not positive.any():
            continue
        count += 1
        here, there = score[positive], score[~positive]
        above = _share_below(there, here)  # of the negatives, below each positive
        below = 1 - _share_below(here, there)  # of the positives, above each negative
        area = float(above.mean())
        total += 1 - area
        influences[positive] -= n / len(here) * (above - area)
        influences[~positive] -= n / len(there) * (below - area)
    if not count:  # rows of one class have no order
        return Loss(float("nan"), influences)
    return Loss(total / count, influences / count)


def _share_below(values: Array, points: Array) -> Array:
    """Return which share of the values is below each point; of equal ones, half."""
    ordered = np.sort(values)
    low = np.searchsorted(ordered, points, "left")
    high = np.searchsorted(ordered, points, "right")
    return np.asarray((low + high) / (2.0 * len(values)), dtype=np.float64)


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
