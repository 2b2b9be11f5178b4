"""Data classes for the results of the leaderboard."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from rfbench.escaping import to_json_value
from rfbench.leaderboard.rule import MIN_DATASETS
from rfbench.results.schema import MODEL

# Number of significant digits of numbers in JSON files. Versions of pandas differ in the order of
# additions, which changes about the last two of 17 digits. The value was chosen without a
# measurement. With half this value, small differences between methods would be lost.
DIGITS = 10


@dataclass(frozen=True)
class Ratio:
    """Error of a method divided by the error of the baseline, summarized over data sets.

    Attributes
    ----------
    median : float
        Median of the ratio over data sets.
    low, high : float
        Ends of the 90 % confidence interval of the median; NaN if there are too few data sets.
    better : int
        Number of data sets on which the ratio is below 1.
    datasets : int
        Number of all data sets.
    mean : float
        Geometric mean of the ratio over data sets. A few data sets with very small errors have a
        large influence on this mean.
    trimmed : float
        Geometric mean without the three data sets whose ratios are farthest from 1; NaN if there
        are too few data sets.
    """

    median: float
    low: float
    high: float
    better: int
    datasets: int
    mean: float
    trimmed: float


@dataclass(frozen=True)
class MethodResult:
    """Errors and costs of one method at one number of features.

    Attributes
    ----------
    method : str
        Name of the method.
    role : str
        ``method``, ``baseline``, or ``model``. A model has no random features, so its errors are
        the same at every M.
    ratio : Ratio
        Errors of the method divided by the errors of the baseline.
    search : float
        CPU time of the hyperparameter search and the fit, divided by the time of the baseline in
        the same trials. The value is the geometric mean over data sets, or NaN if it is not known.
    """

    method: str
    role: str
    ratio: Ratio
    search: float


@dataclass(frozen=True)
class SizeResult:
    """Errors and costs of all methods at one number of features.

    Attributes
    ----------
    M : int
        Number of features.
    datasets : int
        Number of data sets.
    timed : int
        Number of data sets on which every method was timed. Mean times are computed over these data
        sets.
    lines : tuple of MethodResult
        Results of the methods, sorted by the median ratio of errors, the smallest first.
    apart : tuple of pairs of str
        Pairs of methods with a significant difference. The better method is first in each pair.
    left_out : tuple of str
        Methods that were dropped because values are missing on too many data sets.
    """

    M: int
    datasets: int
    timed: int
    lines: tuple[MethodResult, ...]
    apart: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]

    @property
    def has_enough_datasets(self) -> bool:
        """True if there are at least `MIN_DATASETS` data sets, enough to name a best method."""
        return self.datasets >= MIN_DATASETS

    @property
    def methods(self) -> list[MethodResult]:
        """Results of the methods with random features."""
        return [line for line in self.lines if line.role != MODEL]

    @property
    def best(self) -> str:
        """Name of the method with random features that has the smallest median ratio of errors."""
        return self.methods[0].method

    @property
    def leader(self) -> str:
        """Name of the method that is significantly better than all other methods.

        Only methods with random features are compared. The name is an empty string if there is no
        such method, or if there are too few data sets.
        """
        others = [line.method for line in self.methods[1:]]
        sole = others and all(self.find_verdict(self.best, name) == "better" for name in others)
        return self.best if sole and self.has_enough_datasets else ""

    def find_verdict(self, method: str, other: str) -> str:
        """Return ``better`` or ``worse`` if `method` differs significantly from `other`.

        The verdict is ``open`` if the difference is not significant.
        """
        signs = {(method, other): "better", (other, method): "worse"}
        return next((signs[pair] for pair in signs if pair in self.apart), "open")

    def list_undecided_methods(self, method: str) -> list[str]:
        """Return the methods that do not differ significantly from `method`."""
        others = [line.method for line in self.lines if line.method != method]
        return [name for name in others if self.find_verdict(method, name) == "open"]


@dataclass(frozen=True)
class Leaderboard:
    """Results of the leaderboard at all numbers of features.

    Attributes
    ----------
    baseline : str
        Name of the baseline. The errors of all methods are divided by the errors of this method.
    folders : tuple of str
        Results folders from which the errors were read.
    trials : tuple of int
        Smallest and largest number of trials of a method with random features on a data set.
    unlearnt : tuple of str
        Data sets on which no method is better than chance.
    sizes : tuple of SizeResult
        Results at each number of features, in increasing order.
    held_out : Ratio or None
        Errors of the best method on held-out data sets, divided by the errors of the baseline, at
        the largest number of features.
    """

    baseline: str
    folders: tuple[str, ...]
    trials: tuple[int, int]
    unlearnt: tuple[str, ...]
    sizes: tuple[SizeResult, ...]
    held_out: Ratio | None = None

    @property
    def largest(self) -> SizeResult:
        """Results at the largest number of features."""
        return self.sizes[-1]


def collect_leaderboard_facts(board: Leaderboard) -> dict[str, Any]:
    """Return the leaderboard as a dictionary that can be written as JSON.

    Numbers are rounded to `DIGITS` significant digits. NaN and infinity are replaced by None.
    """
    sizes = [asdict(size) | {"best": size.best, "leader": size.leader} for size in board.sizes]
    text = json.dumps(to_json_value({**asdict(board), "sizes": sizes}))
    return dict(json.loads(text, parse_float=lambda digits: float(f"{float(digits):.{DIGITS}g}")))
