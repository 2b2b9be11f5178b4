"""Tables of more than numbers, as they stand on disk and go from process to process.

A table is an array: its words are codes, and a `Schema` has them. What it says is made to rows of
numbers only after the split, by a `Preparation` that is fitted on the training rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict

from rfbench.arrays import Array
from rfbench.datasets.values import is_number, may_name_rows, named, row_names, text_of
from rfbench.errors import DataError

REVISION = 2  # of what a preparation makes of a table: part of the identity of trials


class Schema(BaseModel):
    """What the columns of a table are that is held as an array of numbers and codes.

    `words` has those of each column that is not of numbers, in the order of their codes; nan is a
    gap. The words of `categories` are words even where they could be read as numbers or dates.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    names: list[str]
    words: dict[str, list[str]]
    categories: list[str]

    def table(self, X: Array) -> pd.DataFrame:
        """Return the table that an array of shape (n, columns) holds."""
        numbers = pd.DataFrame(X, columns=self.names)
        columns = {name: self._decoded(name, numbers[name]) for name in self.words}
        return numbers.assign(**columns)

    def _decoded(self, name: str, codes: pd.Series[Any]) -> Any:
        words = self.words[name]
        good = (codes >= 0) & (codes < len(words))  # all others are gaps, also in a strange file
        values = np.array([*words, None], dtype=object)[codes.where(good, -1).astype(int)]
        return pd.Categorical(values, words) if name in self.categories else values


@dataclass
class ColumnCodes:
    """How the features become an array: learnt from all pieces of a table, used on each."""

    name: str  # for errors
    kinds: dict[str, str] = field(default_factory=dict)  # of each column that has any value
    words: dict[str, set[str]] = field(default_factory=dict)
    categories: set[str] = field(default_factory=set)
    # Of columns that are called like numbers of rows: their values, piece by piece.
    row_numbers: dict[str, list[pd.Series[Any]]] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    finite: bool = True
    low: Any = np.inf
    high: Any = -np.inf

    def add(self, X: pd.DataFrame) -> None:
        """Take in a piece; DataError where its columns hold something else than before."""
        self.names = [str(column) for column in X.columns]
        for column in self.names:
            values = X[column]
            if not values.notna().any():
                self.finite = self.finite and not len(values)
                continue
            kind = _kind_of_values(values)
            if self.kinds.setdefault(column, kind) != kind:
                raise DataError(
                    f"Column '{column}' of {self.name} holds {self.kinds[column]} first and "
                    f"{kind} later.",
                    "It has to be read as the same from the first row to the last.",
                    f"Correct it, or leave it out: `--drop {column}`.",
                )
            if kind != "numbers":
                self.words.setdefault(column, set()).update(text_of(values).dropna().unique())
            elif may_name_rows(column):
                self.row_numbers.setdefault(column, []).append(values)
            if isinstance(values.dtype, pd.CategoricalDtype):
                self.categories.add(column)
        if "words" not in self.kinds.values() and len(X):
            numbers = X.to_numpy(dtype=np.float64, na_value=np.nan)
            self.finite = self.finite and bool(np.isfinite(numbers).all())
            if self.finite:
                self.low = np.minimum(self.low, numbers.min(axis=0))
                self.high = np.maximum(self.high, numbers.max(axis=0))

    @property
    def plain(self) -> bool:
        """Whether the columns are finite numbers (or truth values), and none counts the rows."""
        numbered = any(row_names(name, pd.concat(v)) for name, v in self.row_numbers.items())
        return self.finite and "words" not in self.kinds.values() and not numbered

    def schema(self) -> Schema | None:
        """Return what an array of the columns means; None: it is rows of numbers."""
        if self.plain:
            return None
        words = {column: sorted(words) for column, words in self.words.items()}
        return Schema(names=self.names, words=words, categories=sorted(self.categories))

    def coded(self, X: pd.DataFrame, schema: Schema | None) -> Array:
        """Return a piece as an array: of a table codes of words, of others no constant columns.

        DataError if all columns are constant.
        """
        if schema is None:
            varies = self.low < self.high
            if not varies.any():
                raise DataError(
                    f"All columns of {self.name} are constant.", "Nothing can be learnt from them."
                )
            return np.ascontiguousarray(X.to_numpy(dtype=np.float64)[:, varies])
        codes = {
            column: pd.Index(words, dtype=object).get_indexer(pd.Index(text_of(X[column])))
            for column, words in schema.words.items()
        }
        columns = {column: np.where(at < 0, np.nan, at) for column, at in codes.items()}
        empty = [c for c in X if c not in columns and not is_number(X[c])]
        table = X.assign(**columns, **dict.fromkeys(map(str, empty), np.nan))
        return np.ascontiguousarray(table.to_numpy(dtype=np.float64, na_value=np.nan))

    def outcome(self, rows: Array, schema: Schema | None) -> tuple[int, list[str]]:
        """Return how many columns such rows become, about, and in sentences how.

        DataError if none is left.
        """
        if schema is not None:
            from rfbench.datasets.preparation import Preparation, describe  # of scikit-learn

            try:
                preparation = Preparation().fit(schema.table(rows))
            except DataError as error:
                raise DataError(f"{self.name}: {error.what}", error.why, error.todo) from None
            return len(preparation.get_feature_names_out()), describe(preparation.notes_)
        constant = [
            name
            for name, varies in zip(self.names, self.low < self.high, strict=True)
            if not varies
        ]
        return rows.shape[1], [f"Left out, constant: {named(constant)}."] if constant else []


def _kind_of_values(column: pd.Series[Any]) -> str:
    if column.dtype == bool:
        return "truth values"
    return "numbers" if is_number(column) else "words"
