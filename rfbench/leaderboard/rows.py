"""The rows that the leaderboard counts, and their quotients to the baseline's errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from rfbench import shipped, yamlfile
from rfbench.analysis.frame import Collection
from rfbench.analysis.verdicts import LEARNT
from rfbench.leaderboard.facts import Interval, Known
from rfbench.leaderboard.rule import Logs, Values, bootstrap
from rfbench.papers.models import TUNED
from rfbench.results import Results
from rfbench.results.schema import BASELINE, MODEL

NAME = "leaderboard"  # with which the names of its configurations begin
HELD_OUT = "leaderboard_held_out"  # with which those begin whose data sets take no part
# What a configuration of another name has in common with one of these, for its rows to count.
PROTOCOL = (
    "protocol", "rows", "test_rows", "split", "scaling", "target", "feature_map", "dtype", "seed",
    "kernel_metric", "features_in_folds",
)  # fmt: skip
STANDARD = "standard"  # the scaling of the comparison of methods
BOOSTING = "boosting"


def folders_of(experiments: Iterable[Results]) -> tuple[set[str], set[str]]:
    """Return the folders whose rows count: of the leaderboard's names, and under its protocol.

    The others differ in the methods, their numbers, the data sets and the number of trials alone;
    also in the bandwidth, where the code is from elsewhere and may have none.
    """
    every = [each for each in experiments if not each.name.startswith(HELD_OUT)]
    named = [each for each in every if each.name.startswith(NAME)]
    asked = [config for each in named for config in _configs(each) if _has_baseline(config)]
    own = {each.path for each in named}
    guests = {
        each.path
        for each in every
        if each.path not in own and _configs(each)
        if all(any(_alike(config, other) for other in asked) for config in _configs(each))
    }
    return own, guests


def _configs(results: Results) -> list[dict[str, Any]]:
    """Return the configurations of a manifest that say what was measured."""
    configs = [results.config, *results.manifest.get("variants", [])]
    return [config for config in configs if "rows" in config]


def _has_baseline(config: Mapping[str, Any]) -> bool:
    return any(sampler.get("role") == BASELINE for sampler in config["samplers"])


def _alike(config: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether a configuration has the protocol of another one."""
    foreign = any(each.get("imported") for each in (*config["samplers"], config["solver"]))
    keys = PROTOCOL if foreign else (*PROTOCOL, "bandwidth")
    return all(config.get(key) == other.get(key) for key in keys)


def joined(collection: Collection, folders: tuple[set[str], set[str]]) -> pd.DataFrame:
    """Return the trials of the leaderboard, and of guests the methods that it does not have."""
    own, guests = (rows_of(collection, paths) for paths in folders)
    if own.empty or guests.empty:
        return own
    guests = guests[~guests["method"].isin(own["method"].unique())]
    return pd.concat([own, guests], ignore_index=True) if len(guests) else own


def rows_of(collection: Collection, folders: set[str]) -> pd.DataFrame:
    """Return the trials of some folders, one row each."""
    rows = collection.rows
    if rows.empty:
        return rows
    counted = rows["counts"] & (rows["variant"] == "") & (rows["protocol"] == TUNED)
    rows = rows[counted & rows["folder"].isin(folders)]

    def number(name: str) -> pd.Series[float]:
        return rows[name].astype("float64")

    groups = rows["group"]
    n_test = number("n_test")
    # No error is below half a wrong row: logarithms of zero say nothing.
    wrong = number("error").clip(lower=50 / n_test)
    error = wrong.where(rows["error"].notna(), number("error_percent"))
    cpu = {part: number(f"cpu_{part}") for part in ("pp", "features", "train", "test")}
    names = groups.map(collection.groups["source"])
    return pd.DataFrame(
        {
            "dataset": names,
            "method": groups.map(collection.groups["method"]),
            "M": number("M"),
            "trial": number("trial"),
            "scaling": rows["scaling"],
            "error": error,
            "classes": rows["error"].notna(),
            "loss": number("selection_loss"),
            "reference": rows["role"] == MODEL,
            "baseline": rows["role"] == BASELINE,
            "search": cpu["pp"] + cpu["features"] + cpu["train"],
            "predict": cpu["test"] / n_test * 1e6,
            "at_edge": rows["at_edge"],
            "n_train": number("n_train"),
            "n_test": n_test,
            "r2": number("r2"),
            "at_chance": rows["at_chance"].fillna(False).astype(bool),
            "data": rows["data_hash"],
            "chosen": rows["chosen"].fillna("").astype(str),
            "chosen_at_edge": rows["chosen_at_edge"].fillna("").astype(str),
            "folder": rows["folder"],
        }
    ).dropna(subset=["error"])


