"""Statistical tests whether the differences in a claim of a paper are within the claimed bounds."""

from __future__ import annotations

import math
from dataclasses import replace

from rfbench.analysis import verdicts
from rfbench.analysis.comparisons import ClaimComparison
from rfbench.analysis.paired import Quantity, Values
from rfbench.analysis.statistics import paired_t_test
from rfbench.papers.models import Part


def test_against_bounds(part: Part, part_number: int, quantity: Quantity) -> ClaimComparison:
    """Test whether the mean of paired values of two methods is within the bounds of a claim.

    The bounds are in `part`, the part of the claim with the index `part_number`. If the part
    compares quotients, the values are logarithms, and the logarithms of the bounds are used.
    """
    logarithmic = part.scale == "ratio"
    values, mean = quantity.values, float(quantity.values.mean())
    ends = (mean, *compute_confidence_interval(values, quantity.share))
    effect, *ends_of_effect = map(math.exp, ends) if logarithmic else ends
    comparison = ClaimComparison(**vars(quantity), part=part_number, effect=effect)
    comparison = replace(comparison, low=ends_of_effect[0], high=ends_of_effect[1])
    low, high = (
        math.log(bound) if logarithmic and bound else bound for bound in (part.low, part.high)
    )
    sides = [] if low is None else [(values - low, low - mean)]
    sides += [] if high is None else [(high - values, mean - high)]
    if not sides:
        return comparison
    if quantity.share:
        assert high is not None
        tests = [compute_share_p_values(values, high)]
    else:
        tests = [compute_one_sided_p_values(inward) for inward, _ in sides]
    return replace(
        comparison,
        excess=max(gap for _, gap in sides),
        p_inside=max(above for above, _ in tests),
        p_outside=min(1.0, len(tests) * min(below for _, below in tests)),
    )


def compute_one_sided_p_values(values: Values) -> tuple[float, float]:
    """Return the p-values of two one-sided tests: for a mean above zero, and for a mean below zero.

    If all values are equal, the p-values are from a sign test. For a single value both are 1.
    """
    from scipy.special import stdtr

    test = paired_t_test(values)
    if math.isfinite(test.statistic):
        t, freedom = test.statistic, test.n - 1
        return float(stdtr(freedom, -t)), float(stdtr(freedom, t))
    floor = 0.5**test.n if test.n > 1 else 1.0
    return (floor if test.effect > 0 else 1.0), (floor if test.effect < 0 else 1.0)


def compute_confidence_interval(values: Values, is_share: bool = False) -> tuple[float, float]:
    """Return the 90 % confidence interval of the mean of `values`, or of a share of ones.

    The interval of a mean is Student's, and its ends are NaN for a single value. With `is_share`,
    the values are 0 or 1, and the interval is Clopper and Pearson's. A one-sided test of a bound at
    an end of the interval has a p-value of 5 %.
    """
    coverage = 1 - 2 * verdicts.ALPHA
    if not is_share:
        return paired_t_test(values).compute_confidence_interval(coverage)
    from scipy.special import betaincinv

    ones, n = int(values.sum()), len(values)
    low = betaincinv(ones, n - ones + 1, verdicts.ALPHA) if ones else 0.0
    high = betaincinv(ones + 1, n - ones, 1 - verdicts.ALPHA) if ones < n else 1.0
    return float(low), float(high)


def compute_share_p_values(values: Values, bound: float) -> tuple[float, float]:
    """Return two exact p-values for the share of ones in `values`.

    The first null hypothesis is that the true share is at least `bound`. The second null hypothesis
    is that it is at most `bound`.
    """
    from scipy.special import bdtr, bdtrc

    ones, n = int(values.sum()), len(values)
    return float(bdtr(ones, n, bound)), float(bdtrc(ones - 1, n, bound))
