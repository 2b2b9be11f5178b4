"""Reader for ARFF files, the table format of the programs Weka and KEEL.

The reader of scipy does not support quoted names, strings, or blanks around values.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

_TOKEN = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\""""
_ATTRIBUTE = re.compile(
    rf"@attribute\s+({_TOKEN}|[^\s{{]+)\s*(\{{.*\}}|[^\s\[]+)\s*(.*)", re.I | re.S
)
_FIELD = re.compile(rf"\s*({_TOKEN}|[^,]*?)\s*(?:,|$)")
_BLANKS = re.compile(rf"{_TOKEN}|[^\s,]+")
_WEIGHT = re.compile(r"\s*,?\s*\{\s*[-+.\deE]+\s*\}\s*$")
# Maps the date format codes of Java, which ARFF files use, to the format codes of strptime.
_DATES = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S"}
_MISSING = ("?", "<null>")  # marks of missing values in the files of Weka and of KEEL
_NUMBERS = ("numeric", "real", "integer")
# Declarations that are skipped: the name of the data set, and the lists of inputs and outputs in
# files of KEEL.
_IGNORED = ("@relation", "@input", "@output")


def read_arff(text: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the table in the text of an ARFF file, and notes on ignored parts of the file.

    In the table, numbers are float64, dates are datetime64, nominal values are categories, and
    strings are objects. ``?`` is a missing value. Raise ValueError if the text is not in ARFF
    format, or if it uses the sparse variant or nested tables, which are not supported.
    """
    attributes: list[tuple[str, str, str]] = []
    rows: list[list[str]] = []
    weighted, in_data = 0, False
    for number, whole in enumerate(text.splitlines(), 1):
        line = whole.strip()
        if not line or line.startswith("%"):
            continue
        if in_data:
            if line.startswith("{"):
                raise ValueError(f"Line {number} is sparse, {{0 1.5, ...}}, which is not supported")
            if _WEIGHT.search(line):
                line, weighted = _WEIGHT.sub("", line), weighted + 1
            rows.append(_fields(line, len(attributes), number))
        elif line.lower().startswith("@data"):
            in_data = True
        elif line.lower().startswith("@attribute"):
            attributes.append(_attribute(line, number))
        elif not line.lower().startswith(_IGNORED):
            raise ValueError(f"Line {number} of the header is not valid: {line[:60]!r}")
    if not attributes or not in_data:
        raise ValueError("The file does not have a line @attribute, or a line @data")
    columns = [
        _column(*attribute, [row[at] for row in rows]) for at, attribute in enumerate(attributes)
    ]
    table = pd.concat(columns, axis=1)
    notes = [f"The weights of {weighted:,} rows are not used."] if weighted else []
    return table, notes


def _attribute(line: str, number: int) -> tuple[str, str, str]:
    """Return the name and the type of the attribute in a header line, and the rest of the line.

    `number` is the number of the line in error messages.
    """
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise ValueError(f"Line {number} does not name an attribute with a type: {line[:60]!r}")
    name, kind, more = match.groups()
    if not kind.startswith("{") and kind.lower() not in (*_NUMBERS, "string", "date"):
        raise ValueError(f"Attribute {_bare(name)} has the type {kind}, which is not supported")
    return _bare(name), kind, more


def _fields(line: str, width: int, number: int) -> list[str]:
    if width > 1 and "," not in line:  # Weka also accepts blanks instead of commas between values
        fields = _BLANKS.findall(line)
    elif "'" in line or '"' in line:
        fields = _FIELD.findall(line)
        if not line.rstrip().endswith(","):
            fields = fields[: len(fields) - (fields[-1] == "" and len(fields) > width)]
    else:
        fields = line.split(",")
    if len(fields) != width:
        raise ValueError(f"Line {number} has {len(fields)} values for {width} attributes")
    return [field.strip() for field in fields]


def _bare(word: str) -> str:
    """Return a string without enclosing quotes and without leading and trailing blanks."""
    if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"":
        word = re.sub(r"\\(.)", r"\1", word[1:-1])
    return word.strip()


def _column(name: str, kind: str, more: str, fields: list[str]) -> pd.Series[Any]:
    words = pd.Series(fields, dtype=object)
    codes, different = pd.factorize(words.where(~words.isin(_MISSING)))
    bare = [_bare(word) for word in different]
    if kind.lower() in _NUMBERS:
        numbers = pd.Series([float(word) for word in bare], dtype=np.float64)
        return numbers.reindex(codes).set_axis(words.index).rename(name)
    made: Any = pd.Series(bare, dtype=object).reindex(codes).set_axis(words.index).rename(name)
    if kind.lower() == "date":
        form = re.sub("|".join(_DATES), lambda sign: _DATES[sign[0]], _bare(more.strip()))
        form = form.replace("'", "") or "%Y-%m-%dT%H:%M:%S"
        made = pd.to_datetime(made, format=form)
    if kind.startswith("{"):
        allowed = {_bare(word.strip()) for word in _FIELD.findall(kind[1:-1])}
        for word in sorted({*bare} - allowed)[:1]:
            raise ValueError(
                f"{name} has the value {word[:40]!r}, which is not one of its declared values"
            )
        made = made.astype("category")
    return pd.Series(made)
