"""Limits on the numbers of rows and columns of a large table that `choose` uses.

The limits depend on the time budget and the size of the table, but not on the speed or the load of
the machine. A small table is used completely.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_selection import f_classif, f_regression
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from rfbench.arrays import Array

# The time for reading and preparing the first FREE_CELLS cells of a table is negligible. Each
# further cell needs CELL_SECONDS of CPU time. Measured: a CSV file of 40 million numbers needed 9
# s. With half of CELL_SECONDS, the search on a wide table would exceed the time budget.
FREE_CELLS, CELL_SECONDS = 5_000_000, 2.5e-7
# Limit the number of columns, so that boosting finishes within the time budget. A column of n rows
# needs the time of n + COLUMN_ROWS cells, and CELLS_PER_SECOND cells are fitted per second. Up to
# LEAST_COLUMNS columns are always used. With twice CELLS_PER_SECOND, twice as many columns are
# used, and boosting may exceed the budget.
COLUMN_ROWS, CELLS_PER_SECOND, LEAST_COLUMNS = 7_000, 400_000, 300
# At least this number of columns is used, even if hardly any column is associated with the target.
# The value was chosen without a measurement. With twice this value, 20 columns are used if no
# column is associated with the target.
LEAST_KEPT = 10


def compute_seconds_after_reading(budget: float, n_cells: int) -> float:
    """Return the seconds of a time budget that remain after a table of `n_cells` values is read."""
    return max(0.0, budget - CELL_SECONDS * max(0, n_cells - FREE_CELLS))


def compute_max_columns(seconds: float, n_rows: int) -> int:
    """Return the largest number of columns for which models can be fitted within `seconds`.

    `n_rows` is the number of training rows.
    """
    return max(LEAST_COLUMNS, int(CELLS_PER_SECOND * seconds / (n_rows + COLUMN_ROWS)))


def list_used_columns(pipeline: Pipeline) -> list[str]:
    """Return the names of the numeric columns that a fitted pipeline uses."""
    names = pipeline[0].get_feature_names_out()
    screen = pipeline.named_steps.get("screen")
    return list(names if screen is None else names[screen.kept_])


class ColumnScreen(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Select the columns that are most strongly associated with the target, each column separately.

    Columns are ranked by their squared correlation with a numeric target. If the target contains
    classes, they are ranked by the share of their variance that is between the classes. The method
    is sure independence screening (Fan and Lv, Journal of the Royal Statistical Society B 70,
    2008).

    Of d columns, at most `n_columns` are selected. A column outside the best ten is selected only
    if its p-value in an F-test is at most ``(n_columns / d) ** 3``, because most columns with
    larger p-values are associated with the target only by chance.

    Parameters
    ----------
    n_columns : int, optional
        Largest number of selected columns. By default all columns are selected.
    has_classes : bool, default=False
        Whether the target contains classes.

    Attributes
    ----------
    kept_ : ndarray of int
        Indices of the selected columns, in increasing order.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0, 5.0], [1.0, 1.0, 4.0], [0.0, 2.0, 4.0], [1.0, 2.0, 5.0]])
    >>> ColumnScreen(1).fit(X, X[:, 1]).kept_.tolist()
    [1]
    """

    def __init__(self, n_columns: int | None = None, has_classes: bool = False) -> None:
        self.n_columns, self.has_classes = n_columns, has_classes

    def fit(self, X: Array, y: NDArray[Any]) -> Self:
        """Select columns of X, shape (n, d), by their association with the target y."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.filterwarnings("ignore", "Features .* are constant", UserWarning)
            ratio, p = (f_classif if self.has_classes else f_regression)(X, y)
        # The F statistic of a constant column is NaN, so the column is ranked last.
        ratio, p = np.nan_to_num(ratio, nan=-1.0), np.nan_to_num(p, nan=1.0)
        d = len(ratio)
        most = min(self.n_columns or d, d)
        # Most columns with larger p-values agree with the target only by chance. If such columns
        # were selected, a penalty that is selected on the same rows would be too small. On 250 rows
        # with 20,000 columns, of which five are relevant, and `n_columns` 1,017, the log-loss is
        # 0.16 with the cube, 0.67 with the square instead of the cube, and 0.87 with 1,017 columns.
        unlikely = int((p <= (most / d) ** 3).sum())
        order = np.argsort(-ratio, kind="stable")
        self.kept_ = np.sort(order[: min(most, max(LEAST_KEPT, unlikely))])
        return self

    def transform(self, X: Array) -> Array:
        """Return the selected columns of X."""
        check_is_fitted(self)
        return X[:, self.kept_]
