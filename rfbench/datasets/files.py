"""The formats of files: one reader each, which returns a table, for every data set.

How a file of text is written, its separator and its signs, is told by its first lines.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from rfbench.arrays import Rows
from rfbench.datasets import columns
from rfbench.datasets.archives import UNPACK, opened
from rfbench.datasets.values import as_numbers, has_decimal_comma, is_number, text_of
from rfbench.errors import DataError, RfbenchError, nearest

TEXT = ("csv", "tsv")
# From pandas 3.1 on every number is the nearest double, and saying so is deprecated.
_before_3_1 = [int(part) for part in pd.__version__.split(".")[:2]] < [3, 1]
EXACT: dict[str, Any] = {"float_precision": "round_trip"} if _before_3_1 else {}

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


def find(path: str, folder: Path | None) -> Path:
    """Return a file, relative to a folder (None: the current one).

    DataError if there is none; the nearest name in the same folder is named.
    """
    file = (folder or Path()) / Path(path).expanduser()
    if file.is_file():
        return file
    if file.is_dir():
        raise DataError(f"{file} is a folder.", "A table is read from one file.", "Name the file.")
    there = [each.name for each in file.parent.iterdir()] if file.parent.is_dir() else []
    start = "this folder" if folder is None else "the folder of the configuration"
    raise DataError(
        f"There is no file {file}.{nearest(file.name, there)}",
        f"A relative path starts from {start}.",
        "Correct the path.",
    )


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


class Read(NamedTuple):
    """The columns of a file, the target where the format has it apart, and how it was read."""

    X: pd.DataFrame | Rows
    y: pd.Series[Any] | None
    how: Reading


def read(path: Path, *, like: Reading | None = None, plain: bool = False, **options: Any) -> Read:
    """Read a file: CSV, TSV (also packed), Parquet, NPY, NPZ, svmlight, ARFF or Excel.

    Parameters
    ----------
    path : Path
        Its suffix says the format, or else its first line.
    like : Reading, optional
        How another file was read, for one of the same format: nothing is found out anew, so that
        its columns mean the same. Where columns have no names, the target may be absent.
    plain : bool
        Write the numbers among words with a decimal point and without marks, as the columns of
        each file that is read like this one are.
    **options : Any
        `header`, `separator`, `decimal` and `encoding` of a CSV; the last three are found out where
        they are not given. `target` is recorded.

    Raises
    ------
    DataError
        The file cannot be read, or has other columns than `like` where they have no names.
    """
    with answered(path):
        if path.stat().st_size == 0:
            raise pd.errors.EmptyDataError
        same = like is not None and like.format == format_of(path)
        how = replace(like, **options) if like and same else reading_of(path, **options)
        how = replace(how, width=like.width) if like else how
        X, y, how = _READERS[how.format](path, how)
    if (plain or like is not None) and how.format in TEXT:
        X, how = _plain(X, how)
    if like is not None:
        return Read(_alike(path.name, X, like), y, how)
    width, target = X.shape[1], how.target
    target = target % width if isinstance(target, int) else target
    return Read(X, y, replace(how, width=width, target=target))


def reading_of(
    path: Path,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    target: str | int | None = None,
) -> Reading:
    """Return how a file is to be read; what is given is not found out.

    UnicodeDecodeError or LookupError if the given encoding is not that of the file.
    """
    form = format_of(path)
    how = Reading(form, encoding=encoding, header=header is not False, target=target)
    if form not in TEXT:
        return replace(how, encoding=None)
    with opened(path, "rt", encoding=encoding or encoding_of(path)) as stream:
        top = stream.read(TOP_CHARACTERS)
    lines = [line for line in top.splitlines() if line.strip()][:TOP_LINES]
    if len(top) == TOP_CHARACTERS and len(lines) > 1:
        lines.pop()  # it may be cut
    if separator is None:  # of those that fit as well, and where none fits, the first
        likely = "\t" if form == "tsv" else ","
        separator = max(likely + SEPARATORS, key=lambda mark: _score(lines, mark))
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
    return replace(how, separator=separator, decimal=decimal, unclear=unclear)


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


def _alike(name: str, X: Any, like: Reading) -> Any:
    """Hold the columns of a file against those of another one; the target may be absent."""
    if not isinstance(X, pd.DataFrame):
        return X
    if not pd.api.types.is_integer_dtype(X.columns):
        return X  # by names
    cells = [as_numbers(text_of(row), comma=False) for _, row in X.head(2).iterrows()]
    if len(cells) > 1 and np.isnan(cells[0]).all() and np.isfinite(cells[1]).any():
        raise DataError(
            f"The first line of {name} holds names, and the file that it is read like has none.",
            "It would be taken for a row.",
            "Take it away, or add `--header`.",
        )
    places = list(range(like.width))
    if X.shape[1] == like.width - 1 and isinstance(like.target, int):
        places.remove(like.target)
        return X.set_axis(pd.Index(places), axis=1)
    if X.shape[1] != like.width:
        raise DataError(
            f"{name} has {X.shape[1]} columns.",
            f"They have no names, and the file that it is read like has {like.width}.",
            "Bring a file with the same columns.",
        )
    return X


def content_sha256(path: Path) -> str:
    """Return the hash of a file's content, unpacked, so that packing does not change it.

    DataError if it cannot be unpacked.
    """
    with answered(path), opened(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def answered(path: Path) -> Iterator[None]:
    """Turn what the readers raise into a DataError; a lack of memory stays a MemoryError."""
    try:
        yield
    except (RfbenchError, MemoryError):
        raise
    except pd.errors.EmptyDataError:
        raise DataError(f"{path.name} is empty.", "", "Name another file.") from None
    except Exception as error:  # damaged files make the libraries raise almost anything
        if "out of memory" in str(error):  # of pandas, which calls it an error of the file
            raise MemoryError from None
        raise DataError(
            f"{path.name} cannot be read.",
            f"{' '.join(str(error).split())[:300] or type(error).__name__}.",
            "Correct the file, or say how it is written: separator, decimal, encoding.",
        ) from error


def format_of(path: Path) -> str:
    """Return which format a file is in, by its suffix, or else by its first line."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in UNPACK]
    suffix = (suffixes or [""])[-1]
    others = {".pq": "parquet", ".svm": "svmlight", ".libsvm": "svmlight", ".xlsm": "xlsx"}
    name = others.get(suffix, suffix[1:])
    if name in _READERS:
        return name
    with answered(path), opened(path) as stream:
        top = stream.readline(100_000)
    pairs = re.fullmatch(rb"[-+.\w]+(\s+\d+:[-+.\w]+)+\s*(#.*)?", top.strip())
    return "svmlight" if pairs else "csv"


