"""Conversion of tables to rows and a target, before the rows are split.

If all values are finite numbers, the rows become an array. Otherwise the rows stay a table until
they are split. After the split, a `Preparation`, a scikit-learn transformer, is fitted on the
training set and converts the table to numbers.
"""

from __future__ import annotations

import decimal
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from rfbench.arrays import Array, Rows
from rfbench.datasets.values import (
    DATE,
    EPOCH,
    NUMBER,
    as_table,
    find_columns_by_dtype,
    format_names,
    has_decimal_comma,
    has_nested_values,
    infer_column_kind,
    infer_row_identifier,
    is_day_first,
    is_numeric_column,
    parse_numbers_with_units,
    to_days,
    to_plain_numbers,
    to_text,
)
from rfbench.errors import DataError, suggest_nearest_name
from rfbench.memory import check_memory_fits

# Version of the conversion of tables by `Preparation`. By definition, the version is incremented
# with each change of the conversion, so that the trials of tables get new identities.
REVISION = 2
# Maximum number of classes of a target, which limits the time of a fit. The value was chosen
# without a measurement. With twice this value, a column of 2,000 names could be a target, which is
# rarely intended and needs twice the time.
MOST_CLASSES = 1000
# A target of whole numbers contains classes if it has two different numbers. It also contains
# classes if it has up to MOST_WHOLE different numbers with on average at least LEAST_EACH rows. The
# rule was measured on the 23 data sets with 3 to 30 different numbers: it is right for 22 data
# sets, and with MOST_WHOLE halved for 19.
MOST_WHOLE, LEAST_EACH = 20, 5
# If a target has more than FEW and at most MANY different whole numbers, these numbers may be
# classes or quantities. The type is inferred, and a note names the option that changes the type.
# The rule for classes was measured on data sets with 3 to 30 different numbers. With twice MANY,
# quantities with 60 different values also get a note.
FEW, MANY = 2, 30
# If at least this share of the target's cells are numbers, the target is numeric, and all other
# cells are treated as missing. The value was chosen without a measurement. With 0.90, the share of
# other cells is doubled, so one cell in ten could be missing.
NEARLY_ALL = 0.95
UNREAD = "These cells of the target are treated as missing: "
# Rows are stored as a dense array if at least one in DENSE values is not 0. Otherwise the rows are
# stored as a sparse matrix, which needs 12 bytes per nonzero value. The value was chosen without a
# measurement. With twice this value, rows are dense if an eighth of the values are not 0.
DENSE = 4
# Codes of the strings `train` and `test` in a column that defines the split, by definition.
SIDES = {"train": 0, "test": 1}


@dataclass(frozen=True)
class Parsed:
    """The rows and the target of a data set, with the groups and the published split if they exist.

    If there is a published split, the rows of its training set come first.
    """

    X: Any  # an array, sparse rows, rows on disk, or a table if some values are not numbers
    y: NDArray[Any]  # class codes (int64), or the target of a regression (float64)
    n_given_train: int | None = None
    groups: NDArray[np.int64] | None = None
    # For user data: the fields of a catalog entry that describe the data, as JSON values.
    about: Mapping[str, Any] | None = None


def to_table(
    what: str, X: Any, y: Any, names: Sequence[Any] | None = None
) -> tuple[pd.DataFrame | Rows, pd.Series[Any] | None]:
    """Return the rows as a table or a sparse matrix, and the target as one column.

    `what` is the name of the data in error messages. Raise DataError if X is not two-dimensional,
    or if y does not have one value per row.
    """
    if hasattr(X, "tocsr"):
        X = sparse.csr_array(X)
        X.data = to_native_byte_order(X.data)
    elif not isinstance(X, pd.DataFrame):
        array = to_native_byte_order(X)
        if array.ndim != 2 or array.dtype.kind == "c":
            raise DataError(
                f"X of {what} has the shape {array.shape} and the type {array.dtype}.",
                "X has to be a table of numbers or strings.",
                "Reshape X to (rows, columns).",
            )
        X = pd.DataFrame(array, columns=None if names is None else list(names))
    else:
        foreign = [at for at, dtype in enumerate(X.dtypes) if _is_foreign(dtype)]
        X = X.copy() if foreign else X
        for at in foreign:
            X.isetitem(at, to_native_byte_order(X.iloc[:, at].to_numpy()))
    if y is None:
        return X, None
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        y = y.iloc[:, 0] if isinstance(y, pd.DataFrame) else np.ma.ravel(y)
    if np.ndim(y) != 1 or len(y) != X.shape[0]:
        raise DataError(
            f"y of {what} has the shape {np.shape(y)}, but X has {X.shape[0]} rows.",
            "y has to contain one target per row.",
        )
    if isinstance(y, pd.Series) and not _is_foreign(y.dtype):
        return X, y.reset_index(drop=True)
    values = to_native_byte_order(y)
    # Whole numbers with missing values get an integer type with missing values. As floats, large
    # whole numbers would be rounded.
    if values.dtype.kind in "iu" and np.ma.is_masked(values):
        gaps = np.ma.getmaskarray(values)
        return X, pd.Series(values.data.astype("int64"), dtype="Int64").where(~gaps)
    return X, pd.Series(values)


