"""Outcome of a claim of a paper: the verdict, and the comparisons on which it is based."""

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
    is_inside_bounds,
    is_outside_bounds,
)
from rfbench.papers.models import CORRECTED, PRINTED, Claim, Part

Unit = Literal["points", "%"]
# Type of a function that gets a claim and one of its comparisons. The function returns the
# comparison with the range of its effect over settings that the paper does not state, if the range
# is known.
Effect = Callable[[Claim, ClaimComparison], ClaimComparison]


def return_comparison_unchanged(_: Claim, comparison: ClaimComparison) -> ClaimComparison:
    """Return `comparison` unchanged, because no setting that the paper leaves open was varied."""
    return comparison


@dataclass(frozen=True)
class Outcome:
    """Verdict on a claim of a paper, with the comparisons of methods that support the verdict.

    An outcome is for one protocol, the source of the settings of the runs.
    """

    claim: Claim
    # Name of the protocol of the judged runs, or "" if nothing was run.
    protocol: str
    # Verdict on the claim, such as HOLDS or FAILS (constants of `rfbench.analysis.verdicts`).
    verdict: str
    # All comparisons on the data sets of the paper. Substitutes for missing data sets are excluded.
    comparisons: tuple[ClaimComparison, ...] = ()
    # The comparison that decides the verdict.
    decisive: ClaimComparison | None = None
    # P-value of the decisive comparison: `p_outside` if the claim fails, otherwise `p_inside`.
    p: float = math.nan
    # Number of data sets with result rows for all comparisons of the claim.
    tested: int = 0
    # Number of data sets that the claim mentions.
    wanted: int = 0
    # Maps each data set that lacks comparisons to its missing comparisons. A missing comparison is
    # a pair of a metric and the method to compare with.
    missing: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    # Data sets on which the claim cannot be decided, each with the reason (see
    # `rfbench.analysis.chance`).
    undecided: tuple[tuple[str, str], ...] = ()
    # Names of the data sets that were measured as substitutes for the paper's data sets.
    stand_ins: tuple[str, ...] = ()
    # Verdict on the claim that is computed from the substitutes only.
    on_stand_ins: str = ""
    # Data sets on which our result for a compared method differs from the published number. Each
    # entry has the largest difference, in points for percentages and in percent of the published
    # number otherwise.
    differing: tuple[tuple[str, float, Unit], ...] = ()
    unjudged: str = ""  # reason why a claim of a paper that is not part of rfbench has no verdict

    @property
    def part(self) -> Part | None:
        """Part of the claim to which the comparison that decides the verdict belongs."""
        return self.claim.parts[self.decisive.part] if self.decisive else None

    @property
    def n_inside_bounds(self) -> int:
        """Number of comparisons whose effect is significantly inside the bounds of the claim."""
        return sum(map(is_inside_bounds, self.comparisons))

    @property
    def n_outside_bounds(self) -> int:
        """Number of comparisons whose effect is significantly outside the bounds of the claim."""
        return sum(map(is_outside_bounds, self.comparisons))

    @property
    def has_unvaried_settings(self) -> bool:
        """True if the verdict may depend on unstated settings that were not varied.

        Unstated settings are settings that the paper does not state. If the claim holds, the result
        is True unless they were varied for every comparison. If the claim fails, the result is True
        unless one comparison is outside its bounds under all values of the unstated settings.
        """
        if self.protocol not in (PRINTED, CORRECTED):
            return False
        if self.verdict in (HOLDS, HOLDS_TESTED):
            return not all(one.is_fully_varied for one in self.comparisons)
        outside = filter(is_outside_bounds, self.comparisons)
        firm = any(one.is_fully_varied and not one.depends_on for one in outside)
        return self.verdict in (IN_PART, FAILS) and not firm

    @property
    def label(self) -> str:
        """Verdict on the claim, followed by ", not varied" if `has_unvaried_settings` is True."""
        return self.verdict + UNVARIED * self.has_unvaried_settings

    @property
    def sorted_comparisons(self) -> list[ClaimComparison]:
        """All comparisons, sorted by their importance for the verdict.

        The comparison that decides the verdict comes first. The comparisons outside their bounds
        follow, then all others. Within each of these two groups, comparisons that are farthest
        outside come first.
        """
        return sorted(
            self.comparisons,
            key=lambda one: (one is not self.decisive, not is_outside_bounds(one), -one.excess),
        )

    @property
    def deciding_settings(self) -> tuple[str, ...]:
        """Names of the settings that the paper does not state and on which the verdict depends."""
        if self.verdict != DEPENDS:
            return ()
        decide = list(filter(is_outside_bounds, self.comparisons)) or self.comparisons
        keys = (one.depends_on for one in decide)
        return tuple(dict.fromkeys(itertools.chain(*keys)))

    @property
    def effect(self) -> float:
        """Effect in the comparison that decides the verdict, or NaN if there is no comparison."""
        return self.decisive.effect if self.decisive else math.nan

    @property
    def trials(self) -> int:
        """Smallest number of trials over all comparisons of the claim."""
        return min((comparison.trials for comparison in self.comparisons), default=0)

    @property
    def reason(self) -> str:
        """Reason why an inconclusive claim cannot be decided. It is empty for other verdicts."""
        if self.verdict != CANNOT:
            return ""
        return ", ".join(dict.fromkeys(why for _, why in self.undecided))
