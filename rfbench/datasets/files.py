"""Readers for the file formats of tables, such as CSV, Parquet and Excel.

The separator and the number format of a text file are detected from its first lines.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import hashlib
import io
import itertools
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from rfbench.arrays import EXACT, Rows
from rfbench.datasets import cells, columns
from rfbench.datasets.archives import UNPACK, open_unpacked
from rfbench.datasets.arff import read_arff
from rfbench.datasets.values import (
    MISSING_MARKERS,
    check_distinct_names,
    find_columns_by_dtype,
    has_decimal_comma,
    has_nested_values,
    parse_numbers,
    to_text,
)
from rfbench.errors import DataError, RfbenchError, suggest_nearest_name

TEXT = ("csv", "tsv")

SEPARATORS = ",;\t| "
# Number of characters and lines at the start of a text file from which the header, the separator
# and the number of columns are detected. The values were chosen without a measurement. If
# TOP_CHARACTERS is halved, a header with 10,000 names could be truncated.
TOP_CHARACTERS, TOP_LINES = 2**18, 100
# Files with at least LEAST_BYTES bytes are read in blocks of BLOCK_BYTES bytes, because pandas
# needs additional memory for the text of a whole file. The values were chosen without a
# measurement. With blocks twice as large, the additional memory is doubled.
LEAST_BYTES, BLOCK_BYTES = 2**24, 2**20
# Maximum number of columns of a table that are stored as separate arrays. More columns are copied
# into one array, because each step would need a call per array. The value was chosen without a
# measurement. With twice this value, a step may need twice as many calls.
MOST_VIEWS = 256
_BYTE_ENCODINGS = ("utf-8", "utf-8-sig", "cp1252")  # encodings whose line feed is a single byte
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Windows-1252 does not define five of the 256 bytes. These bytes are read as the control characters
# of Latin-1, as in browsers.
_AS_BROWSERS = "rfbench.browsers"
codecs.register_error(_AS_BROWSERS, lambda error: _control(error))
_GUESSED = {"cp1252": "Windows-1252", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}
_NUMBER_FIELD = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_COMMA = re.compile(r"[-+]?\d+,\d+([eE][-+]?\d+)?")
_SHORT_COMMA = re.compile(r"[-+]?\d+,(\d{1,2}|\d{4,})")
# Matches numbers with points as thousands separators, such as 1.234,5 and 1.234.567. The number
# 1.234 alone is ambiguous and does not match.
_GROUPED_COMMA = re.compile(r"[-+]?\d{1,3}(\.\d{3})+(,\d+|\.\d{3})", re.ASCII)
_UNCLEAR = {mark: re.compile(rf"[-+]?[1-9]\d{{0,2}}[{mark}]\d{{3}}") for mark in ",."}
_MARKED = re.compile(r"[-+]?[\d.,]*[.,]\d+([eE][-+]?\d+)?")
_POINT = re.compile(r"[-+]?\d*\.\d+([eE][-+]?\d+)?")
_FIRST_NUMBER = re.compile(r"-?\d+([.,]\d+)*(e[-+]?\d+)?")


def find_data_file(path: str, folder: Path | None) -> Path:
    """Return the path of an existing file, given its path relative to `folder`.

    If `folder` is None, `path` is relative to the current folder. If the file does not exist, raise
    DataError with the most similar file name.
    """
    file = (folder or Path()) / Path(path).expanduser()
    if file.is_file():
        return file
    if file.is_dir():
        raise DataError(
            f"{file} is a folder.", "A table has to be a single file.", "Name the file."
        )
    there = [each.name for each in file.parent.iterdir()] if file.parent.is_dir() else []
    start = "this folder" if folder is None else "the folder of the configuration"
    raise DataError(
        f"There is no file {file}.{suggest_nearest_name(file.name, there)}",
        f"Relative paths start at {start}.",
        "Correct the path.",
    )


@dataclass(frozen=True)
class ReadOptions:
    """Options with which a file was read, so that another file can be read in the same way.

    A field is None if the file format does not have the option. For example, a CSV file does not
    have an index base. The values of all fields can be stored as JSON.
    """

    format: str
    separator: str | None = None
    decimal: str | None = None
    # names of the columns that have a decimal comma although the file has decimal points
    commas: tuple[str, ...] = ()
    # Ambiguous comma or point, which may be a decimal sign or a thousands separator in this file.
    # None if no mark is ambiguous.
    unclear: str | None = None
    encoding: str | None = None  # None if the encoding is detected for each file
    quote: str = '"'
    header: bool = True
    # pairs of the name of a column and the unit of its numbers
    units: tuple[tuple[str, str], ...] = ()
    # strings that the user declared as missing values, in addition to the usual strings
    missing: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()  # known columns that are not used as features
    width: int = 0  # number of columns; for svmlight files without the target
    index_base: int | None = None  # for svmlight files: the number of the first column, 0 or 1
    target: str | int | None = None  # name of the target column, or its position from 0
    # date format of the target, if the target is a date that is converted to a number of days
    dates: str | None = None


class ParsedFile(NamedTuple):
    """The content of a file: its columns, its target if stored separately, and its options."""

    X: pd.DataFrame | Rows
    y: pd.Series[Any] | None
    how: ReadOptions
    notes: tuple[str, ...] = ()  # sentences that describe the conversion
    groups: NDArray[Any] | None = None  # for svmlight files with queries: the query of each row


def read_data_file(path: Path, *, like: ReadOptions | None = None, **options: Any) -> ParsedFile:
    """Read a CSV, TSV (also compressed), Parquet, NPY, NPZ, svmlight, ARFF or Excel file.

    In the returned table, numbers in text columns are in plain notation: a decimal point, and no
    thousands separators, percent signs, currency signs or units. Other strings are stripped. The
    numbers in a target of strings are not changed, so that different class labels stay different.

    Parameters
    ----------
    path : Path
        Path of the file. The suffix determines the format. If the suffix is unknown, the first line
        determines it.
    like : ReadOptions, optional
        Options with which a training file of the same format was read. The new file is read with
        the same options, so that its columns have the same meaning. If the columns have no names,
        the target may be absent.
    **options : Any
        `header`, `separator`, `decimal` and `encoding` of a CSV file. They are detected if they are
        not given. `missing` are strings that mean a missing value. `target` is the target column.

    Returns
    -------
    ParsedFile
        The columns, the target, the options and notes on the conversion.

    Raises
    ------
    DataError
        If the file cannot be read, or if two columns have the same name. Also if the columns have
        no names, and their number differs from the training file.
    """
    options = {k: tuple(v) if k == "missing" else v for k, v in options.items()}
    with _raise_as_data_error(path):
        if path.stat().st_size == 0:
            raise pd.errors.EmptyDataError
        same = like is not None and like.format == detect_file_format(path)
        how = replace(like, **options) if like and same else detect_read_options(path, **options)
        if like and not same:
            how = replace(how, units=like.units, missing=like.missing, unused=like.unused)
        how = replace(how, width=like.width) if like else how
        given, text = how.encoding, how.format in (*TEXT, "arff")
        how = replace(how, encoding=given or _detect_encoding(path)) if text else how
        X, y, how, notes, groups = _READERS[how.format](path, how)
        how, guessed = replace(how, encoding=given), _GUESSED.get(str(how.encoding))
    if guessed and not given:
        notes = (*notes, f"The file is not in UTF-8, and is read as {guessed}.")
    if isinstance(X, pd.DataFrame):
        check_distinct_names(path.name, X.columns)
        X, how, said = _settled(path, X, how, new=like is not None)
        notes = (*notes, *said)
    if y is not None:
        y = _target(y, how)
    if like is not None:
        return ParsedFile(_alike(path.name, X, like), y, how, notes, groups)
    width, target = X.shape[1], how.target
    target = target % width if isinstance(target, int) else target
    return ParsedFile(X, y, replace(how, width=width, target=target), notes, groups)


def read_table(
    path: Path, *, dense: bool = False, special: Mapping[str, Any], **options: Any
) -> tuple[columns.Table, ReadOptions, pd.DataFrame | Rows]:
    """Read a file for training. Return its `Table`, its `ReadOptions`, and all of its columns.

    If `dense` is True, sparse rows are converted to a dense table. `special` names the special
    columns, such as the target and the groups. `options`, such as the separator, are passed to
    `read_data_file`. The `Table` contains notes on how ambiguous values were interpreted. Raise
    DataError if the file cannot be read.
    """
    X, y, how, notes, queries = read_data_file(path, target=special.get("target"), **options)
    X = columns.to_dense_table(X) if dense else X
    made = columns.choose_columns(path.name, X, y, **special)
    made.notes.extend(notes)
    made.comma = how.decimal == "," or str(made.y.name) in how.commas
    if how.unclear:
        taken, other = ("1.234", "1234") if how.unclear == how.decimal else ("1234", "1.234")
        fact = f"Numbers like 1{how.unclear}234"
        option = f"--decimal '{'.,'.strip(how.decimal)}' for {other}"
        made.record_assumption(fact, taken, option, guess=True)
    if how.format in TEXT and not how.header and options.get("header") is None:
        fact, option = (
            "The first line, which contains numbers",
            "--header if the line contains names",
        )
        made.record_assumption(fact, "a row", option, guess=True)
    if queries is not None and special.get("groups") is None:
        made.special["groups"] = pd.Series(queries, name="qid")
        made.notes.append(
            "The rows of a query (qid) form a group and are held out together. There "
            f"are {len(np.unique(queries)):,} queries. In a configuration use "
            "leave_groups."
        )
    return made, how, X


def _settled(
    path: Path, table: pd.DataFrame, how: ReadOptions, *, new: bool
) -> tuple[pd.DataFrame, ReadOptions, list[str]]:
    """Convert the numbers in the text columns of a table to plain notation, except in the target.

    Return the table, the options, and notes on the conversion. The returned options contain the
    detected units and decimal commas. `new` is True if `how` comes from an earlier training file.
    """
    named = table.set_axis([str(column).strip() for column in table.columns], axis=1)
    target, place, notes = None, None, []
    if not new and how.target is not None and how.format not in ("npz", "svmlight"):
        target = columns.find_column(path.name, named, how.target, "target")
        place = list(named.columns).index(target)
    if how.format in (*TEXT, "xlsx", "xls"):
        gaps = [
            at
            for at in find_columns_by_dtype(table, cells.is_string_dtype)
            if at != place and named.columns[at] not in how.unused
            if table.iloc[:, at].isna().any()
        ]
        written = _as_written(path, how, sorted({*gaps, *([] if place is None else [place])}))
        if place is not None:
            table.isetitem(place, written.pop(place).array)
        marked = {str(named.columns[at]): column for at, column in written.items()}
        notes = [sentence] if (sentence := cells.describe_missing_markers(marked)) else []
    if place is not None:
        y = table.iloc[:, place].rename(target)
        if cells.is_string_dtype(y.dtype) and how.decimal != "," and has_decimal_comma(y):
            how = replace(how, commas=(*how.commas, str(target)))
        table.isetitem(place, _target(y, how).array)
    table, (commas, units), said = cells.normalize_text_columns(
        table,
        decimal=how.decimal,
        commas=how.commas,
        units=dict(how.units) if new else None,
        missing=how.missing,
        apart=target,
    )
    how = replace(how, commas=tuple(commas), units=tuple(units.items()))
    return table, how, [*notes, *said]


def _target(y: pd.Series[Any], how: ReadOptions) -> pd.Series[Any]:
    """Return the target column with None for missing values. Its strings are only stripped."""
    if not cells.is_string_dtype(y.dtype) or has_nested_values(y):
        return cells.replace_missing_markers(y, how.missing)
    return cells.to_target_strings(y, how.missing, how.decimal == "," or str(y.name) in how.commas)


def detect_read_options(
    path: Path,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    missing: tuple[str, ...] = (),
    target: str | int | None = None,
) -> ReadOptions:
    """Return the options for reading a file, such as its separator, decimal sign and header.

    Options that are given as arguments are not detected. Raise UnicodeDecodeError or LookupError if
    the given encoding is wrong.
    """
    form = detect_file_format(path)
    how = ReadOptions(form, None, header=header is not False, missing=missing, target=target)
    if form not in TEXT:
        return how
    how = replace(how, encoding=encoding)
    lines, start, mark = _top(path, encoding or _detect_encoding(path))
    # If the first line of the table is a comment, this line contains the column names.
    is_comment = lines[start:][:1] and lines[start].startswith("#")
    lines = [line for line in lines[start:] if line.strip() and not line.startswith("#")]
    quote = "'" if _has_single_quotes(lines) else '"'
    separator = separator or mark
    # Select the separator with the highest score. If several scores are equal, prefer the usual
    # separator of the file format, then the order in SEPARATORS.
    if separator is None:
        likely = "\t" if form == "tsv" else ","
        separator = max(likely + SEPARATORS, key=lambda mark: _score(lines, mark, quote))
    how = replace(how, quote=quote)
    rows = _split(lines, separator, quote)
    if header is None and rows and not is_comment:
        # A first line with the numbers 0, 1, ... is a header, because pandas writes such a header
        # for a table without column names.
        names = [str(name) for name in range(len(rows[0]))]
        is_named = rows[0] == names or str(target) in rows[0]
        how = replace(how, header=is_named or not all(map(_FIRST_NUMBER.fullmatch, rows[0])))
    unclear = None
    if decimal is None:
        decimal, unclear = _detect_decimal(rows, separator)
        # If the first lines do not determine the decimal sign, a number further down in the file
        # may do so. Therefore the whole file is read.
        if unclear:
            form = encoding or _detect_encoding(path)
            with open_unpacked(path, "rt", encoding=form, errors=_errors(form)) as stream:
                rows = _split(stream.read().split("\n")[start:], separator, quote) or rows
            decimal, unclear = _detect_decimal(rows, separator)
    return replace(how, separator=separator, decimal=decimal, unclear=unclear)


def _detect_decimal(rows: list[list[str]], separator: str) -> tuple[str, str | None]:
    """Return the decimal sign of numbers, and the ambiguous mark (comma or point) or None.

    A mark is ambiguous in a number like 1,024. It is read as a thousands separator if the other
    numbers of the column are whole numbers of at most three digits, such as 950. Otherwise it is
    read as the decimal sign.
    """
    fields = [field for row in rows for field in row]
    # If columns are separated by commas, the field "1,234" may be one thousand. With any other
    # separator, a comma in a number is read as a decimal sign.
    number = _SHORT_COMMA if separator == "," else _COMMA
    commas = any(number.fullmatch(f) or _GROUPED_COMMA.fullmatch(f) for f in fields)
    points = any(
        _POINT.fullmatch(f) and not (commas and _UNCLEAR["."].fullmatch(f)) for f in fields
    )
    decimal = "," if commas and not points else "."
    # Marks whose meaning may be ambiguous, for each separator of columns. Programs that separate
    # columns by commas or tabs usually write decimal points.
    likely_marks = {",": "", "\t": ",", " ": ","}.get(separator, ",.")
    marked = [field for field in fields if _MARKED.fullmatch(field)]
    for mark in likely_marks:
        if marked and all(_UNCLEAR[mark].fullmatch(field) for field in marked):
            every = [(at, field) for row in rows for at, field in enumerate(row)]
            places = {at for at, field in every if _MARKED.fullmatch(field)}
            whole = [len(field) for at, field in every if at in places and field.isdigit()]
            thousands = max(whole, default=4) <= 3
            return (",.".strip(mark) if thousands else mark), mark
    return decimal, None


def _detect_encoding(path: Path) -> str:
    """Return the encoding of a file: UTF-8, UTF-16 or Windows-1252.

    The encoding is detected from a byte order mark, or from zero bytes for UTF-16. A file that is
    not valid UTF-8 is read as Windows-1252.
    """
    with open_unpacked(path) as stream:
        top = stream.read(4096)
    for mark, name in _BOMS.items():
        if top.startswith(mark):
            return name
    # In UTF-16, one of the two bytes of each Latin letter is 0: the second byte in utf-16-le, and
    # the first byte in utf-16-be. The encoding is detected from the positions of these zeros.
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        if top and 2 * top[first::2].count(0) > len(top[first::2]):
            return name
    with open_unpacked(path, "rt", encoding="utf-8") as stream:
        try:
            while stream.read(2**20):
                pass
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def _control(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError) or error.encoding != "charmap":
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


def _errors(encoding: str) -> str:
    return _AS_BROWSERS if encoding == "cp1252" else "strict"


def _top(path: Path, encoding: str) -> tuple[list[str], int, str | None]:
    """Return the first lines of a file, the index of the first table line, and the given separator.

    The separator is None unless the first line has the form ``sep=;``, which Excel writes. Comments
    before the table are skipped. A comment is kept as the header if it has as many names as the
    next line has numbers, as in files of `numpy.savetxt`.
    """
    with open_unpacked(path, "rt", encoding=encoding, errors=_errors(encoding)) as stream:
        top = stream.read(TOP_CHARACTERS)
        # Complete the last line, and read one more line, because a long header may exceed
        # TOP_CHARACTERS.
        top += stream.readline() + stream.readline()
    lines = top.split("\n")[:TOP_LINES]
    named = re.fullmatch(r'"?sep=(.)"?', lines[0])
    start = 1 if named else 0
    while start < len(lines) and (lines[start].startswith("#") or not lines[start].strip()):
        below = next((line for line in lines[start + 1 :] if line.strip()), "")
        fits = [
            rows[1]
            for mark in SEPARATORS
            if len(rows := _split([lines[start][1:].strip(), below], mark, '"')) == 2
            and len(rows[0]) == len(rows[1]) > 1
        ]
        if any(_NUMBER_FIELD.fullmatch(field) for row in fits for field in row):
            break
        start += 1
    return lines, start, named[1] if named else None


def _split(lines: list[str], mark: str, quote: str) -> list[list[str]]:
    if mark == " ":
        lines = [line.replace("\t", " ").strip() for line in lines]
    text = io.StringIO("\n".join(lines))
    rows = csv.reader(text, delimiter=mark, quotechar=quote, skipinitialspace=True)
    try:
        split = [[field.strip() for field in row] for row in rows]
    except csv.Error:
        return []
    return [["", *split[0]], *split[1:]] if _lacks_a_name(split, lines) else split


def _lacks_a_name(rows: list[list[str]], lines: list[str]) -> bool:
    """Return True if each row starts with a row name that has no field in the header.

    The software R writes files in this form. `rows` are the fields of `lines`.
    """
    body = rows[1:] if len(rows) < TOP_LINES else rows[1:-1]
    if not body or any(len(row) != len(rows[0]) + 1 for row in body) or not body[0][-1]:
        return False
    first = [row[0] for row in body]
    counted = first == [str(number) for number in range(1, len(body) + 1)]
    words = not any(_NUMBER_FIELD.fullmatch(word) for word in first)
    quoted = all(line.startswith('"') for line in lines[1 : 1 + len(body)])
    return counted or quoted or (words and len({*first}) == len(first))


def _has_single_quotes(lines: list[str]) -> bool:
    """Return True if the strings in a text file are enclosed in single quotes, not double ones."""
    ends = rf"[{SEPARATORS}]|^|$"
    closed = re.compile(rf"(?:{ends})\s*'[^']*'\s*(?={ends})")
    opened = re.compile(rf"(?:{ends})\s*'")
    with_words = [line for line in lines[1:] if closed.search(line)]
    if 2 * len(with_words) <= len(lines[1:]) or any(f'{m}"' in x for m in ",;\t|" for x in lines):
        return False
    return not any(opened.search(closed.sub(",", line)) for line in lines)


def _score(lines: list[str], mark: str, quote: str) -> int:
    """Return a score for the separator `mark`: 1 plus the number of good columns.

    A column is good if most of its fields do not contain a different separator, except as a decimal
    comma. The score is 0 if the lines do not have the same number of fields.
    """
    rows = _split(lines, mark, quote)
    if len(rows) > 2:
        rows.pop()  # drop the last row, because a field with line breaks may be truncated
    width = len(rows[0]) if rows else 0
    if width < 2 or any(len(row) != width for row in rows):
        return 0
    others = "".join(other for other in SEPARATORS if other not in (mark, " "))
    if mark == " " and (len(rows) < 2 or not any(c.isdigit() for c in "".join(rows[1]))):
        return 0  # spaces are not a separator, because names and text may contain them
    if mark == " " and any(_has_words(field) for row in _split(lines[1:], "\t", quote)
                           for field in row if len(row) > 1):  # fmt: skip
        return 0  # spaces are not a separator, because text between tabs may contain them
    good = [
        sum(bool(_COMMA.fullmatch(row[at])) or not set(row[at]) & set(others) for row in rows)
        for at in range(width)
    ]
    # Add 1, so that a table with two bad columns has a higher score than a single column, which has
    # the score 0.
    return 1 + sum(2 * count > len(rows) for count in good)


def _has_words(field: str) -> bool:
    words = field.split()
    return len(words) > 1 and not any(_NUMBER_FIELD.fullmatch(word) for word in words)


def _alike(name: str, X: Any, like: ReadOptions) -> Any:
    """Return the table of a file for prediction with the column numbers of the training file.

    Only a table without column names is changed. Its target column may be absent. Raise DataError
    if the number of columns differs from the training file.
    """
    if not isinstance(X, pd.DataFrame):
        return X
    if not pd.api.types.is_integer_dtype(X.columns):
        return X  # named columns are compared with the names in the file later
    cells = [parse_numbers(to_text(row), comma=False) for _, row in X.head(2).iterrows()]
    if len(cells) > 1 and np.isnan(cells[0]).all() and np.isfinite(cells[1]).any():
        raise DataError(
            f"The first line of {name} contains names, but the training file does not have names.",
            "The line of names would be read as a row of data.",
            "Remove the line, or add `--header`.",
        )
    places = list(range(like.width))
    if X.shape[1] == like.width - 1 and isinstance(like.target, int):
        places.remove(like.target)
        return X.set_axis(pd.Index(places), axis=1)
    if X.shape[1] != like.width:
        raise DataError(
            f"{name} has {X.shape[1]} columns, which is a different number than in training.",
            f"The columns do not have names, and the training file has {like.width} columns.",
            "Use a file with the same columns.",
        )
    return X


def hash_content(path: Path) -> str:
    """Return the hash of the decompressed content of a file.

    A compressed file has the same hash as the file without compression. Raise DataError if the file
    cannot be decompressed.
    """
    with _raise_as_data_error(path), open_unpacked(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextlib.contextmanager
def _raise_as_data_error(path: Path) -> Iterator[None]:
    """Convert exceptions that are raised while reading `path` to DataError, except MemoryError."""
    try:
        yield
    except (RfbenchError, MemoryError):
        raise
    except pd.errors.EmptyDataError:
        raise DataError(f"{path.name} is empty.", "", "Name another file.") from None
    except Exception as error:  # damaged files make the libraries raise many types of errors
        if "out of memory" in str(error):  # pandas reports a lack of memory as a ParserError
            raise MemoryError from None
        text = detect_file_format(path) in TEXT
        raise DataError(
            f"{path.name} cannot be read.",
            f"{' '.join(str(error).split())[:300] or type(error).__name__}.",
            "Correct the file, or state its format: separator, decimal, encoding."
            if text
            else "Correct the file, or save it in another format, for example CSV.",
        ) from error


def detect_file_format(path: Path) -> str:
    """Return the format of a file, such as "csv", from its suffix or else from its first line."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in UNPACK]
    suffix = (suffixes or [""])[-1]
    others = {".pq": "parquet", ".svm": "svmlight", ".libsvm": "svmlight", ".xlsm": "xlsx"}
    name = others.get(suffix, suffix[1:])
    if name in _READERS:
        return name
    with _raise_as_data_error(path), open_unpacked(path) as stream:
        top = stream.readline(100_000)
    pairs = re.fullmatch(rb"[-+.\w]+(\s+\d+:[-+.\w]+)+\s*(#.*)?", top.strip())
    return "svmlight" if pairs else "csv"


