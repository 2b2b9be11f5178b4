"""Files of one's own: which format they are in, and what stands in them."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rfbench.arrays import Rows
from rfbench.datasets import columns
from rfbench.errors import DataError, nearest


def _open_zip(path: Path, mode: str = "rb", **words: Any) -> Any:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if len(names) != 1:
            raise ValueError(f"It holds {len(names)} files, and one is looked for")
        stream = archive.open(names[0])
    return io.TextIOWrapper(stream, **words) if "t" in mode else stream


UNPACK: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zip": _open_zip,
}
SEPARATORS = {",": "','", ";": "';'", "\t": "'\\t'", "|": "'|'", " ": "' '"}
Table = tuple[pd.DataFrame | Rows, "pd.Series[Any] | None"]


def find(path: str, folder: Path | None) -> Path:
    """Return a file, relative to a folder (None: the current one).

    DataError if there is none; the nearest name in the same folder is named.
    """
    file = (folder or Path()) / Path(path).expanduser()
    if file.is_file():
        return file
    there = [each.name for each in file.parent.iterdir()] if file.parent.is_dir() else []
    raise DataError(
        f"There is no file {file}.{nearest(file.name, there)}",
        "A relative path starts from the folder of the configuration.",
        "Correct the path.",
    )


def read(
    path: Path,
    *,
    target: str | int | None = None,
    header: bool = True,
    separator: str | None = None,
) -> Table:
    """Return the columns of a file and, where the format has it apart, the target.

    It is CSV, TSV (also packed), Parquet, NPY, NPZ, svmlight or ARFF, by its suffix or its content.
    `target` names the array of the target of an NPZ, `header` and `separator` are those of a CSV.
    DataError if it cannot be read.
    """
    with answered(path):
        if path.stat().st_size == 0:
            raise pd.errors.EmptyDataError
        return _READERS[format_of(path)](path, target, header, separator)


def content_sha256(path: Path) -> str:
    """Return the hash of a file's content, unpacked, so that packing does not change it.

    DataError if it cannot be unpacked.
    """
    with answered(path), opened(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def opened(path: Path, mode: str = "rb", **words: Any) -> Any:
    """Open a file, unpacked."""
    return UNPACK.get(path.suffix.lower(), open)(path, mode, **words)


@contextmanager
def answered(path: Path) -> Iterator[None]:
    """Turn what the readers raise into a DataError."""
    try:
        yield
    except pd.errors.EmptyDataError:
        raise DataError(f"{path.name} is empty.", "", "Name another file.") from None
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile,
            NotImplementedError, StopIteration, pd.errors.ParserWarning) as error:  # fmt: skip
        raise DataError(
            f"{path.name} cannot be read.",
            f"{' '.join(str(error).split())[:300] or type(error).__name__}.",
            "Correct the file, or name the right separator.",
        ) from error


def format_of(path: Path) -> str:
    """Return which format a file is in, by its suffix, or else by its first line."""
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in UNPACK]
    suffix = (suffixes or [""])[-1]
    known = {".pq": "parquet", ".svm": "svmlight", ".libsvm": "svmlight"}
    found = known.get(suffix, suffix[1:])
    if found in _READERS:
        return found
    with opened(path) as stream:
        top = stream.readline(100_000)
    if re.fullmatch(rb"[-+.\w]+(\s+\d+:[-+.\w]+)+\s*(#.*)?", top.strip()):
        return "svmlight"
    return "csv"


def has_target_apart(path: Path) -> bool:
    """Whether a file is there, in a format that has the target beside the columns."""
    return path.is_file() and format_of(path) in ("npz", "svmlight")


def _csv(path: Path, target: object, header: bool, separator: str | None) -> Table:
    (table,) = csv_pieces(path, header, separator, None)
    return table, None


def csv_pieces(
    path: Path, header: bool, separator: str | None, rows: int | None
) -> Iterator[pd.DataFrame]:
    """Yield the table of a CSV, so many rows at a time (None: all); see `read`."""
    chosen = separator or ("\t" if format_of(path) == "tsv" else ",")
    with (
        warnings.catch_warnings(action="error", category=pd.errors.ParserWarning),
        pd.read_csv(
            path,
            sep=r"\s+" if chosen == " " else chosen,
            header=0 if header else None,
            index_col=False,  # or a field too many would make an index of the first column
            na_values=["?"],
            skipinitialspace=True,
            low_memory=False,
            encoding="utf-8-sig" if _is_utf8(path) else "latin-1",
            chunksize=rows,
            iterator=True,
        ) as tables,
    ):
        for table in tables:
            if table.shape[1] == 1:
                shown = str(table.columns[0]) + str(table.iloc[:1, 0].to_list())
                _refuse_one_column(path, shown, chosen)
            number = r"-?\d+(\.\d+)*(e[-+]?\d+)?"
            if header and all(re.fullmatch(number, str(c)) for c in table.columns):
                raise DataError(
                    f"The first line of {path.name} holds numbers and no names.",
                    "It would be taken for the names of the columns.",
                    "Write `header: false`, and the target as a number: 0 is the first, "
                    "-1 the last.",
                )
            yield table


def _is_utf8(path: Path) -> bool:
    with opened(path, "rt", encoding="utf-8") as stream:
        try:
            while stream.read(2**20):
                pass
        except UnicodeDecodeError:
            return False
    return True


def _refuse_one_column(path: Path, text: str, separator: str) -> None:
    counts = {mark: text.count(mark) for mark in SEPARATORS if mark != separator}
    likely = max(counts, key=lambda mark: counts[mark])
    todo = "Name the separator: `separator: ';'`."
    if counts[likely]:
        todo = f"Write `separator: {SEPARATORS[likely]}`, which is there {counts[likely]} times."
    shown = SEPARATORS.get(separator, repr(separator))
    raise DataError(f"{path.name} has one column only.", f"Its separator is not {shown}.", todo)


def _parquet(path: Path, target: object, header: bool, separator: str | None) -> Table:
    parquet_file(path)
    return pd.read_parquet(path), None


def parquet_file(path: Path) -> Any:
    """Return the open file; DataError without pyarrow."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise DataError(
            f"{path.name} is a Parquet file, and pyarrow is not installed.",
            "It is left out by default: it is larger than all of rfbench, for one format.",
            "Run `pip install 'rfbench[parquet]'`, or save the data as CSV.",
        ) from None
    return parquet.ParquetFile(path)


