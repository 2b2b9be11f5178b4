"""Problems in the rows of a results folder, and evaluation of the ``checks`` in a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rfbench.analysis import verdicts
from rfbench.analysis.frame import IDENTITY, has_trial_dependent_size
from rfbench.analysis.summary import find_shown_metrics
from rfbench.errors import ResultsError, suggest_nearest_name
from rfbench.results import Results
from rfbench.results.schema import ROW_TIMES, STRING

# The machine counts as busy if wall time / CPU time of single-threaded trials is above this value.
# This quotient is about 1 on an idle machine, and 2 if two processes share a core. The value was
# chosen without a measurement. With twice this value, 2.4, two processes per core would not be
# reported.
BUSY = 1.2


@dataclass(frozen=True)
class DataIssue:
    """Problem in the rows of a results folder.

    The attribute `kind` has one of these values.

    - ``busy``: wall times are much longer than CPU times.
    - ``failed``: trials failed.
    - ``not converged``: solvers stopped before they reached their tolerance.
    - ``untimed``: some rows have no times, while other rows have times.
    - ``no value``: successful trials have no finite value of the metric.
    - ``repeated``: several rows have the same trial number and the same settings.
    - ``unpaired``: methods used different data in trials with the same number.
    """

    kind: str
    count: float  # number of rows, or, for ``busy``, wall time divided by CPU time
    of: str = ""  # label of the method, or name of the data set
    detail: str = ""  # status of the rows, or name of the metric
    message: str = ""  # most frequent message of the failed rows


def compute_wall_to_cpu_ratio(rows: pd.DataFrame) -> float:
    """Return the total wall time of single-threaded rows divided by their total CPU time.

    The quotient is about 1 on an idle machine, and NaN if no CPU time is known. It is below 1 if
    BLAS uses more than one thread.
    """
    single = rows.loc[(rows["status"] == "ok") & (rows["threads"] == 1), list(ROW_TIMES)].sum()
    wall = single[[name for name in ROW_TIMES if name.startswith("t_")]].sum()
    cpu = single[[name for name in ROW_TIMES if name.startswith("cpu_")]].sum()
    return float(wall / cpu) if cpu > 0 else float("nan")


def find_data_issues(results: Results) -> list[DataIssue]:
    """Return the problems in the rows of one results folder, such as failed trials."""
    rows = results.rows
    ended_well = rows["status"] == "ok"
    ratio = compute_wall_to_cpu_ratio(rows)
    faults_seen = [DataIssue("busy", ratio)] if ratio > BUSY else []
    for (label, status), group in rows[~ended_well].groupby(["label", "status"]):
        messages = group.loc[group["message"] != "", "message"].astype(STRING).value_counts()
        why = str(messages.index[0]) if len(messages) else ""
        faults_seen.append(DataIssue("failed", len(group), str(label), str(status), why))
    stopped = rows.loc[ended_well & ~rows["converged"].fillna(True).astype(bool), ["label"]]
    for label, group in stopped.groupby("label"):
        faults_seen.append(DataIssue("not converged", len(group), str(label)))
    timed = rows[list(ROW_TIMES)].notna().any(axis=1)
    if (ended_well & timed).any():
        for label, group in rows.loc[ended_well & ~timed, ["label"]].groupby("label"):
            faults_seen.append(DataIssue("untimed", len(group), str(label)))
    for dataset, metric in find_shown_metrics(results).items():
        here = rows.loc[ended_well & (rows["dataset"] == dataset), metric]
        if empty := int((~np.isfinite(here)).sum()):
            faults_seen.append(DataIssue("no value", empty, dataset, metric))
    same = [name for name in IDENTITY if not (name == "M" and has_trial_dependent_size(results))]
    if again := int(rows.duplicated([*same, "trial"]).sum()):
        faults_seen.append(DataIssue("repeated", again))
    paired = ["dataset", "d", "n_train", "variant", "trial"]
    hashes = rows.loc[rows["data_hash"] != "", [*paired, "data_hash"]]
    if differ := int((hashes.groupby(paired)["data_hash"].nunique() > 1).sum()):
        faults_seen.append(DataIssue("unpaired", differ))
    return faults_seen


@dataclass(frozen=True)
class Check:
    """Condition on a column of the result rows, with the result of the check.

    The conditions are entries of the key ``checks`` in the configuration.
    """

    asked: Mapping[str, Any]  # the statement, an entry of the key ``checks`` of the configuration
    rows: int  # number of rows with a value in the checked column
    low: float  # smallest value in the checked column, NaN without rows
    high: float
    # Number of rows for which the statement in the configuration is false.
    failing: int
    # Values of the column named by `at_each`, such as M, in the rows for which the statement is
    # false.
    failing_at: tuple[Any, ...] = ()

    @property
    def verdict(self) -> str:
        """Verdict on the condition: holds, fails, or not run."""
        if not self.rows:
            return verdicts.NOT_RUN
        return verdicts.FAILS if self.failing else verdicts.HOLDS


def evaluate_checks(results: Results) -> list[Check]:
    """Evaluate the conditions in the key ``checks`` of the configuration on the successful rows.

    Raises ResultsError if ``trials.csv`` lacks a column that a condition names.
    """
    return [_check(results.rows, check) for check in results.config.get("checks") or []]


def _check(rows: pd.DataFrame, asked: Mapping[str, Any]) -> Check:
    column, sampler, at = asked["column"], asked.get("sampler"), asked.get("at_each")
    for name in filter(None, (column, at)):
        if name not in rows:
            raise ResultsError(
                f"The configured check of column '{column}' cannot be evaluated.",
                f"trials.csv does not have a column '{name}'.",
                "Correct the key 'checks' in the configuration."
                + suggest_nearest_name(name, list(rows.columns)),
            )
    rows = rows[(rows["status"] == "ok") & rows[column].notna()]
    if sampler:
        rows = rows[(rows["sampler"] == sampler) | (rows["label"] == sampler)]
    values = rows[column].astype(float)
    wrong = pd.Series(False, rows.index)
    for limit, reached in (("below", values.ge), ("above", values.le)):
        if asked.get(limit) is not None:
            wrong |= reached(asked[limit])
    at_values = tuple(sorted(rows.loc[wrong, at].unique())) if at else ()
    return Check(asked, len(values), values.min(), values.max(), int(wrong.sum()), at_values)
