"""When random features are enough: against gradient boosting, table by table."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from rfbench.leaderboard.facts import Enough, Known, TableRatio
from rfbench.leaderboard.rows import BOOSTING, interval, twins_as_one
from rfbench.leaderboard.rule import over_trials

NOT_TIMED = (math.nan, math.nan)
FEW = 10  # wrong test rows: with fewer a quotient of errors is mostly luck


def enough(rows: pd.DataFrame, known: Known) -> Enough | None:
    """Hold features, chosen by the folds in each trial, against boosting in the same trial."""
    boosting = rows[rows["method"] == BOOSTING]
    boosted = boosting.set_index(["dataset", "trial"])
    features = rows[~rows["reference"]].dropna(subset=["loss"])
    if boosted.empty or features.empty:
        return None
    largest = features.groupby("dataset")["M"].transform("max")
    features = features[features["M"] == largest]
    chosen = features.loc[features.groupby(["dataset", "trial"])["loss"].idxmin()]
    keys = pd.MultiIndex.from_frame(chosen[["dataset", "trial"]])
    chosen = chosen.assign(boosting=boosted["error"].reindex(keys).to_numpy())
    chosen = chosen.dropna(subset=["boosting"])
    chosen = chosen[(chosen["error"] > 0) & (chosen["boosting"] > 0)]
    if chosen.empty:
        return None
    chosen = chosen.assign(
        log=np.log(chosen["error"] / chosen["boosting"]),
        least=chosen[["error", "boosting"]].min(axis=1),
    )
    tables = []
    for name, part in chosen.groupby("dataset"):
        low, high = over_trials(part["log"].to_numpy(dtype=np.float64))
        tables.append(
            TableRatio(
                str(name),
                str(part["method"].mode().iloc[0]),
                int(part["M"].iloc[0]),
                float(np.exp(part["log"].mean())),
                low,
                high,
                bool((part["classes"] & (part["least"] * part["n_test"] < 100 * FEW)).any()),
            )
        )
    tables.sort(key=lambda table: table.ratio)
    logs = pd.DataFrame({"log": {table.dataset: math.log(table.ratio) for table in tables}})
    logs = twins_as_one(logs, known.twins)
    ratio = logs["log"].to_numpy(dtype=np.float64)
    few = {known.twins.get(table.dataset, table.dataset) for table in tables if table.few}
    many = logs.loc[~logs.index.isin(list(few)), "log"].to_numpy(dtype=np.float64)
    better = int((ratio < 0).sum())
    # In CPU hours, over the trials in which all of them were timed.
    timed = features.groupby(["dataset", "trial"])["search"]
    searches = timed.sum()[timed.count() == features["method"].nunique()]
    both = pd.DataFrame({"features": searches, "boosting": boosted["search"]}).dropna()
    search = tuple(float(each) / 3600 for each in both.sum()) if len(both) else NOT_TIMED
    edge = float((boosting.loc[boosting["chosen"] != "", "chosen_at_edge"] != "").mean())
    return Enough(tuple(tables), interval(ratio), better, interval(many), search, edge)
