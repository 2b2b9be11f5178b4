"""A file, or rows in memory, as the table that a model is fitted on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench import datasets
from rfbench.arrays import Array
from rfbench.datasets import columns, files
from rfbench.datasets.values import moments
from rfbench.errors import ConfigError, DataError, unknown
from rfbench.memory import check_fits

LEAST_GROUPS = 3
LEAST_ROWS = 10


@dataclass(frozen=True)
class LabelledTable:
    """Rows with a target, as they were read: numbers, words, dates and gaps."""

    name: str
    X: pd.DataFrame  # of shape (n, columns)
    y: NDArray[Any]  # shape (n,): numbers (float64), or labels (numbers or words)
    regression: bool
    groups: NDArray[np.int64] | None  # numbers of the groups
    time: Array | None  # when the rows are: later ones are to be predicted
    sha256: str  # of the file's content, or of the rows
    notes: tuple[str, ...] = ()  # what was found out of the target, in sentences
    file: str = ""  # where it was read, and how
    reading: tuple[tuple[str, Any], ...] = ()

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The labels in sorted order; none of a regression."""
        return np.unique(self.y) if not self.regression else np.empty(0)

    @property
    def target(self) -> NDArray[Any]:
        """Numbers, or the classes' codes 0 .. K-1."""
        return self.y if self.regression else np.searchsorted(self.classes, self.y)


def read_table(
    file: str | Path,
    *,
    target: str | int | None = None,
    task: str | None = None,
    drop: Sequence[str | int] = (),
    groups: str | int | None = None,
    time: str | int | None = None,
    **reading: Any,
) -> LabelledTable:
    """Read a file, or a data set of the catalogue, with its target.

    Parameters
    ----------
    file : path or str
    target, groups, time : str or int
        Columns, by name or number. That of the times stays among those that a model gets.
    task : {'classification', 'regression'}, optional
        By default the target says it.
    drop : sequence of str or int
        Columns to leave out.
    **reading : Any
        How the file is read, see `rfbench.datasets.files.read`.

    Raises
    ------
    DataError
        There is no such file or column, or nothing can be learnt from it.
    """
    own = target is not None or (Path(file).exists() and str(file) not in datasets.names())
    special = {"target": target, "task": task, "drop": tuple(drop), "groups": groups, "time": time}
    options = {**special, **reading}
    given = {key: value for key, value in options.items() if value not in (None, ())}
    if not own:
        if str(file) not in datasets.names():
            raise unknown("file or data set", str(file), datasets.names(), ConfigError)
        if given:
            raise ConfigError(
                f"--{next(iter(given))} is for files, and {file} is a data set of the catalogue.",
                todo="Leave it out.",
            )
        return replace(_from_catalogue(str(file)), file=str(file))
    path = files.find(str(file), None)
    X, y = read_rows(path, target=target, **reading)
    chosen = columns.chosen(
        path.name, X, y, target=target if y is None else None, drop=tuple(drop), groups=groups
    )
    when = None
    if time is not None:
        when = X[columns.column_named(path.name, X, time, "time")]
        columns.check_apart(path.name, {"target": str(chosen.y.name), "time": str(when.name)})
    table = _table(path.name, chosen.X, chosen.y, chosen.special.get("groups"), task, when)
    sha256 = files.content_sha256(path)
    return replace(table, sha256=sha256, file=str(file), reading=tuple(given.items()))


def read_rows(path: Path, **options: Any) -> tuple[pd.DataFrame, Any]:
    """Read the rows of a file, and the target where the format has it apart."""
    X, y, _ = files.read(path, **{key: v for key, v in options.items() if v is not None})
    X = _dense(path.name, X)
    X.columns = pd.Index([str(column).strip() for column in X.columns])
    return X, y


def read_new_rows(file: str | Path, **reading: Any) -> pd.DataFrame:
    """Read rows to predict; their target, where the file has it apart, is not looked at."""
    if str(file) in datasets.names() and not Path(file).exists():
        return _from_catalogue(str(file)).X
    return read_rows(files.find(str(file), None), **reading)[0]


def table_of(
    X: Any,
    y: Any,
    *,
    task: str | None = None,
    groups: Any = None,
    time: Any = None,
    name: str = "the rows",
) -> LabelledTable:
    """Return rows in memory as a table.

    Parameters
    ----------
    X : DataFrame, array or sparse matrix of shape (n, d)
    y : array of shape (n,)
        Labels (whole numbers, words) or numbers (floats).
    groups : array of shape (n,), optional
        Whose rows belong together.
    time : array of shape (n,), optional
        When the rows are: dates or numbers.
    """
    rows, target = columns.tabled(name, X, y)
    if task is None and isinstance(np.asarray(y).dtype, np.dtype):
        task = "regression" if np.asarray(y).dtype.kind == "f" else "classification"
    when = None if time is None else pd.Series(np.asarray(time), name="time")
    return _table(name, _dense(name, rows), target, groups, task, when)


