"""The files of the catalogue's data sets to arrays, with errors that name the file.

Their hashes are known, so that hardly one is broken.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from rfbench.datasets import adult, files
from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.catalog import Entry
from rfbench.datasets.columns import Parsed
from rfbench.errors import DataError

_FAULTS = ValueError, OverflowError, pd.errors.ParserWarning


def broken(name: str, reason: str) -> DataError:
    """Return the error for a file that is not in its format."""
    return DataError(
        f"{name}: {' '.join(reason.split()).rstrip('.')}.",
        "The file is damaged or of another version.",
        "Remove the file and get it again.",
    )


def _contents(sources: Sequence[FoundFiles]) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of files, one after the other."""
    for source in sources:
        yield from source.read().items()


@contextmanager
def _named(name: str, content: bytes) -> Iterator[None]:
    """Name the file in what its readers refuse."""
    if not content.strip():
        raise broken(name, "no rows")
    try:
        yield
    except _FAULTS as error:
        raise broken(name, str(error)) from None


def _table(
    content: bytes,
    fields: int,
    *,
    text: Collection[int] = (),
    separator: str | None = ",",
    comment: str | None = None,
) -> pd.DataFrame:
    """Return delimited text without names or quoting, so many fields per line.

    Columns are known by their positions. Those of `text` are words, all others finite numbers;
    ValueError if they are not. A `separator` of None means blanks.
    """
    with files.no_losses():
        table: pd.DataFrame = files.delimited(
            io.BytesIO(content),
            sep=separator or r"\s+",
            header=None,
            names=range(fields),
            dtype={column: str if column in text else np.float64 for column in range(fields)},
            comment=comment,
            quoting=csv.QUOTE_NONE,
            na_filter=False,
            encoding="latin-1",
        )
    if separator and not comment and content.count(separator.encode()) != len(table) * (fields - 1):
        raise ValueError(f"not {fields} fields")
    _finite(table.drop(columns=list(text)).to_numpy())
    return table


def _finite(values: NDArray[np.float64]) -> None:
    for position in np.argwhere(~np.isfinite(values))[:1]:
        raise ValueError(f"{values[tuple(position)]} is not a finite number")


def _whole(values: pd.Series[Any]) -> NDArray[np.int64]:
    for value in values[(values != np.round(values)) | (np.abs(values) > 2**53)][:1]:
        raise ValueError(f"{value} is not a whole number")
    return values.to_numpy(dtype=np.int64)


def _codes(labels: pd.Series[Any], codes: Mapping[str, int]) -> NDArray[np.int64]:
    """Return the class codes of words; a label may be written as ``1`` or ``1.0``."""
    numbers, levels = pd.factorize(labels.str.strip())
    of_word = np.array([_code(word, codes) for word in levels], dtype=np.int64)
    for word in levels[of_word < 0][:1]:
        raise ValueError(f"'{word[:40]}' is not one of the labels {', '.join(codes)}")
    return of_word[numbers]


def _code(label: str, codes: Mapping[str, int]) -> int:
    if label in codes:
        return codes[label]
    try:
        return codes.get(format(float(label), "g"), -1)
    except ValueError:
        return -1


def _join(entry: Entry, parts: Sequence[Parsed], count: int = 1) -> Parsed:
    """Put files together, of which the first `count` are the training part, if there are more."""
    X, *more = [part.X for part in parts]
    if more:
        dense = isinstance(X, np.ndarray)
        X = np.concatenate([X, *more]) if dense else sparse.vstack([X, *more], format="csr")
    groups = [part.groups for part in parts if part.groups is not None]
    return Parsed(
        X,
        np.concatenate([part.y for part in parts]),
        sum(len(part.y) for part in parts[:count]) if len(parts) > count else entry.train_rows,
        np.concatenate(groups) if groups else None,
    )