def _npy(path: Path, target: object, header: bool, separator: str | None) -> Table:
    array = np.load(path, allow_pickle=False)
    if array.ndim != 2:
        raise ValueError(f"Its shape is {array.shape}; it has to be a table of rows and columns")
    return pd.DataFrame(array), None


def _npz(path: Path, target: object, header: bool, separator: str | None) -> Table:
    with np.load(path, allow_pickle=False) as stored:
        names = list(stored)
        pairs = [("X", "y"), ("data", "target"), ("x", "y")]
        if target is not None:
            if target not in names:
                raise ValueError(f"It holds the arrays {', '.join(names)}, and no '{target}'")
            others = [name for name in names if name != target]
            pairs = [(others[0], str(target))] if len(others) == 1 else [("X", str(target))]
        for X, y in pairs:
            if X in names and y in names:
                return columns.tabled(path.name, stored[X], stored[y])
        raise ValueError(f"It holds the arrays {', '.join(names)}, and X and y are looked for")


def _svmlight(path: Path, target: object, header: bool, separator: str | None) -> Table:
    from sklearn.datasets import load_svmlight_file

    with opened(path) as stream:
        X, y = load_svmlight_file(stream)
    return columns.tabled(path.name, X, y)


def _arff(path: Path, target: object, header: bool, separator: str | None) -> Table:
    from scipy.io import arff

    with opened(path, "rt", encoding="utf-8", errors="replace") as stream:
        records, attributes = arff.loadarff(stream)
    table = pd.DataFrame({name: records[name] for name in attributes.names()})
    for name, kind in zip(attributes.names(), attributes.types(), strict=True):
        if kind == "nominal":
            words = table[name].str.decode("utf-8")
            table[name] = words.where(words != "?").astype("category")
    return table, None


_READERS: dict[str, Callable[[Path, Any, bool, str | None], Table]] = {
    "csv": _csv,
    "tsv": _csv,
    "parquet": _parquet,
    "npy": _npy,
    "npz": _npz,
    "svmlight": _svmlight,
    "arff": _arff,
}