def _is_foreign(dtype: Any) -> bool:
    return getattr(dtype, "byteorder", "=") not in "=|"


def to_native_byte_order(values: Any) -> Any:
    """Return an array in the native byte order of the machine.

    If the array is masked, its mask is kept.
    """
    array = values if np.ma.isMaskedArray(values) else np.asarray(values)
    return array.astype(array.dtype.newbyteorder("=")) if _is_foreign(array.dtype) else array


def to_dense_table(X: pd.DataFrame | Rows) -> pd.DataFrame:
    """Return the rows as a dense table.

    The columns of an array or a sparse matrix are named x0, x1, ...
    """
    rows: Any = X
    if hasattr(rows, "tocsr"):
        check_memory_fits(
            8.0 * rows.shape[0] * rows.shape[1], "The table with its zeros", "Use fewer columns."
        )
        rows = rows.toarray()
    table = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows).add_prefix("x")
    names = pd.Index([str(name).strip() for name in table.columns], dtype=object)
    return table.set_axis(pd.RangeIndex(len(table))).set_axis(names, axis=1)


def parse_data(
    name: str,
    X: pd.DataFrame | Rows,
    y: pd.Series[Any] | None,
    *,
    task: str | None = None,
    labels: Sequence[Any] = (),
    **special: Any,
) -> Parsed:
    """Return the rows, the target, the groups and the predefined split of a table.

    X, of shape (n, d), is a table or a sparse matrix. y is the target. If y is None, the option
    `target` names the column of X that is the target. `labels` are the names of the classes 0, 1,
    ..., if the names are known. The options `special` also name the columns to drop, the column of
    groups, and the column `part`, which contains the values ``train`` and ``test``. `name` is the
    name of the data in error messages.

    Raise DataError if a column does not exist, or if the meaning of the target is ambiguous.
    """
    return parse_table(choose_columns(name, X, y, **special), task, labels)


def parse_table(table: Table, task: str | None = None, labels: Sequence[Any] = ()) -> Parsed:
    """Return the rows, the target, the groups and the predefined split of a `Table`.

    `task` is the kind of target, or None to infer it. `labels` are the names of the classes 0, 1,
    ..., if the names are known.
    """
    name = table.name
    table.complete(task)
    if min(table.X.shape[0] - 1, table.X.shape[1]) < 1:
        raise DataError(
            f"{name} has {table.X.shape[0]} rows and {table.X.shape[1]} feature columns.",
            "Learning needs more rows or columns.",
            "Check the file, its separator, and that each line is a row.",
        )
    codes, classes, kind = table.encode_target(task, labels)
    table.check_no_ambiguous_cells()
    table._forget_target()
    rows, columns, notes = _rows(name, table.X)
    subjects, n_given_train, order = table.compute_row_order()
    if n_given_train is not None:
        rows = rows.iloc[order] if isinstance(rows, pd.DataFrame) else rows[order]
        codes = codes[order]
    facts = {
        **describe_target(codes, classes, kind, [*table.notes, *notes]),
        "rows": rows.shape[0],
        "columns": columns,
        "train_rows": n_given_train,
        "sparse": sparse.issparse(rows),
    }
    return Parsed(rows, codes, n_given_train, subjects, facts)


