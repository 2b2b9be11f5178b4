"""When random features are enough: against gradient boosting, table by table."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from rfbench.leaderboard.facts import Driver, Enough, Known, TableRatio
from rfbench.leaderboard.rows import BOOSTING, EXACT, LINEAR, interval, twins_as_one
from rfbench.leaderboard.rule import DRAWS, LEVEL, SEED, over_trials

NOT_TIMED = (math.nan, math.nan)
FEW = 10  # wrong test rows: with fewer a quotient of errors is mostly luck
# What may decide when features are enough, and where `TableRatio` has it.
DRIVERS = {
    "training rows": "n_train",
    "columns": "columns",
    "the share of columns that hold words": "words",
    "smoothness (the bandwidth of the exact kernel over the distance of rows)": "smoothness",
}


def enough(rows: pd.DataFrame, known: Known) -> Enough | None:
    """Hold features, chosen by the folds in each trial, against boosting in the same trial."""
    boosted, linear = (
        rows[rows["method"] == name].set_index(["dataset", "trial"])["error"]
        for name in (BOOSTING, LINEAR)
    )
    exact = rows[rows["method"] == EXACT]
    smoothness = (exact["bandwidth"] / np.sqrt(2 * exact["d"])).groupby(exact["dataset"]).median()
    features = rows[~rows["reference"]].dropna(subset=["loss"])
    if boosted.empty or features.empty:
        return None
    largest = features.groupby("dataset")["M"].transform("max")
    features = features[features["M"] == largest]
    chosen = features.loc[features.groupby(["dataset", "trial"])["loss"].idxmin()]
    keys = pd.MultiIndex.from_frame(chosen[["dataset", "trial"]])
    chosen = chosen.assign(boosting=boosted.reindex(keys).to_numpy(),
                           linear=linear.reindex(keys).to_numpy())  # fmt: skip
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
                int(part["n_train"].median()),
                int(part["d"].median()),
                str(part["method"].mode().iloc[0]),
                int(part["M"].iloc[0]),
                float(np.exp(part["log"].mean())),
                low,
                high,
                len(part),
                bool((part["classes"] & (part["least"] * part["n_test"] < 100 * FEW)).any()),
                float(np.exp(np.log(part["linear"] / part["boosting"]).mean())),
                known.words.get(str(name), math.nan),
                float(smoothness.get(name, math.nan)),
            )
        )
    tables.sort(key=lambda table: table.ratio)
    frame = pd.DataFrame([vars(table) for table in tables]).set_index("dataset")
    logs = pd.DataFrame(np.log(frame[["ratio", *DRIVERS.values()]].drop(columns="words")))
    logs = twins_as_one(logs.assign(words=frame["words"]), known.twins)
    drivers = tuple(
        driver
        for label, name in DRIVERS.items()
        if (driver := driver_of(label, logs[name], logs["ratio"])) is not None
    )
    ratio = logs["ratio"].to_numpy(dtype=np.float64)
    few = {known.twins.get(table.dataset, table.dataset) for table in tables if table.few}
    many = logs.loc[~logs.index.isin(list(few)), "ratio"].to_numpy(dtype=np.float64)
    better = int((ratio < 0).sum())
    # In CPU hours, over the trials in which all of them were timed.
    timed = features.groupby(["dataset", "trial"])["search"]
    searches = timed.sum()[timed.count() == features["method"].nunique()]
    of_boosting = rows[rows["method"] == BOOSTING].set_index(["dataset", "trial"])["search"]
    both = pd.DataFrame({"features": searches, "boosting": of_boosting}).dropna()
    search = tuple(float(each) / 3600 for each in both.sum()) if len(both) else NOT_TIMED
    choices = rows[(rows["method"] == BOOSTING) & (rows["chosen"] != "")]
    edge = float((choices["chosen_at_edge"] != "").mean())
    return Enough(tuple(tables), interval(ratio), better, interval(many), drivers, search, edge)


def driver_of(label: str, x: pd.Series[float], y: pd.Series[float]) -> Driver | None:
    """Correlate two properties of data sets; None of fewer than three, or of a constant."""
    from scipy.stats import rankdata

    both = pd.DataFrame({"x": x, "y": y}).dropna()
    if len(both) < 3 or both["x"].nunique() < 2 or both["y"].nunique() < 2:
        return None
    values = both.to_numpy(dtype=np.float64)
    drawn = np.random.default_rng(SEED).integers(len(both), size=(DRAWS, len(both)))
    ranks = [np.asarray(rankdata(column[drawn], axis=1)) for column in values.T]
    ranks = [each - each.mean(axis=1, keepdims=True) for each in ranks]
    with np.errstate(invalid="ignore"):  # a draw of one value alone
        draws = (ranks[0] * ranks[1]).sum(axis=1) / np.sqrt(
            (ranks[0] ** 2).sum(axis=1) * (ranks[1] ** 2).sum(axis=1)
        )
    low, high = np.nanquantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    rho = float(np.corrcoef(np.transpose(rankdata(values, axis=0)))[0, 1])
    return Driver(label, rho, float(low), float(high))
