"""Rules for the verdicts on published numbers and on claims of papers, with their constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from rfbench.analysis.comparisons import ClaimComparison

# Significance level of the tests, 5 % as usual. With this level, 238 of the 549 judged numbers are
# undecided. With half this level, 278 numbers are undecided. With twice this level, 185 numbers are
# undecided.
ALPHA = 0.05
# Limits for the verdicts "agrees" and "close". Percentages are compared by their difference in
# points, with the limits AGREES_POINTS and CLOSE_POINTS. Other numbers are compared by their
# quotient, with the limits AGREES_RATIO and CLOSE_RATIO. The values were chosen without a
# measurement. Of the 549 judged numbers, 79 agree, 126 are close, 238 are undecided and 106 differ.
# With all four limits halved, 15 agree, 64 are close, 337 are undecided and 133 differ. With all
# four limits doubled, 205 agree, 137 are close, 122 are undecided and 85 differ.
AGREES_POINTS = 0.5
CLOSE_POINTS = 1.0
AGREES_RATIO = 1.05
CLOSE_RATIO = 1.1
# Half a unit of the last printed digit, in points. By definition, rounding to two decimals changes
# a percentage by at most this value, and most papers print two decimals. Numbers with other
# precisions have their own half digit.
HALF_A_DIGIT = 0.005
# A classifier is better than a constant prediction if its accuracy exceeds the share of the largest
# class by more than CHANCE_POINTS points. A regression is better than a constant prediction if its
# R^2 is at least LEARNED. The values were chosen without a measurement. With twice these values,
# more sizes of a curve would be marked as at chance. No verdict would change.
CHANCE_POINTS = 1.0
LEARNED = 0.05
# A kernel matrix is treated as constant if the relative spectral error of plain features,
# multiplied by the square root of the number of features, is below this value. By definition, this
# product is about (1 - k^2) / sqrt(2) if all entries off the diagonal are k. The product is 0.05
# for k = 0.964. The product is twice this value for k = 0.927.
CONSTANT_KERNEL = 0.05
# Minimum number of trials for a verdict on a claim. A one-sided sign test with four trials is never
# significant, because its smallest p-value 1/2^4 exceeds ALPHA. With five trials, 1/2^5 is below
# ALPHA. With twice this value, claims with five to nine trials would have the verdict "not clear".
MIN_TRIALS = 5
# Power of a test, 80 % as usual (Cohen 1988). With this power, the standard deviation that a paper
# prints is too large for a verdict in 316 of the 2,854 comparisons. If the probability of an error
# is halved (power 0.9), the standard deviation is too large in 343 comparisons. If this probability
# is doubled (power 0.6), the standard deviation is too large in 272 comparisons.
POWER = 0.8

AGREES, CLOSE, UNDECIDED, DIFFERS = "agrees", "close", "undecided", "differs"
REPEATED, NOT_JUDGED, NOT_RUN = "repeated", "not judged", "not run"
NOT_CLEAR = "not clear"  # verdicts on claims: this constant and the constants below
HOLDS, HOLDS_TESTED, FAILS = "holds", "holds where tested", "fails"
IN_PART, DEPENDS = "fails in part", "depends on what is not printed"
CANNOT, SHOWN = "inconclusive", "shown"
COMPARED = (AGREES, CLOSE, UNDECIDED, DIFFERS)
# Text that is appended to a verdict if the possible interpretations of the paper's text were not
# varied.
UNVARIED = ", not varied"
JUDGED = (
    HOLDS, HOLDS + UNVARIED, HOLDS_TESTED, HOLDS_TESTED + UNVARIED, NOT_CLEAR, DEPENDS,
    IN_PART, IN_PART + UNVARIED, FAILS, FAILS + UNVARIED, CANNOT,
)  # fmt: skip


def judge_published_numbers(
    distance: ArrayLike, half_width: ArrayLike, relative: ArrayLike = False
) -> NDArray[np.str_]:
    """Return the verdict on each published number, such as "agrees" or "differs".

    The 90 % interval of measured minus published is compared with limits. The verdict is "agrees"
    or "close" if the interval is inside the limits of this verdict. It is "differs" if the interval
    is beyond the limits of "close", and "undecided" in all other cases. If the true difference
    equals a limit, a verdict other than "undecided" is returned in at most one of twenty cases.

    Parameters
    ----------
    distance : array
        Measured mean minus published number in points, or the logarithm of the quotient measured /
        published.
    half_width : array
        Half the width of each interval, from `compute_interval_half_widths`; NaN if it is not
        known.
    relative : array of bool
        True for distances that are logarithms.

    Returns
    -------
    array of str
        One verdict per number.
    """
    # Import numpy in this function, because the import is slow. The command `rfbench verify --help`
    # needs only the constants of this module.
    import numpy as np

    size, half = np.abs(distance), np.asarray(half_width)
    agrees = np.where(relative, np.log(AGREES_RATIO), AGREES_POINTS)
    close = np.where(relative, np.log(CLOSE_RATIO), CLOSE_POINTS)
    cases = [size + half <= agrees, size + half <= close, size - half > close]
    return np.select(cases, [AGREES, CLOSE, DIFFERS], UNDECIDED)


def compute_interval_half_widths(
    published_error: ArrayLike,
    published_trials: ArrayLike,
    error: ArrayLike,
    trials: ArrayLike,
    half_digit: ArrayLike = HALF_A_DIGIT,
) -> NDArray[np.float64]:
    """Return half the width of the 90 % interval of our mean minus the published mean.

    The half width is in the unit of the means. Half a unit of the last printed digit is added. The
    result is NaN for fewer than two of our trials.

    Parameters
    ----------
    published_error, error : array
        Standard errors of the means; NaN in `published_error` if the paper states no spread.
    published_trials, trials : array
        Numbers of trials of the means; NaN in `published_trials` if the paper does not state the
        number.
    half_digit : array
        Half a unit of the last printed digit of each published number.

    Returns
    -------
    array of float
        Half width of each interval.

    Notes
    -----
    The degrees of freedom are Welch's. If the paper does not state its number of trials, they are n
    - 1 for our n trials. A published number without a spread is treated as one trial with our
    spread. If the standard errors and half a digit are divided by their means, the result is, to
    first order, the half width for the logarithm of the quotient.
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
    # Ignore the invalid quotient 0 / 0, which occurs if both means have the standard error 0.
    with np.errstate(invalid="ignore"):
        welch = variance**2 / (ours**4 / (n - 1) + published_spread**4 / (many - 1))
    freedom = np.where(np.isfinite(welch), welch, n - 1)
    return np.asarray(stdtrit(freedom, 1 - ALPHA) * np.sqrt(variance) + half_digit)


