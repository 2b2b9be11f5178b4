"""What comes of a claim: its comparisons, what is missing, the verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rfbench.analysis.paired import Quantity
from rfbench.analysis.verdicts import CANNOT
from rfbench.papers import Claim

POWERLESS = "more trials do not help"


@dataclass(frozen=True)
class ClaimComparison(Quantity):
    """One comparison of a claim: a paired quantity and what the tests say of it.

    Attributes
    ----------
    part : int
        Which of the claim's parts.
    effect : float
        The mean difference, or the geometric mean of the quotients.
    excess : float
        How far the mean lies beyond the bound, below zero inside; of quotients, the logarithm. NaN
        without bounds.
    p_inside, p_outside : float
        Of a mean that is not within its bounds; of one that is not outside, with Holm's correction
        over the claim.
    """

    part: int = 0
    effect: float = math.nan
    excess: float = math.nan
    p_inside: float = math.nan
    p_outside: float = math.nan

    @property
    def trials(self) -> int:
        """The number of pairs."""
        return len(self.values)

    @property
    def spread(self) -> float:
        """The standard deviation over the trials; of quotients, that of their logarithms."""
        return float(self.values.std(ddof=1)) if self.trials > 1 else math.nan


@dataclass(frozen=True)
class Gap:
    """What a claim lacks on a data set of the paper: `found` of `wanted` places of the axis."""

    dataset: str
    method: str
    against: str
    found: int
    wanted: int


@dataclass(frozen=True)
class Outcome:
    """The verdict on a claim under one protocol, and what it rests on.

    Attributes
    ----------
    claim : Claim
    protocol : str
        Empty where nothing was run.
    verdict : str
        One of `rfbench.analysis.verdicts.CLAIM_VERDICTS`.
    comparisons : tuple of ClaimComparison
        All on the paper's own data.
    decisive : ClaimComparison or None
        The least favourable comparison.
    p : float
        Its p-value, of lying within the bounds or, where the claim fails, outside.
    tested, wanted : int
        Data sets on which all is there that the claim speaks of, and those that it speaks of.
    settled_by : float
        Where a comparison is open: with how many trials the claim would be settled, if the present
        means and spreads are the true ones; infinite where with no number. NaN otherwise.
    gaps : tuple of Gap
    undecided : tuple of (str, str)
        Data sets that decide nothing, and why, see `rfbench.analysis.chance`.
    stand_ins : tuple of str
        Data sets that stand in for the paper's, and `on_stand_ins`, the verdict on them alone.
    folders : tuple of str
        Where the rows are, those of stand-ins too.
    """

    claim: Claim
    protocol: str
    verdict: str
    comparisons: tuple[ClaimComparison, ...] = ()
    decisive: ClaimComparison | None = None
    p: float = math.nan
    tested: int = 0
    wanted: int = 0
    settled_by: float = math.nan
    gaps: tuple[Gap, ...] = ()
    undecided: tuple[tuple[str, str], ...] = ()
    stand_ins: tuple[str, ...] = ()
    on_stand_ins: str = ""
    folders: tuple[str, ...] = ()

    @property
    def effect(self) -> float:
        """The effect of the least favourable comparison."""
        return self.decisive.effect if self.decisive else math.nan

    @property
    def trials(self) -> int:
        """The smallest number of trials behind a comparison."""
        return min((one.trials for one in self.comparisons), default=0)

    @property
    def reason(self) -> str:
        """Why it cannot be settled: what the data are, or that more trials do not help the test."""
        if self.verdict != CANNOT:
            return ""
        return POWERLESS if self.comparisons else ", ".join({why for _, why in self.undecided})
