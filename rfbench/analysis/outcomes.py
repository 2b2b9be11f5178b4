"""What comes of a claim: its comparisons, what is missing, the verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rfbench.analysis.verdicts import CANNOT
from rfbench.papers import Claim

POWERLESS = "more trials do not help"


@dataclass(frozen=True)
class ClaimComparison:
    """One comparison of a claim.

    Attributes
    ----------
    part : int
        Which of the claim's parts.
    dataset, against : str
        The name in the rows, and the other method.
    x, other_x, seconds, joint
        Where, see `rfbench.analysis.paired.Quantity`.
    trials : int
        Number of pairs.
    effect, spread : float
        The mean difference and the standard deviation over the trials; or the geometric mean of the
        quotients and that of their logarithms.
    ratio : float
        See `rfbench.analysis.paired.Quantity`.
    excess : float
        How far the mean lies beyond the bound, below zero inside; of quotients, the logarithm. NaN
        without bounds.
    p_inside, p_outside : float
        Of a mean that is not within its bounds; of one that is not outside, with Holm's correction
        over the claim.
    """

    part: int
    dataset: str
    against: str
    x: int | None
    other_x: int | None
    seconds: float
    joint: str
    trials: int
    effect: float
    spread: float
    ratio: float
    excess: float = math.nan
    p_inside: float = math.nan
    p_outside: float = math.nan


@dataclass(frozen=True)
class Gap:
    """What a part of a claim lacks on a data set of the paper before it can hold.

    `found` of the `wanted` places of the axis are there; with none nothing can be compared.
    """

    part: int
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
