"""One comparison of a claim, and the range of its effect over what a paper does not print."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rfbench.analysis.paired import Quantity


@dataclass(frozen=True)
class EffectRange:
    """By how much the effect of a comparison changes over the keys that a paper does not print.

    `low` and `high` are the smallest and the largest change from the reading, in the same trials;
    of a quotient, of its logarithm. `varied` and `fixed` are the keys that concern the comparison.
    """

    low: float
    high: float
    combinations: int
    varied: tuple[str, ...]
    fixed: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClaimComparison(Quantity):
    """One comparison of a claim: a paired quantity and what the tests say of it."""

    part: int = 0  # which of the claim's parts
    effect: float = math.nan  # the mean difference, or the geometric mean of the quotients
    low: float = math.nan  # of the 90 % interval of the effect
    high: float = math.nan
    excess: float = math.nan  # of the mean over its bound, below 0 inside; of quotients, the log
    p_inside: float = math.nan  # of a mean that is not within its bounds
    p_outside: float = math.nan  # of one that is not outside, Holm's correction over the claim
    over_gaps: EffectRange | None = None  # of the effect, over what the paper does not print
    depends_on: tuple[str, ...] = ()  # what was varied, if its side of a bound changes with it

    @property
    def name(self) -> str:
        """What an audit of the claim calls it: the part, the other method, the place."""
        return " ".join(map(str, filter(None, (self.part + 1, self.against, self.x, self.joint))))

    @property
    def is_varied(self) -> bool:
        """Whether each key that the paper does not print, and that concerns it, was varied."""
        return self.over_gaps is not None and not self.over_gaps.fixed

    @property
    def trials(self) -> int:
        """The number of pairs."""
        return len(self.values)

    @property
    def spread(self) -> float:
        """The standard deviation over the trials; of quotients, that of their logarithms."""
        return float(self.values.std(ddof=1)) if self.trials > 1 else math.nan