# The functions below convert byte streams to tables, for user files and for files of the catalog.


def read_delimited(stream: Any, **options: Any) -> Any:
    """Return the result of `pandas.read_csv`. A line with too many fields is an error."""
    with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):
        read = pd.read_csv(stream, index_col=False, skipinitialspace=True, **EXACT, **options)
    # Copy the table, so that all columns of a dtype share one block of memory. Otherwise each step
    # on the table would need a call per column.
    return read.copy() if isinstance(read, pd.DataFrame) else read


def read_svmlight(stream: Any, **options: Any) -> tuple[Any, ...]:
    """Return the rows of an svmlight file as a CSR matrix, and the labels.

    With the option ``query_id=True``, the query numbers are returned, too. Raise ValueError if a
    line is not in svmlight format.
    """
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(stream, **options)  # type: ignore[no-any-return]


# Each of the following readers reads one file format with the options in `how`. Options that are
# detected from the content, such as `index_base`, are added to `how`.


def _text(path: Path, how: ReadOptions, **options: Any) -> pd.DataFrame:
    encoding = how.encoding or _detect_encoding(path)
    lines, start, mark = _top(path, encoding)
    separator, header = mark or how.separator or ",", 0 if how.header else None
    source: Any = path
    top = [lines[start].lstrip("# "), *lines[start + 1 :]] if lines[start:] else []
    names = _names(path.name, top, separator, how.quote) if how.header else None
    if any(line.startswith("#") for line in lines[: start + 1]):
        with open_unpacked(path, "rt", encoding=encoding, errors=_errors(encoding)) as stream:
            kept = (x for at, x in enumerate(stream) if at == start or x[0] != "#" if at >= start)
            source, start = io.StringIO("".join(kept)), 0
    words = {
        "sep": r"\s+" if separator == " " else separator,
        "decimal": how.decimal,
        "names": names,
        "quotechar": how.quote,
        "encoding": encoding,
        "encoding_errors": _errors(encoding),
        **options,
    }
    if source is path and path.stat().st_size >= LEAST_BYTES and encoding in _BYTE_ENCODINGS:
        table = _read_blocks(path, header, start, how.target, words)
        if table is not None:
            return table
    whole: pd.DataFrame = read_delimited(source, header=header, skiprows=start, **words)
    return whole


