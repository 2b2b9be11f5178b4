"""Preparation of a data set for an experiment: split the rows, scale the rows, map the target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from rfbench.arrays import Rows
from rfbench.datasets.dataset import Dataset
from rfbench.datasets.split import Index, draw_subset, split_rows
from rfbench.errors import DataError, make_unknown_error
from rfbench.rows import RowSource

CLIPPED = "clipped-all"
BY_LARGEST = "/max", "standard/max", "standard-all/max"
Scaling = Literal[
    "none",
    "standard",
    "minmax",
    "minmax-all",
    "row-standard",
    "/255",
    "rank",
    "robust",
    "clipped-all",
    "/max",
    "standard/max",
    "standard-all/max",
]
Target = Literal["range", "raw", "standard", "clipped-all"]
DType = Literal["float64", "float32"]

# Number of rows per block. Sums are accumulated row by row, so the results do not change if this
# number is doubled or halved. A block with 100 columns needs 3 MB.
_ROWS_AT_ONCE = 4096
# Constants of the scaling `clipped-all`, from the code of the authors of Zozoulenko et al. 2025.
# LEAST is added to the standard deviation of a column, and scaled values are limited to [-CLIP,
# CLIP]. With different constants, the scaling would differ from the scaling of the paper.
CLIP, LEAST = 3.0, 1e-5
Scale = Callable[[NDArray[Any]], NDArray[Any]]


@dataclass(frozen=True)
class Prepared:
    """The training set and the test set of a data set, after scaling.

    Parameters
    ----------
    X_train : array (C order), csr_array or RowSource of shape (n, d)
        Scaled training set.
    X_test : array (C order), csr_array or RowSource of shape (m, d)
        Scaled test set.
    y_train : array of shape (n,)
        Class codes (int64), or the mapped target of a regression (float64).
    y_test : array of shape (m,)
        Class codes (int64), or the mapped target of a regression (float64), of the test set.
    task : {'binary', 'multiclass', 'regression'}
        Kind of target (see `Dataset`).
    classes : tuple of str
        Labels of the classes (see `Dataset`).
    train_rows : array of shape (n,)
        Indices of the training set in the data set.
    test_rows : array of shape (m,)
        Indices of the test set in the data set.
    groups : array of shape (n,) or None, default=None
        Number of the group of each training row.
    """

    X_train: Rows
    X_test: Rows
    y_train: NDArray[Any]
    y_test: NDArray[Any]
    task: str
    classes: tuple[str, ...]
    train_rows: Index
    test_rows: Index
    groups: Index | None = None


def prepare(
    dataset: Dataset,
    *,
    split: str | Mapping[str, Any],
    scaling: str = "none",
    target: str = "range",
    generator: np.random.Generator,
    rows: int | None = None,
    test_rows: int | None = None,
    dtype: str = "float64",
    trial: int = 0,
) -> Prepared:
    """Split a data set into a training set and a test set, scale the rows and map the target.

    Means, standard deviations and ranges are computed from the training set. Only scalings with
    'all' in their names use the test set as well.

    Parameters
    ----------
    dataset : Dataset
        The data set, as returned by `load`.
    split : 'given' or mapping
        Rule for the split (see `split_rows`).
    scaling : {'none', 'standard', 'minmax', 'minmax-all', 'row-standard', '/255', 'rank',
            'robust', 'clipped-all', '/max', 'standard/max', 'standard-all/max'}
        Scaling of the rows. Sparse rows support only 'none' and '/255'.

        - 'standard': scale each column to mean 0 and standard deviation 1 (n in the denominator).
        - 'minmax': scale each column to [0, 1]. A constant column becomes 0.
        - 'minmax-all': like 'minmax', with the range of each column over both sets.
        - 'row-standard': scale each row to mean 0 and standard deviation 1 (d - 1 in the
          denominator). A constant row becomes 0.
        - '/255': divide all values by 255.
        - 'rank': see `RankScaler`.
        - 'robust': see `SmoothClipScaler`.
        - 'clipped-all': replace x by (x - mean) / (sd + 1e-5), clipped to [-3, 3]. The mean and
          the standard deviation sd of each column are computed over both sets.
        - '/max': divide all columns by the largest value in the training set.
        - 'standard/max': 'standard', then '/max'.
        - 'standard-all/max': like 'standard/max', with the mean and standard deviation of each
          column over both sets.
    target : {'range', 'raw', 'standard', 'clipped-all'}
        Mapping of the target of a regression. It is ignored for classification.

        - 'range': map the range of the training target to [-1, 1].
        - 'raw': do not change the target.
        - 'standard': scale the target to mean 0 and standard deviation 1.
        - 'clipped-all': scale the target like a column with the scaling 'clipped-all'.
    generator : numpy.random.Generator
        Random generator for the split and the subset.
    rows : int, optional
        Number of training samples to keep, drawn at random, with a proportional number of test
        samples. If None, all samples are kept, and rows of a folder of `.npy` files stay on disk.
    test_rows : int, optional
        Maximum number of test samples to keep, drawn at random, instead of a proportional number.
    dtype : {'float64', 'float32'}
        Type of the rows after scaling. The target is always float64.
    trial : int
        Number of the repetition of the experiment, from 0 (see `split_rows`).

    Returns
    -------
    Prepared
        Training and test set with targets.

    Raises
    ------
    DataError
        If an option is unknown or cannot be used for the data, a value is not finite, the training
        or test set is empty, a class has no training samples, or the training target is constant.
    """
    options = ("scaling", scaling, Scaling), ("target", target, Target), ("dtype", dtype, DType)
    for key, value, allowed in options:
        if value not in get_args(allowed):
            raise make_unknown_error(key, value, get_args(allowed), DataError)
    train, test = split_rows(dataset, split, generator, trial)
    if rows is not None or test_rows is not None:
        wanted = len(train) if rows is None else rows
        train, test = draw_subset(train, test, wanted, generator, test_rows)
    X_train: Rows
    X_test: Rows
    if isinstance(dataset.X, pd.DataFrame):
        from rfbench.datasets.preparation import Preparation  # importing scikit-learn is slow

        preparation = Preparation()
        X_train = preparation.fit_transform(dataset.X.iloc[train])
        X_test = preparation.transform(dataset.X.iloc[test])
    else:
        X_train, X_test = (_take(dataset, side, on_disk=rows is None) for side in (train, test))
    scale = _scaler(X_train, X_test, scaling, dtype)
    X_train, X_test = (_scaled(X, scale, dataset.name, dtype) for X in (X_train, X_test))
    y: tuple[NDArray[Any], NDArray[Any]] = dataset.y[train], dataset.y[test]
    if dataset.task == "regression":
        y = _map_target(*y, target, dataset.name)
    else:
        _check_classes(dataset, y[0])
    groups = None if dataset.groups is None else np.asarray(dataset.groups)[train]
    return Prepared(X_train, X_test, *y, dataset.task, dataset.classes, train, test, groups)


def _blocks(X: Rows) -> Iterator[slice]:
    return (slice(start, start + _ROWS_AT_ONCE) for start in range(0, X.shape[0], _ROWS_AT_ONCE))


def _take(dataset: Dataset, index: Index, *, on_disk: bool) -> Rows:
    """Return a float64 copy of the rows at the positions `index`.

    If `on_disk` is True, rows of a folder of `.npy` files stay on disk. Raise DataError if a value
    is not finite. Rows on disk are checked when they are read.
    """
    X: Rows = dataset.X
    if isinstance(X, RowSource) and on_disk:
        return X.select_rows(index).map_blocks(partial(_finite, name=dataset.name))
    if hasattr(X, "indptr"):
        chosen = sparse.csr_array(X[index])
        chosen.data = _finite(chosen.data.astype(np.float64), dataset.name)
        return chosen
    taken = np.empty((len(index), X.shape[1]))
    for block in _blocks(taken):
        taken[block] = _finite(X[index[block]], dataset.name)
    return taken


def _cast(X: Rows, name: str, dtype: str) -> Rows:
    """Convert scaled rows to the floating-point type `dtype`.

    Raise DataError if a value is too large for `dtype`. `name` is the name of the data set in the
    error message.
    """
    # Rows are cast only after they are scaled. Otherwise large numbers would lose digits in
    # float32.
    with np.errstate(over="ignore"):
        cast: Any = X.astype(dtype, copy=False)
    if not np.isfinite(cast if isinstance(cast, np.ndarray) else cast.data).all():
        what = f"A value of {name} is too large for {dtype}."
        raise DataError(what, todo="Scale the rows, or use dtype float64.")
    return cast


def _finite(block: NDArray[Any], name: str) -> NDArray[Any]:
    if not np.isfinite(block).all():
        what = f"A value of {name} is NaN or infinite."
        raise DataError(what, todo="Remove its row, or fill in the value.")
    return block


def _scaled(X: Rows, scale: Scale, name: str, dtype: str) -> Rows:
    """Scale the rows X in place with the function `scale`, and convert them to `dtype`.

    Rows on disk are not changed. They are scaled whenever they are read.
    """
    cast = partial(_cast, name=name, dtype=dtype)
    if isinstance(X, RowSource):
        return X.map_blocks(scale).map_blocks(cast).astype(dtype)
    values = X if isinstance(X, np.ndarray) else X.data
    for block in _blocks(values):
        values[block] = scale(values[block])
    return cast(X)


def _scaler(X_train: Rows, X_test: Rows, scaling: str, dtype: str) -> Scale:
    """Return a function that scales a block of rows with the method `scaling`.

    The parameters of the function, such as means, are computed from the training set. Methods with
    'all' in their names use the test set as well.
    """
    if scaling == "none":
        return np.asarray
    if scaling == "/255":
        return partial(_affine, shift=0.0, width=255.0, most=np.inf)
    if sparse.issparse(X_train):
        raise DataError(
            f"Sparse rows cannot be scaled by '{scaling}'.",
            "Subtracting a mean or a minimum would make every entry different from 0.",
            "Use the scaling 'none' or '/255'.",
        )
    if scaling == "row-standard":
        return _standard_rows
    if scaling in ("rank", "robust"):
        from rfbench.datasets import scaling as scalings  # importing scikit-learn is slow

        scaler = scalings.RankScaler() if scaling == "rank" else scalings.SmoothClipScaler()
        return scaler.fit(X_train).transform
    if scaling == CLIPPED:
        mean, sd = _moments([X_train, X_test])
        return partial(_affine, shift=mean, width=sd + LEAST, most=CLIP)
    if scaling in BY_LARGEST:
        mean, sd = np.zeros(1), np.ones(1)
        if scaling != BY_LARGEST[0]:
            mean, sd = _moments([X_train] if scaling == BY_LARGEST[1] else [X_train, X_test])
        width = np.where(sd == 0, np.inf, sd)
        largest = np.max((_range([X_train])[1] - mean) / width)
        if not largest > 0:
            what = f"The scaling {scaling} divides by the largest value, but no value is above 0."
            raise DataError(what, todo="Use a different scaling.")
        return partial(_affine, shift=mean, width=width * largest, most=np.inf)
    low, high = _range([X_train, X_test] if scaling == "minmax-all" else [X_train])
    shift, width = _moments([X_train]) if scaling == "standard" else (low, high - low)
    width = np.where((low == high) | (width == 0), np.inf, width)
    # Limit the results to the range of the dtype. If a column is almost constant in the training
    # set, its scaled values could otherwise overflow.
    return partial(_affine, shift=shift, width=width, most=float(np.finfo(dtype).max))


def _affine(block: NDArray[Any], shift: Any, width: Any, most: float) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        scaled = (block - shift) / width
    return np.asarray(np.clip(scaled, -most, most))


def _standard_rows(block: NDArray[Any]) -> NDArray[Any]:
    """Scale each row to mean 0 and standard deviation 1. Constant rows become 0."""
    flat = np.ptp(block, axis=1) == 0
    centered = block - block.mean(axis=1, keepdims=True)
    sd = np.sqrt((centered**2).sum(axis=1) / max(1, block.shape[1] - 1))
    return np.asarray(centered / np.where(flat | (sd == 0), np.inf, sd)[:, None])


def _range(sides: list[Rows]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the smallest and the largest value of each column over all the given sets of rows."""
    extremes = [(X[block].min(axis=0), X[block].max(axis=0)) for X in sides for block in _blocks(X)]
    lows, highs = zip(*extremes, strict=True)
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _moments(sides: list[Rows]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean and standard deviation of each column over all the given sets of rows."""
    n, total = sum(X.shape[0] for X in sides), np.zeros((1, sides[0].shape[1]))
    blocks = [(X, block) for X in sides for block in _blocks(X)]
    # Add the rows one by one, as numpy does in a sum over all rows. The rounding errors are then
    # the same.
    for X, block in blocks:
        total = np.vstack([total, X[block]]).sum(axis=0, keepdims=True)
    mean = total[0] / n
    squares = np.zeros_like(mean)
    for X, block in blocks:
        squares += ((X[block] - mean) ** 2).sum(axis=0)
    return mean, np.sqrt(squares / n)


def _map_target(
    y_train: NDArray[Any], y_test: NDArray[Any], target: str, name: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    both = np.concatenate([y_train, y_test])
    if not np.isfinite(both).all():
        raise DataError(
            f"The target of {name} contains NaN or infinity.",
            "",
            "Remove these rows from the data.",
        )
    low, high = y_train.min(), y_train.max()
    if low == high and target in ("range", "standard"):
        what = f"The training target of {name} is constant."
        raise DataError(what, todo="Use more rows, or the target 'raw'.")
    shift, width, most = {
        "raw": (0.0, 1.0, np.inf),
        "range": ((low + high) / 2, (high - low) / 2, np.inf),
        "standard": (y_train.mean(), y_train.std(), np.inf),
        CLIPPED: (both.mean(), both.std() + LEAST, CLIP),
    }[target]
    return _affine(y_train, shift, width, most), _affine(y_test, shift, width, most)


def _check_classes(dataset: Dataset, labels: Index) -> None:
    """Raise DataError if a class has no training samples.

    `labels` contains the class codes of the training set.
    """
    counts = np.bincount(labels, minlength=len(dataset.classes))
    for code in np.flatnonzero(counts == 0)[:1]:
        raise DataError(
            f"Class '{dataset.classes[code]}' of {dataset.name} has no rows in the training set.",
            f"The training set of {len(labels)} rows has {np.count_nonzero(counts)} "
            f"of {len(counts)} classes.",
            "Use more rows or another split.",
        )
