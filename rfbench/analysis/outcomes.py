"""Outcome of a claim: its comparisons, their ranges over unstated settings, and the verdict."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from rfbench.analysis.comparisons import ClaimComparison
from rfbench.analysis.verdicts import (
    CANNOT,
    DEPENDS,
    FAILS,
    HOLDS,
    HOLDS_TESTED,
    IN_PART,
    UNVARIED,
    lies_inside,
    lies_outside,
)
from rfbench.papers.models import CORRECTED, PRINTED, Claim, Part

Unit = Literal["points", "%"]
# Function of a claim and one of its comparisons. It returns the comparison with the range of its
# effect, if it is known.
Effect = Callable[[Claim, ClaimComparison], ClaimComparison]


def return_no_effect(_: Claim, comparison: ClaimComparison) -> ClaimComparison:
    """Return the comparison unchanged; this is the `Effect` if no setting was varied."""
    return comparison


@dataclass(frozen=True)
class Outcome:
    """Verdict on a claim under one protocol, and its evidence."""

    claim: Claim
    protocol: str  # empty if nothing was run
    verdict: str  # one of `rfbench.analysis.verdicts`
    comparisons: tuple[ClaimComparison, ...] = ()  # all comparisons on the paper's own data
    decisive: ClaimComparison | None = None  # comparison that decides the verdict
    # p-value of the decisive comparison: inside the bounds, or outside if the claim fails
    p: float = math.nan
    tested: int = 0  # number of complete data sets of the claim
    wanted: int = 0  # number of data sets of the claim
    # Data sets without all comparisons: the metric and the other method of each missing one.
    missing: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    # data sets on which nothing is decided, with the reason of `rfbench.analysis.chance`
    undecided: tuple[tuple[str, str], ...] = ()
    stand_ins: tuple[str, ...] = ()  # substitutes for the paper's data sets
    on_stand_ins: str = ""  # verdict on the substitutes alone
    # Data sets on which a published number of a compared method differs, with the largest
    # difference, in points or in percent of a number that is not a percentage.
    differing: tuple[tuple[str, float, Unit], ...] = ()
    unjudged: str = ""  # why a claim of a paper that is not part of rfbench has no verdict

    @property
    def part(self) -> Part | None:
        """Part of the decisive comparison."""
        return self.claim.parts[self.decisive.part] if self.decisive else None

    @property
    def inside(self) -> int:
        """Number of comparisons that are significantly inside their bounds."""
        return sum(map(lies_inside, self.comparisons))

    @property
    def outside(self) -> int:
        """Number of comparisons that are significantly outside their bounds."""
        return sum(map(lies_outside, self.comparisons))

    @property
    def unvaried(self) -> bool:
        """True if the verdict depends on an interpretation of the text that was not fully varied.

        A claim that holds depends on all of its comparisons. A claim that fails needs one
        comparison that is outside its bounds over all settings that the paper leaves open.
        """
        if self.protocol not in (PRINTED, CORRECTED):
            return False
        if self.verdict in (HOLDS, HOLDS_TESTED):
            return not all(one.is_varied for one in self.comparisons)
        outside = filter(lies_outside, self.comparisons)
        firm = any(one.is_varied and not one.depends_on for one in outside)
        return self.verdict in (IN_PART, FAILS) and not firm

    @property
    def label(self) -> str:
        """Verdict, with a mark if it is `unvaried`."""
        return self.verdict + UNVARIED * self.unvaried

    @property
    def least_favourable(self) -> list[ClaimComparison]:
        """All comparisons: the decisive one, then those outside their bounds, farthest first."""
        return sorted(
            self.comparisons,
            key=lambda one: (one is not self.decisive, not lies_outside(one), -one.excess),
        )

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Unstated settings on which the verdict depends."""
        if self.verdict != DEPENDS:
            return ()
        decide = list(filter(lies_outside, self.comparisons)) or self.comparisons
        keys = (one.depends_on for one in decide)
        return tuple(dict.fromkeys(itertools.chain(*keys)))

    @property
    def effect(self) -> float:
        """Effect of the decisive comparison."""
        return self.decisive.effect if self.decisive else math.nan

    @property
    def trials(self) -> int:
        """Smallest number of trials of a comparison."""
        return min((comparison.trials for comparison in self.comparisons), default=0)

    @property
    def reason(self) -> str:
        """Reason why the data are inconclusive."""
        if self.verdict != CANNOT:
            return ""
        return ", ".join(dict.fromkeys(why for _, why in self.undecided))
