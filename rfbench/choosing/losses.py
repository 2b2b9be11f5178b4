"""What a model is judged by, and by how much one model is better than another on the same rows.

Every metric is a loss: smaller is better. Its value is a smooth function of a sum over the rows, so
that its error follows from the rows' influences (the delta method). Unbounded losses are compared
by the signed ranks of the rows, which hold where a few rows outweigh all others. Where rows come in
groups, those of a group are added up first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, stats

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

    value: float  # the difference of the two losses
    p: float  # of no difference, two-sided
    low: float  # of the interval of 95 %, which contains zero exactly if p is at least .05
    high: float
    centre: float  # the estimate that the interval is of: signed ranks have their own
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

    The test, and the interval that answers the same question:

    - misclassification: McNemar's exact test, and the exact interval of the share of errors of the
      first model among the rows on which one of the two is wrong;
    - groups of rows in misclassification, and fewer than 12 rows or groups: the paired t test, and
      its interval of the mean;
    - otherwise Wilcoxon's signed ranks of the differences of the rows, and the interval of Hodges
      and Lehmann: the shifts that the test does not reject (Annals of Mathematical Statistics 34,
      1963). Its centre is the difference of a typical row, which a few rows do not move.

    No model is better or worse if the centre and the difference of the losses have different signs.
    """
    value, each = first.value - second.value, first.rows - second.rows
    if not each.any() or len(each) < 2:
        return Difference(value, 1.0, value, value, value, "near")
    if metric == "error" and len(each) == first.n:
        worse, unequal = int((each > 0).sum()), int((each != 0).sum())
        test = stats.binomtest(worse, unequal)
        ends = (2 * np.array(test.proportion_ci(HELD_OUT_LEVEL)) - 1) * 100 * unequal / first.n
        p, low, high, centre = test.pvalue, *ends, value
    elif metric != "error" and len(each) >= LEAST_RANKED:
        # The root of a mean: r - s = (r^2 - s^2) / (r + s), so that these have the mean `value`.
        scale = first.value + second.value if metric == "rmse" else 1.0
        p, low, high, centre = _compare_ranks(each * len(each) / first.n / scale)
    else:  # ranks would give a large group the weight of a small one
        pairs: Any = stats.ttest_1samp(first.values - second.values, 0.0)
        p, (low, high), centre = pairs.pvalue, pairs.confidence_interval(HELD_OUT_LEVEL), value
    agree = p < 1 - HELD_OUT_LEVEL and value * centre > 0
    verdict = "near" if not agree else "better" if value < 0 else "worse"
    return Difference(value, float(p), float(low), float(high), float(centre), verdict)


def _compare_ranks(differences: Array) -> tuple[float, float, float, float]:
    """Return the p-value of signed ranks, the ends of their interval, and its centre.

    Rows without a difference count against any difference: each end of the interval is a limit of
    shifts, and a shift next to zero gives these rows a sign.
    """

    def measure_ranks(shift: float) -> Any:
        return stats.wilcoxon(differences - shift, method="approx" if tied else "auto")

    def compute_balance(shift: float) -> float:
        shifted = differences - shift
        return float(stats.rankdata(abs(shifted)) @ np.sign(shifted))

    def exceed(shift: float) -> float:
        return float(measure_ranks(shift).pvalue) - (1 - HELD_OUT_LEVEL)

    tied = len(np.unique(abs(differences))) < len(differences)
    least, most = differences.min(), differences.max()
    tiny = 1e-9 * min(abs(differences[differences != 0]))  # of rounding, below any difference
    p = max(float(measure_ranks(shift).pvalue) for shift in (-tiny, tiny))
    if compute_balance(-tiny) > 0 > compute_balance(tiny):  # equal rows alone decide the sign
        p = 1.0
    margin = most - least + tiny
    centre = optimize.brentq(compute_balance, least - margin, most + margin)
    low = optimize.brentq(exceed, least - margin, centre) if exceed(centre) > 0 else centre
    high = optimize.brentq(exceed, centre, most + margin) if exceed(centre) > 0 else centre
    # An end at zero is found up to the tolerance of the root.
    if p >= 1 - HELD_OUT_LEVEL:
        low, high = min(low, 0.0), max(high, 0.0)
    elif centre > 0:
        low = max(low, tiny)
    else:
        high = min(high, -tiny)
    return p, low, high, min(max(centre, low), high)