# What the catalogue's readers share with those below: streams of bytes to tables.


def delimited(stream: Any, **options: Any) -> Any:
    """Return what `pandas.read_csv` does; a field too many is an error, never an index."""
    with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):
        return pd.read_csv(stream, index_col=False, skipinitialspace=True, **EXACT, **options)


def svmlight(stream: Any, **options: Any) -> tuple[Any, Any]:
    """Return rows, a CSR matrix, and labels; ValueError if a line is not in the format."""
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(stream, **options)  # type: ignore[no-any-return]


def arff(content: bytes) -> pd.DataFrame:
    """Return the attributes of an ARFF file: numbers, dates, and categories; ``?`` is missing.

    An error of scipy if it is not in the format, is sparse, or has texts.
    """
    from scipy.io import arff as format_of_weka

    text = io.StringIO(content.decode("utf-8", errors="replace"))
    table = pd.DataFrame(format_of_weka.loadarff(text)[0])
    for name in [column for column in table if table[column].dtype.kind == "O"]:
        words = table[name].str.decode("utf-8")
        table[name] = words.where(words != "?").astype("category")
    return table


# Each reads a file as the record says, and completes the record.


def _text(path: Path, how: Reading, **options: Any) -> pd.DataFrame:
    table: pd.DataFrame = delimited(
        path,
        sep=r"\s+" if how.separator == " " else how.separator,
        decimal=how.decimal,
        header=0 if how.header else None,
        encoding=how.encoding or encoding_of(path),
        **options,
    )
    return table


