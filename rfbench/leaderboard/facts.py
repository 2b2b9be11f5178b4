"""Data classes for the facts of the leaderboard."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from rfbench.escaping import to_json_value
from rfbench.leaderboard.rule import MIN_DATASETS
from rfbench.results.schema import MODEL

# Number of significant digits in JSON. Versions of pandas add numbers in different orders, which
# changes about the last two of 17 digits.
DIGITS = 10


@dataclass(frozen=True)
class Ratio:
    """Ratio of errors to the baseline, summarized over data sets.

    Attributes
    ----------
    median, low, high : float
        Median over data sets and the ends of its 90 % interval, see
        `rfbench.leaderboard.rule.median_interval`; the ends are NaN if there are too few.
    better, datasets : int
        Number of data sets on which the ratio is below 1, and number of data sets.
    mean : float
        Geometric mean, which a few nearly solved data sets dominate.
    trimmed : float
        Geometric mean without the three data sets whose ratios are farthest from 1; NaN if there
        is no interval.
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
    """Errors and costs of one method at one number of features.

    Attributes
    ----------
    method : str
        Name of the method.
    role : str
        ``method``, ``baseline``, or ``model`` (no random features, the same at every M).
    ratio : Ratio
        Ratio of its errors to the baseline's.
    search : float
        CPU time up to the fitted model, including the search, divided by the baseline's in the
        same trials: the geometric mean over the data sets on which all were timed, or NaN.
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
    M : int
        Number of features.
    datasets : int
        Number of data sets.
    timed : int
        Number of data sets on which every method was timed; costs are means over these.
    lines : tuple of Line
        Methods, the smallest median first.
    apart : tuple of pairs of str
        Pairs with a significant difference, the better method first.
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
        """True if there are enough data sets to name a best method."""
        return self.datasets >= MIN_DATASETS

    @property
    def methods(self) -> list[Line]:
        """Methods with random features."""
        return [line for line in self.lines if line.role != MODEL]

    @property
    def best(self) -> str:
        """The random-feature method with the smallest median ratio of errors."""
        return self.methods[0].method

    @property
    def leader(self) -> str:
        """The best method, if it is significantly better than all other random-feature methods.

        Otherwise, and if there are not enough data sets, it is an empty string.
        """
        others = [line.method for line in self.methods[1:]]
        sole = others and all(self.verdict(self.best, name) == "better" for name in others)
        return self.best if sole and self.enough else ""

    def verdict(self, method: str, other: str) -> str:
        """Return the verdict on a method compared with `other`: better, worse or open."""
        signs = {(method, other): "better", (other, method): "worse"}
        return next((signs[pair] for pair in signs if pair in self.apart), "open")

    def alike(self, method: str) -> list[str]:
        """Return the methods from which `method` does not differ significantly."""
        others = [line.method for line in self.lines if line.method != method]
        return [name for name in others if self.verdict(method, name) == "open"]


@dataclass(frozen=True)
class Leaderboard:
    """All facts of the leaderboard.

    Attributes
    ----------
    baseline : str
        Method whose role is ``baseline``: all errors are divided by its errors.
    folders : tuple of str
        Results folders of the rows.
    trials : tuple of int
        Smallest and largest number of trials of a data set, for methods with features.
    unlearnt : tuple of str
        Data sets on which no method is better than chance.
    sizes : tuple of Size
        Comparison at each number of features.
    held_out : Ratio or None
        Errors of the best method at the largest M, on the held-out tables.
    """

    baseline: str
    folders: tuple[str, ...]
    trials: tuple[int, int]
    unlearnt: tuple[str, ...]
    sizes: tuple[Size, ...]
    held_out: Ratio | None = None

    @property
    def largest(self) -> Size:
        """The size at which the page names a best method."""
        return self.sizes[-1]


def collect_facts(board: Leaderboard) -> dict[str, Any]:
    """Return the facts for JSON: numbers with ten digits, None for numbers that are not finite."""
    sizes = [asdict(size) | {"best": size.best, "leader": size.leader} for size in board.sizes]
    text = json.dumps(to_json_value({**asdict(board), "sizes": sizes}))
    return dict(json.loads(text, parse_float=lambda digits: float(f"{float(digits):.{DIGITS}g}")))