def _read_blocks(
    path: Path,
    header: int | None,
    start: int,
    target: str | int | None,
    words: Mapping[str, Any],
) -> pd.DataFrame | None:
    """Read a delimited text file in blocks of lines, and return the table.

    Reading in blocks needs less memory. The result is None if it might differ from the result of
    reading the whole file at once, for example because a field is quoted.
    """
    # When pandas reads a whole file, it keeps the text in memory in addition to the columns. Blocks
    # of complete lines give the same columns if all values are numbers, or if all values are read
    # as text.
    with open_unpacked(path) as stream:
        lines = 1 + sum(block.count(b"\n") for block in iter(lambda: stream.read(BLOCK_BYTES), b""))
    filled: _NumberColumns | None = None
    texts: list[pd.DataFrame] = []
    quote = str(words["quotechar"]).encode()
    try:
        with open_unpacked(path) as stream:
            while block := stream.read(BLOCK_BYTES) + stream.readline():
                # A quoted field may contain line breaks and continue in the next block. Therefore a
                # file with quotes is not read in blocks.
                if quote in block or b"\0" in block:
                    return None
                place = {"header": header, "skiprows": start} if start >= 0 else {"header": None}
                # Only the first block contains the lines before the table. Skip no lines of the
                # later blocks.
                start = -1
                part = read_delimited(io.BytesIO(block), **place, **words)
                if "dtype" in words:
                    texts.append(part)
                    continue
                filled = filled or _NumberColumns(part, lines, target)
                if not filled.append_rows(part, b"-0" in block):
                    return None
    except MemoryError:
        raise
    except Exception:  # reading the whole file then raises this error with the line number
        return None
    if "dtype" in words:
        return pd.concat(texts, ignore_index=True)
    return filled.finish() if filled else None