def _rows(name: str, X: pd.DataFrame | Rows) -> tuple[pd.DataFrame | Rows, int, list[str]]:
    """Return the rows as an array, sparse matrix or table, their number of columns, and notes.

    If the rows stay a table, the number of columns is counted after a conversion to numbers. The
    notes are sentences about the conversion. Raise DataError if no column remains.
    """
    if not isinstance(X, pd.DataFrame):
        return _sparse(name, X)
    if all(is_numeric_column(dtype) or pd.api.types.is_bool_dtype(dtype) for dtype in X.dtypes):
        numbers = X.to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isfinite(numbers).all() and not any(
            infer_row_identifier(str(c), X[c]) for c in X if is_numeric_column(X[c])
        ):
            varies = np.ptp(numbers, axis=0) > 0
            if not varies.any():
                what = f"All columns of {name} are constant."
                raise DataError(what, "A constant column does not help to predict the target.")
            constant = list(X.columns[~varies])
            notes = (
                [f"These columns are constant and are left out: {format_names(constant)}."]
                if constant
                else []
            )
            numbers = numbers if varies.all() else numbers[:, varies]
            return np.ascontiguousarray(numbers), int(varies.sum()), notes
    from rfbench.datasets.preparation import (  # importing scikit-learn is slow
        Preparation,
        describe_column_treatments,
    )

    table = pd.DataFrame({column: _plain(X[column]) for column in X})
    try:
        preparation = Preparation().fit(table)
    except DataError as error:
        raise DataError(f"{name}: {error.what}", error.why, error.todo) from None
    return (
        table,
        len(preparation.get_feature_names_out()),
        describe_column_treatments(preparation.notes_),
    )


