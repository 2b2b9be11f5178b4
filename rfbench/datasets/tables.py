"""Delimited text to arrays, with errors that name the file, the line and the column."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rfbench.errors import DataError


def broken(name: str, line: int | None, reason: str) -> DataError:
    """Return the error for a file that is not in its format."""
    where = name if line is None else f"{name}, line {line}"
    return DataError(
        f"{where}: {reason}.",
        "The file is damaged or of another version.",
        "Remove the file and get it again.",
    )


@dataclass(frozen=True)
class DelimitedText:
    """The fields of a delimited text.

    `lines` are the numbers of the rows' lines, from 1; `numbers`, of shape (n, numeric columns),
    has the numeric columns in their order, `text` the others by their position, without blanks.
    """

    name: str
    lines: list[int]
    numbers: NDArray[np.float64]
    text: Mapping[int, list[str]]

    def codes(self, column: int, known: Mapping[str, int]) -> NDArray[np.int64]:
        """Return the class codes of a text column; a label may be written as ``1`` or ``1.0``."""
        of_label = {label: _code(label, known) for label in set(self.text[column])}
        codes = np.array([of_label[label] for label in self.text[column]], dtype=np.int64)
        for row in np.flatnonzero(codes < 0)[:1]:
            label = self.text[column][row][:40]
            reason = f"'{label}' is not one of the labels {', '.join(known)}"
            raise broken(self.name, self.lines[row], reason)
        return codes


def _code(label: str, known: Mapping[str, int]) -> int:
    if label in known:
        return known[label]
    try:
        return known.get(format(float(label), "g"), -1)
    except ValueError:
        return -1


def parse(
    content: bytes,
    name: str,
    *,
    columns: int,
    separator: str | None = ",",
    skip: int = 0,
    comment: str = "",
    text: Collection[int] = (),
) -> DelimitedText:
    """Read delimited text without quoting, `columns` fields per line.

    `name` is that of the file, for errors; a `separator` of None means blanks; `skip` lines at the
    top are no rows, nor are empty lines and those that begin with `comment`, if it is not empty;
    `text` has the positions of the columns that hold no numbers. DataError if there is no row, if a
    line has too few or too many fields, or if a field of a numeric column is not a finite number.
    """
    numeric = [column for column in range(columns) if column not in text]
    numbers, lines = array("d"), []
    labels: dict[int, list[str]] = {column: [] for column in text}
    for number, raw in enumerate(content.splitlines(), start=1):
        line = raw.decode("latin-1")
        if number <= skip or not line.strip() or (comment and line.startswith(comment)):
            continue
        fields = line.split(separator)
        if len(fields) != columns:
            raise broken(name, number, f"{len(fields)} fields where {columns} are expected")
        for column in numeric:
            try:  # Python's 1_000 is no number here
                value = math.nan if "_" in fields[column] else float(fields[column])
            except ValueError:
                value = math.nan
            if not math.isfinite(value):
                reason = f"'{fields[column][:40]}' in column {column + 1} is not a finite number"
                raise broken(name, number, reason)
            numbers.append(value)
        for column, values in labels.items():
            values.append(fields[column].strip())
        lines.append(number)
    if not lines:
        raise broken(name, None, "no rows")
    return DelimitedText(
        name, lines, np.frombuffer(numbers).reshape(len(lines), len(numeric)), labels
    )