class _NumberColumns:
    """Numeric columns of a table, which are filled block by block.

    If all features are floats, they are stored in one array with one row per line of the file. The
    target is a separate column.
    """

    def __init__(self, first: pd.DataFrame, lines: int, target: str | int | None) -> None:
        self.names, self.n, width = first.columns, 0, first.shape[1]
        named = [str(name).strip() for name in first.columns]
        apart = named.index(str(target)) if str(target) in named else target
        apart = apart % width if isinstance(apart, int) and -width <= apart < width else -1
        # True if some block may contain the number -0, which loses its sign in an integer column.
        self.has_minus_zero = False
        whole = [at != apart and dtype == np.int64 for at, dtype in enumerate(first.dtypes)]
        m = width - sum(whole) - (apart >= 0)
        self._floats = np.empty((lines, m))
        places = iter(range(m))
        self._columns: list[NDArray[Any]] = [
            np.empty(lines, dtype if dtype == np.int64 else np.float64)
            if whole[at] or at == apart
            else self._floats[:, next(places)]
            for at, dtype in enumerate(first.dtypes)
        ]
        self._apart = None if any(whole) else apart

    def append_rows(self, part: pd.DataFrame, has_minus_zero: bool) -> bool:
        """Append a block of rows to the columns, and return True.

        If the columns of the block are not numeric or have different names, return False.
        """
        if not self.names.equals(part.columns):
            return False
        stop = self.n + len(part)
        for at, dtype in enumerate(part.dtypes):
            if dtype not in (np.int64, np.float64):
                return False
            values, column = part.iloc[:, at].to_numpy(), self._columns[at]
            if column.dtype == np.int64 and dtype == np.float64:
                if self.has_minus_zero and (column[: self.n] == 0).any():
                    return False
                self._columns[at] = column.astype(np.float64)
            elif column.dtype != dtype and has_minus_zero and (values == 0).any():
                return False
            self._columns[at][self.n : stop] = values
        self.n, self.has_minus_zero = stop, self.has_minus_zero or has_minus_zero
        return True

    def finish(self) -> pd.DataFrame:
        """Return the filled columns as a table."""
        if self._apart is None:
            columns = {at: column[: self.n] for at, column in enumerate(self._columns)}
            # Copy a table with many columns into one array. Otherwise each step on the table would
            # need a call per column.
            table = pd.DataFrame(columns, copy=len(columns) > MOST_VIEWS)
            return table.set_axis(self.names, axis=1)
        if self._apart < 0:
            return pd.DataFrame(self._floats[: self.n], columns=self.names, copy=False)
        names = self.names.delete(self._apart)
        table = pd.DataFrame(self._floats[: self.n], columns=names, copy=False)
        target = self._columns[self._apart][: self.n]
        table.insert(self._apart, self.names[self._apart], target, allow_duplicates=True)
        return table


