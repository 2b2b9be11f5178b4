"""`Preparation`, a scikit-learn transformer that converts tables to numeric rows.

The tables may contain numbers, categories, dates and missing values. The transformer is fitted on
the training set only and is a part of the model. In contrast to scikit-learn's ColumnTransformer,
it infers the type of each column and accepts a table that lacks a column.
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
    as_table,
    format_names,
    has_decimal_comma,
    infer_column_kind,
    is_day_first,
    is_missing,
    is_numeric_column,
    is_row_identifier_name,
    list_non_numeric_columns,
    parse_dates,
    parse_numbers,
    to_text,
)
from rfbench.errors import DataError

CONSTANT, EMPTY = "constant", "empty"
# Names of two additional categories of a text column: one for missing values, and one for all rare
# categories together. Each name starts with \0, which does not occur in files. Therefore it differs
# from all categories in the data.
MISSING, OTHER = "\0missing", "\0other"
# Maximum number of categories of a text column, because each category becomes an output column. The
# histogram boosting of scikit-learn has the same limit. With twice this value, a text column may
# become 510 columns.
MAX_CATEGORIES = 255
# A category is rare if fewer than RARE_ROWS rows, and less than the share RARE_SHARE of all rows,
# have this category. All rare categories share one output column. The values were chosen without a
# measurement. With twice these limits, more categories count as rare.
RARE_ROWS, RARE_SHARE = 10, 0.01
# names of the output columns into which a column of dates is converted
DATE_PARTS = ("days", "month", "weekday", "hour")


class Note(NamedTuple):
    """A note on how a column of a table is converted to numbers, or why it is left out.

    `done` is one of these strings.

    - ``words``: the column contains categories.
    - ``date``: the column contains dates.
    - ``gaps``: the column contains missing values.
    - ``not numbers``: the column contains values that are treated as missing.
    - ``text numbers``: the column contains numbers with signs or thousands separators.
    - ``constant``, ``empty``, ``identifier`` or ``index`` (row numbers): the column is left out.

    `detail` is the number of output columns for ``words``, and the number of values for ``gaps``
    and ``not numbers``.
    """

    column: str
    done: str
    detail: str | int = ""


@dataclass(frozen=True)
class SchemaChanges:
    """Differences between the columns of a table and the columns of the training set.

    `Preparation` accepts all of these differences. A missing column is filled with missing values,
    and an extra column is ignored. A category that is not in the training set is encoded as a rare
    category. If the training set has no rare categories, each output column of the text column gets
    its mean.
    """

    missing_columns: tuple[str, ...] = ()
    extra_columns: tuple[str, ...] = ()
    # Maps each text column to its categories that the training set does not contain. Each category
    # is mapped to its number of rows.
    unseen_words: dict[str, dict[str, int]] = field(default_factory=dict)
    # Maps columns of numbers to the number of non-numeric cells, and columns of dates to the number
    # of cells that are not dates. These cells are treated as missing.
    other_types: dict[str, int] = field(default_factory=dict)
    # Maps numeric columns to the number of values outside the range of the training set.
    outside: dict[str, int] = field(default_factory=dict)
    # Maps columns that are complete in the training set to the number of missing values.
    new_gaps: dict[str, int] = field(default_factory=dict)
    # Date columns in which the order of day and month differs from the training set.
    turned_dates: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(vars(self).values())

    @property
    def unusual_columns(self) -> set[str]:
        """Columns with values outside the training range, or with values of a wrong type."""
        return {*self.outside, *self.other_types}


@dataclass(frozen=True, eq=False)
class PreparedColumns:
    """Description of the output columns of a `Preparation`, without their means and ranges.

    A `Preparation` with this description returns the same columns, even if it is fitted on
    different rows.
    """

    # Maps each input column to its kind, such as `number` or `date`. Constant columns are included
    # here, but do not become output columns.
    kinds: Mapping[str, str]
    # Maps each column that is not used to the reason, such as ``constant`` or ``empty``.
    left_out: Mapping[str, str]
    decimal_comma: frozenset[str]
    day_first: Mapping[str, bool | None]
    # Positions of the numeric columns with missing values. Each of these columns gets an additional
    # output column, which is 1 if the value is missing.
    with_gaps: NDArray[np.intp]
    levels: Mapping[str, tuple[str, ...]]  # the categories of each text column
    kept: NDArray[np.intp]  # positions of the output columns


class Preparation(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Transformer that converts a table to float64 rows, learned from the training set.

    - Numbers are kept. Missing values become the mean of the column in the training set, and an
      additional column marks them if the training set has missing values. Infinite values, and
      strings among numbers, are treated as missing.
    - Dates become the columns days since 2000, month, weekday (0 for Monday) and hour.
    - Each category becomes a column of 0 and 1. Two categories share a single column. A missing
      value is the category ``missing``. Rare categories share the column ``other``. A category is
      rare if less than 1 % and fewer than 10 of the rows have it, or if there are more than 255
      categories.
    - Constant columns are left out.
    - Columns that identify rows are left out: distinct whole numbers in a column named id or index
      or without a name, and text of which more than half is distinct.

    If a text column has a category or a missing value that does not occur in the training set, each
    output column of the text column gets its mean, unless there is a column ``other``.

    Parameters
    ----------
    least_rows : int
        Minimum number of rows on which every learned value depends, to protect the rows of the
        training set. If it is above 1, `fit_transform` replaces numbers by means of at least
        `least_rows` consecutive values, and categories with fewer rows are merged. New rows are
        transformed unchanged.
    columns : PreparedColumns, optional
        The columns to return: `columns_` of a preparation that was fitted on more rows. `fit` then
        learns only means and ranges. A column that is constant in the rows of this fit is 0 in all
        rows. By default the columns are learned, too.

    Attributes
    ----------
    columns_ : PreparedColumns
        The output columns.
    notes_ : tuple of Note
        Notes on the treatment of the columns, in the order of the columns.
    kinds_ : dict of str to str
        For each column ``number``, ``date`` or ``words``, or the reason why it was left out (see
        `Note`).

    Examples
    --------
    >>> table = pd.DataFrame({"area": [1.0, None, 3.0], "town": ["Kiel", "Ulm", "Kiel"]})
    >>> preparation = Preparation().fit(table)
    >>> preparation.get_feature_names_out().tolist()
    ['area', 'area=missing', 'town=Ulm']
    >>> preparation.transform(table).tolist()
    [[1.0, 0.0, 0.0], [2.0, 1.0, 1.0], [3.0, 0.0, 0.0]]
    >>> seen = preparation.find_schema_changes(pd.DataFrame({"town": ["Bonn"]}))
    >>> seen.missing_columns, seen.unseen_words
    (('area',), {'town': {'Bonn': 1}})
    """

    # Defaults for saved models of earlier versions, in which these attributes do not exist.
    columns: PreparedColumns | None = None
    _zero: NDArray[np.intp] = np.empty(0, dtype=np.intp)

    def __init__(self, least_rows: int = 1, columns: PreparedColumns | None = None) -> None:
        self.least_rows, self.columns = least_rows, columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the output columns, means and ranges from a training set X of shape (n, d).

        X is a DataFrame or an array. Raise DataError if two columns have the same name, or if no
        column remains.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Learn the output columns from the training set X, and return X as numeric rows."""
        table, given = as_table(X), self.columns
        other = list_non_numeric_columns(table)
        self.feature_names_in_ = table.columns.to_numpy(dtype=object)
        self.n_features_in_ = table.shape[1]
        if given is None:
            kinds = dict.fromkeys(table.columns, NUMBER)
            unclear = {*other, *filter(is_row_identifier_name, table.columns)}
            kinds |= {column: infer_column_kind(column, table[column]) for column in unclear}
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
        # The output columns of a date, such as month and weekday, are missing in the same rows.
        # Therefore only the first of these columns gets an additional column that marks missing
        # values.
        firsts = np.r_[: len(self._numeric), len(self._numeric) : gaps.shape[1] : len(DATE_PARTS)]
        gaps = gaps[:, firsts]
        if given is None:
            self._with_gaps = firsts[gaps.any(axis=0) & ~gaps.all(axis=0)]
        else:
            self._with_gaps = given.with_gaps
        words = [column for column, kind in kinds.items() if kind == WORDS]
        levels = {} if given is None else given.levels
        self._words = {
            c: _Words.from_text(to_text(_column(table, c)), self.least_rows, levels.get(c))
            for c in words
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
                "No column remains from which a model could learn.",
                " ".join(describe_column_treatments(self.notes_)),
                "Use different columns.",
            )
        return self._chosen(rows)

    def _learn_numbers(self, numbers: Array) -> Array:
        """Learn the mean and range of each numeric column, and return a mask of the missing values.

        If `least_rows` is above 1, the values in `numbers` are first replaced by means of at least
        `least_rows` consecutive values of the column.
        """
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
        """Store notes on the conversion of each column, with the counts of its missing values.

        `other` contains the names of the non-numeric columns. `gaps` contains a mask of the missing
        values of each column of numbers or dates.
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
        """Return the output columns, given all encoded columns `rows`.

        Output columns that were constant in the training set are set to 0.
        """
        chosen = rows[:, self._varying]
        chosen[:, self._zero] = 0.0
        return chosen

    def transform(self, X: Any) -> Array:
        """Return the table X as numeric rows: float64 of shape (n, number of output columns).

        Raise DataError if two columns have the same name.
        """
        check_is_fitted(self, "notes_")
        table = as_table(X)
        return self._chosen(self._expanded(table, self._numbers(table)))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the output columns."""
        check_is_fitted(self, "notes_")
        return np.array(self._names_out, dtype=object)

    def find_schema_changes(self, X: Any) -> SchemaChanges:
        """Return the differences between the columns of the table X and of the training set."""
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
        return SchemaChanges(missing, extra, unseen, other, outside, gaps, turned)

    find_differences = find_schema_changes  # earlier name of this method, for users' code

    def _find_unchanged(self, table: pd.DataFrame) -> set[str]:
        """Return the numeric columns with all values within the range of the training set."""
        others = {*list_non_numeric_columns(table)}
        plain = [c for c in self._numeric if c in table.columns and c not in others]
        values = table[plain].to_numpy(dtype=np.float64, na_value=np.nan)
        low, high = np.array([self.ranges_[column] for column in plain]).reshape(-1, 2).T
        inside = ((values >= low) & (values <= high) & np.isfinite(values)).all(axis=0)
        return {column for column, same in zip(plain, inside, strict=True) if same}

    def __sklearn_tags__(self) -> Any:
        """Return tags for scikit-learn: missing values and strings are accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = True
        return tags

    def _numbers(self, table: pd.DataFrame) -> Array:
        """Return the numeric columns, followed by four columns for each date, as a float64 array.

        The array has one row per row of `table`. Missing values are NaN.
        """
        numeric = table.reindex(columns=self._numeric)
        text = list_non_numeric_columns(numeric)
        numeric = numeric.assign(**{c: self._parsed(c, numeric[c]) for c in text})
        X = numeric.to_numpy(dtype=np.float64, na_value=np.nan)
        dates = table.reindex(columns=list(self._day_first))
        parts = [_date_parts(self._moments(column, dates[column])) for column in self._day_first]
        return np.hstack([np.where(np.isinf(X), np.nan, X), *parts])

    def _parsed(self, column: str, values: pd.Series[Any]) -> Array:
        """Return the values of a column of numbers or dates as an array of n floats.

        Dates become days since 2000. Values that are neither numbers nor dates become NaN.
        """
        if is_numeric_column(values) and self.kinds_[column] == NUMBER:
            X = values.to_numpy(dtype=np.float64, na_value=np.nan)
            return np.where(np.isfinite(X), X, np.nan)
        if self.kinds_[column] == DATE:
            return _date_parts(self._moments(column, values))[:, 0]
        return parse_numbers(to_text(values), comma=column in self._decimal_comma)

    def _moments(self, column: str, values: pd.Series[Any]) -> pd.Series[Any]:
        return parse_dates(values, self._day_first[column])

    def _expanded(self, table: pd.DataFrame, numbers: Array) -> Array:
        """Return all encoded columns of a table as an array, before constant columns are left out.

        `numbers` contains the numeric columns of the table, with NaN for missing values.
        """
        indicators = np.isnan(numbers[:, self._with_gaps]).astype(np.float64)
        filled = np.where(np.isnan(numbers), self._means, numbers)
        one_hot = [
            levels.encoded(to_text(_column(table, column)))
            for column, levels in self._words.items()
        ]
        return np.hstack([filled, indicators, *one_hot])

    def _expanded_names(self) -> tuple[list[str], list[str]]:
        """Return the input column and the name of each column of the result of `_expanded`."""
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
    """The categories of a text column and their encoding as columns of 0 and 1."""

    levels: tuple[str, ...]
    # Encoding of the categories, shape (levels + 1, columns): one row per category. The last row
    # encodes all unknown categories by the mean of each column.
    rows: Array
    seen: frozenset[str]

    @classmethod
    def from_text(
        cls, text: pd.Series[Any], least_rows: int = 1, levels: Sequence[str] | None = None
    ) -> _Words:
        """Learn the encoding of the categories of a text column from the training set.

        Categories with fewer than `least_rows` rows do not get a column. If `levels` are given,
        they are used as the categories, and only the means of their columns are learned.
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
        """Return the categories of a text column that become output columns.

        Rare categories are replaced by a category for all of them. `counts` contains the number of
        rows of each category.
        """
        counts = counts.iloc[np.lexsort((counts.index.astype(str), -counts.to_numpy()))]
        n = len(text)
        frequent = (counts >= RARE_ROWS) | (counts >= RARE_SHARE * n)
        frequent &= counts >= least_rows
        if len(counts) > MAX_CATEGORIES:
            # Reserve the last output column for the rare categories.
            frequent.iloc[MAX_CATEGORIES - 1 :] = False
        kept = set(counts.index[frequent])
        special = {
            *([OTHER] if len(counts) > len(kept) else []),
            *([MISSING] if text.isna().any() else []),
        }
        return sorted(kept | special, key=lambda word: (word.removeprefix("\0"), word))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the output columns of the categories.

        The column of rare categories is named "(other)" if the data have a category "other".
        """
        levels = self.levels[1:] if len(self.levels) == 2 else self.levels
        bare = [level.removeprefix("\0") for level in levels]
        return tuple(
            f"({word})" if level != word and word in self.levels else word
            for level, word in zip(levels, bare, strict=True)
        )

    def encoded(self, text: pd.Series[Any]) -> Array:
        """Return strings as an array with one column of 0 and 1 per category.

        If there are two categories, the array has a single column.
        """
        return self.rows[self._codes(text, self.levels)]

    @staticmethod
    def _codes(text: pd.Series[Any], levels: Iterable[str]) -> NDArray[np.intp]:
        """Return the position of each string of `text` in the list of categories `levels`.

        A string that is not in `levels` gets the position of the rare categories, or -1 without
        them.
        """
        index = pd.Index(list(levels), dtype=object)
        other = text.where(text.isna() | text.isin(index), OTHER)
        return index.get_indexer(pd.Index(other.where(text.notna(), MISSING), dtype=object))