def is_too_noisy_to_compare(
    published_error: ArrayLike,
    published_trials: ArrayLike,
    half_digit: ArrayLike = HALF_A_DIGIT,
    relative: ArrayLike = False,
) -> NDArray[np.bool_]:
    """Return True for each published number whose spread is too large for the verdict "agrees".

    If we had infinitely many trials, the width of the interval of the difference would depend on
    the paper's spread only. A number is too noisy if this interval would be inside the limits of
    agreement with a probability below `POWER`, assuming that both true means are equal. The
    measured difference is not used.

    Parameters
    ----------
    published_error, published_trials, half_digit : array
        Facts of the published numbers, see `compute_interval_half_widths`. A number without a
        standard error is not too noisy.
    relative : array of bool
        True for numbers that are compared by the logarithm of a quotient.

    Returns
    -------
    array of bool
        True for numbers that are too noisy.
    """
    import numpy as np
    from scipy.special import ndtri

    error = np.asarray(published_error, dtype=float)
    ours, n = np.zeros_like(error), np.full_like(error, 1e9)
    own = compute_interval_half_widths(error, published_trials, ours, n, half_digit)
    agrees = np.where(relative, np.log(AGREES_RATIO), AGREES_POINTS)
    noisy: NDArray[np.bool_] = own + ndtri((1 + POWER) / 2) * error > agrees
    return noisy


def is_inside_bounds(comparison: ClaimComparison) -> bool:
    """Return True if the effect in a comparison is significantly inside the bounds of the claim.

    The p-value is not corrected for several comparisons, because a claim holds only if all its
    comparisons are inside. If the true effect of one comparison is on a bound, the probability that
    all tests reject is at most `ALPHA`.
    """
    return comparison.trials >= MIN_TRIALS and comparison.p_inside <= ALPHA


def is_outside_bounds(comparison: ClaimComparison) -> bool:
    """Return True if the effect in a comparison is significantly outside the bounds of the claim.

    The p-value includes Holm's correction for several comparisons.
    """
    return comparison.trials >= MIN_TRIALS and comparison.p_outside <= ALPHA


def find_side_of_bounds(comparison: ClaimComparison) -> str:
    """Return "inside", "outside" or "open" for the effect of a comparison.

    The effect is open if it is not significantly inside or outside the bounds of the claim.
    """
    if is_inside_bounds(comparison):
        return "inside"
    return "outside" if is_outside_bounds(comparison) else "open"


def judge_claim(comparisons: Sequence[ClaimComparison], tested: int, wanted: int) -> str:
    """Return the verdict on a claim, such as "holds" or "fails", given its comparisons.

    `tested` is the number of data sets with all comparisons, and `wanted` is the number of data
    sets of the claim. A claim holds if all comparisons are inside their bounds. It fails if more
    than half of the comparisons are outside, and it fails in part if fewer are outside. Some
    comparisons cross a bound if a setting is varied that the paper does not state. Such a
    comparison does not count as outside. If it is the reason that the claim does not fail or hold,
    the claim depends on this setting.
    """
    if not comparisons:
        return CANNOT
    if outside := [comparison for comparison in comparisons if is_outside_bounds(comparison)]:
        firm = sum(not comparison.depends_on for comparison in outside)
        if not firm:
            return DEPENDS
        return FAILS if 2 * firm > len(comparisons) else IN_PART
    if not all(map(is_inside_bounds, comparisons)):
        return NOT_CLEAR
    if any(comparison.depends_on for comparison in comparisons):
        return DEPENDS
    if tested == wanted:
        return HOLDS
    return HOLDS_TESTED if tested else NOT_CLEAR