def _names(what: str, lines: list[str], separator: str, quote: str) -> list[str] | None:
    """Return the column names in the header line. Empty names are replaced as in pandas.

    The result is None if `lines` does not contain a header line.
    """
    rows = _split([line for line in lines if line.strip()], separator, quote)
    if not rows:
        return None
    check_distinct_names(what, [name or place for place, name in enumerate(rows[0])])
    names, taken = list(rows[0]), set(rows[0])
    for place in [place for place, name in enumerate(names) if not name]:
        plain = f"Unnamed: {place}"
        repeated = (f"{plain}.{number}" for number in itertools.count(1))
        names[place] = next(x for x in itertools.chain([plain], repeated) if x not in taken)
        taken.add(names[place])
    return names


def _csv(path: Path, how: ReadOptions) -> ParsedFile:
    table = _text(path, how, na_values=["?", *how.missing], low_memory=False)
    if table.shape[1] == 1 and not how.width:
        raise DataError(
            f"{path.name} has only one column, {str(table.columns[0])[:60]!r}.",
            f"The separator of the file is not {how.separator!r}.",
            "Name the separator: `separator: ';'`.",
        )
    return ParsedFile(table, None, how)


def _as_written(path: Path, how: ReadOptions, places: list[int]) -> dict[int, pd.Series[Any]]:
    """Return the columns at the positions `places` of a CSV or Excel file, with unconverted values.

    The strings NA and None stay strings. Only empty cells are missing values.
    """
    if not places:
        return {}
    with _raise_as_data_error(path):
        if how.format in TEXT:
            options: dict[str, Any] = {"dtype": str, "keep_default_na": False, "na_values": [""]}
            table = _text(path, how, usecols=places, **options)
        else:
            table = _sheet(path, how).iloc[:, places].astype(object)
    return {place: table.iloc[:, at] for at, place in enumerate(places)}


