"""From a data set to what a trial trains and tests on: split, scale, encode the target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rfbench.arrays import Rows
from rfbench.datasets.dataset import Dataset
from rfbench.datasets.split import Index, split_rows, subset_rows
from rfbench.errors import DataError, nearest

SCALINGS = ["none", "standard", "minmax", "minmax-all", "row-standard", "/255"]
TARGETS = ["range", "raw", "standard"]
DTYPES = ["float64", "float32"]

_ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class Prepared:
    """What a trial trains and tests on.

    Parameters
    ----------
    X_train, X_test : ndarray (C order) or csr_array of shape (n, d)
        Scaled rows.
    labels_train, labels_test : ndarray of shape (n,) or None
        int64 class codes; None for a regression.
    y_train, y_test : ndarray of shape (n,) or (n, K)
        float64 targets: -1 and +1 for a binary task, one column of -1 and +1 per class for several
        classes, the mapped target for a regression.
    task, classes
        See `Dataset`.
    train_rows, test_rows : ndarray of int64
        Which rows of the data set these are.
    """

    X_train: Rows
    X_test: Rows
    labels_train: Index | None
    labels_test: Index | None
    y_train: NDArray[np.float64]
    y_test: NDArray[np.float64]
    task: str
    classes: tuple[str, ...]
    train_rows: Index
    test_rows: Index


def prepare(
    dataset: Dataset,
    *,
    split: str | Mapping[str, Any],
    scaling: str = "none",
    target: str = "range",
    generator: np.random.Generator,
    rows: int | None = None,
    dtype: str = "float64",
) -> Prepared:
    """Split a data set, scale its rows and encode its target, by the training rows alone.

    Only 'minmax-all' looks at the test rows too.

    Parameters
    ----------
    split : 'given' or mapping
        See `split_rows`.
    scaling : {'none', 'standard', 'minmax', 'minmax-all', 'row-standard', '/255'}
        'standard': each column to mean 0 and standard deviation 1 (n in the denominator).
        'minmax': each column to [0, 1]; 'minmax-all': by the smallest and largest value of all
        rows, the test rows too. Columns that are constant in these rows become 0 in both.
        'row-standard': each row to mean 0 and standard deviation 1 (d - 1 in the denominator); a
        constant row becomes 0. Sparse rows take 'none' and '/255' only.
    target : {'range', 'raw', 'standard'}
        Of a regression: map the range of the training target to [-1, 1], leave it, or bring it to
        mean 0 and standard deviation 1. Classification ignores it.
    generator : numpy.random.Generator
        Source of the draws of split and subset.
    rows : int, optional
        Keep only so many training rows, drawn at random, and test rows in proportion.
    dtype : {'float64', 'float32'}
        Type of the rows once they are scaled; the target is float64 always.

    Raises
    ------
    DataError
        If an option is unknown or does not fit, if a used value is not finite, if a side is empty,
        if a class has no training row, or if the training target is constant.
    """
    options = ("scaling", scaling, SCALINGS), ("target", target, TARGETS), ("dtype", dtype, DTYPES)
    for key, value, allowed in options:
        if value not in allowed:
            raise DataError(
                f"{key} is {value!r}.{nearest(str(value), allowed)}",
                "There is no such choice.",
                f"Choose one of: {', '.join(allowed)}.",
            )
    train, test = split_rows(dataset, split, generator)
    if rows is not None:
        train, test = subset_rows(train, test, rows, generator)
    X_train, X_test = (_take(dataset, side) for side in (train, test))
    if dataset.fills_gaps:
        _fill(X_train, X_test)
    _scale(X_train, X_test, scaling, dtype)
    X_train, X_test = _cast(X_train, dataset, dtype), _cast(X_test, dataset, dtype)
    y = dataset.y
    labels: tuple[Index | None, Index | None] = None, None
    if dataset.task == "regression":
        targets = _map_target(y[train], y[test], target, dataset.name)
    else:
        labels = y[train].astype(np.int64), y[test].astype(np.int64)
        _check_classes(dataset, labels[0])
        targets = _encode(labels[0], len(dataset.classes)), _encode(labels[1], len(dataset.classes))
    return Prepared(
        X_train, X_test, *labels, *targets, dataset.task, dataset.classes, train, test
    )  # fmt: skip


def _blocks(X: NDArray[Any]) -> Iterator[slice]:
    return (slice(start, start + _ROWS_AT_ONCE) for start in range(0, len(X), _ROWS_AT_ONCE))


def _take(dataset: Dataset, index: Index) -> Rows:
    """Copy rows in double precision, and refuse values that are not finite."""
    X = dataset.X
    if not isinstance(X, np.ndarray):
        chosen = sparse.csr_array(X[index])
        chosen.data = chosen.data.astype(np.float64)
        for position in np.flatnonzero(~np.isfinite(chosen.data))[:1]:
            row = np.searchsorted(chosen.indptr, position, side="right") - 1
            raise _not_finite(dataset, index[row], chosen.indices[position])
        return chosen
    taken = np.empty((len(index), X.shape[1]))
    for block in _blocks(taken):
        taken[block] = X[index[block]]
        refused = np.isinf if dataset.fills_gaps else lambda values: ~np.isfinite(values)
        for row, column in np.argwhere(refused(taken[block]))[:1]:
            raise _not_finite(dataset, index[block][row], column)
    return taken


def _fill(X_train: Rows, X_test: Rows) -> None:
    """Put the mean of a column's training rows (0 if it has none there) for missing values."""
    there = ~np.isnan(X_train)
    means = X_train.sum(axis=0, where=there) / np.maximum(1, there.sum(axis=0))
    for X in (X_train, X_test):
        rows, columns = np.nonzero(np.isnan(X))
        X[rows, columns] = means[columns]


