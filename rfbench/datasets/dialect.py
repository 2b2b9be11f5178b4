"""How a file is read; of a file of text its separator and signs are told by its first lines."""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rfbench.datasets.archives import opened

SEPARATORS = ",;\t| "
TOP_CHARACTERS, TOP_LINES = 2**18, 100
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_COMMA = re.compile(r"[-+]?\d+,\d+([eE][-+]?\d+)?")
_SHORT_COMMA = re.compile(r"[-+]?\d+,(\d{1,2}|\d{4,})")
# 1.234,5 and 1.234.567; of 1,234 alone nobody knows what it is.
_GROUPED_COMMA = re.compile(r"[-+]?\d{1,3}(\.\d{3})+(,\d+|\.\d{3})", re.ASCII)
_UNCLEAR = {mark: re.compile(rf"[-+]?[1-9]\d{{0,2}}[{mark}]\d{{3}}") for mark in ",."}
_MARKED = re.compile(r"[-+]?[\d.,]*[.,]\d+([eE][-+]?\d+)?")
_POINT = re.compile(r"[-+]?\d*\.\d+([eE][-+]?\d+)?")


@dataclass(frozen=True)
class Reading:
    """How a file was read: by it another file is read in the same way, whatever is in that one.

    The fields are plain values, so that a record can be stored as JSON. What a format does not
    have, an index base of a CSV say, is None.
    """

    format: str
    separator: str | None = None
    decimal: str | None = None
    commas: tuple[str, ...] = ()  # columns with a decimal comma, where others have a point
    unclear: str | None = None  # a number whose mark is a decimal sign or stands between thousands
    encoding: str | None = None  # where it was given; else it is found out for each file
    header: bool = True
    width: int = 0  # number of columns, of svmlight without the target
    index_base: int | None = None  # of svmlight: the number of the first column, 0 or 1
    target: str | int | None = None  # place of the target: a name, or a number from 0 on

    @property
    def options(self) -> dict[str, Any]:
        """The parameters of `pandas.read_csv`, but for the encoding."""
        separator = r"\s+" if self.separator == " " else self.separator
        return {"sep": separator, "decimal": self.decimal, "header": 0 if self.header else None}


def dialect(
    path: Path,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    likely: str = ",",
) -> Reading:
    """Return how a file of text is written; what is given is not found out.

    Of two separators that fit as well, and where none fits, `likely` is taken. UnicodeDecodeError
    or LookupError if the given encoding is not that of the file.
    """
    with opened(path, "rt", encoding=encoding or encoding_of(path)) as stream:
        top = stream.read(TOP_CHARACTERS)
    lines = [line for line in top.splitlines() if line.strip()][:TOP_LINES]
    if len(top) == TOP_CHARACTERS and len(lines) > 1:
        lines.pop()  # it may be cut
    if separator is None:
        marks = [likely, *(mark for mark in SEPARATORS if mark != likely)]
        separator = max(marks, key=lambda mark: _score(lines, mark))
    fields = [field for row in _split(lines, separator) for field in row]
    unclear = None
    if decimal is None:
        # Between commas 1,234 may be a thousand; with another separator it is a decimal comma.
        number = _SHORT_COMMA if separator == "," else _COMMA
        commas = any(number.fullmatch(f) or _GROUPED_COMMA.fullmatch(f) for f in fields)
        points = any(
            _POINT.fullmatch(f) and not (commas and _UNCLEAR["."].fullmatch(f)) for f in fields
        )
        decimal = "," if commas and not points else "."
        # Programs that write commas or tabs between fields write decimal points.
        likely_marks = {",": "", "\t": ",", " ": ","}.get(separator, ",.")
        marked = [field for field in fields if _MARKED.fullmatch(field)]
        for mark in likely_marks:
            if marked and all(_UNCLEAR[mark].fullmatch(field) for field in marked):
                unclear = marked[0]
    return Reading("csv", separator, decimal, encoding=encoding, unclear=unclear)


def encoding_of(path: Path) -> str:
    """Return the encoding of a file: by its mark, by the zeros of UTF-16, UTF-8, else Latin-1."""
    with opened(path) as stream:
        top = stream.read(4096)
    for mark, name in _BOMS.items():
        if top.startswith(mark):
            return name
    # Of a Latin letter UTF-16 has one byte that is 0: the second of a pair, or the first.
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        if top and 2 * top[first::2].count(0) > len(top[first::2]):
            return name
    with opened(path, "rt", encoding="utf-8") as stream:
        try:
            while stream.read(2**20):
                pass
        except UnicodeDecodeError:
            return "latin-1"
    return "utf-8"


def _split(lines: list[str], mark: str) -> list[list[str]]:
    if mark == " ":
        return [line.split() for line in lines]
    rows = csv.reader(io.StringIO("\n".join(lines)), delimiter=mark, skipinitialspace=True)
    try:
        return [[field.strip() for field in row] for row in rows]
    except csv.Error:
        return []


def _score(lines: list[str], mark: str) -> int:
    """Return how many good fields each line has between such separators; 0 if they differ.

    A field is good if it has no other separator, unless as the comma of a number.
    """
    rows = _split(lines, mark)
    if len(rows) > 2:
        rows.pop()  # a field of several lines may be cut
    width = len(rows[0]) if rows else 0
    if width < 2 or any(len(row) != width for row in rows):
        return 0
    others = "".join(other for other in SEPARATORS if other not in (mark, " "))
    if mark == " " and (len(rows) < 2 or not any(c.isdigit() for c in "".join(rows[1]))):
        return 0  # names and words have spaces, too
    good = [
        sum(bool(_COMMA.fullmatch(row[at])) or not set(row[at]) & set(others) for row in rows)
        for at in range(width)
    ]
    # One for the separator itself, so that even two bad columns are better than a single one.
    return 1 + sum(2 * count > len(rows) for count in good)
