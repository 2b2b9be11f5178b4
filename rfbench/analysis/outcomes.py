"""What comes of a claim: its comparisons, what is missing, the verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rfbench.papers import Claim


@dataclass(frozen=True)
class ClaimComparison:
    """One comparison of a claim, with its p-values after Holm's correction.

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
    effect : float
        The mean difference, or the geometric mean of the quotients.
    excess : float
        How far the mean lies beyond the bound, below zero inside; of quotients, the logarithm.
    p_inside, p_outside : float
        Of a mean that is not within its bounds, and of one that is not outside.
    enough : bool
        Whether so many trials could be significant by a sign test.
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
    excess: float
    p_inside: float
    p_outside: float
    enough: bool = False


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
class Mark:
    """A cell that a paper marks as significant or not, and how the test came out here.

    `significant` is None where too few trials decide nothing.
    """

    dataset: str
    method: str
    M: str
    marked: bool
    significant: bool | None


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
    effect, p : float
        Of the comparison that decides: its effect, and its corrected p-value, of lying within the
        bounds or, where the claim fails, outside. Of marks, the share that came out.
    compared, held, trials : int
        How many comparisons there are, how many are significantly within their bounds, and the
        smallest number of trials.
    decisive : ClaimComparison or None
        The least favourable comparison.
    comparisons : tuple of ClaimComparison
        All on the paper's own data.
    gaps : tuple of Gap
    marks : tuple of Mark
    unlearnt : tuple of str
        Data sets on which no method learns anything; they decide nothing.
    stand_ins : tuple of str
        Data sets that stand in for the paper's, and `on_stand_ins`, the verdict on them alone.
    folders : tuple of str
        Where the rows are, those of stand-ins too.
    """

    claim: Claim
    protocol: str
    verdict: str
    effect: float = math.nan
    p: float = math.nan
    compared: int = 0
    held: int = 0
    trials: int = 0
    decisive: ClaimComparison | None = None
    comparisons: tuple[ClaimComparison, ...] = ()
    gaps: tuple[Gap, ...] = ()
    marks: tuple[Mark, ...] = ()
    unlearnt: tuple[str, ...] = ()
    stand_ins: tuple[str, ...] = ()
    on_stand_ins: str = ""
    folders: tuple[str, ...] = ()
