"""Best method at each value of the axis, and the values at which two methods differ."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rfbench.analysis.frame import Collection
from rfbench.analysis.naming import format_dataset_name
from rfbench.analysis.paired import Trials
from rfbench.analysis.statistics import paired_t
from rfbench.analysis.summary import BASELINE, SMALLER_IS_BETTER, find_axis, summarise_collection
from rfbench.results import Results

# Level of the interval of paired differences: 1 - 2 ALPHA, as for the verdicts. If the share
# outside the interval is halved (level 0.95), more lines tie.
TIE_LEVEL = 0.90


@dataclass(frozen=True)
class Point:
    """Two methods at one value of the axis.

    Attributes
    ----------
    x : float or str
        Value of the axis, see `rfbench.analysis.summary.find_axis`; a string if it is not a number.
    first, second : pairs of float
        Mean and standard error; the error is NaN for one trial. Without a second method, `second`
        is NaN.
    verdict : str
        Verdict on the first method by the paired interval: ``better``, ``worse`` or ``alike``. The
        verdict is empty if there are less than two common trials.
    """

    x: Any
    first: tuple[float, float]
    second: tuple[float, float]
    verdict: str


@dataclass(frozen=True)
class FirstAnswer:
    """Best method on a data set, compared with plain features or with the second best method.

    The best method has the best mean at any value of the axis. It is selected on the test rows of
    the comparison, which is optimistic. If plain features are the best, they are compared with the
    next method.
    """

    dataset: str
    metric: str
    axis: str
    method: str
    other: str  # empty if there is only one method
    trials: int
    points: tuple[Point, ...]

    def at(self, verdict: str) -> list[Point]:
        """Return the points with a verdict."""
        return [point for point in self.points if point.verdict == verdict]

    def places(self, verdict: str) -> list[tuple[Any, Any]]:
        """Return runs of neighboring places with a verdict, as pairs of first and last place."""
        by_verdict = itertools.groupby(self.points, lambda point: point.verdict)
        runs = [[point.x for point in run] for seen, run in by_verdict if seen == verdict]
        return [(run[0], run[-1]) for run in runs]

    @property
    def curve(self) -> bool:
        """True if the places have values of the axis."""
        return all(not isinstance(point.x, str) for point in self.points)

    @property
    def shown(self) -> Point:
        """Point with the largest difference if the methods differ, else the last point."""
        among = self.at("better") or self.at("worse") or list(self.points)[-1:]
        return max(among, key=lambda point: abs(point.second[0] - point.first[0]))


def list_answers(collection: Collection, results: Results) -> list[FirstAnswer]:
    """Return the answer for each data set that has a successful trial."""
    table = summarise_collection(collection, results)
    if table.empty:
        return []
    table = table[table["trials"] > 0]
    return [_answer(collection, part, find_axis(results)) for _, part in table.groupby("dataset")]


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
            values = Trials(collection, lines.loc[[best, other], "group"].to_numpy()).table(metric)
            low, high = paired_t(values[:, 0], values[:, 1]).interval(TIE_LEVEL)
            signs = "alike" if low <= 0 <= high else ("better" if (low > 0) == larger else "worse")
            verdict = "" if np.isnan(low) else signs
            second = (float(lines["mean"][other]), float(lines["se"][other]))
        first = (float(lines["mean"][best]), float(lines["se"][best]))
        points.append(Point(x, first, second, verdict))
    trials = int(part["trials"].max())
    return FirstAnswer(
        format_dataset_name(part), metric, varied, best, other, trials, tuple(points)
    )


def best_or_tied(collection: Collection, table: pd.DataFrame) -> pd.Series[bool]:
    """Return True for each line with the best mean of its data set and place, or a tie with it.

    A line ties if the `TIE_LEVEL` interval of its paired differences from the best contains zero. A
    place with a single method has no best line. The same holds if the best line has no trial in
    common with another line.

    Parameters
    ----------
    collection : Collection
        Rows of the table.
    table : DataFrame
        Lines of `rfbench.analysis.summary.summarise_collection`: ``dataset``, ``x``, ``metric``,
        ``mean``, ``trials`` and ``group``, the line of `Collection.groups`.

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
        values = Trials(collection, part["group"].to_numpy()).table(metric)
        first = values[:, part.index.get_loc(best)]
        intervals = np.array([paired_t(each, first).interval(TIE_LEVEL) for each in values.T])
        if np.isfinite(intervals).all(axis=1).sum() > 1:  # the best line is always finite
            tied[part.index] = (intervals[:, 0] <= 0) & (intervals[:, 1] >= 0)
    return tied
