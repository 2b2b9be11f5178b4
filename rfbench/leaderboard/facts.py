"""The facts of the leaderboard, as other files of this folder gather them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rfbench.analysis.verdicts import ALPHA, POWER
from rfbench.escaping import json_value
from rfbench.leaderboard.rule import DRAWS, LEVEL, SEED, SIGNS
from rfbench.results.schema import MODEL


@dataclass(frozen=True)
class Line:
    """What a method is worth at one number of features.

    Attributes
    ----------
    ratio, low, high : float
        Geometric mean over data sets of the error over the baseline's, and the ends of its 90 %
        bootstrap interval over data sets.
    median : float
        The median over data sets, which a few nearly solved ones do not move.
    search : float
        CPU seconds of all that was done up to the fitted model, geometric mean over the data sets
        on which all were timed, in the latest such trial. NaN where not measured.
    predict : float
        CPU milliseconds per 1,000 rows, likewise.
    against : str
        ``better``, ``worse`` or ``open``: what the rule says of it and the baseline.
    with_best : bool
        Whether it is not significantly different from the smallest ratio.
    role : str
        ``method``, ``baseline``, or ``model``: without features, the same at every M.
    """

    method: str
    ratio: float
    low: float
    high: float
    median: float
    search: float
    predict: float
    against: str
    with_best: bool
    role: str

    @property
    def reference(self) -> bool:
        """Whether it has no features."""
        return self.role == MODEL


@dataclass(frozen=True)
class Interval:
    """A geometric mean over data sets with its bootstrap interval."""

    ratio: float
    low: float
    high: float
    datasets: int


@dataclass(frozen=True)
class Size:
    """The leaderboard at one number of features.

    Attributes
    ----------
    timed : int
        Data sets that the costs are means over, those on which every method was timed.
    needed : int
        Data sets from which on a method may be named, see `datasets_needed`.
    leader : str
        The method of the smallest ratio, if it is significantly different from all others and
        there are data sets enough; else empty.
    best : str
        The method with features of the smallest ratio.
    apart : tuple of pairs of str
        All pairs with a significant difference, the better one first.
    """

    M: int
    datasets: int
    timed: int
    needed: int
    best: str
    leader: str
    lines: tuple[Line, ...]
    apart: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]  # methods without a value on some data sets
    gaps: tuple[str, ...]  # data sets without a value of some method

    @property
    def enough(self) -> bool:
        """Whether there are data sets enough to name a method."""
        return self.datasets >= self.needed


@dataclass(frozen=True)
class Known:
    """What is known of data sets beside their rows, by their names.

    Attributes
    ----------
    set_aside : dict
        Why one does not count.
    twins : dict
        The one that it is a twin of.
    """

    set_aside: Mapping[str, str] = field(default_factory=dict)
    twins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Enough:
    """Features at their best, as the folds say, against searched boosting.

    Attributes
    ----------
    overall : Interval
        Of the error over boosting's.
    better : int
        Data sets on which features have the smaller error.
    features_hours, boosting_hours : float
        CPU hours of the searches of all methods, and of boosting's, in trials that have them all.
    at_edge : float
        Share of boosting's choices with a value at an edge of those tried; NaN if not recorded.
    """

    overall: Interval
    better: int
    features_hours: float
    boosting_hours: float
    at_edge: float


@dataclass(frozen=True)
class Leaderboard:
    """All facts.

    Attributes
    ----------
    baseline : str
        The method of the rows whose role is ``baseline``: all errors are divided by its errors.
    trials, reference_trials : tuple of int
        The fewest and most trials of a data set, of methods with features and of those without.
    planned : tuple of int
        Data sets and trials per data set that the configuration asks for; zeros if not known.
    measured : int
        Data sets that count, twins as one.
    set_aside : dict
        Data sets that do not count, by why.
    unlearnt : tuple of str
        Data sets on which no method learns anything.
    held_out : Interval or None
        Of the errors of the best method at the largest M, on tables that take no part.
    edge : float
        Share of trials whose bandwidth is at an edge of those tried; NaN if not recorded.
    """

    baseline: str
    folders: tuple[str, ...]
    trials: tuple[int, int]
    reference_trials: tuple[int, int]
    planned: tuple[int, int]
    measured: int
    set_aside: Mapping[str, str]
    unlearnt: tuple[str, ...]
    edge: float
    sizes: tuple[Size, ...]
    enough: Enough | None = None
    held_out: Interval | None = None

    @property
    def largest(self) -> Size:
        """The size at which a method is named."""
        return self.sizes[-1]


def facts(board: Leaderboard) -> dict[str, Any]:
    """Return the facts as JSON has them: what is not finite is None."""
    return dict(json_value({"rule": RULE, **asdict(board)}))


RULE = {
    "test": "sign flips over data sets of the largest sum of signed ranks of all pairs",
    "alpha": ALPHA,
    "interval": LEVEL,
    "draws": DRAWS,
    "signs": SIGNS,
    "seed": SEED,
    "power": POWER,
}