def read_table(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read delimited text: rows of numbers with a target among them.

    The entry's options: `fields` (number of fields per line), `separator`, `header` (whether line 1
    holds names), `target`, `drop`, `group`, `words` (positions, or names where there is a header;
    of words, one column per value), `replace` (a number and what to put for it).
    """
    fields, separator = int(entry.options["fields"]), str(entry.options.get("separator", ","))
    parts = []
    for name, content in _contents(sources):
        names: list[Any] = list(range(fields))
        if entry.options.get("header"):
            top, _, content = content.partition(b"\n")
            names = [field.strip() for field in top.decode("latin-1").split(separator)]
            if len(names) != fields:
                raise broken(name, f"{len(names)} names where {fields} are expected")
        chosen = _chosen(entry, name, names)
        text = [*chosen["drop"], *chosen["words"], *([chosen["target"]] if entry.classes else [])]
        with _named(name, content):
            table = _table(content, fields, text=text, separator=separator)
            parts.append(_shaped(entry, table, **chosen))
    return _join(entry, parts, sources[0].count)


def _chosen(entry: Entry, name: str, names: Sequence[Any]) -> dict[str, Any]:
    """Return the positions of the columns that the options name."""

    def position(column: int | str) -> int:
        if isinstance(column, int):
            return column % len(names)
        if column not in names:
            raise broken(name, f"no column is named '{column}'")
        return names.index(column)

    options = entry.options
    return {
        "target": position(options["target"]),
        "drop": [position(column) for column in options.get("drop", ())],
        "words": [position(column) for column in options.get("words", ())],
        "group": position(options["group"]) if "group" in options else None,
    }


def _shaped(
    entry: Entry,
    table: pd.DataFrame,
    target: int,
    drop: Sequence[int],
    words: Sequence[int],
    group: int | None,
) -> Parsed:
    """Return rows, target and groups of a table whose columns are known by their positions.

    Words follow the numbers, one column per value, in the order of the texts.
    """
    special = [*drop, *words, target, *([] if group is None else [group])]
    blocks = [table.drop(columns=special).to_numpy(dtype=np.float64)]
    for column in words:
        codes, values = pd.factorize(table[column].str.strip(), sort=True)
        blocks.append(np.eye(len(values))[codes])
    X = np.ascontiguousarray(np.hstack(blocks) if words else blocks[0])
    if "replace" in entry.options:
        old, new = entry.options["replace"]
        X[old == X] = new
    y: NDArray[Any] = (
        _codes(table[target], entry.codes) if entry.classes else table[target].to_numpy(copy=True)
    )
    return Parsed(X, y, groups=None if group is None else _whole(table[group]))


def read_arff(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read one ARFF file.

    The options are those of `read_table` that name columns, by position, `fields`, and `leave_out`:
    the numbers of rows that are no part of the data.
    """
    ((name, content),) = _contents(sources)
    fields = int(entry.options["fields"])
    chosen = _chosen(entry, name, range(fields))
    text = [*chosen["words"], *([chosen["target"]] if entry.classes else [])]
    with _named(name, content):
        table = files.arff(content)
        if table.shape[1] != fields or not len(table):
            raise ValueError(f"{table.shape} attributes and rows where {fields} are expected")
        table.columns = pd.RangeIndex(fields)
        table = table.astype(dict.fromkeys(text, str))
        _finite(table.drop(columns=text).to_numpy(dtype=np.float64))
        parsed = _shaped(entry, table, **chosen)
    rows = ~np.isin(np.arange(len(parsed.y)), entry.options.get("leave_out", ()))
    return Parsed(parsed.X[rows], parsed.y[rows])