def baseline_of(rows: pd.DataFrame) -> str | None:
    """Return the one method whose role is ``baseline``; None where there is none, or another."""
    names = rows.loc[rows["baseline"].astype(bool), "method"].unique()
    return str(names[0]) if len(names) == 1 else None


def trials_per_method(rows: pd.DataFrame) -> tuple[int, int]:
    """Return the fewest and most trials of a method on a data set, at one M; zeros of no rows."""
    counts = rows.groupby(["method", "dataset", "M"])["trial"].nunique()
    return (int(counts.min()), int(counts.max())) if len(counts) else (0, 0)


def unlearnt_of(rows: pd.DataFrame) -> list[str]:
    """Return the data sets on which every row is at chance, or no mean R^2 reaches 0.05."""
    chance = rows["at_chance"].groupby(rows["dataset"]).all()
    best = rows.groupby(["dataset", "method", "M"])["r2"].mean().groupby("dataset").max()
    none = (best < LEARNT) & (rows.groupby("dataset")["error"].min() > 100 * math.sqrt(1 - LEARNT))
    return sorted({*chance.index[chance], *none.index[none]})


def planned(known: Known) -> tuple[int, int]:
    """Return how many data sets and trials the leaderboard's configuration asks for.

    Data sets that do not count are left out, and twins are one; nothing where the configuration is
    not there.
    """
    path = shipped.locate(NAME)
    if not path.is_file():
        return 0, 0
    content = yamlfile.load(path).value
    names = {str(name) for run in content["datasets"].values() for name in run["dataset"]}
    names = {known.twins.get(name, name) for name in names - set(known.set_aside)}
    return len(names), int(content["trials"])


def log_ratios(rows: pd.DataFrame, M: int) -> Logs:
    """Return by data set the mean over trials of log(error / baseline's error in that trial).

    Of models without features, whatever M, the same errors are taken at every M. NaN where a
    method and the baseline have no trial in common.
    """
    here, baseline = rows[(rows["M"] == M) | rows["reference"]], baseline_of(rows)
    errors = here.pivot_table(index=["dataset", "trial"], columns="method", values="error")
    if baseline not in errors:
        return pd.DataFrame()
    logs = pd.DataFrame(np.log(errors.where(errors > 0)))
    logs = logs.sub(logs[baseline], axis=0).dropna(subset=[baseline])
    return logs.groupby("dataset").mean()


def without_gaps(scores: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Drop, as long as there are gaps, the method or data set that lacks most of its values.

    The baseline stays.
    """
    while scores.isna().any(axis=None):
        datasets = scores.isna().mean(axis=1)
        methods = scores.drop(columns=baseline, errors="ignore").isna().mean()
        if datasets.max() >= methods.max():
            scores = scores.drop(index=str(datasets.idxmax()))
        else:
            scores = scores.drop(columns=str(methods.idxmax()))
    return scores


def twins_as_one(logs: Logs, twins: Mapping[str, str]) -> Logs:
    """Return the logarithms with the mean of data sets that are the same in other clothes.

    `twins` has, by data set, the one that it is a twin of.
    """
    names = [twins.get(str(name), str(name)) for name in logs.index]
    return logs.groupby(names, sort=True).mean()


def log_quotients(above: Any, below: Any, twins: Mapping[str, str]) -> Values:
    """Return by data set, twins as one, the mean of log(above / below) over the trials of both.

    Both are series by data set and trial; what is not finite is left out.
    """
    logs = pd.Series(np.log(above / below)).replace([np.inf, -np.inf], np.nan).dropna()
    means = pd.DataFrame({"log": logs.groupby("dataset").mean()})
    return twins_as_one(means, twins)["log"].to_numpy(dtype=np.float64)


def interval(logs: Values) -> Interval:
    """Return the geometric mean with its interval."""
    mean = float(np.exp(np.mean(logs))) if len(logs) else math.nan
    return Interval(mean, *bootstrap(logs), len(logs))
