"""Columns of anything to rows of numbers and a target, with what was done said."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from rfbench.arrays import Rows
from rfbench.errors import DataError, nearest

MOST_WORDS = 255  # of a column that becomes one column for each
MOST_CLASSES = 1000
FEW, MANY = 2, 30  # whole numbers: up to FEW are classes, more than MANY a quantity, else unclear
MOST_NAMED = 8
DENSE = 4  # from every fourth value that is not 0 on
SIDES = {"train": 0, "training": 0, "test": 1, "testing": 1}
DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{2,4}([ T]\d.*)?|\d{1,2}:\d{2}(:\d{2}.*)?")


@dataclass(frozen=True)
class Parsed:
    """The rows of a data set; those of the published training part come first."""

    X: Rows
    y: NDArray[Any]  # int64 class codes, or the float64 target of a regression
    n_given_train: int | None = None
    groups: NDArray[np.int64] | None = None
    # Of data of one's own: what a catalogue would say of them, as JSON values.
    about: Mapping[str, Any] | None = None


def tabled(
    what: str, X: Any, y: Any, names: Sequence[Any] | None = None
) -> tuple[pd.DataFrame | Rows, pd.Series[Any] | None]:
    """Return rows as a table (or sparse) and the target as one column.

    DataError if X is no table, or y has another number of rows.
    """
    if hasattr(X, "tocsr"):
        X = sparse.csr_array(X)
    elif not isinstance(X, pd.DataFrame):
        array = np.asarray(X)
        if array.ndim != 2 or array.dtype.kind == "c":
            raise DataError(
                f"X of {what} has the shape {array.shape} and the type {array.dtype}.",
                "It has to have rows and columns of numbers or words.",
                "Reshape it to (rows, columns).",
            )
        X = pd.DataFrame(array, columns=None if names is None else list(names))
    if y is None:
        return X, None
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        y = y.iloc[:, 0] if isinstance(y, pd.DataFrame) else np.ravel(y)
    if np.ndim(y) != 1 or len(y) != X.shape[0]:
        raise DataError(
            f"y of {what} has the shape {np.shape(y)}, and X has {X.shape[0]} rows.",
            "There has to be one target per row.",
        )
    return X, y.reset_index(drop=True) if isinstance(y, pd.Series) else pd.Series(y)


def parsed(
    name: str,
    X: pd.DataFrame | Rows,
    y: pd.Series[Any] | None,
    *,
    task: str | None = None,
    missing: str = "error",
    labels: Sequence[Any] = (),
    **named: Any,
) -> Parsed:
    """Return rows of numbers, the target, the groups and the given split of a table.

    `name` is what the data are called, for errors. X, of shape (n, d), is a table or sparse; where
    y is None, the target is the column `target` of X, else there is no such column. `labels` are
    the names of the classes 0, 1, ..., where they are known. The other parameters are the keys of
    `rfbench.config.schema.OwnData`; `part` is the column that says `train` or `test`. The mean that
    fills gaps is that of the training rows, taken later.

    The `about` of what is returned has the fields of a catalogue's entry that are known now; its
    `note` says in sentences what was done. DataError if a column is not there, or cannot be used as
    it is.
    """
    table = chosen(name, X, y, **named)
    table.complete(missing)
    X, notes = table.X, table.notes
    if X.shape[0] < 2 or X.shape[1] < 1:
        raise DataError(
            f"{name} has {X.shape[0]} rows and {X.shape[1]} columns beside the target.",
            "That is too little to learn from.",
            "Is it the right file, the right way round, with the right separator?",
        )
    codes, classes, kind = table.target_codes(task, labels)
    tabular = isinstance(X, pd.DataFrame)
    rows: Rows = numbers(name, in_words(name, X), notes) if tabular else _sparse(name, X, notes)
    subjects, n_given_train, order = table.arranged()
    if n_given_train is not None:
        rows, codes = rows[order], codes[order]
    facts = {
        **about(codes, classes, kind, notes),
        "rows": rows.shape[0],
        "columns": rows.shape[1],
        "train_rows": n_given_train,
        "sparse": sparse.issparse(rows),
        "fills_gaps": missing == "mean",
    }
    return Parsed(rows, codes, n_given_train, subjects, facts)


def about(codes: NDArray[Any], classes: list[str], task: str, notes: list[str]) -> dict[str, Any]:
    """Return what a catalogue's entry says of the target, and as a note what was done."""
    counts = np.bincount(codes, minlength=len(classes)).tolist() if classes else []
    numbered = dict(zip(classes, counts, strict=True))
    return {"kind": "own", "task": task, "classes": numbered, "note": " ".join(notes)}


