"""Turn a table of any size into packed data, in two passes over its file, three with a `part`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rfbench.arrays import FloatArray, Rows
from rfbench.datasets import columns, files, packed
from rfbench.errors import DataError


def pack(
    source: Path,
    folder: Path,
    *,
    dtype: str = "float64",
    header: bool = True,
    separator: str | None = None,
    task: str | None = None,
    missing: str = "error",
    rows: int = files.ROWS_AT_ONCE,
    **chosen: Any,
) -> dict[str, Any]:
    """Pack a file into a folder, see `rfbench.datasets.packed`; return what is known of the data.

    The rows are those that the file gives as data of one's own; the size of the pieces, `rows` at a
    time, changes nothing. The target, the groups and the column `part` are held in memory.
    `header`, `separator`, `task`, `missing` and `chosen` (target, drop, groups and part) are those
    of `rfbench.config.schema.OwnData`. DataError if the file cannot be read or used, or the folder
    cannot be written.
    """
    name = source.name
    if folder.exists():
        raise DataError(
            f"{folder} is there already.", "Packed data are never changed.", "Name a new folder."
        )
    if missing == "mean":
        raise DataError(
            "Packed rows have no gaps, and missing is 'mean'.",
            "The mean would be that of the training rows, which are not known yet.",
            "Fill the values in, or write `--missing drop`.",
        )

    def read() -> Iterator[columns.Table]:
        first = 1
        for X, y in files.pieces(source, header=header, separator=separator, rows=rows):
            what = f"{name}, rows {first:,} to {first + X.shape[0] - 1:,},"
            first += X.shape[0]
            piece = columns.chosen(what, X, y, **chosen)
            piece.complete(missing, whole=False)
            if isinstance(piece.X, pd.DataFrame):
                piece.X = columns.in_words(what, piece.X)
            if piece.X.shape[0]:
                yield piece

    seen = _Seen(name)
    for piece in read():
        seen.add(piece)
    table = seen.table()
    codes, classes, kind = table.target_codes(task, ())
    seen.encoded(seen.sample, table.notes)
    subjects, n_given_train, order = table.arranged()
    codes = codes[order]
    side = np.ones(len(codes))  # one side where none is given
    side[order[: n_given_train or 0]] = 0

    def blocks() -> Iterator[FloatArray]:
        """Yield the rows, those of the training part first where there is one."""
        for wanted in (1,) if n_given_train is None else (0, 1):
            first = 0
            for piece in read():
                n = piece.X.shape[0]
                yield seen.encoded(piece.X, [])[side[first : first + n] == wanted]
                first += n

    about = columns.about(codes, classes, kind, table.notes)
    data = columns.Parsed(blocks(), codes, n_given_train, subjects, about)
    try:
        packed.write(folder, data, dtype=dtype)
    except OSError as error:
        raise DataError(f"{folder} cannot be written.", f"{error}.") from error
    return {**about, "rows": len(codes)}


@dataclass
class _Seen:
    """What one pass over a table has to leave behind."""

    name: str
    # Rows with every word, and the smallest and the largest number, of each column. Beside it any
    # piece becomes the columns that the whole table would.
    sample: Rows = None
    kinds: dict[str, str] = field(default_factory=dict)
    aparts: list[dict[str, pd.Series[Any]]] = field(default_factory=list)

    def add(self, piece: columns.Table) -> None:
        """Take in a piece; DataError where its columns are others than before."""
        X, y = piece.X, piece.y
        self.aparts.append({"": y, **piece.apart})
        if not isinstance(X, pd.DataFrame):
            self.sample = X[:0]
            return
        kinds = {str(c): _kind(X[c]) for c in X} | {"the target": _kind(y)}
        self.kinds = self.kinds or kinds
        for column in self.kinds:
            if kinds[column] != self.kinds[column]:
                raise DataError(
                    f"Column '{column}' of {self.name} holds {self.kinds[column]} first and "
                    f"{kinds[column]} later.",
                    "It has to be read as the same from the first row to the last.",
                    f"Correct it, or leave it out: `--drop {column}`.",
                )
        self.sample = _extremes(X if self.sample is None else pd.concat([self.sample, X]))
        columns.check_words(self.name, self.sample)

    def table(self) -> columns.Table:
        """Return the target and the other columns apart, of all rows, without the features."""
        if sum(len(piece[""]) for piece in self.aparts) < 2:
            raise DataError(f"{self.name} has less than two rows.", "Nothing can be learnt.")
        whole = {
            key: pd.concat([piece[key] for piece in self.aparts], ignore_index=True)
            for key in self.aparts[0]
        }
        return columns.Table(self.name, None, whole.pop(""), whole)

    def encoded(self, X: Rows, notes: list[str]) -> FloatArray:
        """Return a piece as rows of numbers."""
        if not isinstance(X, pd.DataFrame):
            return np.asarray(X.toarray(), dtype=np.float64)
        table = pd.concat([self.sample, X], ignore_index=True)
        return columns.numbers(self.name, table, notes)[len(self.sample) :]


def _kind(column: pd.Series[Any]) -> str:
    if column.dtype == bool:
        return "truth values"
    return "numbers" if pd.api.types.is_numeric_dtype(column.dtype) else "words"


def _extremes(table: pd.DataFrame) -> pd.DataFrame:
    """Return rows that have every word, and each column's smallest and largest number."""
    rows: set[int] = set()
    for name in table:
        column = table[name]
        if _kind(column) == "words":
            rows.update(np.flatnonzero(~column.duplicated()))
        else:
            rows.update((int(np.argmin(column)), int(np.argmax(column))))
    return table.iloc[sorted(rows)]
