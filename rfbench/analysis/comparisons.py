"""One comparison of a claim, and the range of its effect over unstated settings."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rfbench.analysis.paired import Quantity


@dataclass(frozen=True)
class EffectRange:
    """Change of the effect of a comparison over the settings that a paper does not state.

    `low` and `high` are the smallest and the largest change relative to the effect with our default
    settings, in the same trials. For a quotient, they are changes of its logarithm. `varied` and
    `fixed` are the settings that concern the comparison.
    """

    low: float
    high: float
    combinations: int
    varied: tuple[str, ...]
    fixed: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClaimComparison(Quantity):
    """Comparison of a claim: a paired quantity with its test results."""

    part: int = 0  # index of the part of the claim
    effect: float = math.nan  # mean difference, or geometric mean of the quotients
    low: float = math.nan  # 90 % interval of the effect
    high: float = math.nan
    # distance of the mean from its bound, negative inside the bounds; logarithmic for quotients
    excess: float = math.nan
    p_inside: float = math.nan  # p-value of the hypothesis that the mean is not inside its bounds
    # p-value of the hypothesis that the mean is not outside, with Holm's correction over the claim
    p_outside: float = math.nan
    over_gaps: EffectRange | None = None  # range of the effect over unstated settings
    depends_on: tuple[str, ...] = ()  # varied settings, if they change the side of a bound

    @property
    def name(self) -> str:
        """Name of the comparison in an audit of the claim: part, other method, place."""
        return " ".join(map(str, filter(None, (self.part + 1, self.against, self.x, self.joint))))

    @property
    def is_varied(self) -> bool:
        """True if all unstated settings that concern the comparison were varied."""
        return self.over_gaps is not None and not self.over_gaps.fixed

    @property
    def trials(self) -> int:
        """Number of pairs."""
        return len(self.values)

    @property
    def spread(self) -> float:
        """Standard deviation over the trials; for quotients, of their logarithms."""
        return float(self.values.std(ddof=1)) if self.trials > 1 else math.nan