def _plain(column: pd.Series[Any]) -> Any:
    """Return numbers as float64, categorical values as categories, and other values as strings."""
    if is_numeric_column(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    text = to_text(column)
    return text.astype("category") if isinstance(column.dtype, pd.CategoricalDtype) else text


def describe_target(
    codes: NDArray[Any], classes: list[str], task: str, notes: list[str]
) -> dict[str, Any]:
    """Return a dictionary with the fields of a catalog entry that describe the target.

    `codes` are the class codes, and `classes` are the labels. `notes` are sentences for the user.
    """
    counts = np.bincount(codes, minlength=len(classes)).tolist() if classes else []
    numbered = dict(zip(classes, counts, strict=True))
    return {"kind": "own", "task": task, "classes": numbered, "note": " ".join(notes)}


def choose_columns(
    name: str,
    X: pd.DataFrame | Rows,
    y: pd.Series[Any] | None,
    *,
    target: str | int | None = None,
    drop: Sequence[str | int] | str | int = (),
    groups: str | int | None = None,
    part: str | int | None = None,
) -> Table:
    """Return a `Table` with the features, the target, and the columns of groups and split.

    `target`, `groups` and `part` name columns of X, and `drop` names the columns to leave out.
    `part` contains the values ``train`` and ``test``. `name` is the name of the data in error
    messages.
    """
    special: dict[str, pd.Series[Any]] = {}
    if y is not None and target is not None:
        raise DataError(
            f"The data of {name} have a separate target, but the key `target` is '{target}'.",
            todo="Remove `target`.",
        )
    if isinstance(X, pd.DataFrame):
        X = as_table(X, name)
        if y is None and target is None:
            raise DataError(
                f"The target column of {name} is not named.",
                f"Its columns are {format_names(list(X.columns))}.",
                f"Write for example `target: {X.columns[-1]}`, or use `--target`.",
            )
        listed = [drop] if isinstance(drop, str | int) else list(drop)
        dropped = [find_column(name, X, column, "drop") for column in listed]
        wanted = {"groups": groups, "part": part} | ({"target": target} if y is None else {})
        special = {
            key: X[find_column(name, X, given, key)]
            for key, given in wanted.items()
            if given is not None
        }
        check_distinct_columns(name, {key: str(column.name) for key, column in special.items()})
        X = X.drop(columns=[*dropped, *(str(column.name) for column in special.values())])
    elif drop or groups is not None or part is not None:
        raise DataError(
            f"{name} is sparse, so its columns have no names.",
            "",
            "Remove the keys drop and groups.",
        )
    return Table(name, X, special.pop("target") if y is None else y, special)


@dataclass
class Table:
    """The columns of a data set before the rows are split."""

    name: str  # name of the data in error messages
    X: pd.DataFrame | Rows  # features
    y: pd.Series[Any]
    special: dict[str, pd.Series[Any]]  # the columns `groups` and `part`, if the data have them
    # sentences for the user that describe how the columns are converted
    notes: list[str] = field(default_factory=list)
    # True if the strings of the target have a decimal comma; None before the target is read
    comma: bool | None = None
    # sentences for the user on assumptions, each with the option that changes the assumption
    assumed: list[str] = field(default_factory=list)
    # assumptions that are too uncertain for `rfbench run`, which raises an error instead
    guesses: list[str] = field(default_factory=list)
    # Date format of the target, or None if the target does not contain dates. A model learns the
    # number of days since `EPOCH`.
    dates: str | None = None
    # exact values of the target, from which the class labels are formed; None before the target is
    # read
    _exact: Any = None
    _numbers: Any = None  # the target as numbers, or None for a target of strings

    def record_assumption(self, fact: str, taken: str, option: str, *, guess: bool = False) -> None:
        """Add a note on how values are interpreted, and on the option to change it.

        `fact` describes the values and `taken` their interpretation. If `guess` is True, the
        interpretation is too uncertain for the command ``rfbench run``.
        """
        sentence = f"{fact}, read as {taken} ({option})."
        for each in (self.notes, self.assumed, *([self.guesses] if guess else [])):
            each.append(sentence)

    def check_no_ambiguous_cells(self) -> None:
        """Raise DataError if a value was ambiguous, so that its meaning was guessed."""
        if self.guesses:
            raise DataError(
                f"{self.name}: {self.guesses[0]}",
                "`rfbench choose` guesses the meaning of such values, but `rfbench run` does not.",
                "State the meaning (`task`, `decimal`, `header`), or name another column.",
            )

    @property
    def _target_name(self) -> str:
        """The string "Target", followed by the name of the target column if the name is known."""
        return "Target" if self.y.name in (None, 0) else f"Target {self.y.name}"

    def complete(self, task: str | None) -> None:
        """Read the target, and remove the rows and columns that cannot be used.

        The removed rows lack the target, the group, or the value that defines the split. The
        removed columns contain lists or bytes. Missing values of features are kept.
        """
        if isinstance(self.X, pd.DataFrame):
            objects = self.X.iloc[:, find_columns_by_dtype(self.X, pd.api.types.is_object_dtype)]
            lists = [str(column) for column, cells in objects.items() if has_nested_values(cells)]
            if lists:
                self.X = self.X.drop(columns=lists)
                self.notes.append(
                    "These columns contain lists or bytes and are left out: "
                    f"{format_names(lists)}. Use columns of their parts instead."
                )
        self._exact, self._numbers = self._read_target(task)
        read = self._exact.notna().to_numpy()
        if self._numbers is not None:
            read = read & np.isfinite(self._numbers)
            odd = to_text(self.y[~read]).value_counts()
            if len(odd):
                counted = [f"{str(word)[:40]} ({count:,})" for word, count in odd.items()]
                self.notes.append(f"{UNREAD}{format_names(counted)}.")
        words = {k: to_text(v) if has_nested_values(v) else v for k, v in self.special.items()}
        self.special, y = words, self.y.where(read)
        needed = pd.concat([y.rename("the target"), *words.values()], axis=1)
        counts = needed.isna().sum()
        keep = needed.notna().all(axis=1)
        if not keep.all():
            listed = format_names(
                [f"{column} ({count:,})" for column, count in counts.items() if count]
            )
            self.notes.append(
                f"{int((~keep).sum()):,} rows are left out, because values are missing: {listed}."
            )
            X = self.X[keep.to_numpy()]
            self.X = X.reset_index(drop=True) if isinstance(X, pd.DataFrame) else X
            self.y = self.y[keep].reset_index(drop=True)
            self._exact = self._exact[keep].reset_index(drop=True)
            self._numbers = None if self._numbers is None else self._numbers[keep]
            self.special = {k: v[keep].reset_index(drop=True) for k, v in words.items()}

    def _read_target(self, task: str | None) -> tuple[pd.Series[Any], Array | None]:
        """Return the target twice: as exact values, which define the classes, and as floats.

        Values that cannot be read are missing in both results. If the target is not numeric, None
        is returned instead of the floats.
        """
        y, classes = self.y, task not in (None, "regression")
        if is_numeric_column(y):
            return y, y.to_numpy(dtype=np.float64, na_value=np.nan)
        text = to_text(y)
        if has_nested_values(y):
            option = "name another column if they are not labels"
            self.record_assumption(
                f"{self._target_name}: lists or bytes", "classes", option, guess=not task
            )
        is_category = isinstance(y.dtype, pd.CategoricalDtype) and task != "regression"
        if is_category or y.dtype == bool or has_nested_values(y):
            return text, None
        is_dates = pd.api.types.is_datetime64_any_dtype(y.dtype)
        kind = DATE if is_dates else infer_column_kind("", text)
        if kind == DATE:
            return (text, None) if classes else self._read_dates(y, is_guess=task is None)
        comma = has_decimal_comma(text) if self.comma is None else self.comma
        numbers, unit = parse_numbers_with_units(text, comma=comma)
        if unit:
            exact = pd.Series(numbers, index=y.index)
        elif kind != NUMBER:
            return text, None
        else:
            words = to_plain_numbers(text, comma=comma)
            numbers = pd.to_numeric(words, errors="coerce").to_numpy(dtype=np.float64)
            places, different = pd.factorize(words.where(np.isfinite(numbers)))
            exact = pd.Series([decimal.Decimal(word) for word in different], dtype=object)
            exact = exact.reindex(places).set_axis(y.index)
        there = np.isfinite(numbers)
        count, odd = int(there.sum()), int((text.notna() & np.isnan(numbers)).sum())
        if odd and classes:
            return text, None
        if odd and task is None:
            fact = f"{self._target_name}: {count:,} numbers and {odd:,} other strings"
            is_quantity = _is_quantity(numbers[there], len(np.unique(numbers[there])))
            if count < NEARLY_ALL * (count + odd) and not is_quantity:
                option = "--task regression leaves out the other strings"
                self.record_assumption(fact, "classes", option, guess=True)
                return text, None
            self.record_assumption(
                fact, "numbers and gaps", "--task classification for classes", guess=True
            )
        return exact, numbers

    def _read_dates(self, y: pd.Series[Any], *, is_guess: bool) -> tuple[pd.Series[Any], Array]:
        """Return the dates of a target as days since `EPOCH`, both as a column and as an array."""
        days = to_days("", y)
        is_whole = bool((days[~np.isnan(days)] % 1 == 0).all())
        self.dates = "%Y-%m-%d" if is_whole else "%Y-%m-%d %H:%M:%S"
        order = {None: "", True: ", the day first", False: ", the month first"}[is_day_first(y)]
        self.record_assumption(
            f"{self._target_name}: dates{order}",
            f"a quantity in days since {EPOCH.date()}",
            "--task classification for classes",
            guess=is_guess,
        )
        return pd.Series(days, index=y.index), days

    def encode_target(
        self, task: str | None, labels: Sequence[Any]
    ) -> tuple[NDArray[Any], list[str], str]:
        """Return the target as numbers or class codes, the labels of the classes and the task.

        `task` is classification (also binary, multiclass), regression, or None to infer it.
        `labels` are the names of the classes, if they are known. `complete` has to be called
        before. Raise DataError if the column cannot be a target.
        """
        name, notes, y, numbers = self.name, self.notes, self.y, self._numbers
        what = f"The target{'' if y.name in (None, 0) else f' {y.name!r}'} of {name}"
        codes, values = pd.factorize(self._exact, sort=True)
        different = len(values)
        if different < 2:
            raise DataError(
                f"{what} is constant." if different else f"{what} does not have any value.",
                "A model is fitted to a target with at least two different values.",
                "Name another target column.",
            )
        given = [str(label) for label in labels] if len(labels) == different else []
        written = given or _written(y, codes)
        if task:
            regression = task == "regression"
        else:
            # Whole numbers with 16 or more digits are treated as class labels. As numbers of type
            # float64, some of these labels would become equal.
            long = all(re.fullmatch(r"\d{16,}", label) for label in written)
            regression = False
            if self.dates is not None:
                regression = True
            elif numbers is not None and not (given or long):
                regression = _is_quantity(numbers, different)
                self._note_whole_numbers(regression, different)
        if regression and numbers is None:
            raise DataError(
                f"{what} contains strings, such as {str(y.iloc[0])[:40]!r}.",
                todo="Write `task: classification`, or name another column.",
            )
        guess = "" if task else ", by its target"
        if regression:
            notes.append(f"Regression{guess}: {different:,} different numbers.")
            return np.asarray(numbers), [], "regression"
        if different > MOST_CLASSES or 2 * different > len(y) > 4:
            fact = f"{self._target_name}: {different:,} different labels in {len(y):,} rows"
            option = "--task regression for a quantity"
            self.record_assumption(fact, "classes", option, guess=True)
        kind = "binary" if different == 2 else "multiclass"
        notes.append(f"Classification{guess}: {different} classes, {format_names(written)}.")
        return codes.astype(np.int64), written, kind

    def _forget_target(self) -> None:
        """Delete the exact values of the target to free memory."""
        self._exact = self._numbers = None

    def _note_whole_numbers(self, quantity: bool, different: int) -> None:
        """Add a note if a target of whole numbers could mean classes as well as a quantity.

        `quantity` is True if the numbers are read as a quantity. `different` is the number of
        distinct values. The note names the option that changes the interpretation.
        """
        if not FEW < different <= MANY or (self._numbers % 1 != 0).any():
            return
        taken, other = ("classes", "regression for a quantity")
        if quantity:
            taken, other = ("a quantity", "classification for classes")
        fact = f"{self._target_name}: {different} different whole numbers"
        self.record_assumption(fact, taken, f"--task {other}")

    def compute_row_order(self) -> tuple[NDArray[np.int64] | None, int | None, NDArray[np.int64]]:
        """Return the group numbers, the size of the training set, and the order of the rows.

        In this order, the rows of the training set come first. The group numbers are None if the
        data do not have groups, and the size is None if the data do not define a split.
        """
        groups, part = self.special.get("groups"), self.special.get("part")
        subjects = None if groups is None else pd.factorize(groups, sort=True)[0]
        if part is None:
            return subjects, None, np.arange(len(self.y))
        side = _sides(self.name, part)
        order = np.argsort(side, kind="stable")
        return None if subjects is None else subjects[order], int((side == 0).sum()), order


def check_distinct_columns(name: str, named_columns: Mapping[str, str]) -> None:
    """Raise DataError if two keys, for example `target` and `groups`, name the same column.

    `named_columns` is a dictionary from keys to column names. `name` is the name of the data in
    error messages.
    """
    for (key, column), (other, same) in itertools.combinations(named_columns.items(), 2):
        if column == same:
            raise DataError(
                f"The {key} and the {other} of {name} are both '{column}'.",
                "Each of these keys needs its own column.",
                "Name another column for one of them.",
            )


def find_column(name: str, table: pd.DataFrame, column: str | int, key: str) -> str:
    """Return the name of the column of `table` that has the name or the index `column`.

    Raise DataError if there is no such column. `name`, the name of the data, and `key`, the option
    that named the column, are used in the error message.
    """
    names = list(table.columns)
    if str(column) in names:
        return str(column)
    if isinstance(column, int) and -len(names) <= column < len(names):
        return str(names[column])
    raise DataError(
        f"{name} has no column '{column}'.{suggest_nearest_name(str(column), names)}",
        f"Its columns are {format_names(names)}.",
        f"Correct `{key}`.",
    )


def _sparse(name: str, X: Any) -> tuple[Rows, int, list[str]]:
    if not np.isfinite(X.data).all():
        raise DataError(
            f"{name} has values that are not finite.", "", "Correct or remove these rows."
        )
    if X.nnz < X.shape[0] * X.shape[1] / DENSE:
        return sparse.csr_array(X, dtype=np.float64), X.shape[1], []
    note = (
        "The rows are stored as a dense array, because more than a quarter of the values are not 0."
    )
    return np.asarray(X.toarray(), dtype=np.float64), X.shape[1], [note]


def _is_quantity(numbers: Array, different: int) -> bool:
    """Return True if numbers with `different` distinct values are a quantity, False for classes."""
    whole = bool((numbers % 1 == 0).all())
    few = FEW if not whole else min(MOST_WHOLE, len(numbers) / LEAST_EACH)
    return different > max(FEW, few)


def _written(y: pd.Series[Any], codes: NDArray[Any]) -> list[str]:
    """Return the label of each class, as written in the first row of the class.

    Whole numbers are written without a decimal point: 3.0 becomes 3.
    """
    first = y.iloc[np.unique(codes, return_index=True)[1]]
    whole = [isinstance(v, float | np.floating) and float(v).is_integer() for v in first]
    return [str(int(v)) if w else str(v) for v, w in zip(first, whole, strict=True)]


def _sides(name: str, part: pd.Series[Any]) -> NDArray[np.int64]:
    lowered = part.astype(str).str.strip().str.lower()
    sides = lowered.map(SIDES)
    if sides.isna().any() or sides.nunique() < 2:
        raise DataError(
            f"Column '{part.name}' of {name} does not define the training and the test rows.",
            f"It contains {format_names(sorted(map(str, part.unique())))}.",
            "The column has to contain both values: train and test.",
        )
    return np.asarray(sides, dtype=np.int64)
