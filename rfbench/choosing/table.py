"""A table with its target, from a file or from memory, and how its rows are parted.

Some are held out, some choose, and the rest is fitted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.choosing import facts
from rfbench.choosing.model import Model
from rfbench.datasets import columns, files
from rfbench.datasets.files import Reading
from rfbench.datasets.split import Index, Sides, in_time
from rfbench.datasets.values import EXACT_WHOLE, WORDS, is_number, kind_of, moments, named
from rfbench.errors import ConfigError, DataError
from rfbench.memory import check_fits
from rfbench.solvers.folds import whole_groups

HELD_OUT, VALIDATION, FOLDS = 0.25, 0.2, 3
MOST_HELD_OUT = 10_000
FEW = 4  # rows of a class that are kept where rows are sampled
FOLDED_ROWS = 2_000  # up to so many training rows there are folds
# Training rows for each second of the budget, and bounds of them.
ROWS_PER_SECOND, LEAST_SAMPLE, MOST_ROWS = 700, 2_000, 50_000
LEAST_GROUPS = 3
LEAST_ROWS = 10  # of a table, and of a bin or word that may be known of secret rows
NONE = "none"  # rows are held out at random, whatever they say


@dataclass(frozen=True)
class LabelledTable:
    """Rows with a target, as they were read, and how they are parted."""

    X: pd.DataFrame  # of shape (n, columns): numbers, words, dates and gaps
    y: NDArray[Any]  # numbers (float64) or class codes 0 .. K-1 (int64)
    classes: NDArray[Any]  # the labels in sorted order; none of a regression
    groups: Index | None = None  # numbers of the groups
    time: Array | None = None  # when the rows are: the last ones are held out
    metric: str = ""
    seed: int = 0
    name: str = "the rows"
    sha256: str = ""  # of the file's content, or of the rows
    notes: tuple[str, ...] = ()  # what was found out of the target, in sentences
    how: Reading | None = None  # of a file: by it new files are read

    @property
    def n_classes(self) -> int:
        """0 of a regression."""
        return len(self.classes)

    @property
    def labels(self) -> NDArray[Any]:
        """The target as it was read: numbers or labels."""
        return self.classes[self.y] if self.n_classes else self.y

    @property
    def codes(self) -> Index:
        """The class codes; of a regression all rows are of one class."""
        return self.y if self.n_classes else np.zeros(len(self.y), dtype=np.int64)

    def take(self, rows: Index) -> LabelledTable:
        """Return some of the rows, with the classes that they have."""
        groups = None if self.groups is None else self.groups[rows]
        time = None if self.time is None else self.time[rows]
        classes, y = self.classes, self.y[rows]
        if self.n_classes:
            present, y = np.unique(y, return_inverse=True)
            classes = classes[present]
        return replace(self, X=self.X.iloc[rows], y=y, classes=classes, groups=groups, time=time)

    def split(self, share: float, folds: int = 1) -> list[Sides]:
        """Return numbers of rows to fit and to predict: one split, or so many folds.

        Whole groups stay together, and each class has its share of either side. Rows with times are
        predicted by earlier ones. ConfigError if there are none.
        """
        n = len(self.y)
        size = max(1, min(round(share * n), MOST_HELD_OUT))
        if self.time is not None:
            least = min(2, self.n_classes or 1)
            every = in_time(self.time, size, folds)
            parts = [s for s in every if len(s[1]) and len(np.unique(self.y[s[0]])) >= least]
            if not parts:
                raise ConfigError(
                    "The rows cannot be parted by time.",
                    "Too many have the same time, or those of one class all come first.",
                    "Name another column of times, or none.",
                )
            return parts
        if self.groups is not None:
            count = folds if folds > 1 else max(2, round(n / size))
            codes = self.y if self.n_classes else None
            numbers = whole_groups(self.groups, codes, count, self.seed)
        elif folds > 1:
            numbers = shuffled(self.codes, self.seed) % folds
        else:  # exactly so many, of each class its share and one at least
            place = shuffled(self.codes, self.seed)
            spread = np.where(place, (place + 0.5) / np.bincount(self.codes)[self.codes], 0.0)
            numbers = np.ones(n, dtype=np.int64)
            numbers[np.argsort(spread, kind="stable")[:size]] = 0
        wanted = range(int(numbers.max()) + 1) if folds > 1 else [0]
        return [(np.flatnonzero(numbers != f), np.flatnonzero(numbers == f)) for f in wanted]

    def splits(self, budget: float) -> list[Sides]:
        """Return the splits by which models are chosen, then the training rows and those held out.

        Of many rows these are a sample. One split chooses, or of few rows several folds.
        """
        ((train, test),) = self.split(HELD_OUT)
        most = min(max(int(ROWS_PER_SECOND * budget), LEAST_SAMPLE), MOST_ROWS)
        train = self.some(train, most)
        inner = self.take(train).split(VALIDATION, FOLDS if len(train) <= FOLDED_ROWS else 1)
        chosen = [(train[fit], train[held]) for fit, held in inner]
        return [*chosen, (train, self.some(test, MOST_HELD_OUT))]

    def some(self, rows: Index, size: int) -> Index:
        """Return so many of the rows, of each class its share and a few at least."""
        if len(rows) <= size:
            return rows
        codes = self.codes[rows]
        wanted = np.maximum(FEW, np.round(size / len(rows) * np.bincount(codes)))
        return rows[shuffled(codes, self.seed) < wanted[codes]]


def parted(
    table: LabelledTable, budget: float
) -> tuple[LabelledTable, list[Sides], Index, dict[str, int]]:
    """Leave out the classes that a side of some split lacks: these cannot be learnt and checked.

    Every fold has all classes where it is fitted; where it is judged, the folds together do.
    Returns the table, its splits, the numbers of its rows in the table that was given, and how many
    rows the classes had that are left out. DataError if fewer than two classes are left.
    """
    left_out: dict[str, int] = {}
    kept = np.arange(len(table.y))
    while True:
        splits = table.splits(budget)
        judged = np.concatenate([held for _, held in splits[:-1]])
        sides = [splits[-1][1], judged, *(fit for fit, _ in splits[:-1])]
        every = np.arange(table.n_classes)
        there = np.all([np.isin(every, table.y[side]) for side in sides], axis=0)
        if there.all():
            return table, splits, kept, left_out
        if there.sum() < 2:
            raise DataError(
                f"Of {table.name}, fewer than two classes have rows on both sides of every split.",
                "A class has to be learnt from some rows and checked on others.",
                "Put rare classes together, or split otherwise (--groups, --time).",
            )
        counts = np.bincount(table.y)
        left_out |= {str(table.classes[code]): int(counts[code]) for code in every[~there]}
        rows = np.flatnonzero(there[table.y])
        table, kept = table.take(rows), kept[rows]


def shuffled(codes: Index, seed: int) -> Index:
    """Return the places of the rows of each class in a random order of them, from 0 on."""
    order = pd.Series(np.random.default_rng(seed).permutation(len(codes)))
    return order.groupby(codes).rank().to_numpy(dtype=np.int64) - 1


def table_of(
    X: Any,
    y: Any = None,
    *,
    target: str | int | None = None,
    task: str | None = None,
    drop: Sequence[str | int] = (),
    groups: Any = None,
    time: Any = None,
    **reading: Any,
) -> LabelledTable:
    """Return a file, or rows in memory, as a table with its target.

    The parameters are those of `rfbench.choose`. Without `groups` and `time` the rows say how they
    are held out, see `facts.of_rows`; 'none' is at random. A column of times stays among those that
    a model gets. DataError if there is no such file or column, or nothing can be learnt from it.
    """
    if isinstance(X, str | Path):
        path = files.find(str(X), None)
        return _read(path, target, task, drop, groups, time, reading)
    name = "the rows"
    rows, values = columns.tabled(name, X, y)
    guess = "regression" if np.asarray(y).dtype.kind == "f" else "classification"
    return _table(name, _dense(rows), pd.Series(values), task or guess, groups, time)


def _read(
    path: Path, target: Any, task: str | None, drop: Any, groups: Any, time: Any, reading: Any
) -> LabelledTable:
    X, y, how = files.read(path, plain=True, target=target, **reading)
    if how.unclear:
        whole = re.sub("[,.]", "", how.unclear)
        other = "." if "," in how.unclear else ","
        raise DataError(
            f"{how.unclear} in {path.name} is {whole} or {how.unclear.replace(',', '.')}.",
            "No number of the file says which.",
            f"Say `--decimal '{other}'` for {whole}, else `--decimal '{'.,'.strip(other)}'`.",
        )
    X = _dense(X)
    owners = None if groups == NONE else groups
    column = target if y is None else None
    chosen = columns.chosen(path.name, X, y, target=column, drop=tuple(drop), groups=owners)
    labels: Any = chosen.y
    words: list[str] = []
    if y is None and how.format in files.TEXT:
        labels, words = _labels(path, how, X, chosen.y)
    if time not in (None, NONE):
        time = X[columns.column_named(path.name, X, time, "time")]
        columns.check_apart(path.name, {"target": str(chosen.y.name), "time": str(time.name)})
    table = _table(path.name, chosen.X, labels, task, chosen.special.get("groups", groups), time)
    notes = (*table.notes, *words)
    return replace(table, sha256=files.content_sha256(path), how=how, notes=notes)


def _labels(path: Path, how: Reading, X: pd.DataFrame, y: Any) -> tuple[Any, list[str]]:
    """Return a target as it is written where it has gaps: NA may be a class, and numbers exact."""
    numbers = is_number(y)
    if not y.isna().any() or (numbers and not y.abs().gt(EXACT_WHOLE).any()):
        return y, []
    text = files.column_text(path, how, list(X.columns).index(y.name)).rename(y.name)
    kept = text.where(y.notna())
    if numbers or kind_of(str(y.name), kept) != WORDS:
        return kept if numbers else y, []
    words = text[y.isna() & text.notna()].value_counts()
    return text, [
        f"{word} ({n:,} rows) is a class: leave the field empty where the target is not known."
        for word, n in words.items()
    ]


def read_new_rows(file: str | Path, model: Model, **options: Any) -> pd.DataFrame:
    """Read rows to predict; their target, where the file has it apart, is not looked at.

    `options` say what is known to be written in another way than in training. DataError if there
    are no rows, or none of the model's columns, or if a column has values that training did not
    have, and another reading of the same text has none there.
    """
    path, how, prepare = files.find(str(file), None), model.reading_, model[0]
    read = files.read(path, like=how, **options)
    X = _dense(read.X)
    if not len(X):
        raise DataError(f"{file} has no rows.", "There is nothing to predict.", "Name another.")
    if not {*X.columns} & {*model.card_["columns"]}:
        raise DataError(
            f"{file} has none of the columns that the model knows.",
            f"These are {named(model.card_['columns'])}.",
            "Name the file that belongs to the model, or correct its first line.",
        )
    if how is None or read.how.format not in files.TEXT or options:
        return X
    beyond = prepare.differences(X).odd
    for separator in {read.how.separator, files.reading_of(path).separator} if beyond else ():
        for decimal in ",.":
            try:
                other = replace(read.how, separator=separator, decimal=decimal, commas=())
                Z = _dense(files.read(path, like=other).X)
            except DataError:
                continue
            for column in sorted((beyond & {*Z.columns}) - prepare.differences(Z).odd):
                raise DataError(
                    f"Column {column} of {path.name} is not as in training as it is read.",
                    f"With the separator {separator!r} and the decimal sign {decimal!r} it is.",
                    f"Add `--separator '{separator}' --decimal '{decimal}'` if that is right, else "
                    f"those of training: `--decimal '{how.decimal}'`.",
                )
    return X


def _table(
    name: str, X: pd.DataFrame, y: Any, task: str | None, groups: Any, time: Any
) -> LabelledTable:
    """Leave out rows without a target, a group or a time, and tell the task.

    Where it is not told how rows are held out, they say it themselves.
    """
    given = {"groups": groups, "time": time}
    special = {
        key: pd.Series(np.asarray(values), name=getattr(values, "name", None) or key)
        for key, values in given.items()
        if not (values is None or (isinstance(values, str) and values == NONE))
    }
    if len(special) == 2:
        raise ConfigError(
            "Groups and time were both given.",
            "Rows are held out in whole groups, or the last ones.",
            "Give one of the two.",
        )
    if (when := special.get("time")) is not None:
        days = pd.Series(moments(str(when.name), when), name="time")
        special["time"] = days.replace([np.inf, -np.inf], np.nan)
    table = columns.Table(name, X.reset_index(drop=True), y.reset_index(drop=True), special)
    table.complete()
    if len(table.y) < LEAST_ROWS:
        raise DataError(
            f"Too few rows have a target: {len(table.y)} in {name}.",
            f"A model is chosen on some and checked on others: at least {LEAST_ROWS} are needed.",
            "Measure more rows.",
        )
    X, y, notes = table.X, table.y, []
    hashes = pd.util.hash_pandas_object(X.assign(**{"\0target": y}).astype(str), index=False)
    copies = pd.factorize(hashes)[0].astype(np.int64)
    if groups is None and time is None and (found := facts.of_rows(X, y, copies)) is not None:
        notes.append(found.sentence)
        table.special = {found.by: pd.Series(found.values)}
        if found.by == "groups" and found.column:
            X = X.drop(columns=found.column)
    times = table.special.get("time")
    numbers, *_ = table.arranged()
    if numbers is not None and numbers.max() + 1 < LEAST_GROUPS:
        raise DataError(
            f"The rows of {name} are in {numbers.max() + 1} groups.",
            f"A model is fitted, chosen and checked on other groups: {LEAST_GROUPS} at least.",
            "Name another column for groups, or none.",
        )
    codes, words, kind = table.target_codes(task, ())
    target, classes = codes, np.empty(0)
    if kind != "regression":
        labels = np.unique(y.to_numpy()) if is_number(y) else np.array(words)
        classes, target = np.unique(labels[codes], return_inverse=True)
    once = ~pd.Series(copies if numbers is None else numbers).duplicated().to_numpy()
    return LabelledTable(
        X,
        target,
        classes,
        numbers,
        None if times is None else times.to_numpy(dtype=np.float64),
        name=name,
        sha256=hashlib.sha256(hashes.to_numpy().tobytes()).hexdigest(),
        notes=(*facts.tells(X[once], codes[once]), *notes, *table.notes),
    )


def without_rows(table: LabelledTable) -> LabelledTable:
    """Return a table whose target tells no value of a row: see `Preparation` for the columns.

    Classes of fewer than ten rows are left out, and a target of numbers is rounded.
    """
    note = f"What the model knows of numbers, dates and words is that of {LEAST_ROWS} rows or more."
    if not table.n_classes:
        step = 10.0 ** np.floor(np.log10(np.ptp(table.y)) - 3)
        note = f"{note} The target is rounded to a thousandth of its range."
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
    return replace(table.take(np.flatnonzero(common[table.y])), notes=(*notes, note))


def _dense(X: Any) -> pd.DataFrame:
    if hasattr(X, "tocsr"):
        check_fits(8.0 * X.shape[0] * X.shape[1], "The table with its zeros", "Take fewer columns.")
        X = X.toarray()
    table = X.copy(deep=False) if isinstance(X, pd.DataFrame) else pd.DataFrame(X).add_prefix("x")
    table.columns = pd.Index([str(column).strip() for column in table.columns])
    return table
