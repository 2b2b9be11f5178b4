"""Which methods are best at their place, and where two differ over the whole curve."""

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

# Of the interval of paired differences, as of the verdicts: 1 - 2 ALPHA. Halved, the misses (0.95)
# let more lines tie.
TIE_LEVEL = 0.90


@dataclass(frozen=True)
class Point:
    """Two methods at one place of the curve.

    Attributes
    ----------
    x : float or str
        The value of the axis, see `rfbench.analysis.summary.find_axis`; a text where there is none.
    first, second : pairs of float
        Mean and its standard error, NaN for one trial; of the second NaN without one.
    verdict : str
        Of the first by the paired interval: ``better``, ``worse``, ``alike``; empty without two
        trials in common.
    """

    x: Any
    first: tuple[float, float]
    second: tuple[float, float]
    verdict: str


@dataclass(frozen=True)
class FirstAnswer:
    """The best method on a data set beside plain features, or else beside the second best.

    Best is the method with the best mean at any place, chosen on the same test rows, which is
    optimistic. Where plain features are best, the next method stands beside them.
    """

    dataset: str
    metric: str
    axis: str
    method: str
    other: str  # empty where there is one method
    trials: int
    points: tuple[Point, ...]

    def at(self, verdict: str) -> list[Point]:
        """Return the points with a verdict."""
        return [point for point in self.points if point.verdict == verdict]

    def places(self, verdict: str) -> list[tuple[Any, Any]]:
        """Return the places with a verdict as runs of neighbours, each by its first and last."""
        by_verdict = itertools.groupby(self.points, lambda point: point.verdict)
        runs = [[point.x for point in run] for seen, run in by_verdict if seen == verdict]
        return [(run[0], run[-1]) for run in runs]

    @property
    def curve(self) -> bool:
        """Whether the places have values of the axis."""
        return all(not isinstance(point.x, str) for point in self.points)

    @property
    def shown(self) -> Point:
        """The point that stands for the others: the largest difference where they differ."""
        among = self.at("better") or self.at("worse") or list(self.points)[-1:]
        return max(among, key=lambda point: abs(point.second[0] - point.first[0]))


def list_answers(collection: Collection, results: Results) -> list[FirstAnswer]:
    """Return the answer for each data set on which a trial ended well."""
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
    """Tell which lines have the best mean of their data set and place, or tie with it.

    A line ties where the `TIE_LEVEL` interval of its differences from the best, trial by trial,
    holds zero. A place with a single method, or whose best has no trial in common with another
    line, has no best: nothing is told there.

    Parameters
    ----------
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
        if np.isfinite(intervals).all(axis=1).sum() > 1:  # the best itself is one
            tied[part.index] = (intervals[:, 0] <= 0) & (intervals[:, 1] >= 0)
    return tied
