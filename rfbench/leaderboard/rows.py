"""The rows that the leaderboard counts, and their quotients to the baseline's errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from rfbench.analysis.frame import Collection
from rfbench.analysis.verdicts import LEARNT
from rfbench.datasets import catalog
from rfbench.leaderboard.facts import Ratio
from rfbench.leaderboard.rule import (
    EXTREME,
    MIN_RATIOS,
    Logs,
    Values,
    drop_rounding,
    median_interval,
)
from rfbench.papers.models import TUNED
from rfbench.results import Results
from rfbench.results.schema import BASELINE, MODEL, SCHEMA

NAME = "leaderboard"  # with which the names of its configurations begin
HELD_OUT = "leaderboard_held_out"  # with which those of the held-out tables begin
# What a configuration of another name has in common with one of these, for its rows to count.
PROTOCOL_KEYS = (
    "protocol", "rows", "test_rows", "split", "scaling", "target", "feature_map", "dtype", "seed",
    "features_in_folds",
)  # fmt: skip
STANDARD = "standard"  # the scaling of the comparison of methods
TRIAL = ["dataset", "table", "trial"]
NUMBERS = (
    "M", "trial", "n_train", "n_test", "error", "error_percent", "r2", "cpu_pp", "cpu_features",
    "cpu_train", "cpu_test",
)  # fmt: skip


def select_counted(collection: Collection, *names: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the trials that count, and the data sets on which no method learns anything.

    They are those of the leaderboard's configurations (and of those whose names begin with one of
    `names`), and of other configurations under its protocol the methods that these do not have.
    Neither data sets on which nothing is learnt count, nor those that the catalogue sets aside.
    """
    own, guests = _folders(collection.experiments, names)
    rows = read_trials(collection, own | guests)
    of_own = rows["folder"].isin(list(own))
    rows = rows[of_own | ~rows["method"].isin(rows.loc[of_own, "method"].unique())]
    rows = rows[~rows["table"].isin(list(catalog.set_aside()))]
    unlearnt = find_unlearnable(rows)
    return rows[~rows["table"].isin(unlearnt)], unlearnt


def _folders(experiments: Iterable[Results], names: tuple[str, ...]) -> tuple[set[str], set[str]]:
    """Return the folders whose rows count: of the leaderboard's names, and under its protocol.

    The others differ in the methods, their numbers, the data sets and the number of trials alone;
    also in the bandwidth, where the code is from elsewhere and may have none.
    """
    every = [each for each in experiments if not (each.smoke or each.config.get("paper"))]
    every = [each for each in every if not each.name.startswith(HELD_OUT)]
    own = {each.path: each.config for each in every if each.name.startswith((NAME, *names))}
    asked = [
        config
        for config in own.values()
        if any(sampler.get("role") == BASELINE for sampler in config.get("samplers", []))
    ]
    guests = {each.path for each in every if any(_alike(each.config, other) for other in asked)}
    return set(own), guests - set(own)


def _alike(config: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether a configuration has the protocol of another one."""
    if "rows" not in config:
        return False
    foreign = any(each.get("imported") for each in (*config["samplers"], config["solver"]))
    keys = PROTOCOL_KEYS if foreign else (*PROTOCOL_KEYS, "bandwidth")
    return all(config.get(key) == other.get(key) for key in keys)


def read_trials(collection: Collection, folders: set[str]) -> pd.DataFrame:
    """Return the trials of some folders, one row each.

    Twins, data sets that are the same in other clothes, are one `dataset` with two `table`.
    """
    rows = collection.rows
    if rows.empty:
        rows = rows.reindex(columns=list(dict.fromkeys([*rows, *SCHEMA, "folder"])))
    taken = rows["counts"] & (rows["variant"] == "") & (rows["protocol"] == TUNED)
    rows = rows[taken & rows["folder"].isin(folders)]

    numbers = rows[list(NUMBERS)].astype("float64")
    # No error is below half a wrong row: logarithms of zero say nothing.
    wrong = numbers["error"].clip(lower=50 / numbers["n_test"])
    names = rows["group"].map(collection.groups["source"])
    return numbers.assign(
        dataset=names.replace(catalog.TWINS),
        table=names,
        method=rows["group"].map(collection.groups["method"]),
        scaling=rows["scaling"],
        error=wrong.where(rows["error"].notna(), numbers["error_percent"]),
        reference=rows["role"] == MODEL,
        baseline=rows["role"] == BASELINE,
        search=numbers["cpu_pp"] + numbers["cpu_features"] + numbers["cpu_train"],
        at_chance=rows["at_chance"].fillna(False).astype(bool),
        data=rows["data_hash"],
        folder=rows["folder"],
    ).dropna(subset=["error"])


def find_baseline(rows: pd.DataFrame) -> str | None:
    """Return the one method whose role is ``baseline``; None where there is none, or another."""
    names = rows.loc[rows["baseline"].astype(bool), "method"].unique()
    return str(names[0]) if len(names) == 1 else None


def find_unlearnable(rows: pd.DataFrame) -> list[str]:
    """Return the data sets on which every row is at chance, or no mean R^2 reaches 0.05."""
    chance = rows["at_chance"].groupby(rows["table"]).all()
    best = rows.groupby(["table", "method", "M"])["r2"].mean().groupby("table").max()
    none = (best < LEARNT) & (rows.groupby("table")["error"].min() > 100 * math.sqrt(1 - LEARNT))
    return sorted({*chance.index[chance], *none.index[none]})


def compute_log_ratios(rows: pd.DataFrame, M: int, value: str = "error") -> Logs:
    """Return by data set the mean over trials of log(value / baseline's value in that trial).

    A reference model, which has no random features, has the same values at every M. NaN where a
    method and the baseline have no trial in common.
    """
    here, baseline = rows[(rows["M"] == M) | rows["reference"]], find_baseline(rows)
    values = here.pivot_table(index=TRIAL, columns="method", values=value)
    if baseline not in values:
        return pd.DataFrame()
    logs = pd.DataFrame(np.log(values.where(values > 0)))
    logs = logs.sub(logs[baseline], axis=0).dropna(subset=[baseline])
    return logs.groupby("dataset").mean()


def compute_log_quotients(above: Any, below: Any) -> pd.Series[float]:
    """Return by data set the mean of log(above / below) over the trials of both.

    Both are series by data set and trial; what is not finite is left out.
    """
    logs = pd.Series(np.log(above / below)).replace([np.inf, -np.inf], np.nan).dropna()
    return logs.groupby("dataset").mean()


def summarise_ratio(logs: pd.Series[float] | Values) -> Ratio:
    """Return the ratio of errors over data sets, from its logarithms on each, at least one."""
    values: Values = np.asarray(logs, dtype=np.float64)
    n, kept = len(values), np.argsort(np.abs(values), kind="stable")[:-EXTREME]
    trimmed = values[kept].mean() if n >= MIN_RATIOS else math.nan
    low, high = median_interval(values)
    return Ratio(
        float(np.exp(np.median(values))),
        float(np.exp(low)),
        float(np.exp(high)),
        int((drop_rounding(values) < 0).sum()),
        n,
        float(np.exp(values.mean())),
        float(np.exp(trimmed)),
    )