def _csv(path: Path, how: Reading) -> Read:
    table = _text(path, how, na_values=["?"], low_memory=False)
    if table.shape[1] == 1 and not how.width:
        raise DataError(
            f"{path.name} has one column only, {str(table.columns[0])[:60]!r}.",
            f"Its separator is not {how.separator!r}.",
            "Name the separator: `separator: ';'`.",
        )
    number = r"-?\d+([.,]\d+)*(e[-+]?\d+)?"
    if how.header and all(re.fullmatch(number, str(c)) for c in table.columns):
        raise DataError(
            f"The first line of {path.name} holds numbers and no names.",
            "It would be taken for the names of the columns.",
            "Write `header: false`, and the target as a number: 0 is the first, -1 the last.",
        )
    return Read(table, None, how)


def _plain(table: pd.DataFrame, how: Reading) -> tuple[pd.DataFrame, Reading]:
    """Write numbers among words with a decimal point and no marks; record which had a comma."""
    commas = list(how.commas)
    for at, dtype in enumerate(table.dtypes):
        name, text = str(table.columns[at]).strip(), table.iloc[:, at]
        if is_number(dtype):
            continue
        text = text_of(text)
        known = how.decimal == "," or name in how.commas
        comma = known or (not how.width and has_decimal_comma(text))
        numbers = pd.Series(as_numbers(text, comma=comma), index=text.index)
        if 2 * numbers.notna().sum() > text.notna().sum():
            table.isetitem(at, text.where(numbers.isna(), numbers.map(repr)).to_numpy())
            commas += [] if known or not comma else [name]
    return table, replace(how, commas=tuple(commas))


def column_text(path: Path, how: Reading, place: int) -> pd.Series[Any]:
    """Return a column of a CSV as it is written, with NA and None; None where a field is empty."""
    with answered(path):
        table = _text(path, how, dtype=str, keep_default_na=False, na_values=["?", ""])
    text: pd.Series[Any] = table.iloc[:, place]
    return text


def _parquet(path: Path, how: Reading) -> Read:
    return Read(pd.read_parquet(path), None, how)


def _excel(path: Path, how: Reading) -> Read:
    table = pd.read_excel(path, header=0 if how.header else None, na_values=["?"])
    return Read(table, None, how)


def _npy(path: Path, how: Reading) -> Read:
    array = np.load(path, allow_pickle=False)
    return Read(*columns.tabled(path.name, array, None), how)


def _npz(path: Path, how: Reading) -> Read:
    with np.load(path, allow_pickle=False) as stored:
        if "X" not in stored or ("y" not in stored and not how.width):
            raise ValueError(f"It holds the arrays {', '.join(stored)}, and X and y are looked for")
        # One that is read like another file may lack the target.
        return Read(*columns.tabled(path.name, stored["X"], stored.get("y")), how)


def _svmlight(path: Path, how: Reading) -> Read:
    known = {} if how.index_base is None else {"n_features": how.width + how.index_base}
    with opened(path) as stream:
        X, y = svmlight(stream, zero_based=True, **known)
    # The first column has the number 0 if any column has it, else 1.
    first = int(X.indices.min(initial=1)) if how.index_base is None else how.index_base
    if first and X.indices.min(initial=1) < first:
        raise ValueError("A column has the number 0, and the first one is 1")
    X = sparse.csr_array((X.data, X.indices - first, X.indptr), (X.shape[0], X.shape[1] - first))
    return Read(*columns.tabled(path.name, X, y), replace(how, index_base=first))


def _arff(path: Path, how: Reading) -> Read:
    with opened(path) as stream:
        return Read(arff(stream.read()), None, how)


_READERS: dict[str, Callable[[Path, Reading], Read]] = {
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
