"""The rules of the verdicts, with their constants: nothing else decides one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from rfbench.analysis.comparisons import ClaimComparison

# The usual level of a test. Halved, 278 of the 549 judged numbers are undecided, doubled 185 (238
# as it is).
ALPHA = 0.05
# Chosen without a measurement: what counts as the same number, or nearly (CLOSE_POINTS).
# AGREES_RATIO and CLOSE_RATIO bound the quotient of numbers that are not percentages, ours to
# theirs or theirs to ours. Of the 549 numbers that are judged, 79 agree, 126 are close, 238 are
# undecided and 106 differ. With all four bounds halved these are 15, 64, 337 and 133; doubled, 205,
# 137, 122 and 85.
AGREES_POINTS = 0.5
CLOSE_POINTS = 1.0
AGREES_RATIO = 1.05
CLOSE_RATIO = 1.1
# Points. Most papers print two decimals of a percentage, and half a unit of the last one is lost.
# Where a number has other decimals, its own half digit is given.
HALF_A_DIGIT = 0.005
# Points above the share of the majority class, and R^2 (LEARNT), from which on something was
# learnt. Chosen without a measurement. Doubled, more sizes of a curve would be remarked as at
# chance; no verdict would change.
CHANCE_POINTS = 1.0
LEARNT = 0.05
# Relative spectral error of plain features, times the root of their number. Where all entries off
# the diagonal are k, it is about (1 - k^2) / sqrt(2) by definition: 0.05 is reached at k = 0.964.
# Doubled, it is reached at k = 0.927.
CONSTANT_KERNEL = 0.05
# With fewer trials not even a one-sided sign test is significant: 1/2^4 is more than ALPHA, and
# 1/2^5 is less. Doubled, claims with five to nine trials would be inconclusive.
MIN_TRIALS = 5
# The usual power of a test (Cohen 1988). With half the risk, 0.9, the papers' own
# spread is too wide for 343 of the 2,854 comparisons instead of 316; with twice the risk for 272.
POWER = 0.8

AGREES, CLOSE, UNDECIDED, DIFFERS = "agrees", "close", "undecided", "differs"
REPEATED, NOT_JUDGED, NOT_RUN = "repeated", "not judged", "not run"
NOT_CLEAR = "not clear"  # of a claim
HOLDS, HOLDS_TESTED, FAILS = "holds", "holds where tested", "fails"
IN_PART, DEPENDS = "fails in part", "depends on what is not printed"
CANNOT, SHOWN = "inconclusive", "shown"
COMPARED = (AGREES, CLOSE, UNDECIDED, DIFFERS)
UNVARIED = ", not varied"  # the mark of a verdict that rests on readings that were not varied
JUDGED = (
    HOLDS, HOLDS + UNVARIED, HOLDS_TESTED, HOLDS_TESTED + UNVARIED, NOT_CLEAR, DEPENDS,
    IN_PART, IN_PART + UNVARIED, FAILS, FAILS + UNVARIED, CANNOT,
)  # fmt: skip


def judge_numbers(
    distance: ArrayLike, half_width: ArrayLike, relative: ArrayLike = False
) -> NDArray[np.str_]:
    """Return the verdicts on numbers, from the intervals of their differences to ours.

    That the 90 % interval lies within bounds is two one-sided tests at 5 %; that it lies beyond a
    bound is one. So none of them is said more than once in twenty times at a true difference that
    is its bound, and more trials of the same mean never take a verdict back.

    Parameters
    ----------
    distance : array
        Between measured means and published numbers: in points, or the logarithm of the quotient
        measured / published.
    half_width : array
        See `compute_half_widths`; NaN where it is not known.
    relative : array of bool
        Which distances are logarithms.
    """
    import numpy as np  # the help of `rfbench verify` needs the constants alone

    size, half = np.abs(distance), np.asarray(half_width)
    agrees = np.where(relative, np.log(AGREES_RATIO), AGREES_POINTS)
    close = np.where(relative, np.log(CLOSE_RATIO), CLOSE_POINTS)
    cases = [size + half <= agrees, size + half <= close, size - half > close]
    return np.select(cases, [AGREES, CLOSE, DIFFERS], UNDECIDED)


def compute_half_widths(
    published_error: ArrayLike,
    published_trials: ArrayLike,
    error: ArrayLike,
    trials: ArrayLike,
    half_digit: ArrayLike = HALF_A_DIGIT,
) -> NDArray[np.float64]:
    """Return half the width of the 90 % intervals of differences of two means, in their unit.

    Welch's degrees of freedom, or ours alone where the paper does not state its trials. A number
    without a spread counts as one trial that scatters as ours do. Half a unit of the last printed
    digit is added. NaN where we have fewer than two trials. Errors and half a digit, divided by
    their means, give the intervals of the logarithm of the quotient, to first order.

    Parameters
    ----------
    published_error, error : array
        Standard errors of the means.
    published_trials, trials : array
        Their numbers of trials; NaN, as in `published_error`, where the paper does not say.
    """
    import numpy as np
    from scipy.special import stdtrit

    published_spread, many, ours, n = (
        np.asarray(value, dtype=float)
        for value in (published_error, published_trials, error, trials)
    )
    n = np.where(n < 2, np.nan, n)
    many = np.where(np.isnan(published_spread) | (many < 2), np.nan, many)
    published_spread = np.where(np.isnan(published_spread), ours * np.sqrt(n), published_spread)
    variance = published_spread**2 + ours**2
    with np.errstate(invalid="ignore"):  # where neither side varies
        welch = variance**2 / (ours**4 / (n - 1) + published_spread**4 / (many - 1))
    freedom = np.where(np.isfinite(welch), welch, n - 1)
    return np.asarray(stdtrit(freedom, 1 - ALPHA) * np.sqrt(variance) + half_digit)


def is_too_noisy(
    published_error: ArrayLike,
    published_trials: ArrayLike,
    half_digit: ArrayLike = HALF_A_DIGIT,
    relative: ArrayLike = False,
) -> NDArray[np.bool_]:
    """Say which numbers cannot be expected to agree, because the paper's own spread is too wide.

    With ever more trials of ours the interval is the paper's own. Where both true means are equal
    it then lies within the bounds of agreement in less than `POWER` of the cases. The difference
    that was measured plays no part: the others can be decided, whatever came of them.

    Parameters
    ----------
    published_error, published_trials, half_digit : array
        See `compute_half_widths`; without a standard error it is not known: the answer is no.
    relative : array of bool
        See `judge_numbers`.
    """
    import numpy as np
    from scipy.special import ndtri

    error = np.asarray(published_error, dtype=float)
    ours, n = np.zeros_like(error), np.full_like(error, 1e9)
    own = compute_half_widths(error, published_trials, ours, n, half_digit)
    agrees = np.where(relative, np.log(AGREES_RATIO), AGREES_POINTS)
    noisy: NDArray[np.bool_] = own + ndtri((1 + POWER) / 2) * error > agrees
    return noisy


def lies_inside(comparison: ClaimComparison) -> bool:
    """Whether a comparison is significantly within its bounds, by itself.

    That all of a claim's are is an intersection-union test, which needs no correction: where one
    lies on a bound, all of them are reached with a probability of at most `ALPHA`.
    """
    return comparison.trials >= MIN_TRIALS and comparison.p_inside <= ALPHA


def lies_outside(comparison: ClaimComparison) -> bool:
    """Whether a comparison is significantly outside its bounds, corrected over the whole claim."""
    return comparison.trials >= MIN_TRIALS and comparison.p_outside <= ALPHA


def find_side(comparison: ClaimComparison) -> str:
    """Return on which side of its bounds a comparison lies: inside, outside or open."""
    if lies_inside(comparison):
        return "inside"
    return "outside" if lies_outside(comparison) else "open"


def judge_outcome(comparisons: Sequence[ClaimComparison], tested: int, wanted: int) -> str:
    """Return the verdict on a claim; the parameters are those of `Outcome`.

    One rule for both outcomes: what depends on settings that the paper leaves open neither fails
    nor holds. A claim fails by any comparison that is outside and does not depend on them, and
    holds by all comparisons together.
    """
    if not comparisons:
        return CANNOT
    if outside := [comparison for comparison in comparisons if lies_outside(comparison)]:
        firm = sum(not comparison.depends_on for comparison in outside)
        if not firm:
            return DEPENDS
        return FAILS if 2 * firm > len(comparisons) else IN_PART
    if not all(map(lies_inside, comparisons)):
        return NOT_CLEAR
    if any(comparison.depends_on for comparison in comparisons):
        return DEPENDS
    if tested == wanted:
        return HOLDS
    return HOLDS_TESTED if tested else NOT_CLEAR
