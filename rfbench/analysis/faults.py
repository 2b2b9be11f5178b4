"""Problems of the rows: failures, mixed rows, and contradicted statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rfbench.analysis import verdicts
from rfbench.analysis.frame import IDENTITY, follows_other_size
from rfbench.analysis.summary import find_metrics
from rfbench.errors import ResultsError, suggest_nearest
from rfbench.results import Results
from rfbench.results.schema import ROW_TIMES, STRING

# The machine counts as busy if the wall time of one-thread rows, divided by their CPU time, is
# above this value. The value was chosen without a measurement. The quotient is about 1 on an idle
# machine, and 2 if two processes share a core. With twice this value, 2.4, not even two processes
# per core would be reported.
BUSY = 1.2


@dataclass(frozen=True)
class Fault:
    """Problem of the rows of a results folder.

    The kinds are:

    - ``busy``: wall times are much longer than CPU times.
    - ``failed``: trials failed.
    - ``not converged``: trials succeeded although their solver did not reach its tolerance.
    - ``untimed``: rows have no times although other rows have.
    - ``no value``: trials succeeded without a finite metric.
    - ``repeated``: a trial number occurs again with settings that no column shows.
    - ``unpaired``: methods with the same trial number used different data.
    """

    kind: str
    count: float  # number of rows; for ``busy`` wall time divided by CPU time
    of: str = ""  # label, or data set
    detail: str = ""  # status, or metric
    message: str = ""  # most frequent message of the failed rows


def wall_over_cpu(rows: pd.DataFrame) -> float:
    """Return the wall time of one-thread rows divided by their CPU time; NaN if unknown.

    It is about 1 on an idle machine, or less if BLAS uses more than one thread.
    """
    single = rows.loc[(rows["status"] == "ok") & (rows["threads"] == 1), list(ROW_TIMES)].sum()
    wall = single[[name for name in ROW_TIMES if name.startswith("t_")]].sum()
    cpu = single[[name for name in ROW_TIMES if name.startswith("cpu_")]].sum()
    return float(wall / cpu) if cpu > 0 else float("nan")


def find_faults(results: Results) -> list[Fault]:
    """Return the problems of the rows of one results folder."""
    rows = results.rows
    ended_well = rows["status"] == "ok"
    ratio = wall_over_cpu(rows)
    faults_seen = [Fault("busy", ratio)] if ratio > BUSY else []
    for (label, status), group in rows[~ended_well].groupby(["label", "status"]):
        messages = group.loc[group["message"] != "", "message"].astype(STRING).value_counts()
        why = str(messages.index[0]) if len(messages) else ""
        faults_seen.append(Fault("failed", len(group), str(label), str(status), why))
    stopped = rows.loc[ended_well & ~rows["converged"].fillna(True).astype(bool), ["label"]]
    for label, group in stopped.groupby("label"):
        faults_seen.append(Fault("not converged", len(group), str(label)))
    timed = rows[list(ROW_TIMES)].notna().any(axis=1)
    if (ended_well & timed).any():
        for label, group in rows.loc[ended_well & ~timed, ["label"]].groupby("label"):
            faults_seen.append(Fault("untimed", len(group), str(label)))
    for dataset, metric in find_metrics(results).items():
        here = rows.loc[ended_well & (rows["dataset"] == dataset), metric]
        if empty := int((~np.isfinite(here)).sum()):
            faults_seen.append(Fault("no value", empty, dataset, metric))
    same = [name for name in IDENTITY if not (name == "M" and follows_other_size(results))]
    if again := int(rows.duplicated([*same, "trial"]).sum()):
        faults_seen.append(Fault("repeated", again))
    paired = ["dataset", "d", "n_train", "variant", "trial"]
    hashes = rows.loc[rows["data_hash"] != "", [*paired, "data_hash"]]
    if differ := int((hashes.groupby(paired)["data_hash"].nunique() > 1).sum()):
        faults_seen.append(Fault("unpaired", differ))
    return faults_seen


@dataclass(frozen=True)
class Check:
    """A statement of the configuration about its rows, and the result of checking it."""

    asked: Mapping[str, Any]  # entry of the configuration
    rows: int  # number of rows with a value
    low: float  # smallest value; NaN without rows
    high: float
    failing: int  # number of rows that contradict the statement
    # values of the column `at_each` in rows that contradict the statement
    failing_at: tuple[Any, ...] = ()

    @property
    def verdict(self) -> str:
        """Verdict: holds, fails, or not run."""
        if not self.rows:
            return verdicts.NOT_RUN
        return verdicts.FAILS if self.failing else verdicts.HOLDS


def evaluate_checks(results: Results) -> list[Check]:
    """Evaluate the ``checks`` of the configuration on the successful rows.

    Raises ResultsError if ``trials.csv`` lacks a column of a check.
    """
    return [_check(results.rows, check) for check in results.config.get("checks") or []]


def _check(rows: pd.DataFrame, asked: Mapping[str, Any]) -> Check:
    column, sampler, at = asked["column"], asked.get("sampler"), asked.get("at_each")
    for name in filter(None, (column, at)):
        if name not in rows:
            raise ResultsError(
                f"The check on '{column}' cannot be evaluated.",
                f"trials.csv does not have a column '{name}'.",
                "Correct the key 'checks' in the configuration."
                + suggest_nearest(name, list(rows.columns)),
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
