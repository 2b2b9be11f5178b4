"""Functions that select results for the leaderboard, and compute ratios of errors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from rfbench.analysis.frame import Collection
from rfbench.analysis.verdicts import LEARNED
from rfbench.datasets import catalog
from rfbench.leaderboard.facts import Ratio
from rfbench.leaderboard.rule import (
    EXTREME,
    MIN_RATIOS,
    Logs,
    Values,
    compute_median_interval,
    drop_rounding_errors,
)
from rfbench.papers.models import TUNED
from rfbench.results import Results
from rfbench.results.schema import BASELINE, MODEL, SCHEMA

# The names of all configurations of the leaderboard start with this prefix.
NAME = "leaderboard"
# The names of the leaderboard's configurations with held-out tables start with this prefix.
HELD_OUT = "leaderboard_held_out"
# Settings that define how the leaderboard measures errors. Results of a configuration that does not
# belong to the leaderboard are used only if the configuration has the same values of these
# settings.
PROTOCOL_KEYS = (
    "protocol", "rows", "test_rows", "split", "scaling", "target", "feature_map", "dtype", "seed",
    "features_in_folds",
)  # fmt: skip
STANDARD = "standard"  # name of the scaling with which methods are compared
TRIAL = ["dataset", "table", "trial"]
NUMBERS = (
    "M", "trial", "n_train", "n_test", "error", "error_percent", "r2", "cpu_pp", "cpu_features",
    "cpu_train", "cpu_test",
)  # fmt: skip


def select_leaderboard_rows(collection: Collection, *names: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the results for the leaderboard, and the data sets on which nothing can be learned.

    The results have one row per trial. Results of the leaderboard's configurations are used, and of
    configurations whose names start with one of `names`. Methods that are missing there are added
    from other configurations with the same settings. Data sets on which no method is better than
    chance are dropped. Data sets that the catalog excludes are also dropped.
    """
    own, guests = _folders(collection.experiments, names)
    rows = read_trials(collection, own | guests)
    of_own = rows["folder"].isin(list(own))
    rows = rows[of_own | ~rows["method"].isin(rows.loc[of_own, "method"].unique())]
    rows = rows[~rows["table"].isin(list(catalog.list_excluded_data_sets()))]
    unlearnt = _find_unlearnable(rows)
    return rows[~rows["table"].isin(unlearnt)], unlearnt


def _folders(experiments: Iterable[Results], names: tuple[str, ...]) -> tuple[set[str], set[str]]:
    """Return the results folders of the leaderboard, and further folders with the same settings.

    Configurations with the same settings differ only in the methods, M, the data sets and the
    number of trials. If a method is imported, the bandwidth may also differ, because an imported
    method may have no bandwidth.
    """
    every = [each for each in experiments if not (each.is_smoke_run or each.config.get("paper"))]
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
    """Return True if two configurations have equal values of the keys `PROTOCOL_KEYS`.

    The bandwidth must also be equal, unless a method of the first configuration is imported.
    """
    if "rows" not in config:
        return False
    foreign = any(each.get("imported") for each in (*config["samplers"], config["solver"]))
    keys = PROTOCOL_KEYS if foreign else (*PROTOCOL_KEYS, "bandwidth")
    return all(config.get(key) == other.get(key) for key in keys)


def read_trials(collection: Collection, folders: set[str]) -> pd.DataFrame:
    """Return the results in `folders` as a table with one row per trial.

    If two data sets contain the same data in different formats, the column ``dataset`` is equal and
    the column ``table`` differs.
    """
    rows = collection.rows
    if rows.empty:
        rows = rows.reindex(columns=list(dict.fromkeys([*rows, *SCHEMA, "folder"])))
    taken = rows["counts"] & (rows["variant"] == "") & (rows["protocol"] == TUNED)
    rows = rows[taken & rows["folder"].isin(folders)]

    numbers = rows[list(NUMBERS)].astype("float64")
    # An error of 0 counts as half a wrong row, because the logarithm of 0 is not finite.
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
    """Return the name of the method with the role ``baseline``.

    The result is None if no method has this role, or if several methods have this role.
    """
    names = rows.loc[rows["baseline"].astype(bool), "method"].unique()
    return str(names[0]) if len(names) == 1 else None


def _find_unlearnable(rows: pd.DataFrame) -> list[str]:
    """Return the data sets on which no method predicts better than a constant.

    On these data sets, all trials are at chance, or the mean R^2 of every method is below
    `LEARNED`.
    """
    chance = rows["at_chance"].groupby(rows["table"]).all()
    best = rows.groupby(["table", "method", "M"])["r2"].mean().groupby("table").max()
    none = (best < LEARNED) & (rows.groupby("table")["error"].min() > 100 * math.sqrt(1 - LEARNED))
    return sorted({*chance.index[chance], *none.index[none]})


def compute_log_ratios(rows: pd.DataFrame, M: int, value: str = "error") -> Logs:
    """Return the logarithms of errors divided by the errors of the baseline, averaged over trials.

    The result has a row per data set and a column per method, for M features. `value` is the column
    of `rows` that is divided, by default the error. A model without random features has the same
    values at every M. An entry is NaN if a method and the baseline have no trial in common.
    """
    here, baseline = rows[(rows["M"] == M) | rows["reference"]], find_baseline(rows)
    values = here.pivot_table(index=TRIAL, columns="method", values=value)
    if baseline not in values:
        return pd.DataFrame()
    logs = pd.DataFrame(np.log(values.where(values > 0)))
    logs = logs.sub(logs[baseline], axis=0).dropna(subset=[baseline])
    return logs.groupby("dataset").mean()


def compute_mean_log_ratios(numerator: Any, denominator: Any) -> pd.Series[float]:
    """Return the logarithm of the ratio of two series of errors, averaged over trials.

    The result has one value per data set. The index of both series contains the data set and the
    trial. Trials that are missing in a series are dropped.
    """
    logs = pd.Series(np.log(numerator / denominator)).replace([np.inf, -np.inf], np.nan).dropna()
    return logs.groupby("dataset").mean()


def summarize_error_ratios(log_ratios: pd.Series[float] | Values) -> Ratio:
    """Return the median and further summaries of ratios of errors over data sets.

    `log_ratios` has the logarithm of one ratio per data set.
    """
    values: Values = np.asarray(log_ratios, dtype=np.float64)
    n, kept = len(values), np.argsort(np.abs(values), kind="stable")[:-EXTREME]
    trimmed = values[kept].mean() if n >= MIN_RATIOS else math.nan
    low, high = compute_median_interval(values)
    return Ratio(
        float(np.exp(np.median(values))),
        float(np.exp(low)),
        float(np.exp(high)),
        int((drop_rounding_errors(values) < 0).sum()),
        n,
        float(np.exp(values.mean())),
        float(np.exp(trimmed)),
    )
