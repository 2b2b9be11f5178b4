"""The facts of the leaderboard, as other files of this folder gather them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from rfbench.escaping import to_json_value
from rfbench.leaderboard.rule import MIN_DATASETS
from rfbench.results.schema import MODEL

# Versions of pandas add in different orders, which changes about the last two of 17 digits.
DIGITS = 10


@dataclass(frozen=True)
class Ratio:
    """A ratio of errors over data sets.

    Attributes
    ----------
    median, low, high : float
        The median over data sets and the ends of its 90 % interval, see
        `rfbench.leaderboard.rule.median_interval`; NaN if there are too few.
    better, datasets : int
        On how many data sets the ratio is below 1, and how many there are.
    mean : float
        The geometric mean, which a few nearly solved data sets decide.
    trimmed : float
        The same without the three data sets whose ratios are farthest from 1; NaN if there is no
        interval.
    """

    median: float
    low: float
    high: float
    better: int
    datasets: int
    mean: float
    trimmed: float


@dataclass(frozen=True)
class Line:
    """What a method is worth at one number of features.

    Attributes
    ----------
    role : str
        ``method``, ``baseline``, or ``model``: no random features, the same at every M.
    ratio : Ratio
        Of its errors to the baseline's.
    search : float
        CPU time of all that was done up to the fitted model, over the baseline's in the same
        trials: the geometric mean over the data sets on which all were timed, or NaN.
    """

    method: str
    role: str
    ratio: Ratio
    search: float


@dataclass(frozen=True)
class Size:
    """The leaderboard at one number of features.

    Attributes
    ----------
    timed : int
        Data sets that the costs are means over, those on which every method was timed.
    lines : tuple of Line
        The smallest median first.
    apart : tuple of pairs of str
        All pairs with a significant difference, the better one first.
    left_out : tuple of str
        Methods without a value on some data sets.
    """

    M: int
    datasets: int
    timed: int
    lines: tuple[Line, ...]
    apart: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]

    @property
    def enough(self) -> bool:
        """Whether there are data sets enough to name a method."""
        return self.datasets >= MIN_DATASETS

    @property
    def methods(self) -> list[Line]:
        """Those with random features."""
        return [line for line in self.lines if line.role != MODEL]

    @property
    def best(self) -> str:
        """The method with features of the smallest median ratio."""
        return self.methods[0].method

    @property
    def leader(self) -> str:
        """The best method, if it is significantly better than all others with features; else empty.

        It is named only where there are data sets enough.
        """
        others = [line.method for line in self.methods[1:]]
        sole = others and all(self.verdict(self.best, name) == "better" for name in others)
        return self.best if sole and self.enough else ""

    def verdict(self, method: str, other: str) -> str:
        """Return what the rule says of a method beside another: better, worse or open."""
        signs = {(method, other): "better", (other, method): "worse"}
        return next((signs[pair] for pair in signs if pair in self.apart), "open")

    def alike(self, method: str) -> list[str]:
        """Return the others from which there is no significant difference."""
        others = [line.method for line in self.lines if line.method != method]
        return [name for name in others if self.verdict(method, name) == "open"]


@dataclass(frozen=True)
class Leaderboard:
    """All facts.

    Attributes
    ----------
    baseline : str
        The method of the rows whose role is ``baseline``: all errors are divided by its errors.
    trials : tuple of int
        The fewest and most trials of a data set, of methods with features.
    unlearnt : tuple of str
        Data sets on which no method learns anything.
    held_out : Ratio or None
        Of the errors of the best method at the largest M, on the held-out tables.
    """

    baseline: str
    folders: tuple[str, ...]
    trials: tuple[int, int]
    unlearnt: tuple[str, ...]
    sizes: tuple[Size, ...]
    held_out: Ratio | None = None

    @property
    def largest(self) -> Size:
        """The size at which a method is named."""
        return self.sizes[-1]


def collect_facts(board: Leaderboard) -> dict[str, Any]:
    """Return the facts as JSON has them: ten digits per number, None for one not finite."""
    sizes = [asdict(size) | {"best": size.best, "leader": size.leader} for size in board.sizes]
    text = json.dumps(to_json_value({**asdict(board), "sizes": sizes}))
    return dict(json.loads(text, parse_float=lambda digits: float(f"{float(digits):.{DIGITS}g}")))
