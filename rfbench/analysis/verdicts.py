"""The rules of the verdicts, with their constants: nothing else decides one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from rfbench.analysis.outcomes import ClaimComparison

ALPHA = 0.05
AGREES_POINTS = 0.5
CLOSE_POINTS = 1.0
HALF_A_DIGIT = 0.005
CHANCE_POINTS = 1.0
LEARNT = 0.05  # of R^2

AGREES, CLOSE, DIFFERS, NOT_CLEAR = "agrees", "close", "differs", "not clear"
AT_CHANCE, REPEATED, NOT_JUDGED, NOT_RUN = "at chance", "repeated", "not judged", "not run"
HOLDS, FAILS, INCONCLUSIVE = "holds", "fails", "inconclusive"
COMPARED = (AGREES, CLOSE, NOT_CLEAR, DIFFERS)
NUMBER_VERDICTS = (*COMPARED, AT_CHANCE, REPEATED, NOT_JUDGED, NOT_RUN)
CLAIM_VERDICTS = (HOLDS, FAILS, INCONCLUSIVE, NOT_RUN)


def of_numbers(distance: ArrayLike, half_width: ArrayLike) -> NDArray[np.str_]:
    """Return the verdicts on numbers in percent, from the intervals of their differences to ours.

    That the 90 % interval lies within bounds is two one-sided tests at 5 %; that it lies beyond a
    bound is one. So neither "agrees" at a true difference of `AGREES_POINTS` nor "close" or
    "differs" at one of `CLOSE_POINTS` is said more than once in twenty times, and more trials of
    the same mean never take a verdict back.

    Parameters
    ----------
    distance : array
        Between measured means and published numbers, in points.
    half_width : array
        See `intervals`; NaN where it is not known.
    """
    size, half = np.abs(distance), np.asarray(half_width)
    cases = [size + half <= AGREES_POINTS, size + half <= CLOSE_POINTS, size - half > CLOSE_POINTS]
    return np.select(cases, [AGREES, CLOSE, DIFFERS], NOT_CLEAR)


def intervals(
    published_error: ArrayLike, published_trials: ArrayLike, error: ArrayLike, trials: ArrayLike
) -> NDArray[np.float64]:
    """Return half the width of the 90 % intervals of differences of two means, in points.

    Welch's degrees of freedom, or ours alone where the paper does not state its trials. A number
    without a spread counts as one trial that scatters as ours do. Half a unit of the last printed
    digit is added. NaN where we have fewer than two trials.

    Parameters
    ----------
    published_error, error : array
        Standard errors of the means.
    published_trials, trials : array
        Their numbers of trials; NaN, as in `published_error`, where the paper does not say.
    """
    from scipy.special import stdtrit

    theirs, many, ours, n = (
        np.asarray(one, dtype=float) for one in (published_error, published_trials, error, trials)
    )
    n = np.where(n < 2, np.nan, n)
    many = np.where(np.isnan(theirs) | (many < 2), np.nan, many)
    theirs = np.where(np.isnan(theirs), ours * np.sqrt(n), theirs)
    variance = theirs**2 + ours**2
    with np.errstate(invalid="ignore"):  # where neither side varies
        welch = variance**2 / (ours**4 / (n - 1) + theirs**4 / (many - 1))
    freedom = np.where(np.isfinite(welch), welch, n - 1)
    return np.asarray(stdtrit(freedom, 1 - ALPHA) * np.sqrt(variance) + HALF_A_DIGIT)


def lies_inside(comparison: ClaimComparison) -> bool:
    """Whether a comparison is significantly within its bounds."""
    return comparison.enough and comparison.p_inside <= ALPHA


def lies_outside(comparison: ClaimComparison) -> bool:
    """Whether a comparison is significantly outside its bounds."""
    return comparison.enough and comparison.p_outside <= ALPHA


def of_claim(comparisons: Sequence[ClaimComparison], complete: bool) -> str:
    """Return the verdict on a claim; `complete` says whether all that it speaks of is there."""
    if not comparisons:
        return NOT_RUN
    if any(map(lies_outside, comparisons)):
        return FAILS
    return HOLDS if complete and all(map(lies_inside, comparisons)) else INCONCLUSIVE


def of_marks(cells: int, decided: int, wrong: int, tolerance: float) -> str:
    """Return the verdict on marks of significance, of which some come out differently.

    Parameters
    ----------
    tolerance : float
        The share of all cells, measured or not, beyond which the claim fails.
    """
    if wrong > tolerance * cells:
        return FAILS
    return HOLDS if decided == cells and not wrong else INCONCLUSIVE
