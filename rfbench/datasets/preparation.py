"""Tables of numbers, words, dates and gaps to rows of numbers: a transformer of scikit-learn.

It is fitted on training rows alone and is part of a model. scikit-learn's ColumnTransformer has to
be told which column is what, and refuses a table that lacks a column; skrub would be a dependency.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from rfbench.arrays import Array
from rfbench.datasets.values import (
    DATE,
    EPOCH,
    IDENTIFIER,
    INDEX,
    NUMBER,
    WORDS,
    as_dates,
    as_numbers,
    as_table,
    format_names,
    has_decimal_comma,
    infer_kind,
    is_day_first,
    is_missing,
    is_number,
    list_others,
    may_name_rows,
    to_text,
)
from rfbench.errors import DataError

CONSTANT, EMPTY = "constant", "empty"
# What stands for a gap, and for all rare words. No file has such a word; it is shown without \0.
MISSING, OTHER = "\0missing", "\0other"
# Of a column that becomes one column for each: as many as scikit-learn's histogram boosting tells
# apart. Doubled, a column may become 510 columns.
MAX_CATEGORIES = 255
# A word in fewer rows than both is rare. Chosen without a measurement: of nine rows a mean has a
# third of their deviation. Doubled, more words share the column of the others.
RARE_ROWS, RARE_SHARE = 10, 0.01
DATE_PARTS = ("days", "month", "weekday", "hour")  # of a date


class Note(NamedTuple):
    """What was done with a column.

    `done` is ``words`` (`detail`: how many columns), ``date``, ``gaps`` (how many training rows),
    ``not numbers`` (how many values count as gaps), ``text numbers`` (they have signs or marks); or
    why it was left out: ``constant``, ``empty``, ``identifier``, ``index`` (row numbers).
    """

    column: str
    done: str
    detail: str | int = ""


@dataclass(frozen=True)
class Differences:
    """What is different in a table from the training rows. All of it is handled.

    A column that is missing counts as gaps, one that is new is not used. A word that was not there
    becomes the column of the rare words, or else the means of the columns of words.
    """

    missing_columns: tuple[str, ...] = ()
    extra_columns: tuple[str, ...] = ()
    # Of each column the words that were not there before, and in how many rows they are.
    unseen_words: dict[str, dict[str, int]] = field(default_factory=dict)
    # Of columns of numbers and dates: how many values are neither, and count as gaps.
    other_types: dict[str, int] = field(default_factory=dict)
    # Of columns of numbers: how many values are beyond those of training.
    outside: dict[str, int] = field(default_factory=dict)
    # Of columns without gaps in training: how many values are missing.
    new_gaps: dict[str, int] = field(default_factory=dict)
    # Dates with the day before the month here and after it in training, or the other way around.
    turned_dates: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(vars(self).values())

    @property
    def odd(self) -> set[str]:
        """The columns with values that training did not have: beyond its range, or no numbers."""
        return {*self.outside, *self.other_types}


@dataclass(frozen=True, eq=False)
class PreparedColumns:
    """The columns that a `Preparation` returns, without any value that it learnt for them.

    `Preparation.columns_` has those of its training rows. A preparation of other rows that is given
    them returns the same columns.
    """

    kinds: Mapping[str, str]  # of each column, before the constant ones are left out
    left_out: Mapping[str, str]  # the columns that are constant, or empty
    decimal_comma: frozenset[str]
    day_first: Mapping[str, bool | None]
    with_gaps: NDArray[np.intp]  # positions of the numbers that have a column for their gaps
    levels: Mapping[str, tuple[str, ...]]  # of each column of words
    kept: NDArray[np.intp]  # positions of the columns that are returned


class Preparation(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn a table into float64 rows of fixed columns, as the training rows taught it.

    - Numbers stay. Gaps (also infinite values, and text among numbers) take the mean of the
      training rows; a column that says where they are follows, if training rows have gaps.
    - Dates and times become days since 2000, month, weekday (0: Monday) and hour.
    - Words become a column of 0 and 1 per word, two words a single one; a gap is the word
      ``missing``. Words in less than 1 % and fewer than 10 of the training rows, and those beyond
      255, share the column ``other``.
    - Left out: constant columns, and those that name rows: whole numbers, all different, called
      id, index or nothing; words of which more than half are different.

    What training rows do not have (a word, a gap in words) becomes their mean.
    ``get_feature_names_out`` names the columns.

    Parameters
    ----------
    least_rows : int
        If it is above 1, nothing that is learnt, and none of the training rows that `fit_transform`
        returns, tells a value of fewer rows: numbers are means of so many that follow one another,
        and words of fewer rows are all one word. New rows are transformed as they are.
    columns : PreparedColumns, optional
        The columns to return, as `columns_` of a preparation of more rows. Only means and ranges
        are then learnt in `fit`. A column that is constant there is 0 in all rows. By default the
        columns are learnt, too.

    Attributes
    ----------
    columns_ : PreparedColumns
        The columns that are returned.
    notes_ : tuple of Note
        What was done, in the order of the columns.
    kinds_ : dict of str to str
        Of each column ``number``, ``date`` or ``words``, or why it was left out (see `Note`).

    Examples
    --------
    >>> table = pd.DataFrame({"area": [1.0, None, 3.0], "town": ["Kiel", "Ulm", "Kiel"]})
    >>> preparation = Preparation().fit(table)
    >>> preparation.get_feature_names_out().tolist()
    ['area', 'area=missing', 'town=Ulm']
    >>> preparation.transform(table).tolist()
    [[1.0, 0.0, 0.0], [2.0, 1.0, 1.0], [3.0, 0.0, 0.0]]
    >>> seen = preparation.differences(pd.DataFrame({"town": ["Bonn"]}))
    >>> seen.missing_columns, seen.unseen_words
    (('area',), {'town': {'Bonn': 1}})
    """

    # A model that was saved by an earlier version has neither.
    columns: PreparedColumns | None = None
    _zero: NDArray[np.intp] = np.empty(0, dtype=np.intp)

    def __init__(self, least_rows: int = 1, columns: PreparedColumns | None = None) -> None:
        self.least_rows, self.columns = least_rows, columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from training rows of shape (n, d): a DataFrame or an array.

        DataError if two columns have the same name, or no column is left.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Learn from training rows, and return them as `transform` does."""
        table, given = as_table(X), self.columns
        other = list_others(table)
        self.feature_names_in_ = table.columns.to_numpy(dtype=object)
        self.n_features_in_ = table.shape[1]
        if given is None:
            kinds = dict.fromkeys(table.columns, NUMBER)
            unclear = {*other, *filter(may_name_rows, table.columns)}
            kinds |= {column: infer_kind(column, table[column]) for column in unclear}
        else:
            kinds = dict(given.kinds)
        self.kinds_ = dict(kinds)
        self._numeric = [column for column, kind in kinds.items() if kind == NUMBER]
        self._text = {column for column in other if kinds.get(column) == NUMBER}
        dates = [column for column, kind in kinds.items() if kind == DATE]
        if given is None:
            comma = {c for c in other if c in self._text and has_decimal_comma(table[c])}
            day_first = {column: is_day_first(to_text(table[column])) for column in dates}
        else:
            comma, day_first = set(given.decimal_comma), dict(given.day_first)
        self._decimal_comma, self._day_first = comma, day_first

        numbers = self._numbers(table)
        gaps = self._learn_numbers(numbers)
        # The parts of a date are missing together: the first one says it for all.
        firsts = np.r_[: len(self._numeric), len(self._numeric) : gaps.shape[1] : len(DATE_PARTS)]
        gaps = gaps[:, firsts]
        if given is None:
            self._with_gaps = firsts[gaps.any(axis=0) & ~gaps.all(axis=0)]
        else:
            self._with_gaps = given.with_gaps
        words = [column for column, kind in kinds.items() if kind == WORDS]
        levels = {} if given is None else given.levels
        self._words = {
            c: _Words.of(to_text(_column(table, c)), self.least_rows, levels.get(c)) for c in words
        }

        rows = self._expanded(table, numbers)
        varies = rows.min(axis=0, initial=np.inf) < rows.max(axis=0, initial=-np.inf)
        sources, names = self._expanded_names()
        self._varying = np.flatnonzero(varies) if given is None else given.kept
        self._zero = np.flatnonzero(~varies[self._varying])
        self._names_out = [names[at] for at in self._varying]
        kept = {sources[at] for at in self._varying}
        if given is None:
            gone = [column for column in (*self._numeric, *dates, *words) if column not in kept]
            filled = table[gone].notna().any().to_dict()
            left_out = {column: CONSTANT if filled[column] else EMPTY for column in gone}
        else:
            left_out = dict(given.left_out)
        self.kinds_ |= left_out
        self.columns_ = PreparedColumns(
            kinds,
            left_out,
            frozenset(comma),
            day_first,
            self._with_gaps,
            {column: each.levels for column, each in self._words.items()},
            self._varying,
        )
        self._learn_notes(
            table, other, {sources[at]: gap for at, gap in zip(firsts, gaps.T, strict=True)}
        )
        if not kept:
            raise DataError(
                "No column is left to learn from.", " ".join(describe(self.notes_)), "Bring others."
            )
        return self._chosen(rows)

    def _learn_numbers(self, numbers: Array) -> Array:
        """Learn means and ranges of numbers, in place as means of `least_rows`; return the gaps."""
        if self.least_rows > 1:
            for column in numbers.T:
                column[:] = _means(column, self.least_rows)
        gaps = np.isnan(numbers)
        counts = (~gaps).sum(axis=0)
        self._means = np.nansum(numbers, axis=0) / np.maximum(1, counts)
        low, high = (np.where(gaps, end, numbers) for end in (np.inf, -np.inf))
        ranges = zip(
            low.min(axis=0, initial=np.inf), high.max(axis=0, initial=-np.inf), strict=True
        )
        self.ranges_ = dict(zip(self._numeric, ranges, strict=False))
        return gaps

    def _learn_notes(
        self, table: pd.DataFrame, other: Iterable[str], gaps: Mapping[str, Array]
    ) -> None:
        """Learn what is told of each column: its gaps, and the values that are not what it holds.

        `other` names the columns of other types than numbers; `gaps` are those of numbers and
        dates, by column.
        """
        empty = {str(column): int(n) for column, n in table.isna().sum().items()}
        empty |= {column: int(is_missing(table[column]).sum()) for column in other}
        counted = {column: int(missing.sum()) for column, missing in gaps.items()}
        self._gaps = {c: n for c, n in (empty | counted).items() if n}
        self._not_numbers = {
            c: n - empty.get(c, n) for c, n in counted.items() if n > empty.get(c, n)
        }
        self.notes_: tuple[Note, ...] = tuple(
            note for column in self.kinds_ for note in self._notes(column)
        )

    def _chosen(self, rows: Array) -> Array:
        """Return the columns that are kept; 0 where the training rows did not vary."""
        chosen = rows[:, self._varying]
        chosen[:, self._zero] = 0.0
        return chosen

    def transform(self, X: Any) -> Array:
        """Return rows of numbers: float64 of shape (n, columns).

        DataError if two columns have the same name.
        """
        check_is_fitted(self, "notes_")
        table = as_table(X)
        return self._chosen(self._expanded(table, self._numbers(table)))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns that are returned."""
        check_is_fitted(self, "notes_")
        return np.array(self._names_out, dtype=object)

    def differences(self, X: Any) -> Differences:
        """Return what is different in a table from the training rows; see `Differences`."""
        check_is_fitted(self, "notes_")
        table = as_table(X)
        used = [c for c in self.feature_names_in_ if self.kinds_[c] in (NUMBER, DATE, WORDS)]
        unseen: dict[str, dict[str, int]] = {}
        other: dict[str, int] = {}
        gaps: dict[str, int] = {}
        outside: dict[str, int] = {}
        as_before = self._find_unchanged(table)
        for column in used:
            if column not in table.columns or column in as_before:
                continue
            values, gap = table[column], is_missing(table[column])
            if gap.any() and column not in self._gaps:
                gaps[column] = int(gap.sum())
            if self.kinds_[column] == WORDS:
                counts = to_text(values).value_counts().sort_index()
                new = counts[~counts.index.isin(list(self._words[column].seen))]
                unseen |= {column: new.to_dict()} if len(new) else {}
                continue
            numbers = self._parsed(column, values)
            wrong = int((np.isnan(numbers) & ~gap.to_numpy()).sum())
            if wrong and column not in self._not_numbers:
                other[column] = wrong
            low, high = self.ranges_.get(column, (-np.inf, np.inf))
            if beyond := int(((numbers < low) | (numbers > high)).sum()):
                outside[column] = beyond
        before = set(self.feature_names_in_)
        missing = tuple(column for column in used if column not in table.columns)
        extra = tuple(column for column in table.columns if column not in before)
        turned = tuple(
            column
            for column, before in self._day_first.items()
            if column in table
            and before is not None
            and is_day_first(to_text(table[column]), before) != before
        )
        return Differences(missing, extra, unseen, other, outside, gaps, turned)

    def _find_unchanged(self, table: pd.DataFrame) -> set[str]:
        """Return the columns of numbers that hold nothing but numbers within training's ranges."""
        others = {*list_others(table)}
        plain = [c for c in self._numeric if c in table.columns and c not in others]
        values = table[plain].to_numpy(dtype=np.float64, na_value=np.nan)
        low, high = np.array([self.ranges_[column] for column in plain]).reshape(-1, 2).T
        inside = ((values >= low) & (values <= high) & np.isfinite(values)).all(axis=0)
        return {column for column, same in zip(plain, inside, strict=True) if same}

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that it takes gaps and words."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = True
        return tags

    def _numbers(self, table: pd.DataFrame) -> Array:
        """Return the columns of numbers and the parts of dates, of shape (n, slots), with gaps."""
        numeric = table.reindex(columns=self._numeric)
        text = list_others(numeric)
        numeric = numeric.assign(**{c: self._parsed(c, numeric[c]) for c in text})
        X = numeric.to_numpy(dtype=np.float64, na_value=np.nan)
        dates = table.reindex(columns=list(self._day_first))
        parts = [_date_parts(self._moments(column, dates[column])) for column in self._day_first]
        return np.hstack([np.where(np.isinf(X), np.nan, X), *parts])

    def _parsed(self, column: str, values: pd.Series[Any]) -> Array:
        """Return what a column of numbers or dates says, NaN where it is neither; shape (n,)."""
        if is_number(values) and self.kinds_[column] == NUMBER:
            X = values.to_numpy(dtype=np.float64, na_value=np.nan)
            return np.where(np.isfinite(X), X, np.nan)
        if self.kinds_[column] == DATE:
            return _date_parts(self._moments(column, values))[:, 0]
        return as_numbers(to_text(values), comma=column in self._decimal_comma)

    def _moments(self, column: str, values: pd.Series[Any]) -> pd.Series[Any]:
        return as_dates(values, self._day_first[column])

    def _expanded(self, table: pd.DataFrame, numbers: Array) -> Array:
        """Return all columns that can be returned, the constant ones as well."""
        indicators = np.isnan(numbers[:, self._with_gaps]).astype(np.float64)
        filled = np.where(np.isnan(numbers), self._means, numbers)
        one_hot = [
            levels.encoded(to_text(_column(table, column)))
            for column, levels in self._words.items()
        ]
        return np.hstack([filled, indicators, *one_hot])

    def _expanded_names(self) -> tuple[list[str], list[str]]:
        """Return for each of these columns the one that it comes from, and its name."""
        sources = self._numeric + [column for column in self._day_first for _ in DATE_PARTS]
        names = self._numeric + [f"{c} {part}" for c in self._day_first for part in DATE_PARTS]
        with_gaps = [sources[at] for at in self._with_gaps]
        sources = sources + with_gaps
        names = names + [f"{column}=missing" for column in with_gaps]
        for column, levels in self._words.items():
            sources = sources + [column] * len(levels.names)
            names = names + [f"{column}={word}" for word in levels.names]
        return sources, names

    def _notes(self, column: str) -> Iterator[Note]:
        kind, gaps = self.kinds_[column], self._gaps.get(column, 0)
        if kind not in (NUMBER, DATE, WORDS):
            yield Note(column, kind)
            return
        if kind == DATE:
            yield Note(column, DATE)
        if kind == WORDS:
            yield Note(column, WORDS, len(self._words[column].names))
        elif column in self._not_numbers:
            yield Note(column, "not numbers", self._not_numbers[column])
        if column in self._text:
            yield Note(column, "text numbers")
        if gaps:
            yield Note(column, "gaps", gaps)


