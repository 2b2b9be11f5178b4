"""How a file of text is written: its encoding, separator and decimal sign, from its first lines."""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import dataclass
from pathlib import Path

from rfbench.datasets.archives import opened

SEPARATORS = {",": "','", ";": "';'", "\t": "'\\t'", "|": "'|'", " ": "' '"}
TOP_CHARACTERS, TOP_LINES = 2**18, 100
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark begins it
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_COMMA = re.compile(r"[-+]?\d+,\d+([eE][-+]?\d+)?")
_SHORT_COMMA = re.compile(r"[-+]?\d+,(\d{1,2}|\d{4,})")
_POINT = re.compile(r"[-+]?\d*\.\d+([eE][-+]?\d+)?")


@dataclass(frozen=True)
class Dialect:
    """What `pandas.read_csv` has to know of a file."""

    encoding: str
    separator: str
    decimal: str

    @property
    def options(self) -> dict[str, str]:
        """The parameters of `pandas.read_csv`."""
        separator = r"\s+" if self.separator == " " else self.separator
        return {"sep": separator, "decimal": self.decimal, "encoding": self.encoding}


def dialect(
    path: Path,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    likely: str = ",",
) -> Dialect:
    """Return how a file is written; what is given is not found out.

    Of two separators that fit as well, and where none fits, `likely` is taken. UnicodeDecodeError
    or LookupError if the given encoding is not that of the file.
    """
    encoding = encoding or encoding_of(path)
    with opened(path, "rt", encoding=encoding) as stream:
        top = stream.read(TOP_CHARACTERS)
    lines = [line for line in top.splitlines() if line.strip()][:TOP_LINES]
    if len(top) == TOP_CHARACTERS and len(lines) > 1:
        lines.pop()  # it may be cut
    if separator is None:
        marks = [likely, *(mark for mark in SEPARATORS if mark != likely)]
        separator = max(marks, key=lambda mark: _score(lines, mark))
    if decimal is None:
        fields = [field for row in _split(lines, separator) for field in row]
        # Between commas 1,234 may be a thousand; with another separator it is a decimal comma.
        number = _SHORT_COMMA if separator == "," else _COMMA
        commas = any(number.fullmatch(field) for field in fields)
        points = any(_POINT.fullmatch(field) for field in fields)
        decimal = "," if commas and not points else "."
    return Dialect(encoding, separator, decimal)


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

    A field is good if no other separator stands in it, unless as the comma of a number.
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
