"""Statements of a configuration about a column, held against every row that ended well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rfbench.analysis import verdicts
from rfbench.errors import ResultsError, nearest
from rfbench.results import Results


@dataclass(frozen=True)
class Check:
    """One statement and what the rows say to it.

    Attributes
    ----------
    column, sampler, source : str
        What it is about; `sampler` (or a label) and `source` may be empty.
    below, above : float or None
        The limits, neither of which may be reached.
    rows : int
        Number of rows that have a value.
    low, high : float
        Smallest and largest value seen (NaN without rows).
    failing : int
        Number of rows that contradict the statement.
    at_each : str
        A column whose values are told apart, or empty; `at` are its different values in the rows,
        `failing_at` those of them at which a row contradicts.
    """

    column: str
    sampler: str
    source: str
    below: float | None
    above: float | None
    rows: int
    low: float
    high: float
    failing: int
    at_each: str = ""
    at: tuple[Any, ...] = ()
    failing_at: tuple[Any, ...] = ()

    @property
    def verdict(self) -> str:
        """Holds, fails, or not run."""
        if not self.rows:
            return verdicts.NOT_RUN
        return verdicts.FAILS if self.failing else verdicts.HOLDS


def checks(results: Results) -> list[Check]:
    """Hold the ``checks`` of the configuration against the rows that ended well.

    Raises
    ------
    ResultsError
        If ``trials.csv`` has no such column.
    """
    return [_check(results.rows, check) for check in results.config.get("checks") or []]


def _check(rows: pd.DataFrame, check: dict[str, Any]) -> Check:
    column, sampler, at = check["column"], check.get("sampler") or "", check.get("at_each") or ""
    for name in filter(None, (column, at)):
        if name not in rows:
            raise ResultsError(
                f"The check on '{column}' cannot be evaluated.",
                f"trials.csv has no column '{name}'.",
                f"Correct 'checks' in the configuration.{nearest(name, list(rows.columns))}",
            )
    rows = rows[(rows["status"] == "ok") & rows[column].notna()]
    if sampler:
        rows = rows[(rows["sampler"] == sampler) | (rows["label"] == sampler)]
    values = rows[column].to_numpy(dtype=float)
    below, above = check.get("below"), check.get("above")
    wrong = np.zeros(len(values), dtype=bool)
    wrong |= False if below is None else values >= below
    wrong |= False if above is None else values <= above
    return Check(
        column,
        sampler,
        check.get("source") or "",
        below,
        above,
        len(values),
        float(values.min()) if len(values) else np.nan,
        float(values.max()) if len(values) else np.nan,
        int(wrong.sum()),
        at,
        tuple(sorted(rows[at].unique())) if at else (),
        tuple(sorted(rows.loc[wrong, at].unique())) if at else (),
    )