def chosen(
    name: str,
    X: pd.DataFrame | Rows,
    y: pd.Series[Any] | None,
    *,
    target: str | int | None = None,
    drop: Sequence[str | int] | str | int = (),
    groups: str | int | None = None,
    part: str | int | None = None,
) -> Table:
    """Return the columns that are features, with the target and the other columns; see `parsed`."""
    special: dict[str, pd.Series[Any]] = {}
    if y is not None and target is not None:
        raise DataError(
            f"The target of {name} stands apart from its columns, and target is '{target}'.",
            todo="Leave out `target`.",
        )
    if isinstance(X, pd.DataFrame):
        X = X.reset_index(drop=True)
        X.columns = pd.Index([str(column).strip() for column in X.columns])
        for twice in X.columns[X.columns.duplicated()][:1]:
            raise DataError(f"{name} has two columns '{twice}'.", "", "Rename one of them.")
        listed = [drop] if isinstance(drop, str | int) else list(drop)
        gone = [_column(name, X, column, "drop") for column in listed]
        wanted = {"groups": groups, "part": part} | ({"target": target} if y is None else {})
        for key, column in wanted.items():
            if column is not None:
                special[key] = X[_column(name, X, column, key)]
        if y is None and target is None:
            last = X.columns[-1]
            raise DataError(
                f"The target of {name} is not named.",
                f"It has the columns {_named(list(X.columns))}.",
                f"Write `target: {last}`, say, or `--target {last}` on a command line.",
            )
        X = X.drop(columns=[*gone, *(str(column.name) for column in special.values())])
    elif drop or groups is not None or part is not None:
        raise DataError(f"{name} is sparse, without names.", "", "Leave out drop and groups.")
    return Table(name, X, special.pop("target") if y is None else y, special)


@dataclass
class Table:
    """Columns on their way to rows of numbers."""

    name: str  # for errors
    X: pd.DataFrame | Rows  # the features
    y: pd.Series[Any]
    apart: dict[str, pd.Series[Any]]  # the columns `groups` and `part`, where there are such
    notes: list[str] = field(default_factory=list)  # what was done, in sentences

    def complete(self, missing: str, *, whole: bool = True) -> None:
        """Deal with missing values as asked; those of the target and columns apart are not filled.

        Columns without any value are left out where the table is `whole`.
        """
        X, y, notes = self.X, self.y, self.notes
        needed = pd.concat([y.rename("the target"), *self.apart.values()], axis=1).isna()
        gaps = needed
        if isinstance(X, pd.DataFrame):
            inside = X.isna()
            empty = [str(c) for c in X.columns[inside.all()]] if whole and len(X) else []
            if empty:
                X, inside = X.drop(columns=empty), inside.drop(columns=empty)
                notes.append(f"Left out, without any value: {_named(empty)}.")
            gaps = pd.concat([needed, inside], axis=1)
        counts = gaps.sum()
        counts = counts[counts > 0].sort_values(ascending=False, kind="stable")
        listed = _named([f"{column} ({count:,})" for column, count in counts.items()])
        if len(counts) and missing == "error":
            left, n = int((~gaps.any(axis=1)).sum()), len(y)
            raise DataError(
                f"{self.name} has {int(counts.sum()):,} missing values: {listed}.",
                "No method here can use them.",
                f"Write `missing: drop` (which leaves {left:,} of {n:,} rows), `missing: mean` (of "
                "the training rows), or leave columns out: `drop: [COLUMN]`.",
            )
        keep = ~(gaps if missing == "drop" else needed).any(axis=1)
        if not keep.all():
            notes.append(f"{int((~keep).sum()):,} rows with missing values are left out: {listed}.")
            X = X[keep.to_numpy()]
            X = X.reset_index(drop=True) if isinstance(X, pd.DataFrame) else X
            self.y = y[keep].reset_index(drop=True)
            self.apart = {k: v[keep].reset_index(drop=True) for k, v in self.apart.items()}
        if len(counts) and missing == "mean":
            notes.append(
                "Missing numbers become the mean of the training rows, missing words a word of "
                f"their own: {listed}."
            )
        self.X = X

    def target_codes(
        self, task: str | None, labels: Sequence[Any]
    ) -> tuple[NDArray[Any], list[str], str]:
        """Return the target, the labels of its classes and the task."""
        y, name, notes = self.y, self.name, self.notes
        different = int(y.nunique())
        what = f"The target{'' if y.name in (None, 0) else f' {y.name!r}'} of {name}"
        if different < 2:
            raise DataError(
                f"{what} is constant.", "Nothing can be learnt.", "Name another column."
            )
        if not _is_number(y):
            y = _words(name, y.rename(str(y.name or "target")))
        is_text = not _is_number(y) or y.dtype == bool
        if not is_text and not np.isfinite(y.to_numpy(dtype=float)).all():
            raise DataError(f"{what} is not finite in some rows.", "", "Correct or remove them.")
        known = [str(label) for label in labels] if len(labels) == different else []
        if task:
            regression = task == "regression"
        else:
            regression = not is_text and not known and _is_quantity(what, y, different)
        if regression and is_text:
            raise DataError(
                f"{what} holds words, such as {str(y.iloc[0])[:40]!r}.",
                todo="Write `task: classification`, or name another column.",
            )
        guess = "" if task else ", by its target"
        if regression:
            notes.append(f"Regression{guess}: {different:,} different numbers.")
            return y.to_numpy(dtype=np.float64), [], "regression"
        if different > MOST_CLASSES or 2 * different > len(y) > 4:
            raise DataError(
                f"{what} has {different:,} different labels in {len(y):,} rows.",
                "That looks like a name, a number or a text, not like classes.",
                "Name another column, or write `task: regression` if it is a quantity.",
            )
        kind = "binary" if different == 2 else "multiclass"
        if task not in (None, "classification", kind):
            raise DataError(
                f"{what} has {different} classes, and task is {task}.",
                todo=f"Write `task: {kind}`.",
            )
        codes, values = pd.factorize(y, sort=True)
        classes = known or [str(v) if is_text else format(v, "g") for v in values]
        notes.append(f"Classification{guess}: {different} classes, {_named(classes)}.")
        return codes.astype(np.int64), classes, kind

    def arranged(self) -> tuple[NDArray[np.int64] | None, int | None, NDArray[np.int64]]:
        """Return the numbers of the groups, the size of the training part, and its rows first."""
        groups, part = self.apart.get("groups"), self.apart.get("part")
        subjects = None if groups is None else pd.factorize(groups, sort=True)[0]
        if part is None:
            return subjects, None, np.arange(len(self.y))
        side = _sides(self.name, part)
        order = np.argsort(side, kind="stable")
        return None if subjects is None else subjects[order], int((side == 0).sum()), order