def _parquet(path: Path, how: ReadOptions) -> ParsedFile:
    # Check for repeated column names. If pyarrow is missing, ignore the error here, because pandas
    # raises an error with the name of the missing package below.
    with contextlib.suppress(ImportError):
        from pyarrow import parquet

        check_distinct_names(path.name, parquet.read_schema(path).names)
    return ParsedFile(pd.read_parquet(path), None, how)


def _sheet(path: Path, how: ReadOptions) -> pd.DataFrame:
    """Return the first sheet of an Excel file, with the cells as stored."""
    cells_of: dict[str, Any] = {"dtype": object, "keep_default_na": False, "na_values": [""]}
    with pd.ExcelFile(path) as book:
        if how.header:
            top = pd.read_excel(book, header=None, nrows=1, **cells_of)
            first = top.iloc[0] if len(top) else ()
            check_distinct_names(
                path.name, [at if pd.isna(name) else name for at, name in enumerate(first)]
            )
        table: pd.DataFrame = pd.read_excel(book, header=0 if how.header else None, **cells_of)
    return table


def _excel(path: Path, how: ReadOptions) -> ParsedFile:
    table = _sheet(path, how)
    return ParsedFile(table.where(~table.isin(list(MISSING_MARKERS))).infer_objects(), None, how)


