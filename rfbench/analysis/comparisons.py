"""Comparison of two methods for a claim of a paper, and the range of its effect.

The range is over settings that the paper does not state.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rfbench.analysis.paired import Quantity


@dataclass(frozen=True)
class EffectRange:
    """Change of an effect if the settings that a paper does not state are varied.

    The effect is the difference or the quotient of two methods. `low` and `high` are the smallest
    and the largest change, compared with the effect under our default settings in the same trials.
    For a quotient, the changes are changes of its logarithm. `combinations` is the number of
    combinations of settings that were run. `varied` and `fixed` are the names of the unstated
    settings that were varied and that were kept fixed.
    """

    low: float
    high: float
    combinations: int
    varied: tuple[str, ...]
    fixed: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClaimComparison(Quantity):
    """Comparison of two methods for a claim, with the tests against the bounds of the claim.

    The effect is the mean of the paired differences, or the geometric mean of the quotients.
    """

    part: int = 0  # position of the part within the claim, from 0
    effect: float = math.nan  # mean difference, or geometric mean of the quotients
    low: float = math.nan  # lower end of the 90 % interval of `effect`
    high: float = math.nan
    # Distance of the mean effect from the nearest bound of the claim, negative if the mean is
    # inside the bounds. For quotients, the distance is a difference of logarithms.
    excess: float = math.nan
    # P-value of the null hypothesis that the mean effect is not inside the bounds of the claim.
    p_inside: float = math.nan
    # P-value of the null hypothesis that the mean effect is not outside the bounds of the claim.
    # The p-value is corrected for the number of comparisons of the claim by Holm's method.
    p_outside: float = math.nan
    # Range of the effect over settings that the paper does not state. None if they were not varied.
    over_gaps: EffectRange | None = None
    # Names of the varied settings whose values decide if the effect is inside or outside a bound of
    # the claim.
    depends_on: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the comparison: number of the claim's part, second method, M or d, and summary.

        M is the number of features, and d is the number of columns of the data. The summary is a
        name such as "slope over d", if the values summarize a curve.
        """
        return " ".join(map(str, filter(None, (self.part + 1, self.against, self.x, self.joint))))

    @property
    def is_fully_varied(self) -> bool:
        """True if every unstated setting that can change this comparison was varied.

        Unstated settings are settings that the paper does not state.
        """
        return self.over_gaps is not None and not self.over_gaps.fixed

    @property
    def trials(self) -> int:
        """Number of trials with a paired value."""
        return len(self.values)

    @property
    def spread(self) -> float:
        """Standard deviation of the paired values over the trials."""
        return float(self.values.std(ddof=1)) if self.trials > 1 else math.nan
