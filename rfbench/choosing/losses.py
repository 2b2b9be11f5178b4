"""Losses of a model, and the comparison of two models on the same rows.

Every metric is a loss, so smaller values are better. The standard error of a loss is computed from
the contribution of each row (the delta method). If the rows have groups, the contributions of each
group are added up first. Unbounded losses, such as squared errors, are compared by a test of signed
ranks, which is valid even if a few rows have very large losses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

from rfbench.arrays import Array
from rfbench.metrics import SMALLEST

CLASS_METRICS = ("log-loss", "error")
NUMBER_METRICS = ("rmse", "mae")
# Smallest number of rows or groups for which the signed-rank test is used. By definition, the
# p-value of this test for n values is at least 2^(1 - n). For 12 values this is 5e-4, which is
# small enough for 40 comparisons at the level 5 %. With half as many values, the p-value is at
# least 0.03, which is not significant after a correction for several comparisons.
LEAST_RANKED = 12
# The usual coverage of a confidence interval. If the error probability of 5 % is halved, the
# interval is about a seventh wider.
HELD_OUT_LEVEL = 0.95


class Loss(NamedTuple):
    """Value of a metric on n rows, and the contribution of each row or group of rows to it."""

    value: float
    # Contribution of each row or group to the loss. The loss `value` is the mean of the
    # contributions, and its standard error follows from their standard deviation. Shape (n_rows,)
    # or (n_groups,).
    values: Array
    rows: Array  # loss of each row, or sum of the losses of each group
    n: int

    @property
    def standard_error(self) -> float:
        """Standard error of the loss `value`, over random samples of rows or of groups of rows."""
        return float(stats.sem(self.values)) if len(self.values) > 1 else float("inf")


class Difference(NamedTuple):
    """Difference between the losses of two models on the same rows, with a test of its sign."""

    value: float
    # two-sided p-value of the hypothesis that the two models have the same loss
    p: float
    # ends of the 95 % confidence interval, which contains zero if and only if p is at least 0.05
    low: float
    high: float
    # Center of the confidence interval, which may differ from `value` if the signed-rank test is
    # used.
    center: float
    # ``better`` or ``worse`` if the first model is significantly better or worse than the second
    # model, ``near`` if the difference is not significant
    verdict: str


def compute_loss(
    metric: str, truth: Array, predicted: Array, groups: NDArray[np.int64] | None = None
) -> Loss:
    """Return the loss of predictions on n rows.

    Parameters
    ----------
    metric : str
        ``log-loss``: mean of -log of the probability of the right class. ``error``: percentage of
        wrong classes. ``rmse`` and ``mae``: root mean squared and mean absolute error.
    truth : array of shape (n,)
        True class codes 0 .. K-1, or true numbers.
    predicted : array of shape (n, K) or (n,)
        Predicted class probabilities, or predicted numbers.
    groups : array of shape (n,), optional
        Group number of each row.

    Returns
    -------
    Loss
        The loss, and the contribution of each row or group.
    """
    n = len(truth)
    if metric == "log-loss":
        each = -np.log(np.clip(predicted[np.arange(n), truth], SMALLEST, None))
    elif metric == "error":
        each = 100.0 * (predicted.argmax(axis=1) != truth)
    else:
        each = np.abs(predicted - truth) ** (2 if metric == "rmse" else 1)
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
    """Return the difference between two losses on the same rows, first minus second, with a test.

    The confidence interval of the difference contains the values that the test does not reject. The
    test depends on the metric and the number of rows.

    - Misclassification of single rows: McNemar's exact test. It counts the rows that exactly one of
      the two models predicts correctly. The interval is computed from the exact interval of the
      share of these rows that the first model predicts incorrectly.
    - Misclassification in groups, and fewer than 12 rows or groups: the paired t-test, and
      Student's interval of the mean.
    - Otherwise: Wilcoxon's signed-rank test of the differences per row or group, and the interval
      of Hodges and Lehmann (Annals of Mathematical Statistics 34, 1963). The center of this
      interval is the difference in a typical row, on which a few extreme rows have little
      influence.

    The verdict is ``better`` or ``worse`` for the first model if the difference is significant, and
    ``near`` otherwise. The verdict is also ``near`` if the center of the interval and the
    difference have different signs.
    """
    value, each = first.value - second.value, first.rows - second.rows
    if not each.any() or len(each) < 2:
        return Difference(value, 1.0, value, value, value, "near")
    if metric == "error" and len(each) == first.n:
        worse, unequal = int((each > 0).sum()), int((each != 0).sum())
        test = stats.binomtest(worse, unequal)
        ends = (2 * np.array(test.proportion_ci(HELD_OUT_LEVEL)) - 1) * 100 * unequal / first.n
        p, low, high, center = test.pvalue, *ends, value
    elif metric != "error" and len(each) >= LEAST_RANKED:
        # For the RMSE values r and s of the two models, r - s = (r^2 - s^2) / (r + s). Therefore
        # the squared errors are compared, and their differences are divided by r + s.
        scale = first.value + second.value if metric == "rmse" else 1.0
        p, low, high, center = _compare_ranks(each * len(each) / first.n / scale)
    # Use the t-test in all other cases: for misclassification in groups of rows, and for few rows
    # or groups. The signed-rank test would give small groups the same weight as large groups.
    else:
        error = first._replace(values=first.values - second.values).standard_error
        around = stats.t(len(each) - 1, value, error or SMALLEST)
        p = 2 * min(around.cdf(0), around.sf(0))
        (low, high), center = around.interval(HELD_OUT_LEVEL), value
    agree = p < 1 - HELD_OUT_LEVEL and value * center > 0
    verdict = "near" if not agree else "better" if value < 0 else "worse"
    return Difference(value, float(p), float(low), float(high), float(center), verdict)


def _compare_ranks(differences: Array) -> tuple[float, float, float, float]:
    """Return the p-value of the signed-rank test, and the ends and the center of its interval.

    Differences of zero support the hypothesis of equal losses, but the test would ignore them.
    Therefore the p-value is computed twice, with all differences shifted up and down by a tiny
    amount. The larger p-value is returned.
    """

    def test_shift(shift: float) -> float:
        found = stats.wilcoxon(differences - shift, method="approx" if tied else "auto")
        return float(found.pvalue)

    def compute_balance(shift: float) -> float:
        shifted = differences - shift
        return float(stats.rankdata(abs(shifted)) @ np.sign(shifted))

    def exceed(shift: float) -> float:
        return test_shift(shift) - (1 - HELD_OUT_LEVEL)

    tied = len(np.unique(abs(differences))) < len(differences)
    least, most = differences.min(), differences.max()
    # A tiny shift, which is far smaller than any nonzero difference between the losses.
    tiny = 1e-9 * min(abs(differences[differences != 0]))
    p = max(test_shift(shift) for shift in (-tiny, tiny))
    # If shifting all differences by a tiny amount changes the sign of the rank sum, the sign
    # depends only on differences that are zero. The losses are then considered equal.
    if compute_balance(-tiny) > 0 > compute_balance(tiny):
        p = 1.0
    margin = most - least + tiny
    center = optimize.brentq(compute_balance, least - margin, most + margin)
    low = optimize.brentq(exceed, least - margin, center) if exceed(center) > 0 else center
    high = optimize.brentq(exceed, center, most + margin) if exceed(center) > 0 else center
    # The root finder is exact only up to a tolerance. Correct the ends, so that the interval
    # contains zero if and only if the p-value is at least 0.05.
    if p >= 1 - HELD_OUT_LEVEL:
        low, high = min(low, 0.0), max(high, 0.0)
    elif center > 0:
        low = max(low, tiny)
    else:
        high = min(high, -tiny)
    return p, low, high, min(max(center, low), high)
