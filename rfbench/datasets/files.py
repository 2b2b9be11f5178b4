"""The formats of files: one reader each, which returns a table, for every data set."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from rfbench.arrays import Rows
from rfbench.datasets import columns
from rfbench.datasets.archives import UNPACK, opened
from rfbench.datasets.dialect import Reading, dialect, encoding_of
from rfbench.datasets.values import as_numbers, has_decimal_comma, is_number, text_of
from rfbench.errors import DataError, RfbenchError, nearest

TEXT = ("csv", "tsv")
# From pandas 3.1 on every number is the nearest double, and saying so is deprecated.
_before_3_1 = [int(part) for part in pd.__version__.split(".")[:2]] < [3, 1]
EXACT: dict[str, Any] = {"float_precision": "round_trip"} if _before_3_1 else {}


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
        if like is not None and like.format != format_of(path):
            like = replace(Reading(format_of(path)), width=like.width, target=like.target)
            how = replace(reading_of(path, **options), width=like.width)
        else:
            how = replace(like, **options) if like else reading_of(path, **options)
        X, y, how = _READERS[how.format](path, how)
    if (plain or like is not None) and how.format in TEXT:
        X, how = _plain(X, how)
    if like is not None:
        return Read(_alike(path.name, X, like), y, how)
    width, target = X.shape[1], how.target
    target = target % width if isinstance(target, int) else target
    return Read(X, y, replace(how, width=width, target=target))


def reading_of(path: Path, **options: Any) -> Reading:
    """Return how a file is to be read, as far as its first lines and the options say."""
    form = format_of(path)
    given = {key: options[key] for key in ("header", "target") if options.get(key) is not None}
    if form not in TEXT:
        return Reading(form, **given)
    marks = {key: options.get(key) for key in ("separator", "decimal", "encoding")}
    how = dialect(path, likely="\t" if form == "tsv" else ",", **marks)
    return replace(how, format=form, **given)


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
    return pd.read_csv(stream, index_col=False, skipinitialspace=True, **EXACT, **options)


def no_losses() -> Any:
    """Make an error of the warning that `delimited` leaves fields out."""
    return warnings.catch_warnings(action="error", category=pd.errors.ParserWarning)


def svmlight(stream: Any, **options: Any) -> tuple[Any, Any]:
    """Return rows, a CSR matrix, and labels; ValueError if a line is not in the format."""
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(stream, **options)  # type: ignore[no-any-return]


def arff(content: bytes) -> pd.DataFrame:
    """Return the attributes of an ARFF file: numbers, dates, and categories; ``?`` is missing.

    ValueError or NotImplementedError if it is not in the format, sparse, or has texts.
    """
    from scipy.io import arff as format_of_weka

    text = io.StringIO(content.decode("utf-8", errors="replace"))
    table = pd.DataFrame(format_of_weka.loadarff(text)[0])
    for name in [column for column in table if table[column].dtype.kind == "O"]:
        words = table[name].str.decode("utf-8")
        table[name] = words.where(words != "?").astype("category")
    return table


# Each reads a file as the record says, and completes the record.


def _csv(path: Path, how: Reading) -> Read:
    with no_losses():
        table = delimited(
            path,
            **how.options,
            encoding=how.encoding or encoding_of(path),
            na_values=["?"],
            low_memory=False,
        )
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
        encoding = how.encoding or encoding_of(path)
        table = delimited(
            path,
            **how.options,
            encoding=encoding,
            dtype=str,
            keep_default_na=False,
            na_values=["?", ""],
        )
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
