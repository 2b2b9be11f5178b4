"""A file, or rows in memory, as the table that a model is fitted on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rfbench.arrays import Array
from rfbench.choosing import facts
from rfbench.choosing.problem import LabelledTable
from rfbench.datasets import columns, files
from rfbench.datasets.dialect import Reading
from rfbench.datasets.preparation import Preparation
from rfbench.datasets.values import EXACT_WHOLE, WORDS, is_number, kind_of, moments
from rfbench.errors import ConfigError, DataError
from rfbench.memory import check_fits

LEAST_GROUPS = 3
LEAST_ROWS = 10  # of a table, and of a bin or word that may be known of secret rows
NONE = "none"  # rows are held out at random, whatever they say


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
    """Read a file with its target.

    Parameters
    ----------
    file : path or str
    target, groups, time : str or int
        Columns, by name or number. That of the times stays among those that a model gets. Without
        `groups` and `time` the rows say how they are held out, see `facts.of_rows`; 'none' is at
        random.
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
    path = files.find(str(file), None)
    X, y, how = files.read(path, plain=True, target=target, **_given(reading))
    if how.unclear:
        whole = re.sub("[,.]", "", how.unclear)
        other = "." if "," in how.unclear else ","
        raise DataError(
            f"{how.unclear} in {path.name} is {whole} or {how.unclear.replace(',', '.')}.",
            "No number of the file says which.",
            f"Say `--decimal '{other}'` for {whole}, else `--decimal '{'.,'.strip(other)}'`.",
        )
    X = _dense(path.name, X)
    column = target if y is None else None
    owners = None if groups == NONE else groups
    chosen = columns.chosen(path.name, X, y, target=column, drop=tuple(drop), groups=owners)
    labels: Any = chosen.y
    more: tuple[str, ...] = ()
    if y is None and how.format in files.TEXT:
        labels, more = _labels(path, how, X, chosen.y)
    when: Any = time
    if time is not None and time != NONE:
        when = X[columns.column_named(path.name, X, time, "time")]
        columns.check_apart(path.name, {"target": str(chosen.y.name), "time": str(when.name)})
    table = _table(path.name, chosen.X, labels, chosen.special.get("groups", groups), when, task)
    notes = (*table.notes, *more)
    return replace(table, sha256=files.content_sha256(path), how=how, notes=notes)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None}


