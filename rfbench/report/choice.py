"""Which method: the comparisons of many methods over many data sets, outside the papers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench.report.results import Results
from rfbench.report.summary import axis, summarise

BASELINE = "rks"
PROTOCOL = "tuned"
NEAR = 0.05
FEWEST = 2
SMALLER_IS_BETTER = {"accuracy": "error", "r2": "relative_squared_error"}


@dataclass(frozen=True)
class Comparison:
    """What was measured of every method on every data set.

    Attributes
    ----------
    lines : DataFrame
        One line a data set, method and number of features, as `rfbench.report.summary.summarise`
        makes them; ``folder``, where it comes from; ``own_cost``, whether its time is that of its
        own size alone (under shared timing only that of the largest size is).
    """

    lines: pd.DataFrame

    @property
    def sizes(self) -> list[int]:
        """The numbers of features that were run, ascending."""
        return sorted(int(M) for M in self.lines["M"].dropna().unique())

    @property
    def folders(self) -> list[Path]:
        """The folders of the lines."""
        return sorted(map(Path, set(self.lines["folder"])))

    def at(self, M: int, column: str = "mean") -> pd.DataFrame:
        """Return one column at one size: a row a data set, a column a method, NaN for gaps."""
        here = self.lines[(self.lines["M"] == M) & (self.lines["trials"] > 0)]
        return here.pivot(index="dataset", columns="method", values=column).astype("float64")

    def complete(self, M: int) -> tuple[pd.DataFrame, list[str], list[str]]:
        """Return the mean errors that can be ranked, without gaps.

        Methods without a value on more than half of the data sets go first, then the data sets
        that lack one of the others.

        Returns
        -------
        scores : DataFrame
            One row a data set, one column a method.
        methods, datasets : list of str
            Those that were left out.
        """
        scores = self.at(M)
        kept = scores.loc[:, scores.notna().mean() >= 0.5]
        whole = kept.dropna()
        return whole, _less(scores.columns, kept.columns), _less(scores.index, whole.index)


def _less(every: Iterable[str], kept: Iterable[str]) -> list[str]:
    return sorted(set(every) - set(kept))


def gather(every: Sequence[Results]) -> Comparison | None:
    """Collect the results that compare methods outside the papers; None if there are none.

    They name no paper, have the protocol ``tuned``, two methods or more of which one is the
    baseline, and vary neither d nor a setting. Where two folders have the same data set, the one
    with more trials counts.
    """
    found: dict[str, pd.DataFrame] = {}
    for results in every:
        if results.smoke or results.config.get("paper"):
            continue
        table = _lines(results)
        for dataset, part in table.groupby("dataset") if len(table) else ():
            names = set(part["method"])
            if BASELINE not in names or len(names) < FEWEST:
                continue
            before = found.get(str(dataset))
            if before is None or part["trials"].sum() > before["trials"].sum():
                found[str(dataset)] = part
    if not found:
        return None
    return Comparison(pd.concat([found[name] for name in sorted(found)], ignore_index=True))


def _lines(results: Results) -> pd.DataFrame:
    if PROTOCOL not in set(results.rows["protocol"]) or axis(results) != "M":
        return pd.DataFrame()
    table = summarise(results, SMALLER_IS_BETTER.get(str(results.config.get("metric"))))
    usable = (table["protocol"] == PROTOCOL) & (table["variant"] == "") & table["M"].notna()
    table = table[usable].copy()
    table["folder"] = str(results.folder)
    largest = table.groupby(["dataset", "method"])["M"].transform("max")
    table["own_cost"] = (table["timing"] != "shared") | (table["M"] == largest)
    return table


def smallest_near(lines: pd.DataFrame) -> tuple[float, dict[str, int | None]]:
    """Find for one data set how many features each method needs to come near the best error.

    Near is at most 5 % above the smallest mean error of any method at any size, or within its
    standard error where that is more.

    Returns
    -------
    best : float
        The smallest mean error.
    sizes : dict
        By method the smallest M that comes near; None where no size that was run does.
    """
    measured = lines[lines["trials"] > 0]
    place = int(measured["mean"].to_numpy().argmin())
    best, se = (float(measured[name].iloc[place]) for name in ("mean", "se"))
    limit = best + max(NEAR * best, 0.0 if math.isnan(se) else se)
    sizes: dict[str, int | None] = {}
    for method, own in lines.groupby("method", sort=False):
        enough = own.loc[own["mean"] <= limit, "M"]
        sizes[str(method)] = int(enough.min()) if len(enough) else None
    return best, sizes


def time_ratios(comparison: Comparison, M: int) -> pd.DataFrame:
    """Compare the total time (drawing, features, fit) with the baseline's at the same size.

    Where only one of the two is charged for its own work alone, the quotient is a bound; where
    neither is, there is none.

    Returns
    -------
    DataFrame
        Indexed by method, the geometric mean over data sets ascending: columns ``ratio``, ``low``
        and ``high`` (smallest and largest over the data sets), ``datasets``, ``bound`` (``''``,
        ``'>='`` or ``'<='``).
    """
    times, own = comparison.at(M, "t_total"), comparison.at(M, "own_cost")
    if BASELINE not in times:
        return pd.DataFrame(columns=["ratio", "low", "high", "datasets", "bound"])
    alone = {str(name): bool((column.dropna() == 1).all()) for name, column in own.items()}
    known = [name for name in alone if alone[name] or alone[BASELINE] or name == BASELINE]
    quotients = times[known].div(times[BASELINE], axis=0)
    logs = pd.DataFrame(np.log(quotients.where(quotients > 0))).dropna(axis=1, how="all")
    bounds = {(True, False): ">=", (False, True): "<="}
    table = pd.DataFrame(
        {
            "ratio": np.exp(logs.mean()),
            "low": np.exp(logs.min()),
            "high": np.exp(logs.max()),
            "datasets": logs.notna().sum(),
            "bound": [bounds.get((alone[str(name)], alone[BASELINE]), "") for name in logs],
        }
    )
    return table.sort_values("ratio", kind="stable")


def at_equal_time(comparison: Comparison) -> pd.DataFrame:
    """Hold the mean error of each method against that of the baseline in the same total time.

    Between the times of two sizes the baseline's error is interpolated over the logarithm of
    time. Outside them only dominance counts: a method that is faster than the baseline ever was
    is better if its error is below that of the baseline's fastest size; one that is slower is
    worse if its error is above that of the slowest size; else it is open. Times that are charged
    with the work of other sizes do not take part.

    Returns
    -------
    DataFrame
        Columns ``method``, ``M``, and the numbers of data sets ``better``, ``worse``, ``open``.
    """
    lines = comparison.lines
    lines = lines[(lines["trials"] > 0) & (lines["own_cost"] == 1) & (lines["t_total"] > 0)]
    count: dict[tuple[str, int], dict[str, int]] = {}
    for _, part in lines.groupby("dataset"):
        curve = part[part["method"] == BASELINE].sort_values("t_total")
        if curve.empty:
            continue
        times, errors = np.log(curve["t_total"].to_numpy()), curve["mean"].to_numpy()
        others = part[part["method"] != BASELINE]
        for method, M, time, error in zip(
            others["method"], others["M"], np.log(others["t_total"]), others["mean"], strict=True
        ):
            verdict = _in_the_same_time(time, error, times, errors)
            found = count.setdefault((method, int(M)), {"better": 0, "worse": 0, "open": 0})
            found[verdict] += 1
    rows = [{"method": method, "M": M, **found} for (method, M), found in count.items()]
    return pd.DataFrame(rows, columns=["method", "M", "better", "worse", "open"])


def _in_the_same_time(
    time: float, error: float, times: NDArray[np.float64], errors: NDArray[np.float64]
) -> str:
    """Say whether an error is better or worse than the baseline's in the same time, or open."""
    other = float(np.interp(time, times, errors))
    if error < other and time <= times[-1]:
        return "better"
    return "worse" if error > other and time >= times[0] else "open"