def _npy(path: Path, how: ReadOptions) -> ParsedFile:
    array = np.load(path, allow_pickle=False)
    return ParsedFile(*columns.to_table(path.name, array, None), how)


def _npz(path: Path, how: ReadOptions) -> ParsedFile:
    with np.load(path, allow_pickle=False) as stored:
        if "X" not in stored or ("y" not in stored and not how.width):
            raise ValueError(
                f"The file contains the arrays {', '.join(stored)}, but X and y are required"
            )
        # The target y may be missing if the file is read with the options of a training file. Such
        # a file may contain rows to predict.
        return ParsedFile(*columns.to_table(path.name, stored["X"], stored.get("y")), how)


def _svmlight(path: Path, how: ReadOptions) -> ParsedFile:
    known = {} if how.index_base is None else {"n_features": how.width + how.index_base}
    with open_unpacked(path) as stream:
        X, y, queries = read_svmlight(stream, zero_based=True, query_id=True, **known)
    # Columns are numbered from 0 if a column has the number 0, and from 1 otherwise.
    first = int(X.indices.min(initial=1)) if how.index_base is None else how.index_base
    if first and X.indices.min(initial=1) < first:
        raise ValueError("A column has the number 0, but columns are numbered from 1")
    X = sparse.csr_array((X.data, X.indices - first, X.indptr), (X.shape[0], X.shape[1] - first))
    # Convert rows with missing or infinite values to a dense table, because these values are
    # replaced later, and only in tables.
    if not np.isfinite(X.data).all():
        X = columns.to_dense_table(X)
    rows, target = columns.to_table(path.name, X, y)
    groups = queries if len(queries) and len(np.unique(queries)) > 1 else None
    return ParsedFile(rows, target, replace(how, index_base=first), groups=groups)


def _arff(path: Path, how: ReadOptions) -> ParsedFile:
    with open_unpacked(path) as stream:
        content = stream.read()
    encoding = str(how.encoding)
    X, notes = read_arff(content.decode(encoding, errors=_errors(encoding)))
    return ParsedFile(X, None, how, tuple(notes))


_READERS: dict[str, Callable[[Path, ReadOptions], ParsedFile]] = {
    "csv": _csv,
    "tsv": _csv,
    "parquet": _parquet,
    "npy": _npy,
    "npz": _npz,
    "svmlight": _svmlight,
    "arff": _arff,
    "xlsx": _excel,
    "xls": _excel,
}