def _table(
    name: str,
    X: pd.DataFrame,
    y: Any,
    groups: Any,
    task: str | None,
    when: pd.Series[Any] | None = None,
) -> LabelledTable:
    """Leave out rows without a target, a group or a time, and tell the task."""
    if groups is not None and when is not None:
        raise ConfigError(
            "Groups and time were both given.",
            "Rows are held out in whole groups, or the last ones.",
            "Give one of the two.",
        )
    X = X.reset_index(drop=True)
    X.columns = pd.Index([str(column).strip() for column in X.columns])
    y = pd.Series(y).reset_index(drop=True)
    there, notes = y.notna(), []
    if groups is not None:
        groups = pd.Series(np.asarray(groups))
        there &= groups.notna()
    time = None
    if when is not None:
        time = moments(str(when.name), when.reset_index(drop=True))
        there &= np.isfinite(time)
    if not there.all():
        missing = "a target" + (" or a group" if groups is not None else "")
        missing += " or a time" if time is not None else ""
        notes.append(f"{int((~there).sum()):,} rows without {missing} are left out.")
        X, y = X[there].reset_index(drop=True), y[there].reset_index(drop=True)
        groups = None if groups is None else groups[there]
        time = None if time is None else time[there.to_numpy()]
    _check_rows(name, len(y))
    if groups is not None and groups.nunique() < LEAST_GROUPS:
        raise DataError(
            f"The rows of {name} are in {groups.nunique()} groups.",
            f"A model is fitted, chosen and checked on other groups: {LEAST_GROUPS} at least.",
            "Name another column for groups, or none.",
        )
    special = columns.Table(name, X, y, {})
    codes, classes, kind = special.target_codes(task, ())
    regression = kind == "regression"
    numeric = pd.api.types.is_numeric_dtype(y.dtype) and y.dtype != bool
    labels = np.unique(y.to_numpy()) if numeric else np.array(classes)
    target = codes.astype(np.float64) if regression else labels[codes]
    if not regression:
        _check_classes(name, codes, labels)
    digest = hashlib.sha256(pd.util.hash_pandas_object(X.astype(str)).to_numpy().tobytes())
    digest.update(repr(target.tolist()).encode())
    numbers = None if groups is None else pd.factorize(groups, sort=True)[0].astype(np.int64)
    return LabelledTable(
        name, X, target, regression, numbers, time, digest.hexdigest(), (*notes, *special.notes)
    )


def _from_catalogue(name: str) -> LabelledTable:
    data = datasets.load(name)
    X = _dense(name, data.X)
    y: Any = data.y
    if data.task != "regression" and list(data.classes) == sorted(data.classes):
        y = np.array(data.classes)[data.y]
    table = _table(
        name, X, y, data.groups, "regression" if data.task == "regression" else "classification"
    )
    return replace(table, sha256=data.sha256)


def _dense(name: str, X: Any) -> pd.DataFrame:
    if hasattr(X, "tocsr"):
        check_fits(
            8.0 * X.shape[0] * X.shape[1],
            f"{name} has {X.shape[0]:,} sparse rows of {X.shape[1]:,} columns, which, dense,",
            "Take some of the columns, or `rfbench run`, which keeps them sparse.",
        )
        X = X.toarray()
    if isinstance(X, pd.DataFrame):
        return X
    values = np.asarray(X, dtype=np.float64)
    return pd.DataFrame(values, columns=[f"x{number}" for number in range(values.shape[1])])


def _check_rows(name: str, n: int) -> None:
    if n < LEAST_ROWS:
        raise DataError(
            f"Too few rows have a target: {n} in {name}.",
            f"A model is chosen on some and checked on others: at least {LEAST_ROWS} are needed.",
            "Measure more rows.",
        )


def _check_classes(name: str, codes: NDArray[np.int64], labels: NDArray[Any]) -> None:
    rare = labels[np.bincount(codes, minlength=len(labels)) < 2]
    if len(rare):
        raise DataError(
            f"Of {name}, there is one row only of {', '.join(map(str, rare[:5]))}.",
            "A class has to be learnt from one row and checked on another.",
            "Leave such rows out, or put rare classes together.",
        )