def describe_column_treatments(notes: Iterable[Note]) -> list[str]:
    """Return sentences that describe how the columns of a table are converted to numbers.

    Columns with the same conversion are listed in one sentence.
    """
    sentences = {
        WORDS: (
            "Categories were replaced by columns of 0 and 1. The number of columns is in "
            "parentheses: {}."
        ),
        DATE: ("Dates were replaced by days, month, weekday and hour, as far as these vary: {}."),
        "not numbers": "Values other than numbers or dates count as missing in: {}.",
        "text numbers": (
            "Strings are read as numbers, without percent signs, currency signs and "
            "thousands separators: {}."
        ),
        "gaps": "Missing values become the mean of the training set, with a column that marks "
        "them. Missing categories are a category: {}.",
        CONSTANT: "Columns that are constant are left out: {}.",
        EMPTY: "Columns without any value are left out: {}.",
        IDENTIFIER: "Columns that identify the rows are left out: {}.",
        INDEX: "Columns of row numbers without a name are left out: {}.",
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
    """Return a column of a table, or a column of missing values if the column does not exist."""
    return table[column] if column in table else pd.Series(None, index=table.index, dtype=object)


def _means(values: Array, least: int) -> Array:
    """Replace each number by the mean of its bin of at least `least` consecutive sorted numbers.

    Equal numbers are in the same bin. NaN stays NaN. If there are fewer than `least` numbers, all
    results are NaN.
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
    """Return the days since 2000, month, weekday and hour of dates as an array of shape (n, 4)."""
    days, clock = (moments - EPOCH).dt.days, moments.dt
    hour = clock.hour + clock.minute / 60 + clock.second / 3600
    parts = [days, clock.month, clock.day_of_week, hour]
    return np.column_stack([np.asarray(part, dtype=np.float64) for part in parts])