def _cast(X: Rows, dataset: Dataset, dtype: str) -> Rows:
    """Return scaled rows in their type: cast before, a column far from 0 would lose its digits."""
    with np.errstate(over="ignore"):
        cast: Any = X.astype(dtype, copy=False)
    if not np.isfinite(cast if isinstance(cast, np.ndarray) else cast.data).all():
        what = f"A value of {dataset.name} is too large for {dtype}."
        raise DataError(what, todo="Scale the rows, or take dtype float64.")
    return cast


def _not_finite(dataset: Dataset, row: Any, column: Any) -> DataError:
    return DataError(
        f"Row {int(row)}, column {int(column)} of {dataset.name} is NaN or infinite.",
        todo="Remove the row, or fill the value in.",
    )


def _scale(X_train: Rows, X_test: Rows, scaling: str, dtype: str) -> None:
    """Scale both sides in place."""
    if scaling == "none":
        return
    if scaling == "/255":
        for X in (X_train, X_test):
            values = X if isinstance(X, np.ndarray) else X.data
            values /= 255
        return
    if not (isinstance(X_train, np.ndarray) and isinstance(X_test, np.ndarray)):
        raise DataError(
            f"Sparse rows cannot be scaled by '{scaling}'.",
            "Subtracting a mean or a minimum would make every entry non-zero.",
            "Use the scaling 'none' or '/255'.",
        )
    if scaling == "row-standard":
        for X in (X_train, X_test):
            _standardise_rows(X)
        return
    low, high = X_train.min(axis=0), X_train.max(axis=0)
    if scaling == "minmax-all":
        low, high = np.minimum(low, X_test.min(axis=0)), np.maximum(high, X_test.max(axis=0))
    shift, width = _moments(X_train) if scaling == "standard" else (low, high - low)
    width = np.where((low == high) | (width == 0), np.inf, width)
    most = float(np.finfo(dtype).max)  # of a column that hardly varies in training
    for X in (X_train, X_test):
        for block in _blocks(X):
            with np.errstate(over="ignore"):
                scaled = (X[block] - shift) / width
            X[block] = np.clip(scaled, -most, most)


def _moments(X: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation of each column, in double precision and two passes."""
    mean = X.mean(axis=0, dtype=np.float64)
    squares = np.zeros_like(mean)
    for block in _blocks(X):
        squares += ((X[block] - mean) ** 2).sum(axis=0)
    return mean, np.sqrt(squares / len(X))


def _standardise_rows(X: NDArray[Any]) -> None:
    """Standardise each row in place; constant rows become 0."""
    for block in _blocks(X):
        part = X[block].astype(np.float64)
        flat = np.ptp(part, axis=1) == 0
        part -= part.mean(axis=1, keepdims=True)
        sd = np.sqrt((part**2).sum(axis=1) / max(1, X.shape[1] - 1))
        X[block] = part / np.where(flat | (sd == 0), np.inf, sd)[:, None]


def _map_target(
    y_train: NDArray[Any], y_test: NDArray[Any], target: str, name: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if not (np.isfinite(y_train).all() and np.isfinite(y_test).all()):
        raise DataError(
            f"The target of {name} holds NaN or infinity.", "", "Remove those rows from the data."
        )
    low, high = float(y_train.min()), float(y_train.max())
    mean, sd = float(y_train.mean()), float(y_train.std())
    shift, width = {
        "raw": (0.0, 1.0),
        "range": ((low + high) / 2, (high - low) / 2),
        "standard": (mean, sd),
    }[target]
    if low == high and target != "raw":
        what = f"The training target of {name} is constant."
        raise DataError(what, todo="Use more rows, or the target 'raw'.")
    return (y_train - shift) / width, (y_test - shift) / width


def _check_classes(dataset: Dataset, labels: Index) -> None:
    """Refuse training rows that lack a class."""
    counts = np.bincount(labels, minlength=len(dataset.classes))
    for code in np.flatnonzero(counts == 0)[:1]:
        raise DataError(
            f"Class '{dataset.classes[code]}' of {dataset.name} has no training row.",
            f"The {len(labels)} training rows hold {np.count_nonzero(counts)} of "
            f"{len(counts)} classes.",
            "Use more rows or another split.",
        )


def _encode(labels: Index, n_classes: int) -> NDArray[np.float64]:
    if n_classes == 2:
        return np.where(labels == 1, 1.0, -1.0)
    return np.where(labels[:, None] == np.arange(n_classes), 1.0, -1.0)
