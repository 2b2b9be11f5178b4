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
    """One statement and what the rows say to it."""

    column: str
    sampler: str  # or a label; may be empty
    source: str
    below: float | None  # the limits, neither of which may be reached
    above: float | None
    rows: int  # that have a value
    low: float  # smallest value seen, NaN without rows
    high: float
    failing: int  # rows that contradict the statement
    at_each: str = ""  # a column whose values are separate
    at: tuple[Any, ...] = ()  # its different values in the rows
    failing_at: tuple[Any, ...] = ()  # those of them at which a row contradicts

    @property
    def verdict(self) -> str:
        """Holds, fails, or not run."""
        if not self.rows:
            return verdicts.NOT_RUN
        return verdicts.FAILS if self.failing else verdicts.HOLDS


def checks(results: Results) -> list[Check]:
    """Hold the ``checks`` of the configuration against the rows that ended well.

    Raises ResultsError if ``trials.csv`` has no such column.
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
    names = list(dict.fromkeys(("sampler", "label", column, *filter(None, [at]))))
    rows = rows.loc[(rows["status"] == "ok") & rows[column].notna(), names]
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
