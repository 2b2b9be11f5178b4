"""Computation of the leaderboard: errors and costs of all methods at each number of features."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from rfbench.analysis.findings import Bar, Finding
from rfbench.analysis.frame import Collection
from rfbench.leaderboard.facts import Leaderboard, MethodResult, Ratio, SizeResult
from rfbench.leaderboard.rows import (
    HELD_OUT,
    STANDARD,
    compute_log_ratios,
    find_baseline,
    read_trials,
    select_leaderboard_rows,
    summarize_error_ratios,
)
from rfbench.leaderboard.rule import find_significant_differences
from rfbench.registry import find_displayed_name
from rfbench.results.schema import BASELINE, METHOD, MODEL

# A method is ranked only if it has an error on more than this share of the data sets. Data sets on
# which a ranked method has no error are then left out for all methods. The value was chosen without
# a measurement. If twice as many errors could be missing (a share of 0.8), one method that often
# fails could remove a fifth of the data sets.
MIN_SHARE_OF_METHODS = 0.9


def compute_leaderboard(collection: Collection) -> Leaderboard | None:
    """Compute the leaderboard: the errors of all methods at each number of features M.

    The configuration assigns a role to each method. All errors are divided by the errors of the
    method with the role ``baseline``. A method with the role ``model`` has no random features, so
    its errors are the same at every M. The result is None if no method can be compared with the
    baseline.
    """
    rows, unlearnt = select_leaderboard_rows(collection)
    standard = rows[rows["scaling"] == STANDARD]
    features = standard[~standard["reference"]]
    every = [compare_methods_at_size(standard, int(M)) for M in sorted(features["M"].unique())]
    sizes = tuple(size for size in every if size is not None)
    if not sizes:
        return None
    trials = features.groupby(["method", "table", "M"])["trial"].nunique()
    return Leaderboard(
        baseline=str(find_baseline(features)),
        folders=tuple(sorted(rows["folder"].unique())),
        trials=(int(trials.min()), int(trials.max())),
        unlearnt=tuple(unlearnt),
        sizes=sizes,
        held_out=_compare_held_out(collection, sizes[-1].best),
    )


def compare_methods_at_size(rows: pd.DataFrame, M: int) -> SizeResult | None:
    """Compare the errors of all methods at M features.

    `rows` has one row per trial. Methods without an error on at least a tenth of the data sets are
    dropped. Then data sets on which a remaining method has no error are dropped. The result is None
    if no method can be compared with the baseline.
    """
    baseline, every = find_baseline(rows), compute_log_ratios(rows, M)
    logs = every.loc[:, every.notna().mean() > MIN_SHARE_OF_METHODS].dropna()
    if logs.empty or logs.shape[1] < 2:
        return None
    logs = logs[logs.sort_index(axis=1).median().sort_values(kind="stable").index]
    names, models = list(map(str, logs)), set(rows.loc[rows["reference"], "method"])
    roles = {str(baseline): BASELINE, **dict.fromkeys(models, MODEL)}
    apart = np.argwhere(np.triu(find_significant_differences(logs)))
    # Mean times are computed only over the data sets on which all timed methods have a time.
    timed = compute_log_ratios(rows, M, "search").reindex(index=logs.index, columns=logs.columns)
    timed = timed.dropna(axis=1, how="all").dropna()
    costs = np.exp(timed.mean())
    lines = [
        MethodResult(
            name,
            roles.get(name, METHOD),
            summarize_error_ratios(values),
            float(costs.get(name, math.nan)),
        )
        for name, values in zip(names, logs.to_numpy(dtype=np.float64).T, strict=True)
    ]
    return SizeResult(
        M=M,
        datasets=len(logs),
        timed=len(timed) if len(timed.columns) else 0,
        lines=tuple(lines),
        apart=tuple((names[i], names[j]) for i, j in apart),
        left_out=tuple(sorted(set(map(str, every)) - set(names))),
    )


def _compare_held_out(collection: Collection, best: str) -> Ratio | None:
    """Return the ratio of errors of the method `best` and the baseline on held-out data sets.

    The errors are compared at the largest number of features. The result is None if held-out data
    sets were not measured.
    """
    every = collection.experiments
    apart = {
        each.path for each in every if each.name.startswith(HELD_OUT) and not each.is_smoke_run
    }
    rows = read_trials(collection, apart)
    logs = (
        compute_log_ratios(rows, rows.loc[~rows["reference"], "M"].max())
        .get(best, pd.Series())
        .dropna()
    )
    return summarize_error_ratios(logs) if len(logs) else None


def list_findings(board: Leaderboard | None) -> list[Finding]:
    """Return a list with one finding, which names the best method of the leaderboard.

    The list is empty if there are too few data sets.
    """
    if board is None or not board.largest.has_enough_datasets:
        return []
    size = board.largest
    alike = [
        line.method
        for line in size.methods
        if line.method in size.list_undecided_methods(size.best)
    ]
    facts = {"size": size, "best": size.methods[0], "alike": alike,
             "others": len(size.methods) - 1, "plain": board.baseline in alike}  # fmt: skip
    ratios = [(find_displayed_name(line.method), line.ratio) for line in size.methods]
    bars = [Bar(name, of.median, of.low, of.high) for name, of in ratios]
    return [Finding("methods", facts, tuple(bars))]
