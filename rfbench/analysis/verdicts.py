"""The rules of the verdicts, with their constants: nothing else decides one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rfbench.analysis.outcomes import ClaimComparison

ALPHA = 0.05
AGREES_POINTS = 0.5
CLOSE_POINTS = 1.0
WIDEST_POINTS = 1.0
HALF_A_DIGIT = 0.005
LEARNT = 0.05  # of R^2

AGREES, CLOSE, DIFFERS = "agrees", "close", "differs"
NOT_JUDGED, NOT_RUN = "not judged", "not run"
HOLDS, FAILS, INCONCLUSIVE = "holds", "fails", "inconclusive"
COMPARED = (AGREES, CLOSE, DIFFERS)
NUMBER_VERDICTS = (*COMPARED, NOT_JUDGED, NOT_RUN)
CLAIM_VERDICTS = (HOLDS, FAILS, INCONCLUSIVE, NOT_RUN)


def of_number(distance: float, half_width: float) -> str:
    """Return the verdict on a number in percent.

    Parameters
    ----------
    distance : float
        Between the measured mean and the published number, in points.
    half_width : float
        Of the interval of their difference, see `interval`; NaN where it is not known.
    """
    distance = round(abs(distance), 9)
    if distance > CLOSE_POINTS:
        return DIFFERS
    if distance <= min(AGREES_POINTS, half_width) and half_width <= WIDEST_POINTS:
        return AGREES
    return CLOSE


def interval(
    published_error: float | None, published_trials: int | None, error: float, trials: int
) -> float:
    """Return half the width of the 95 % interval of a difference of two means, in points.

    Welch's degrees of freedom, or ours alone where the paper does not state its trials; NaN
    where the published standard error is not known or we have fewer than two trials.

    Parameters
    ----------
    published_error, error : float
        Standard errors of the means.
    """
    from scipy.special import stdtrit

    if published_error is None or trials < 2:
        return math.nan
    variance, freedom = published_error**2 + error**2, trials - 1.0
    if variance == 0:
        return HALF_A_DIGIT
    if published_trials:
        spread = error**4 / (trials - 1) + published_error**4 / (published_trials - 1)
        freedom = variance**2 / spread
    return float(stdtrit(freedom, 0.975)) * math.sqrt(variance) + HALF_A_DIGIT


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
