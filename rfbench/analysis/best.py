"""Best method on each data set, and the lines of a table that are best or tied for best."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rfbench.analysis.frame import Collection
from rfbench.analysis.naming import format_dataset_name
from rfbench.analysis.paired import Trials
from rfbench.analysis.statistics import paired_t_test
from rfbench.analysis.summary import BASELINE, SMALLER_IS_BETTER, find_x_axis, summarize_collection
from rfbench.results import Results

# Coverage of the confidence interval of paired differences: 1 - 2 ALPHA, as for the verdicts. A
# method ties with the best method if this interval contains 0. If the probability outside the
# interval is halved (coverage 0.95), more methods tie with the best method.
TIE_LEVEL = 0.90


@dataclass(frozen=True)
class Point:
    """Comparison of two methods at one value of the x axis.

    Attributes
    ----------
    x : float or str
        Value on the x axis, such as the number of features. It is a string if it is not a number.
    first, second : pairs of float
        Mean and standard error of the metric for each method. The standard error is NaN for a
        single trial. Both numbers of `second` are NaN if there is no second method.
    verdict : str
        Verdict on the first method: ``better`` or ``worse`` if the interval of the paired
        differences excludes zero, otherwise ``alike``. It is empty if the methods have fewer than
        two trials in common.
    """

    x: Any
    first: tuple[float, float]
    second: tuple[float, float]
    verdict: str


@dataclass(frozen=True)
class FirstAnswer:
    """Best method on a data set, compared with plain random features or the second best method.

    The best method has the best mean at any value of the x axis. It is selected with the same test
    rows that are used in the comparison, so its advantage is optimistic. If plain random features
    are best, they are compared with the second best method.
    """

    dataset: str
    metric: str
    axis: str
    method: str
    other: str  # label of the other method, empty if there is only one method
    trials: int
    points: tuple[Point, ...]

    def _find_x_values(self, verdict: str) -> list[Point]:
        """Return the points at which the first method has the given verdict, such as ``better``."""
        return [point for point in self.points if point.verdict == verdict]

    def find_x_ranges(self, verdict: str) -> list[tuple[Any, Any]]:
        """Return the intervals of the x axis in which the first method has the given verdict.

        Each interval is a pair of the first and the last x of neighboring points.
        """
        by_verdict = itertools.groupby(self.points, lambda point: point.verdict)
        runs = [[point.x for point in run] for seen, run in by_verdict if seen == verdict]
        return [(run[0], run[-1]) for run in runs]

    @property
    def has_numeric_axis(self) -> bool:
        """True if all values on the x axis are numbers, not text."""
        return all(not isinstance(point.x, str) for point in self.points)

    @property
    def point_of_largest_difference(self) -> Point:
        """Point at which the means of the two methods differ most.

        Points with the verdict ``better`` are searched first, then points with the verdict
        ``worse``. If there are neither, the last point is returned.
        """
        among = (
            self._find_x_values("better") or self._find_x_values("worse") or list(self.points)[-1:]
        )
        return max(among, key=lambda point: abs(point.second[0] - point.first[0]))


def compare_best_methods(collection: Collection, results: Results) -> list[FirstAnswer]:
    """Compare the best method on each data set with a second method.

    Return a `FirstAnswer` for each data set that has a successful trial.
    """
    table = summarize_collection(collection, results)
    if table.empty:
        return []
    table = table[table["trials"] > 0]
    return [_answer(collection, part, find_x_axis(results)) for _, part in table.groupby("dataset")]


def _answer(collection: Collection, part: pd.DataFrame, varied: str) -> FirstAnswer:
    metric = str(part["metric"].iloc[0])
    larger = metric in SMALLER_IS_BETTER
    ordered = part.sort_values("mean", ascending=not larger, kind="stable")
    best, *others = ordered["method"].drop_duplicates()
    other = BASELINE if BASELINE in others else (others or [""])[0]
    if best == BASELINE and other:
        best, other = other, best
    points = []
    for x, here in part.sort_values("x", kind="stable").groupby("x", sort=False, dropna=False):
        lines = here.drop_duplicates("method").set_index("method")
        if best not in lines.index or (other and other not in lines.index):
            continue
        verdict, second = "", (np.nan, np.nan)
        if other:
            values = Trials(
                collection, lines.loc[[best, other], "group"].to_numpy()
            ).tabulate_metric(metric)
            low, high = paired_t_test(values[:, 0], values[:, 1]).compute_confidence_interval(
                TIE_LEVEL
            )
            signs = "alike" if low <= 0 <= high else ("better" if (low > 0) == larger else "worse")
            verdict = "" if np.isnan(low) else signs
            second = (float(lines["mean"][other]), float(lines["se"][other]))
        first = (float(lines["mean"][best]), float(lines["se"][best]))
        points.append(Point(x, first, second, verdict))
    trials = int(part["trials"].max())
    return FirstAnswer(
        format_dataset_name(part), metric, varied, best, other, trials, tuple(points)
    )


def is_best_or_tied(collection: Collection, table: pd.DataFrame) -> pd.Series[bool]:
    """Return True for each line of a table that is best, or tied with the best line.

    Lines with the same data set and the same ``x`` are compared. A line ties with the best line if
    the confidence interval of their paired differences, with coverage `TIE_LEVEL`, contains zero.
    If there is a single method, or if the best line has no trial in common with another line, no
    line is marked.

    Parameters
    ----------
    collection : Collection
        Rows of the table.
    table : DataFrame
        Lines of `rfbench.analysis.summary.summarize_collection`: ``dataset``, ``x``, ``metric``,
        ``mean``, ``trials`` and ``group`` (position in `Collection.groups`).

    Returns
    -------
    Series of bool
        One value per line of the table.
    """
    tied = pd.Series(False, table.index)
    measured = table[table["trials"] > 0]
    for _, part in measured.groupby(["dataset", "x"], sort=False):
        if len(part) < 2:
            continue
        metric = str(part["metric"].iloc[0])
        best = part["mean"].idxmax() if metric in SMALLER_IS_BETTER else part["mean"].idxmin()
        values = Trials(collection, part["group"].to_numpy()).tabulate_metric(metric)
        first = values[:, part.index.get_loc(best)]
        intervals = np.array(
            [paired_t_test(each, first).compute_confidence_interval(TIE_LEVEL) for each in values.T]
        )
        # Compare the best method with every method, including itself. Ties are marked only if the
        # comparison with at least one other method has a finite interval.
        if np.isfinite(intervals).all(axis=1).sum() > 1:
            tied[part.index] = (intervals[:, 0] <= 0) & (intervals[:, 1] >= 0)
    return tied
