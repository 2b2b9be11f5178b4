"""One method at one size: the rows behind a number of the scoreboard."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SUMS = {
    "t_drawing": ("t_pp", "t_features"),
    "t_fit": ("t_features", "t_train"),
    "t_total": ("t_pp", "t_features", "t_train"),
    "t_all": ("t_pp", "t_features", "t_train", "t_test"),
    "cpu_drawing": ("cpu_pp", "cpu_features"),
    "cpu_fit": ("cpu_features", "cpu_train"),
    "cpu_total": ("cpu_pp", "cpu_features", "cpu_train"),
    "cpu_all": ("cpu_pp", "cpu_features", "cpu_train", "cpu_test"),
}
REGRESSION = ("relative_squared_error", "relative_rmse", "mae_range")

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """The rows of one results folder, column by column.

    Attributes
    ----------
    numbers : dict
        Metrics, times and counts, shape (n_rows,) each, NaN where they were not measured.
    keys : list of tuple
        What pairs a row with that of another method: trial, seed, data, split, training rows.
    """

    numbers: dict[str, NDArray[np.float64]]
    keys: list[Key]


@dataclass(frozen=True)
class Arm:
    """One method at one size on one data set, under one protocol, in one results folder.

    Attributes
    ----------
    experiment : str
        Name of the results.
    shared : bool
        Whether sizes share their work, so that the times are upper bounds.
    folder : Path
        Where they lie.
    method : str
        The label.
    M : int or None
        None where M follows the features that another method keeps.
    d : int or None
        Number of columns of the data.
    split_anew : bool
        Whether every trial splits the same rows anew.
    metric : str or None
        What the configuration calls its metric.
    table : Table
    index : array of int
        The rows of the table that ended well, one a trial.
    failed : int
        Number of the others.
    """

    experiment: str
    folder: Path
    dataset: str
    protocol: str
    method: str
    sampler: str
    solver: str
    M: int | None
    d: int | None
    split_anew: bool
    metric: str | None
    table: Table
    index: NDArray[np.intp]
    failed: int
    shared: bool = False

    def column(self, name: str) -> NDArray[np.float64]:
        """Return a column of the table, NaN where there is none."""
        found = self.table.numbers.get(name)
        return np.full(len(self.index), np.nan) if found is None else found[self.index]

    @cached_property
    def rows(self) -> tuple[float, float]:
        """Training and test rows of a trial, NaN where they are not known."""
        return _middle(self.column("n_train")), _middle(self.column("n_test"))

    @property
    def ratio(self) -> float:
        """Test rows over training rows where every trial splits the same rows anew, else 0."""
        n_train, n_test = self.rows
        return n_test / n_train if self.split_anew and n_test / n_train > 0 else 0.0

    def error_metric(self) -> str:
        """Say what stands for ``error``: misclassification, else the regression error in %."""
        named = self.metric if self.metric in REGRESSION else REGRESSION[0]
        return "error" if np.isfinite(self._error()).any() else named

    def _error(self) -> NDArray[np.float64]:
        error = self.column("error")
        return np.where(np.isfinite(error), error, 100.0 - self.column("accuracy"))

    def values(self, metric: str) -> NDArray[np.float64]:
        """Return one value a trial, NaN where it was not measured.

        ``error`` and ``accuracy`` stand for each other; times may be sums of the measured ones.
        """
        if metric in SUMS:
            parts = np.array([self.column(name) for name in SUMS[metric]])
            known = np.isfinite(parts).any(axis=0)
            return np.where(known, np.nansum(parts, axis=0), np.nan)
        if metric == "error":
            named = self.error_metric()
            return self._error() if named == "error" else 100.0 * self.column(named)
        if metric == "accuracy":
            return 100.0 - self._error()
        return self.column(metric)

    def by_trial(self, metric: str) -> dict[Key, float]:
        """Return the values by what pairs them with another method's."""
        if metric not in self._paired:
            values = self.values(metric)
            known = np.flatnonzero(np.isfinite(values))
            keys = [self.table.keys[i] for i in self.index[known]]
            self._paired[metric] = dict(zip(keys, values[known].tolist(), strict=True))
        return self._paired[metric]

    @cached_property
    def _paired(self) -> dict[str, dict[Key, float]]:
        return {}


def _middle(values: NDArray[np.float64]) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known)) if len(known) else math.nan