def read_adult(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read `adult.data` and `adult.test`: numbers, and one column for each category.

    Columns keep their order; a value that is not known (``?``) is a category of its own. A label
    may end in a full stop.
    """
    labels = {label + stop: code for label, code in entry.codes.items() for stop in ("", ".")}
    categories = dict(enumerate(adult.COLUMNS.values()))
    text = [column for column, values in categories.items() if values]

    parts = []
    for name, content in _contents(sources):
        with _named(name, content):
            table = _table(content, 15, text=[*text, 14], comment="|")
            blocks = [
                np.eye(len(values))[_codes(table[at], {v: code for code, v in enumerate(values)})]
                if values
                else table[[at]].to_numpy()
                for at, values in categories.items()
            ]
            parts.append(Parsed(np.hstack(blocks), _codes(table[14], labels)))
    return _join(entry, parts)


def _read_svmlight(name: str, content: bytes, entry: Entry) -> Parsed:
    """Return sparse rows, indices from 1 to the entry's columns, with their labels as codes."""
    codes = {float(label): code for label, code in entry.codes.items()}

    with _named(name, content):
        text = re.sub(rb"#.*", b"", content)
        if b"_" in text or b"qid" in text:  # Python's 1_000 is no number here
            raise ValueError("not of the form 'label index:value ...'")
        X, labels = files.svmlight(io.BytesIO(text), n_features=entry.columns, zero_based=False)
        _finite(X.data)
        _finite(labels)
        if codes:
            for label in set(labels.tolist()) - codes.keys():
                raise ValueError(f"{label:g} is not a known label")
            labels = np.array([codes[label] for label in labels.tolist()], dtype=np.int64)
    arrays = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return Parsed(sparse.csr_array(arrays, shape=X.shape), labels)


def read_svmlight(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read svmlight files; the rows stay sparse where the entry says so."""
    parts = [_read_svmlight(name, content, entry) for name, content in _contents(sources)]
    joined = _join(entry, parts)
    return joined if entry.sparse else replace(joined, X=joined.X.toarray())


def read_rcv1(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read the RCV1 vectors (training file first) and, last, the topics of the documents.

    The option `topic` names the positive class.
    """
    ((topics, content),) = _contents(sources[-1:])
    plain = entry.model_copy(update={"classes": {}})  # the labels are numbers of documents

    with _named(topics, content):
        table = _table(content, 3, text=[0], separator=None)
        _whole(table[1])
    positive = table[1][table[0] == entry.options["topic"]]
    parts = []
    for name, content in _contents(sources[:-1]):
        part = _read_svmlight(name, content, plain)
        for document in part.y[~np.isin(part.y, table[1])][:1]:
            raise broken(name, f"document {document:g} has no topic in {topics}")
        parts.append(replace(part, y=np.isin(part.y, positive).astype(np.int64)))
    return _join(entry, parts)


def read_har(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read triples of text files: features, activity, subject; training files first."""
    parts, contents = [], _contents(sources)
    for (name, rows), (of_labels, labels), (of_subjects, subjects) in zip(
        contents, contents, contents, strict=True
    ):
        with _named(name, rows):
            X = _table(rows, entry.columns, separator=None).to_numpy()
        with _named(of_labels, labels):
            y = _codes(_table(labels, 1, text=[0])[0], entry.codes)
        with _named(of_subjects, subjects):
            groups = _whole(_table(subjects, 1)[0])
        for other, values in ((of_labels, y), (of_subjects, groups)):
            if len(values) != len(X):
                raise broken(other, f"{len(values)} rows, but {name} has {len(X)}")
        parts.append(Parsed(np.ascontiguousarray(X), y, groups=groups))
    return _join(entry, parts)


def read_idx(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read pairs of idx files, images and labels, training files first; pixels stay bytes."""
    parts, contents = [], _contents(sources)
    for (name, content), (of_labels, other) in zip(contents, contents, strict=True):
        images, labels = _idx(content, name, 3), _idx(other, of_labels, 1)
        if len(images) != len(labels):
            raise broken(name, f"{len(images)} images and {len(labels)} labels")
        if labels.max() >= len(entry.classes):
            row = int(np.argmax(labels >= len(entry.classes)))
            reason = f"label {labels[row]} of row {row + 1} is not below {len(entry.classes)}"
            raise broken(of_labels, reason)
        parts.append(Parsed(images.reshape(len(images), -1), labels.astype(np.int64)))
    return _join(entry, parts)


def _idx(content: bytes, name: str, dimensions: int) -> NDArray[np.uint8]:
    start = 4 + 4 * dimensions
    if len(content) < start:
        raise broken(name, f"{len(content)} bytes are too few for an idx file")
    magic, *shape = np.frombuffer(content, ">u4", 1 + dimensions).tolist()
    if magic != 0x800 + dimensions:
        reason = f"the magic number is {magic:#x}, not {0x800 + dimensions:#x}"
        raise broken(name, reason)
    values = np.frombuffer(content, np.uint8, offset=start)
    size = math.prod(shape)
    if values.size != size or size == 0:
        reason = f"{values.size} values where the shape {shape} needs {size}"
        raise broken(name, reason)
    return values.reshape(shape)


READERS: dict[str, Callable[[Entry, Sequence[FoundFiles]], Parsed]] = {
    "adult": read_adult,
    "arff": read_arff,
    "har": read_har,
    "idx": read_idx,
    "rcv1": read_rcv1,
    "svmlight": read_svmlight,
    "table": read_table,
}
"""By the name that an entry uses. The name belongs to the identity of the data: a reader that
makes other rows of the same files gets another one."""