def _labels(path: Path, how: Reading, X: pd.DataFrame, y: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a target as it is written where it has gaps: NA may be a class, and numbers exact."""
    numbers = is_number(y)
    if not y.isna().any() or (numbers and not y.abs().gt(EXACT_WHOLE).any()):
        return y, ()
    place = list(map(str, X.columns)).index(str(y.name))
    text = files.column_text(path, how, place).rename(y.name)
    kept = text.where(y.notna())
    if numbers or kind_of(str(y.name), kept) != WORDS:
        return kept if numbers else y, ()
    words = text[y.isna() & text.notna()].value_counts()
    return text, tuple(
        f"{word} ({n:,} rows) is a class: leave the field empty where the target is not known."
        for word, n in words.items()
    )


def read_new_rows(
    file: str | Path,
    how: Reading | None = None,
    odd: Callable[[pd.DataFrame], Iterable[str]] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Read rows to predict; their target, where the file has it apart, is not looked at.

    Parameters
    ----------
    how : Reading, optional
        How the file was read that the model was fitted on.
    odd : callable, optional
        The columns with values that the training rows did not have. DataError if another reading
        of the same text has none there.
    **options : Any
        What is known to be written in another way.
    """
    path, options = files.find(str(file), None), _given(options)
    read = files.read(path, like=how, **options)
    X = _dense(path.name, read.X)
    if odd is None or how is None or read.how.format not in files.TEXT or options:
        return X
    beyond = set(odd(X))
    for separator in {read.how.separator, files.reading_of(path).separator} if beyond else ():
        for decimal in ",.":
            try:
                other = replace(read.how, separator=separator, decimal=decimal, commas=())
                Z = files.read(path, like=other).X
            except DataError:
                continue
            for column in sorted(beyond.intersection(map(str, Z.columns)) - set(odd(Z))):
                raise DataError(
                    f"Column {column} of {path.name} is not as in training as it is read.",
                    f"With the separator {separator!r} and the decimal sign {decimal!r} it is.",
                    f"Add `--separator '{separator}' --decimal '{decimal}'` if that is right, else "
                    f"those of training: `--decimal '{read.how.decimal}'`.",
                )
    return X


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
        When the rows are: dates or numbers. Without both the rows say it, see `read_table`.
    """
    rows, target = columns.tabled(name, X, y)
    if task is None and isinstance(np.asarray(y).dtype, np.dtype):
        task = "regression" if np.asarray(y).dtype.kind == "f" else "classification"
    return _table(name, _dense(name, rows), target, groups, time, task)


def _of_rows(values: Any, name: str) -> pd.Series[Any] | None:
    """Return groups or times as a column, None where there are none."""
    if values is None or (isinstance(values, str) and values == NONE):
        return None
    return pd.Series(np.asarray(values), name=getattr(values, "name", None) or name)


def _table(
    name: str, X: pd.DataFrame, y: Any, groups: Any, time: Any, task: str | None
) -> LabelledTable:
    """Leave out rows without a target, a group or a time, and tell the task.

    Where it is not told how rows are held out, they say it themselves.
    """
    owners, when = _of_rows(groups, "groups"), _of_rows(time, "time")
    if owners is not None and when is not None:
        raise ConfigError(
            "Groups and time were both given.",
            "Rows are held out in whole groups, or the last ones.",
            "Give one of the two.",
        )
    X = X.reset_index(drop=True)
    X.columns = pd.Index([str(column).strip() for column in X.columns])
    y = pd.Series(y).reset_index(drop=True)
    if when is not None:
        # Days since an epoch, or numbers.
        when = pd.Series(moments(str(when.name), when)).replace([np.inf, -np.inf], np.nan)
    there, notes = y.notna(), []
    for column in (owners, when):
        there &= True if column is None else column.notna()
    if not there.all():
        notes.append(f"{int((~there).sum()):,} rows without target, group or time are left out.")
        X, y = X[there].reset_index(drop=True), y[there].reset_index(drop=True)
        owners = None if owners is None else owners[there].reset_index(drop=True)
        when = None if when is None else when[there]
    if len(y) < LEAST_ROWS:
        raise DataError(
            f"Too few rows have a target: {len(y)} in {name}.",
            f"A model is chosen on some and checked on others: at least {LEAST_ROWS} are needed.",
            "Measure more rows.",
        )
    copies = facts.copies(X, y)
    found = facts.of_rows(X, y, copies) if groups is None and time is None else None
    if found is not None:
        notes.insert(0, found.sentence)
        if found.in_time:
            when = pd.Series(found.values)
        else:
            owners = pd.Series(found.values)
            X = X.drop(columns=[found.column] if found.column else [])
    if owners is not None and owners.nunique() < LEAST_GROUPS:
        raise DataError(
            f"The rows of {name} are in {owners.nunique()} groups.",
            f"A model is fitted, chosen and checked on other groups: {LEAST_GROUPS} at least.",
            "Name another column for groups, or none.",
        )
    special = columns.Table(name, X, y, {})
    codes, classes, kind = special.target_codes(task, ())
    regression = kind == "regression"
    numeric = pd.api.types.is_numeric_dtype(y.dtype) and y.dtype != bool
    labels = np.unique(y.to_numpy()) if numeric else np.array(classes)
    target = codes.astype(np.float64) if regression else labels[codes]
    numbers = None
    if owners is not None:
        numbers = pd.factorize(owners, sort=True, use_na_sentinel=False)[0].astype(np.int64)
    digest = hashlib.sha256(pd.util.hash_pandas_object(X.astype(str)).to_numpy().tobytes())
    digest.update(repr(target.tolist()).encode())
    first = facts.first_of(copies if numbers is None else numbers)
    notes = [
        *facts.tells(X.iloc[first], codes[first], regression=regression), *notes, *special.notes
    ]  # fmt: skip
    times = None if when is None else np.asarray(when, dtype=np.float64)
    known = np.empty(0)
    if not regression:
        known, target = np.unique(target, return_inverse=True)
    return LabelledTable(
        X,
        target,
        known,
        numbers,
        times,
        name=name,
        sha256=digest.hexdigest(),
        notes=tuple(notes),
    )


def without_rows(table: LabelledTable) -> LabelledTable:
    """Return a table whose target tells no value of a row: see `prepared` for the columns.

    Classes of fewer than ten rows are left out, and a target of numbers is rounded.
    """
    note = f"What the model knows of numbers, dates and words is that of {LEAST_ROWS} rows or more."
    if not table.n_classes:
        note = f"{note} The target is rounded to a thousandth of its range, or to three digits."
        least = np.maximum(np.abs(table.y), np.finfo(np.float64).tiny)
        digits = np.minimum(np.log10(np.ptp(table.y)) - 3, np.log10(least) - 2)
        step = 10.0 ** np.floor(digits)
        return replace(table, y=np.round(table.y / step) * step, notes=(*table.notes, note))
    common = np.bincount(table.y) >= LEAST_ROWS
    if common.sum() < 2:
        raise DataError(
            f"Of {table.name}, fewer than two classes are in {LEAST_ROWS} rows or more.",
            "With fewer a class tells of its rows.",
            "Put rare classes together.",
        )
    # The names of rare classes are secret, too, in whatever sentence they stand.
    notes = [each for each in table.notes if "class" not in each or "--" in each]
    if not common.all():
        note = f"{note} Classes of fewer rows are left out."
    return replace(table, notes=(*notes, note)).keeping(np.flatnonzero(common))


def prepared(X: pd.DataFrame, fit: Any, held: Any, *, allow_rows: bool) -> Array:
    """Return rows to fit and then others as numbers, see `preparation`."""
    made = preparation(allow_rows=allow_rows)
    return np.vstack([made.fit_transform(X.iloc[fit]), made.transform(X.iloc[held])])


def preparation(*, allow_rows: bool) -> Preparation:
    """Return what makes numbers of rows; if it may hold no rows, of bins of ten rows or more."""
    return Preparation(1 if allow_rows else LEAST_ROWS)


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
