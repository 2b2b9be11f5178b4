"""The leaderboard at one number of features."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from rfbench.leaderboard.facts import Line, Size
from rfbench.leaderboard.rows import (
    baseline_of,
    log_ratios,
    twins_as_one,
    without_gaps,
)
from rfbench.leaderboard.rule import bootstrap, datasets_needed, told_apart
from rfbench.results.schema import BASELINE, METHOD, MODEL


def size_of(rows: pd.DataFrame, M: int, twins: Mapping[str, str]) -> Size | None:
    """Compare the methods at M; None where the baseline has no other beside it."""
    every = log_ratios(rows, M)
    if every.empty:
        return None
    every, baseline = twins_as_one(every, twins), str(baseline_of(rows))
    logs = without_gaps(every, baseline)
    if logs.empty or baseline not in logs or logs.shape[1] < 2:
        return None
    order = logs.sort_index(axis=1).mean().sort_values(kind="stable").index
    logs = logs[list(order)]
    names, references = list(map(str, logs)), set(rows.loc[rows["reference"], "method"])
    roles = {baseline: BASELINE, **dict.fromkeys(references, MODEL)}
    apart = told_apart(logs) > 0
    methods = [name for name in names if name not in references]
    best, base = names.index(methods[0]), names.index(baseline)
    n, needed = len(logs), datasets_needed(len(names))
    sole = len(methods) > 1 and all(apart[best, names.index(other)] for other in methods[1:])
    here = rows[(rows["M"] == M) | rows["reference"]]
    timed = _timed(here[here["dataset"].isin(logs.index)], names)
    costs = _costs(timed)
    lines = []
    for position, name in enumerate(names):
        values = logs[name].to_numpy(dtype=np.float64)
        verdict = "open"
        if apart[position, base]:
            verdict = "better" if values.mean() < 0 else "worse"
        low, high = bootstrap(values)
        cost = {column: float(means.get(name, math.nan)) for column, means in costs.items()}
        lines.append(
            Line(
                method=name,
                ratio=float(np.exp(values.mean())),
                low=low,
                high=high,
                median=float(np.exp(np.median(values))),
                search=cost["search"],
                predict=cost["predict"],
                against=verdict,
                with_best=not apart[position, best],
                role=roles.get(name, METHOD),
            )
        )
    return Size(
        M=M,
        datasets=n,
        timed=timed["dataset"].nunique(),
        needed=needed,
        best=methods[0],
        leader=methods[0] if sole and n >= needed else "",
        lines=tuple(lines),
        apart=tuple(
            (names[i], names[j])
            for i, j in itertools.combinations(range(len(names)), 2)
            if apart[i, j]
        ),
        left_out=tuple(sorted(set(map(str, every)) - set(names))),
        gaps=tuple(sorted(set(map(str, every.index)) - set(map(str, logs.index)))),
    )


def _timed(rows: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """Return the rows that costs are means over, so that they can be compared.

    Those of the data sets on which all of the `methods` that were ever timed have a time, those
    with features in one trial, the references in one trial. The latest of such trials counts.
    """
    rows = rows[(rows["search"] > 0) & rows["method"].isin(list(methods))]
    if rows.empty:
        return rows
    latest = pd.concat([_latest(part) for _, part in rows.groupby("reference")])
    count = latest.groupby("dataset")["method"].transform("nunique")
    return latest[count == rows["method"].nunique()]


def _costs(rows: pd.DataFrame) -> dict[str, pd.Series[float]]:
    """Return by method the geometric means of the costs over data sets."""
    costs = {}
    for name in ("search", "predict"):
        values = rows[name].where(rows[name] > 0)
        logs = pd.Series(np.log(values.to_numpy(dtype=np.float64)), rows.index)
        means = logs.groupby([rows["method"], rows["dataset"]]).mean()
        costs[name] = pd.Series(np.exp(means.groupby("method").mean()))
    return costs


def _latest(rows: pd.DataFrame) -> pd.DataFrame:
    """Return each data set's rows of its latest trial that has all the methods."""
    timed = rows.groupby(["dataset", "trial"])["method"].transform("nunique")
    whole = rows[timed == rows["method"].nunique()]
    return whole[whole["trial"] == whole.groupby("dataset")["trial"].transform("max")]
