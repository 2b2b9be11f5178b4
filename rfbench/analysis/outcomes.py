"""What comes of a claim: its comparisons, also over what is not printed, and the verdict."""

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
# Of a claim and one of its comparisons: the same, with the range of its effect if it is known.
Effect = Callable[[Claim, ClaimComparison], ClaimComparison]


def return_no_effect(_: Claim, comparison: ClaimComparison) -> ClaimComparison:
    """Return a comparison as it is: the `Effect` if nothing was varied."""
    return comparison


@dataclass(frozen=True)
class Outcome:
    """The verdict on a claim under one protocol, and what it rests on."""

    claim: Claim
    protocol: str  # empty where nothing was run
    verdict: str  # one of `rfbench.analysis.verdicts`
    comparisons: tuple[ClaimComparison, ...] = ()  # all on the paper's own data
    decisive: ClaimComparison | None = None  # the least favourable comparison
    p: float = math.nan  # of that: of lying within the bounds, or outside where the claim fails
    tested: int = 0  # data sets on which all is there that the claim speaks of
    wanted: int = 0  # data sets that it speaks of
    # By data set that lacks a comparison, or places of one: its metric and the other method.
    missing: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    undecided: tuple[tuple[str, str], ...] = ()  # data sets, and why, see `rfbench.analysis.chance`
    stand_ins: tuple[str, ...] = ()  # data sets that stand in for the paper's
    on_stand_ins: str = ""  # the verdict on them alone
    # Data sets on which a published number of a compared method differs, and by how much at most,
    # in points or, if it is no percentage, in percent of it.
    differing: tuple[tuple[str, float, Unit], ...] = ()
    unjudged: str = ""  # why a claim of a paper that is not part of rfbench has no verdict

    @property
    def part(self) -> Part | None:
        """That of the least favourable comparison."""
        return self.claim.parts[self.decisive.part] if self.decisive else None

    @property
    def inside(self) -> int:
        """How many comparisons lie significantly inside their bounds."""
        return sum(map(lies_inside, self.comparisons))

    @property
    def outside(self) -> int:
        """How many lie significantly outside."""
        return sum(map(lies_outside, self.comparisons))

    @property
    def unvaried(self) -> bool:
        """Whether the verdict rests on a reading of the text of which not all was varied.

        A claim that holds rests on each of its comparisons. One that fails rests on those outside:
        on one of them that stays there over all that the paper leaves open.
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
        """The verdict, with a mark if it is `unvaried`."""
        return self.verdict + UNVARIED * self.unvaried

    @property
    def least_favourable(self) -> list[ClaimComparison]:
        """All comparisons: the one that decides, then those outside, farthest first."""
        return sorted(
            self.comparisons,
            key=lambda one: (one is not self.decisive, not lies_outside(one), -one.excess),
        )

    @property
    def depends_on(self) -> tuple[str, ...]:
        """What the paper leaves open and the verdict depends on."""
        if self.verdict != DEPENDS:
            return ()
        decide = list(filter(lies_outside, self.comparisons)) or self.comparisons
        keys = (one.depends_on for one in decide)
        return tuple(dict.fromkeys(itertools.chain(*keys)))

    @property
    def effect(self) -> float:
        """The effect of the least favourable comparison."""
        return self.decisive.effect if self.decisive else math.nan

    @property
    def trials(self) -> int:
        """The smallest number of trials behind a comparison."""
        return min((comparison.trials for comparison in self.comparisons), default=0)

    @property
    def reason(self) -> str:
        """Why the data are inconclusive."""
        if self.verdict != CANNOT:
            return ""
        return ", ".join(dict.fromkeys(why for _, why in self.undecided))
