"""The original file formats to arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rfbench.arrays import Rows
from rfbench.datasets import adult, svmlight, tables
from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.catalog import Entry
from rfbench.datasets.tables import DelimitedText, broken


@dataclass(frozen=True)
class Parsed:
    """What a reader returns; rows of the published training part come first."""

    X: Rows
    y: NDArray[Any]  # int64 class codes, or the float64 target of a regression
    n_given_train: int | None = None
    groups: NDArray[np.int64] | None = None
    # Of data of one's own: what a catalogue would say of them, as JSON values.
    about: Mapping[str, Any] | None = None


def _files(sources: Sequence[FoundFiles]) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of files, one after the other."""
    for source in sources:
        yield from source.read().items()


def read_table(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read delimited text: rows of numbers with a target among them.

    The entry's options: `fields` (number of fields a line), `separator`, `comment`, `header`
    (whether line 1 holds names), `target`, `drop`, `group` (positions, or names where there is a
    header), `replace` (a number and what to put for it).
    """
    parts = [_table_part(entry, name, content) for name, content in _files(sources)]
    return _join(entry, parts, sources[0].count)


def _table_part(entry: Entry, name: str, content: bytes, skip: int = 0) -> Parsed:
    options = entry.options
    fields = int(options["fields"])
    separator = str(options.get("separator", ","))
    position = _positions(options, name, content, separator)
    target = position(options["target"])
    dropped = [position(column) for column in options.get("drop", ())]
    group = position(options["group"]) if "group" in options else None
    text = [*dropped, target] if entry.classes else dropped
    table = tables.parse(
        content,
        name,
        columns=fields,
        separator=separator,
        skip=skip + bool(options.get("header")),
        comment=str(options.get("comment", "")),
        text=text,
    )
    numeric = [column for column in range(fields) if column not in text]
    apart = [numeric.index(column) for column in (target, group) if column in numeric]
    X = np.delete(table.numbers, apart, axis=1) if apart else table.numbers
    if "replace" in options:
        old, new = options["replace"]
        X[old == X] = new
    if entry.classes:
        y: NDArray[Any] = table.codes(target, entry.codes)
    else:
        y = table.numbers[:, numeric.index(target)].copy()
    groups = None if group is None else _whole(table, numeric.index(group))
    if "leave_out" in options:
        kept = ~np.isin(np.arange(len(y)), options["leave_out"])
        X, y, groups = X[kept], y[kept], None if groups is None else groups[kept]
    return Parsed(X, y, groups=groups)


def _positions(
    options: Mapping[str, Any], name: str, content: bytes, separator: str
) -> Callable[[int | str], int]:
    """Return the function that turns a column's name (or position) into its position."""
    header: list[str] = []
    if options.get("header"):
        top = content.split(b"\n", 1)[0].decode("latin-1")
        header = [field.strip() for field in top.split(separator)]
        if len(header) != int(options["fields"]):
            raise broken(name, 1, f"{len(header)} names where {options['fields']} are expected")

    def position(column: int | str) -> int:
        if isinstance(column, int):
            return column % int(options["fields"])
        if column not in header:
            raise broken(name, 1, f"no column is named '{column}'")
        return header.index(column)

    return position


def _whole(table: DelimitedText, column: int) -> NDArray[np.int64]:
    values = table.numbers[:, column]
    for row in np.flatnonzero((values != np.round(values)) | (np.abs(values) > 2**53))[:1]:
        raise broken(table.name, table.lines[row], f"{values[row]} is not a whole number")
    return values.astype(np.int64)


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


def read_arff(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read one ARFF file of numeric attributes whose last attribute is the class."""
    ((name, content),) = _files(sources)
    for number, line in enumerate(content.splitlines(), start=1):
        if line.strip().lower() == b"@data":
            return _table_part(entry, name, content, skip=number)
    raise broken(name, None, "no line '@DATA'")


def read_adult(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read `adult.data` and `adult.test`: numbers, and one column for each category.

    Columns keep their order; a value that is not known (``?``) is a category of its own. A label
    may end in a full stop.
    """
    labels = {label + stop: code for label, code in entry.codes.items() for stop in ("", ".")}
    categories = list(adult.COLUMNS.values())
    text = [column for column, values in enumerate(categories) if values]
    parts = []
    for name, content in _files(sources):
        table = tables.parse(content, name, columns=15, comment="|", text=[*text, 14])
        numbers = iter(table.numbers.T)
        blocks: list[NDArray[np.float64]] = []
        for column, values in enumerate(categories):
            if values:
                codes = table.codes(column, {value: code for code, value in enumerate(values)})
                blocks.append(np.eye(len(values))[codes])
            else:
                blocks.append(next(numbers)[:, None])
        parts.append(Parsed(np.hstack(blocks), table.codes(14, labels)))
    return _join(entry, parts)


def read_svmlight(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read svmlight files; the rows stay sparse where the entry says so."""
    codes = {float(label): code for label, code in entry.codes.items()}
    parts = []
    for name, content in _files(sources):
        X, y, lines = svmlight.parse(content, name, entry.columns)
        for label, line in zip(y.tolist() if codes else (), lines, strict=False):
            if label not in codes:
                raise broken(name, line, f"{label:g} is not a known label")
        known: Any = np.array([codes[label] for label in y.tolist()], np.int64) if codes else y
        parts.append(Parsed(X if entry.sparse else X.toarray(), known))
    return _join(entry, parts)


def read_rcv1(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read the RCV1 vectors (training file first) and, last, the topics of the documents.

    The option `topic` names the positive class.
    """
    ((topics, content),) = _files(sources[-1:])
    has = svmlight.parse_topics(content, topics, str(entry.options["topic"]))
    parts = []
    for name, content in _files(sources[:-1]):
        X, labels, _ = svmlight.parse(content, name, entry.columns)
        documents = [int(label) for label in labels]
        for document in documents:
            if document not in has:
                raise broken(name, None, f"document {document} has no topic in {topics}")
        parts.append(Parsed(X, np.array([has[each] for each in documents], dtype=np.int64)))
    return _join(entry, parts)


def read_har(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read triples of text files: features, activity, subject; training files first."""
    parts, files = [], _files(sources)
    for triple in zip(files, files, files, strict=True):
        features, activity, subject = (
            tables.parse(content, name, columns=width, separator=None, text=text)
            for (name, content), width, text in zip(
                triple, (entry.columns, 1, 1), ((), (0,), ()), strict=True
            )
        )
        for other in (activity, subject):
            if len(other.lines) != len(features.lines):
                reason = f"{len(other.lines)} rows, but {features.name} has {len(features.lines)}"
                raise broken(other.name, None, reason)
        parts.append(
            Parsed(features.numbers, activity.codes(0, entry.codes), groups=_whole(subject, 0))
        )
    return _join(entry, parts)


def read_idx(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read pairs of idx files, images and labels, training files first; pixels stay bytes."""
    parts, files = [], _files(sources)
    for (name, content), (labels_name, labels_content) in zip(files, files, strict=True):
        images, labels = _idx(content, name, 3), _idx(labels_content, labels_name, 1)
        if len(images) != len(labels):
            raise broken(name, None, f"{len(images)} images and {len(labels)} labels")
        if labels.max() >= len(entry.classes):
            row = int(np.argmax(labels >= len(entry.classes)))
            reason = f"label {labels[row]} of row {row + 1} is not below {len(entry.classes)}"
            raise broken(labels_name, None, reason)
        parts.append(Parsed(images.reshape(len(images), -1), labels.astype(np.int64)))
    return _join(entry, parts)


def _idx(content: bytes, name: str, dimensions: int) -> NDArray[np.uint8]:
    start = 4 + 4 * dimensions
    if len(content) < start:
        raise broken(name, None, f"{len(content)} bytes are too few for an idx file")
    magic, *shape = np.frombuffer(content, ">u4", 1 + dimensions).tolist()
    if magic != 0x800 + dimensions:
        reason = f"the magic number is {magic:#x}, not {0x800 + dimensions:#x}"
        raise broken(name, None, reason)
    values = np.frombuffer(content, np.uint8, offset=start)
    size = math.prod(shape)
    if values.size != size or size == 0:
        reason = f"{values.size} values where the shape {shape} needs {size}"
        raise broken(name, None, reason)
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