@dataclass(frozen=True)
class _Words:
    """The words of a column and what each becomes."""

    levels: tuple[str, ...]
    rows: Array  # of shape (levels + 1, columns): one per word, and the mean for any other
    seen: frozenset[str]

    @classmethod
    def of(
        cls, text: pd.Series[Any], least_rows: int = 1, levels: Sequence[str] | None = None
    ) -> _Words:
        """Learn the words of the training rows; none of fewer rows is kept.

        With `levels` only their means are learnt. Words that are none of them do not count.
        """
        counts = text.value_counts()
        seen = frozenset(counts.index[counts >= least_rows])
        levels = cls._levels(text, counts, least_rows) if levels is None else levels
        codes = cls._codes(text, levels)
        counted = np.bincount(codes[codes >= 0], minlength=len(levels))
        rows = np.vstack([np.eye(len(levels)), counted / max(1, counted.sum())])
        if len(levels) == 2:
            rows = rows[:, 1:]
        return cls(tuple(levels), rows, seen)

    @staticmethod
    def _levels(text: pd.Series[Any], counts: pd.Series[int], least_rows: int) -> list[str]:
        """Return the words that have a column, of the counts of all words."""
        counts = counts.iloc[np.lexsort((counts.index.astype(str), -counts.to_numpy()))]
        n = len(text)
        frequent = (counts >= RARE_ROWS) | (counts >= RARE_SHARE * n)
        frequent &= counts >= least_rows
        if len(counts) > MAX_CATEGORIES:
            frequent.iloc[MAX_CATEGORIES - 1 :] = False  # one column is for the others
        kept = set(counts.index[frequent])
        special = {
            *([OTHER] if len(counts) > len(kept) else []),
            *([MISSING] if text.isna().any() else []),
        }
        return sorted(kept | special, key=lambda word: (word.removeprefix("\0"), word))

    @property
    def names(self) -> tuple[str, ...]:
        """The words that have a column, as they are shown: (other) beside a word "other"."""
        levels = self.levels[1:] if len(self.levels) == 2 else self.levels
        bare = [level.removeprefix("\0") for level in levels]
        return tuple(
            f"({word})" if level != word and word in self.levels else word
            for level, word in zip(levels, bare, strict=True)
        )

    def encoded(self, text: pd.Series[Any]) -> Array:
        """Return a column of 0 and 1 per word, one for two words; shape (n, columns)."""
        return self.rows[self._codes(text, self.levels)]

    @staticmethod
    def _codes(text: pd.Series[Any], levels: Iterable[str]) -> NDArray[np.intp]:
        """Return the position of each word among the levels; -1 for one that has none."""
        index = pd.Index(list(levels), dtype=object)
        other = text.where(text.isna() | text.isin(index), OTHER)
        return index.get_indexer(pd.Index(other.where(text.notna(), MISSING), dtype=object))