def _column(name: str, table: pd.DataFrame, column: str | int, key: str) -> str:
    names = list(table.columns)
    if str(column) in names:
        return str(column)
    if isinstance(column, int) and -len(names) <= column < len(names):
        return str(names[column])
    raise DataError(
        f"{name} has no column '{column}'.{nearest(str(column), names)}",
        f"Its columns are {_named(names)}: correct `{key}`.",
    )


def _named(names: Sequence[Any]) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(map(str, names[:MOST_NAMED])) + more


def in_words(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with each column that is no number as words, or the numbers they stand for.

    DataError of dates, and of numbers with words among them.
    """
    numeric = pd.api.types.is_numeric_dtype
    made = {str(c): _words(name, table[c]) for c, kind in table.dtypes.items() if not numeric(kind)}
    return table.assign(**made)


def check_words(name: str, table: pd.DataFrame) -> dict[str, int]:
    """Return how many words each column of words has; DataError where they are too many."""
    levels = {str(c): int(table[c].nunique()) for c in table if not _is_number(table[c])}
    for column, count in levels.items():
        if count > MOST_WORDS:
            raise DataError(
                f"Column '{column}' of {name} has {count:,} different words.",
                f"One column for each would be more than the {MOST_WORDS} allowed: it looks like "
                "names, numbers in another notation, or text.",
                f"Leave it out: `drop: [{column}]`.",
            )
    return levels


def numbers(name: str, table: pd.DataFrame, notes: list[str]) -> NDArray[np.float64]:
    """Return the columns as numbers: words as columns of 0 and 1, constant ones left out."""
    levels = check_words(name, table)
    constant = [column for column, count in levels.items() if count == 1]
    table, levels = table.drop(columns=constant), {c: k for c, k in levels.items() if k > 1}
    ones = {column: table[column].max() for column, count in levels.items() if count == 2}
    if ones:
        shown = _named([f"{column} (1 is {word})" for column, word in ones.items()])
        notes.append(f"Columns of two words became one column of 0 and 1: {shown}.")
        table = table.assign(**{c: (table[c] == word).astype(float) for c, word in ones.items()})
        levels = {column: count for column, count in levels.items() if column not in ones}
    if levels:
        shown = _named([f"{column} ({count})" for column, count in levels.items()])
        notes.append(f"Columns of words became one column of 0 and 1 per word: {shown}.")
        table = pd.get_dummies(table, columns=list(levels), prefix_sep="=", dtype=np.float64)
    X = np.ascontiguousarray(table.to_numpy(dtype=np.float64, na_value=np.nan))
    if np.isinf(X).any():
        row, column = np.argwhere(np.isinf(X))[0]
        raise DataError(
            f"Row {row + 1} of column '{table.columns[column]}' of {name} is infinite.",
            todo="Correct it, or leave the row or the column out.",
        )
    flat = X.min(axis=0) == X.max(axis=0)
    constant += list(table.columns[flat])
    if constant:
        notes.append(f"Left out, constant: {_named(constant)}.")
        X = np.ascontiguousarray(X[:, ~flat])
    if not X.shape[1]:
        raise DataError(f"All columns of {name} are constant.", "Nothing can be learnt from them.")
    return X


def _sparse(name: str, X: Any, notes: list[str]) -> Rows:
    if not np.isfinite(X.data).all():
        raise DataError(f"{name} has values that are not finite.", "", "Correct or remove them.")
    if X.nnz < X.shape[0] * X.shape[1] / DENSE:
        return sparse.csr_array(X, dtype=np.float64)
    notes.append("The rows are stored as dense ones, since more than a quarter of them is not 0.")
    return np.asarray(X.toarray(), dtype=np.float64)


def _is_number(column: pd.Series[Any]) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column.dtype))  # truth values as well


def _words(name: str, column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column of words, or the numbers that they stand for.

    Dates are refused, and numbers with words among them.
    """
    present = column.dropna()
    if pd.api.types.is_datetime64_any_dtype(column.dtype) or _are_dates(present):
        raise DataError(
            f"Column '{column.name}' of {name} holds dates or times, such as {present.iloc[0]}.",
            "They are neither numbers nor classes.",
            f"Leave it out (`drop: [{column.name}]`) or make a number of it, days say. Where the "
            "rows stand in time, test on the last ones: `split: {last: 0.3}`.",
        )
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.astype(str).where(column.notna(), "missing")
    truth = len(present) > 0 and isinstance(present.iloc[0], bool)
    numbers = pd.to_numeric(present, errors="coerce")
    if not truth and 2 * numbers.notna().sum() > len(present):
        odd = present[numbers.isna()]
        if len(odd):
            raise DataError(
                f"Column '{column.name}' of {name} holds numbers and {len(odd):,} words, the "
                f"first in row {int(odd.index[0]) + 1}: {str(odd.iloc[0])[:40]!r}.",
                "It is neither a column of numbers nor of words.",
                f"Correct them (an empty field is a missing value), or `drop: [{column.name}]`.",
            )
        return pd.to_numeric(column)
    text = present.astype(str)
    if len(text) and text.str.fullmatch(r"-?\d+,\d+").all():
        raise DataError(
            f"Column '{column.name}' of {name} has numbers with a comma, such as {text.iloc[0]}.",
            todo="Write them with a point.",
        )
    return column.astype(object).where(column.notna(), "missing").astype(str)


def _are_dates(present: pd.Series[Any]) -> bool:
    if not len(present):
        return False
    if isinstance(present.iloc[0], str):
        return bool(present.astype(str).str.fullmatch(DATE.pattern).all())
    return isinstance(present.iloc[0], datetime.date | datetime.time)


def _is_quantity(what: str, y: pd.Series[Any], different: int) -> bool:
    """Whether numbers are a quantity rather than classes, as far as they tell."""
    values = y.to_numpy(dtype=float)
    if different <= FEW:
        return False
    if different > MANY or 2 * different > len(y) or (values != np.round(values)).any():
        return True
    raise DataError(
        f"{what} has {different} different whole numbers: are they classes or a quantity?",
        f"They are {_named([format(v, 'g') for v in np.unique(values)])}.",
        "Write `task: classification` or `task: regression`.",
    )


def _sides(name: str, part: pd.Series[Any]) -> NDArray[np.int64]:
    lowered = part.astype(str).str.strip().str.lower()
    sides = lowered.map(SIDES)
    if sides.isna().any() or sides.nunique() < 2:
        raise DataError(
            f"Column '{part.name}' of {name} does not say which rows train and which test.",
            f"It holds {_named(sorted(map(str, part.unique())))}.",
            "It has to hold the words train and test, both of them.",
        )
    return np.asarray(sides, dtype=np.int64)
