"""A table with its target, read from a file or from memory, and its splits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.choosing.model import Model
from rfbench.choosing.screen import compute_seconds_after_reading
from rfbench.datasets import columns, files, values
from rfbench.datasets.files import ReadOptions
from rfbench.datasets.split import Index, Sides, split_by_time
from rfbench.errors import ConfigError, DataError
from rfbench.results.schema import STRING
from rfbench.solvers.folds import assign_group_folds

# HELD_OUT and VALIDATION are shares of the rows (scikit-learn holds out a quarter). At most
# MOST_HELD_OUT rows are held out: an error of 20 % on 10,000 rows has a standard error of 0.4 %.
# With twice as many rows, the standard error is 0.3 %. FOLDS is the number of folds for selecting a
# model. With twice as many folds, each candidate needs six fits.
HELD_OUT, MOST_HELD_OUT, VALIDATION, FOLDS = 0.25, 10_000, 0.2, 3
# Smallest number of rows of a class in a sample: one row for each of the three folds, and one
# held-out row. If this value is halved, a class may be missing from a fold.
MIN_CLASS_ROWS = 4
# Up to this number of training rows, candidates are compared by cross-validation in folds. Larger
# tables have a single validation set. The value was chosen without a measurement. With twice this
# value, a search on a table of 4,000 rows needs three times as long.
FOLDED_ROWS = 2_000
# The number of training rows is ROWS_PER_SECOND times the time budget, but at least LEAST_SAMPLE
# and at most MOST_ROWS. No other values were measured. With twice these values, each candidate
# needs twice as long, so fewer candidates are measured.
ROWS_PER_SECOND, LEAST_SAMPLE, MOST_ROWS = 700, 2_000, 50_000
# Smallest number of held-out rows for which a test error is meaningful. The same limit applies to
# the rows of a bin or category in a model that must not disclose single rows. The value was chosen
# without a measurement. If the value is halved, an error of 20 % is a single wrong row.
LEAST_ROWS = 10
# Smallest number of rows of a table, by definition: one row for training, one row for validation
# and one row for testing.
LEAST_SIDES = 3
# A column with few rows may be sorted by chance, or may determine the target by chance. Therefore
# at least LEAST rows or different values are required. Only one of 2e18 permutations of 20 rows is
# sorted. If LEAST is halved, one of 4e6 permutations is sorted.
LEAST = 20
# A text column is assumed to contain names of persons or things if each category has on average
# fewer rows than this number. The value was chosen without a measurement. With twice this value, a
# column of towns with 15 rows per town would count as names.
ROWS_PER_NAME = 10
# Exact duplicates are ignored if their share of the rows is below this value. The value was chosen
# without a measurement. A share of 1 % changes an error by at most 1 %. With twice this value,
# ignored duplicates could change an error by up to 2 %.
COPIES = 0.01
# Largest number of rows, and of cells, in the search for columns that reveal the target. In a wide
# table, the number of rows is reduced. The values were chosen so that the search needs one or two
# seconds. With twice these values, the search needs twice as long.
TELLING_ROWS, TELLING_CELLS = 20_000, 10_000_000
# Number of cells that are sorted together. Sorting this number needs 8 MB. With twice as many
# cells, the memory is doubled and the time is the same.
SORTED_CELLS = 1_000_000
_OWNERS = re.compile(
    r"(?i)(.*[^a-z])?(patient|subject|person|people|participant|customer|client|user|shop|store|"
    r"household|family|donor|device|animal|student|employee|company|session)s?([^a-z].*)?"
)
NO_COLUMN = "none"  # value of the options --groups and --time: rows are held out at random


@dataclass(frozen=True)
class LabeledTable:
    """Rows with a target, and the groups or times by which the rows are split."""

    X: pd.DataFrame  # shape (n, n_columns), with numbers, strings, dates and missing values
    y: NDArray[Any]  # numbers (float64) or class codes 0 .. K-1 (int64)
    classes: NDArray[Any]  # sorted labels; empty for a regression
    groups: Index | None = None  # number of the group of each row, None without groups
    time: Array | None = None  # time of each row; the rows with the latest times are held out
    metric: str = ""
    seed: int = 0
    name: str = "the rows"
    # SHA-256 hash of the content of the file
    sha256: str = ""
    # sentences for the user about the target and the split
    notes: tuple[str, ...] = ()
    # sentence for the user on an assumption, with the option that changes the assumption
    assumed: str = ""
    # True if the user specified how the rows are split, False if the kind of split is inferred
    is_asked: bool = True
    # options with which the file was read; None if the rows were not read from a file
    how: ReadOptions | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes, or 0 for a regression."""
        return len(self.classes)

    @property
    def labels(self) -> NDArray[Any]:
        """Values of the target as in the file: numbers, or class labels instead of class codes."""
        return self.classes[self.y] if self.n_classes else self.y

    @property
    def codes(self) -> Index:
        """Class code of each row, shape (n,). In a regression, all codes are 0."""
        return self.y if self.n_classes else np.zeros(len(self.y), dtype=np.int64)

    def select_rows(self, rows: Index) -> LabeledTable:
        """Return a table with only the rows at the positions `rows`.

        Classes that do not occur in these rows are removed from the list of classes.
        """
        groups = None if self.groups is None else self.groups[rows]
        time = None if self.time is None else self.time[rows]
        classes, y = self.classes, self.y[rows]
        if self.n_classes:
            present, y = np.unique(y, return_inverse=True)
            classes = classes[present]
        return replace(self, X=self.X.iloc[rows], y=y, classes=classes, groups=groups, time=time)

    def split(self, share: float, folds: int = 1) -> list[Sides]:
        """Return splits of the table into rows for fitting a model and rows to predict.

        Each split is a pair of arrays of row positions. If `folds` is 1, there is one split, and
        `share` is the share of rows to predict. Otherwise there is one split per fold. All rows of
        a group are in the same part, and both parts have about the same share of each class. If
        rows have times, later rows are predicted from earlier rows. Raise ConfigError if the rows
        cannot be split by their groups or times.
        """
        n = len(self.y)
        size = max(1, min(round(share * n), MOST_HELD_OUT))
        if self.time is not None:
            least = min(2, self.n_classes or 1)
            every = split_by_time(self.time, size, folds)
            parts = [s for s in every if len(s[1]) and len(np.unique(self.y[s[0]])) >= least]
            if not parts:
                raise ConfigError(
                    "The rows cannot be split by time.",
                    "Too many rows have the same time, or all rows of one class come first.",
                    "Name another column of times, or use --time none.",
                )
            return parts
        if self.groups is not None:
            count = folds if folds > 1 else max(2, round(n / size))
            codes = self.y if self.n_classes else None
            if (self.groups == self.groups[0]).all():
                raise ConfigError(
                    "The rows cannot be split by groups.",
                    "At least three groups are needed: for training, validation and testing.",
                    "Name another column of groups, or use --groups none.",
                )
            numbers = assign_group_folds(self.groups, codes, count, self.seed)
        elif folds > 1:
            numbers = shuffle_within_classes(self.codes, self.seed) % folds
        else:  # each class gets its share of the rows, and at least one row
            size = max(size, min(self.n_classes, n // 2))
            place = shuffle_within_classes(self.codes, self.seed)
            spread = np.where(place, (place + 0.5) / np.bincount(self.codes)[self.codes], 0.0)
            numbers = np.ones(n, dtype=np.int64)
            numbers[np.argsort(spread, kind="stable")[:size]] = 0
        wanted = range(int(numbers.max()) + 1) if folds > 1 else [0]
        return [(np.flatnonzero(numbers != f), np.flatnonzero(numbers == f)) for f in wanted]

    def make_splits(self, budget: float) -> list[Sides]:
        """Return the splits for selecting a model, then the split into training and held-out rows.

        Each split is a pair of row positions. The rows of a large table are sampled, depending on
        the time budget in seconds. If there are few training rows, a model is selected by
        cross-validation, otherwise with a single validation set.
        """
        ((train, test),) = self.split(HELD_OUT)
        budget = compute_seconds_after_reading(budget, self.X.size)
        train = self.sample_rows(
            train, min(max(int(ROWS_PER_SECOND * budget), LEAST_SAMPLE), MOST_ROWS)
        )
        inner = self.select_rows(train).split(VALIDATION, FOLDS if len(train) <= FOLDED_ROWS else 1)
        chosen = [(train[fit], train[held]) for fit, held in inner]
        return [*chosen, (train, self.sample_rows(test, MOST_HELD_OUT))]

    def sample_rows(self, rows: Index, size: int) -> Index:
        """Return a stratified sample of about `size` of the row positions `rows`.

        Every class gets at least a few rows.
        """
        if len(rows) <= size:
            return rows
        codes = self.codes[rows]
        wanted = np.maximum(MIN_CLASS_ROWS, np.round(size / len(rows) * np.bincount(codes)))
        return rows[shuffle_within_classes(codes, self.seed) < wanted[codes]]


def split_without_rare_classes(
    table: LabeledTable, budget: float, min_rows: int = 1
) -> tuple[LabeledTable, list[Sides], Index, dict[str, int]]:
    """Drop the classes that are missing from a part of a split. Return the table and its splits.

    A class without training rows cannot be learned, and a class without test rows cannot be tested.
    Classes with fewer than `min_rows` rows are also dropped, and their names are not disclosed. If
    the groups or times were not specified by the user and the rows cannot be split by them, the
    rows are split at random.

    Parameters
    ----------
    table : LabeledTable
        The table with all classes.
    budget : float
        Time budget in seconds, which limits the number of rows.
    min_rows : int
        Smallest number of rows of a class.

    Returns
    -------
    table : LabeledTable
        The table without the dropped classes.
    splits : list of pairs of arrays
        Splits of the table.
    rows : array of int
        Positions of the remaining rows in the given table.
    left_out : dict
        Number of rows of each dropped class that has at least `min_rows` rows.

    Raises
    ------
    DataError
        If fewer than two classes remain, or if the table has fewer than three rows.
    ConfigError
        If the table cannot be split by the groups or times that the user specified.
    """
    try:
        return _split(table, budget, min_rows)
    except (ConfigError, DataError):
        if table.is_asked or (table.groups is None and table.time is None):
            raise
        note = (
            "A split by groups or by time does not leave enough rows for training "
            "and testing. Rows are "
            "drawn at random, and the errors may be too small."
        )
        notes = (*table.notes, note)
        return _split(replace(table, groups=None, time=None, notes=notes), budget, min_rows)


def _split(
    table: LabeledTable, budget: float, least: int
) -> tuple[LabeledTable, list[Sides], Index, dict[str, int]]:
    left_out: dict[str, int] = {}
    kept = np.arange(len(table.y))
    if len(kept) < LEAST_SIDES:
        raise DataError(
            f"{table.name} has only {len(kept)} rows with a target.",
            "At least three rows are needed: for training, validation and testing.",
            "Add rows to the file.",
        )
    while True:
        splits = table.make_splits(budget)
        judged = np.concatenate([held for _, held in splits[:-1]])
        sides = [splits[-1][1], judged, *(fit for fit, _ in splits[:-1])]
        every = np.arange(table.n_classes)
        counts = np.bincount(table.codes)[every]
        there = np.all([np.isin(every, table.y[side]) for side in sides], axis=0)
        there &= counts >= least
        if there.all():
            return table, splits, kept, left_out
        if there.sum() < 2:
            raise DataError(
                f"{table.name}: fewer than two classes have rows in both parts of every split.",
                "A class needs training rows and test rows.",
                "Merge rare classes, or choose another split (--groups, --time).",
            )
        gone = every[~there & (counts >= least)]
        left_out |= {str(table.classes[code]): int(counts[code]) for code in gone}
        rows = np.flatnonzero(there[table.y])
        table, kept = table.select_rows(rows), kept[rows]


def shuffle_within_classes(codes: Index, seed: int) -> Index:
    """Shuffle the rows of each class, and return the position of each row in its class, from 0."""
    order = pd.Series(np.random.default_rng(seed).permutation(len(codes)))
    return order.groupby(codes).rank().to_numpy(dtype=np.int64) - 1


def make_labeled_table(
    X: Any,
    y: Any = None,
    *,
    target: str | int | None = None,
    task: str | None = None,
    drop: Sequence[str | int] = (),
    groups: Any = None,
    time: Any = None,
    **reading: Any,
) -> LabeledTable:
    """Read a file, or convert rows in memory, into a table with its target.

    Parameters
    ----------
    X, y
        File name, or rows and targets in memory, see `rfbench.choosing.choice.choose`.
    target : str or int, optional
        Column of the file to predict.
    task : str, optional
        ``classification`` or ``regression``. By default the task is inferred from the target.
    drop : sequence of str or int
        Columns to leave out.
    groups : str, int or array, optional
        Column of the file, or array, with the groups. Whole groups are held out. By default, groups
        are inferred from the rows, see `infer_split`. With 'none', rows are held out at random.
    time : str, int or array, optional
        Column of the file, or array, with the times. The rows with the latest times are held out.
        The default is the same as for `groups`.
    **reading : Any
        Options of `rfbench.datasets.files.read_data_file`.

    Returns
    -------
    LabeledTable
        The table with its target and its notes.

    Raises
    ------
    DataError
        If a file or column does not exist, or if no model can be learned from the table.
    """
    if not isinstance(X, str | Path):
        rows, told = columns.to_table("the rows", X, y)
        guess = "regression" if np.asarray(y).dtype.kind in "fM" else "classification"
        read = columns.Table("the rows", columns.to_dense_table(rows), pd.Series(told), {})
        return _labeled(read, task or guess, groups, time)
    path, owners = files.find_data_file(str(X), None), None if groups == NO_COLUMN else groups
    special = {"target": target, "drop": tuple(drop), "groups": owners}
    read, how, X = files.read_table(path, dense=True, special=special, **reading)
    if time not in (None, NO_COLUMN):
        time = X[columns.find_column(path.name, X, time, "time")]
        columns.check_distinct_columns(
            path.name, {"target": str(read.y.name), "time": str(time.name)}
        )
    owners = read.special.get("groups", groups) if groups != NO_COLUMN else groups
    table = _labeled(read, task, owners, time)
    unused = tuple(str(name) for name in X.columns if name not in table.X.columns)
    how = replace(how, unused=unused, dates=read.dates)
    asked = groups is not None or time is not None
    return replace(table, sha256=files.hash_content(path), how=how, is_asked=asked)


def read_new_rows(
    file: str | Path, model: Model, **options: Any
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read rows to predict from a file. Return the rows and notes on how they were read.

    The target column is ignored. `options` replace the options with which the training file was
    read. Raise DataError if the file has no rows or no column of the model. Also raise DataError if
    a column has values outside the training range, and would not have them with a different
    separator or decimal sign.
    """
    path, how, prepare = files.find_data_file(str(file), None), model.reading_, model[0]
    read = files.read_data_file(path, like=how, **options)
    X = columns.to_dense_table(read.X)
    known = () if how is None else how.unused
    X = X.drop(columns=[name for name in known if name in X and name not in model.card_["columns"]])
    if not len(X):
        raise DataError(f"{file} has no rows.", "There is nothing to predict.", "Name another.")
    if not {*X.columns} & {*model.card_["columns"]}:
        raise DataError(
            f"{file} has no column of the model.",
            f"The model has the columns {values.format_names(model.card_['columns'])}.",
            "Name a file with these columns, or correct the first line of the file.",
        )
    if how is None or read.how.format not in files.TEXT or options:
        return X, read.notes
    beyond = prepare.find_schema_changes(X).unusual_columns
    for separator in (
        {read.how.separator, files.detect_read_options(path).separator} if beyond else ()
    ):
        for decimal in ",.":
            try:
                other = replace(read.how, separator=separator, decimal=decimal, commas=())
                Z = columns.to_dense_table(files.read_data_file(path, like=other).X)
            except DataError:
                continue
            for column in sorted(
                (beyond & {*Z.columns}) - prepare.find_schema_changes(Z).unusual_columns
            ):
                raise DataError(
                    f"Column {column} of {path.name} is read differently than in training.",
                    f"The column is read as in training with the separator {separator!r} and the "
                    f"decimal sign {decimal!r}.",
                    f"If this is right, add `--separator '{separator}' --decimal "
                    f"'{decimal}'`. Otherwise use the option of the training: `--decimal "
                    f"'{how.decimal}'`.",
                )
    return X, read.notes


def _labeled(table: columns.Table, task: str | None, groups: Any, time: Any) -> LabeledTable:
    """Return a table with its task and its split. Both are inferred unless they are given.

    `groups` and `time` are arrays, None, or 'none' for a random split. Rows without a target, group
    or time are left out.
    """
    table.special = {
        key: pd.Series(np.asarray(each), name=getattr(each, "name", None) or key)
        for key, each in (("groups", groups), ("time", time))
        if each is not None and not isinstance(each, str)
    }
    if len(table.special) == 2:
        raise ConfigError("Both --groups and --time were given.", "", "Use only one of them.")
    if (when := table.special.get("time")) is not None:
        table.special["time"] = pd.Series(values.to_days(str(when.name), when), name="time")
    table.complete(task)
    codes, words, kind = table.encode_target(task, ())
    name, X, y, notes = table.name, table.X, table.y, []
    if len(y) < LEAST_ROWS:
        few = (
            f"Only {len(y)} rows have a target. This is too few for a test, and the "
            "errors are unreliable."
        )
        table.notes.append(few)
        table.assumed.append(few)
    copies = _number_copies(X.assign(**{"\0target": y}))
    if groups is None and time is None and (found := infer_split(X, y, copies)) is not None:
        by, column, sentence = found
        notes, table.special = [sentence], {by: column}
        X = X.drop(columns=column.name) if by == "groups" and column.name in X else X
    numbers, *_ = table.compute_row_order()
    target, classes = codes, np.empty(0)
    if kind != "regression":
        classes, target = np.unique(_labels(y, words)[codes], return_inverse=True)
    once = ~pd.Series(copies if numbers is None else numbers).duplicated().to_numpy()
    return LabeledTable(
        X,
        target,
        classes,
        numbers,
        table.special["time"].to_numpy(np.float64) if "time" in table.special else None,
        name=name,
        notes=(*find_leaky_columns(X[once], codes[once]), *notes, *table.notes),
        assumed=" ".join(table.assumed),
        is_asked=groups is not None or time is not None,
    )


def _number_copies(rows: pd.DataFrame) -> Index:
    """Return a number for each row, shape (n,), such that equal rows have equal numbers."""
    hashes, others = {}, [*range(rows.shape[1])]
    for dtype, places in values.group_columns_by_dtype(rows).items():
        if isinstance(dtype, np.dtype) and dtype.kind in "iuf" and dtype.itemsize <= 8:
            bits = rows.iloc[:, places].to_numpy().view(f"u{dtype.itemsize}")
            hashes[f"\0{dtype}"] = _hash_rows(bits)
            others = sorted({*others} - {*places})
    rows = rows.iloc[:, others]
    rows = rows.astype(dict.fromkeys(values.list_non_numeric_columns(rows), STRING)).assign(
        **hashes
    )
    return pd.factorize(pd.util.hash_pandas_object(rows, index=False))[0].astype(np.int64)


def _hash_rows(block: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a hash of the bits of each row of a block of unsigned integers, shape (n,)."""
    hashed = np.zeros(len(block), dtype=np.uint64)
    for column in block.T:
        hashed = (hashed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        hashed ^= hashed >> np.uint64(32)
    return hashed


def infer_split(
    X: pd.DataFrame, y: pd.Series[Any], copies: Index
) -> tuple[str, pd.Series[Any], str] | None:
    """Infer from the rows if they are to be held out by time, by groups, or at random.

    Rows that are sorted by a date are split by time. Otherwise rows are split by groups if a column
    identifies persons or things in several rows, or if there are exact duplicates. Duplicates have
    equal numbers in `copies`.

    The result is None for a random split. Otherwise it is ``time`` or ``groups``, a series with the
    times or groups, and a sentence that names the option to disable the split.
    """
    # A column may identify groups of rows, such as the rows of one patient. All non-numeric columns
    # are checked. A numeric column is checked only if its name suggests an identifier.
    called = (
        name for name in X.columns if values.is_row_identifier_name(name) or _OWNERS.fullmatch(name)
    )
    telling = {*values.list_non_numeric_columns(X), *called}
    kinds = {
        name: values.infer_column_kind(name, X[name])
        for name in map(str, X.columns)
        if name in telling
    }
    for name in [name for name, kind in kinds.items() if kind == values.DATE]:
        time = pd.Series(values.to_days(name, X[name]), name=name)
        in_order = time.is_monotonic_increasing or time.is_monotonic_decreasing
        if in_order and time.nunique() >= LEAST:
            sentence = (
                f"The rows are sorted by {name}, so the last rows are the test rows, as "
                "if later rows are to be predicted. Use --time none to draw test rows at "
                "random."
            )
            return "time", time, sentence
    owners = {name: _find_group_columns(name, X[name], kind) for name, kind in kinds.items()}
    for (_, count), name in sorted(((owned, name) for name, owned in owners.items()), reverse=True):
        if count:
            sentence = (
                f"Column {name} has {count:,} different values in {len(X):,} rows, so "
                "rows with the same value are held out together. Use --groups none to "
                "draw rows at random."
            )
            return "groups", X[name], sentence
    once = ~pd.Series(copies).duplicated().to_numpy()
    again = int((~once).sum())
    # If all columns have only a few different values, rows may be equal by chance. Therefore equal
    # rows count as duplicates only if some column, or the target, has different values in most
    # rows.
    if (
        again >= max(2, COPIES * len(X))
        and once.sum() >= LEAST
        and any(2 * each.nunique() > once.sum() for _, each in (("", y[once]), *X[once].items()))
    ):
        sentence = (
            f"{again:,} rows are exact duplicates of other rows. Equal rows are held "
            "out together. Use --groups none to draw each row separately."
        )
        return "groups", pd.Series(copies), sentence
    return None


def _find_group_columns(name: str, column: pd.Series[Any], kind: str) -> tuple[bool, int]:
    """Return two values about a column whose values may define groups of rows.

    The first value is True if the name of the column suggests persons or things. The second value
    is the number of groups, or 0 if the column does not identify persons or things in several rows.
    `kind` is the kind of the column, such as text.
    """
    named = values.is_row_identifier_name(name) or bool(_OWNERS.fullmatch(name))
    if kind == values.WORDS and values.list_units(values.to_text(column).dropna()):
        return named, 0  # the strings are numbers with units
    whole = named and values.is_numeric_column(column) and (column.dropna() % 1 == 0).all()
    if column.dtype == bool or not (kind == values.WORDS or whole):
        return named, 0
    counts = column.value_counts()
    if len(counts) < values.LEAST_NAMES or 2 * counts[counts > 1].sum() < len(column):
        return named, 0
    return named, len(counts) * (named or ROWS_PER_NAME * len(counts) > len(column))


def find_leaky_columns(X: pd.DataFrame, target: NDArray[Any]) -> list[str]:
    """Return a warning for each column whose values or order determine the target.

    `X` has to contain only one row per group. The rows of a group may have equal values and equal
    targets, although the column does not determine the target.
    """
    most = max(LEAST, min(TELLING_ROWS, TELLING_CELLS // max(1, X.shape[1])))
    some = np.linspace(0, len(X) - 1, min(len(X), most)).astype(np.int64)
    X = X.iloc[some]
    others, plain = (
        values.list_non_numeric_columns(X),
        values.find_columns_by_dtype(X, values.is_numeric_column),
    )
    numbers = X.iloc[:, plain].to_numpy(dtype=np.float64, na_value=np.nan)
    possible = {*others, *X.columns[plain][_may_tell(numbers, target[some])]}
    return [
        (
            f"Column {name} determines the target. If the column is not known before "
            f"the target, leave it out with --drop {name}."
        )
        for name in map(str, X.columns)
        if name in possible and _tells(name, X[name], target[some])
    ]


def _may_tell(X: Array, y: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the numeric columns that may determine the target.

    The test is fast and checks all columns at once. `_tells` then checks the selected columns
    exactly.
    """
    order = np.argsort(y, kind="stable")
    X, y = X[order].T, y[order]
    may = np.zeros(len(X), dtype=np.bool_)
    step = max(1, SORTED_CELLS // max(1, len(y)))
    for start in range(0, len(X), step):
        part = X[start : start + step]
        # sort the rows of each column by its values, and rows with equal values by the target
        order = np.argsort(part, axis=1, kind="stable")
        values_, targets = np.take_along_axis(part, order, axis=1), y[order]
        left, right = values_[:, :-1], values_[:, 1:]
        there, equal = ~np.isnan(right), left == right
        falls, rises = targets[:, 1:] < targets[:, :-1], targets[:, 1:] > targets[:, :-1]
        pure = ~(equal & rises).any(axis=1)
        repeats = 4 * equal.sum(axis=1) >= there.sum(axis=1)
        if y.dtype.kind == "f":
            ordered = ~(falls & there).any(axis=1) | ~(rises & there & ~equal).any(axis=1)
        else:
            ordered = pure & (((falls | rises) & there).sum(axis=1) < len(np.unique(y)))
        may[start : start + step] = ordered | (pure & repeats)
    return may


def _tells(name: str, column: pd.Series[Any], y: NDArray[Any]) -> bool:
    kind = values.infer_column_kind(name, column)
    if kind == values.INDEX:
        return False  # an index column may be ordered like the target and is not used as a feature
    ordered = values.is_numeric_column(column) or kind in (values.DATE, values.NUMBER)
    if values.is_numeric_column(column) or kind == values.DATE:
        cells = pd.Series(values.to_days(name, column))
    else:
        cells = values.to_text(column)
        if kind == values.NUMBER:
            cells = pd.Series(values.parse_numbers(cells, comma=values.has_decimal_comma(cells)))
    there = cells.notna().to_numpy()
    if 20 * there.sum() < 19 * len(y) or there.sum() < LEAST:
        return False
    y = y[there]
    codes = pd.factorize(cells[there], sort=True)[0]
    order, counted = np.argsort(codes, kind="stable"), np.bincount(codes)
    starts = np.cumsum(counted) - counted  # position of the first row of each value
    low, high = (end.reduceat(y[order], starts) for end in (np.minimum, np.maximum))
    again = counted[codes] > 1
    ends, counts = np.unique(y, return_counts=True)
    # Number of rows that share their value with another row, and whose target is not the most
    # frequent target.
    rarer = int((y[again] != ends[counts.argmax()]).sum())
    pure = bool((low == high).all())
    if pure and 2 * again.sum() > len(y) and rarer >= LEAST / 2:
        return True
    if not ordered or len(low) < LEAST / 2:
        return False
    if y.dtype.kind == "f":  # is the target a monotonic function of the value?
        monotone = (low[1:] >= high[:-1]).all() or (high[1:] <= low[:-1]).all()
        return bool(len(ends) >= LEAST / 2 and monotone)
    return pure and (np.diff(low) != 0).sum() == len(ends) - 1 and counts.min() >= LEAST / 4


def remove_row_values(table: LabeledTable) -> LabeledTable:
    """Return a table whose target and notes do not disclose any value of a single row."""
    note = f"Each stored number, date and category belongs to at least {LEAST_ROWS} rows."
    notes = [each for each in table.notes if not each.startswith(columns.UNREAD)]
    if table.n_classes:
        # Remove every note that names a class, because the names of rare classes must not be
        # disclosed.
        notes = [each for each in notes if "class" not in each or "--" in each]
        return replace(table, notes=(*notes, f"{note} Classes with fewer rows are left out."))
    step = 10.0 ** np.floor(np.log10(np.ptp(table.y)) - 3)
    note = f"{note} The target is rounded to a thousandth of its range."
    return replace(table, y=np.round(table.y / step) * step, notes=(*notes, note))


def _labels(y: pd.Series[Any], words: list[str]) -> NDArray[Any]:
    """Return the class labels as integers if all look like integers, otherwise unchanged."""
    if all(re.fullmatch(r"0|-?[1-9]\d{0,17}", word) for word in words):
        return np.array([int(word) for word in words])
    return np.unique(y.to_numpy()) if values.is_numeric_column(y) else np.array(words)