def describe(notes: Iterable[Note]) -> list[str]:
    """Return in sentences what was done with the columns, one per kind of treatment."""
    sentences = {
        WORDS: "Words became columns of 0 and 1, so many: {}.",
        DATE: "Dates became days, month, weekday and hour, as far as they vary: {}.",
        "not numbers": "What is no number or date in these columns counts as missing: {}.",
        "text numbers": "Read as numbers, without percent and currency signs and marks between "
        "thousands: {}.",
        "gaps": "Missing values become the mean of the training rows, with a column that says "
        "where they are; missing words are a word of their own: {}.",
        CONSTANT: "Left out, constant: {}.",
        EMPTY: "Left out, without any value: {}.",
        IDENTIFIER: "Left out, since they name the rows: {}.",
        INDEX: "Left out, row numbers without a name: {}.",
    }
    gathered: dict[str, list[str]] = {}
    for note in notes:
        shown = f"{note.column} ({note.detail})" if note.detail else note.column
        gathered.setdefault(note.done, []).append(shown)
    return [
        text.format(format_names(gathered[done]))
        for done, text in sentences.items()
        if done in gathered
    ]


def _column(table: pd.DataFrame, column: str) -> pd.Series[Any]:
    """Return a column of a table; only gaps if the table has no such column."""
    return table[column] if column in table else pd.Series(None, index=table.index, dtype=object)


def _means(values: Array, least: int) -> Array:
    """Return numbers as means of so many in their order; equal ones stay together, gaps stay.

    Of fewer numbers there is none.
    """
    made, there = np.full(len(values), np.nan), np.isfinite(values)
    if there.sum() < least:
        return made
    different, codes, counts = np.unique(values[there], return_inverse=True, return_counts=True)
    bins = (np.cumsum(counts) - counts) // least
    large = np.bincount(bins, counts) >= least
    bins = (np.cumsum(large) - 1)[bins]
    means = np.bincount(bins, counts * different) / np.bincount(bins, counts)
    made[there] = means[bins][codes]
    return made


def _date_parts(moments: pd.Series[Any]) -> Array:
    """Return days since 2000, month, weekday and hour, of shape (n, 4)."""
    days, clock = (moments - EPOCH).dt.days, moments.dt
    hour = clock.hour + clock.minute / 60 + clock.second / 3600
    parts = [days, clock.month, clock.day_of_week, hour]
    return np.column_stack([np.asarray(part, dtype=np.float64) for part in parts])
