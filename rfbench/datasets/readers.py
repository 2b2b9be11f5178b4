"""The original file formats to arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
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


@dataclass(frozen=True)
class Reader:
    """A function that reads the files of an entry, and its version: a part of their identity."""

    read: Callable[[Entry, Sequence[FoundFiles]], Parsed]
    version: int


def read_table(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read delimited text: rows of numbers with a target among them.

    The entry's options: `fields` (number of fields a line), `separator`, `comment`, `header`
    (whether line 1 holds names), `target`, `drop`, `group` (positions, or names where there is a
    header), `replace` (a number and what to put for it).
    """
    parts = [
        _table_part(entry, name, content)
        for source in sources
        for name, content in source.read().items()
    ]
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
        raise broken(table.name, int(table.lines[row]), f"{values[row]} is not a whole number")
    return values.astype(np.int64)


def _join(entry: Entry, parts: Sequence[Parsed], count: int = 1) -> Parsed:
    """Put files together, of which the first `count` are the training part, if there are more."""
    n_given_train = sum(len(part.y) for part in parts[:count])
    groups = [part.groups for part in parts if part.groups is not None]
    blocks: list[Any] = [part.X for part in parts]
    if len(parts) > 1:
        dense = isinstance(blocks[0], np.ndarray)
        blocks = [np.concatenate(blocks) if dense else sparse.vstack(blocks, format="csr")]
    return Parsed(
        blocks[0] if isinstance(blocks[0], np.ndarray) else sparse.csr_array(blocks[0]),
        np.concatenate([part.y for part in parts]),
        n_given_train if len(parts) > count else entry.train_rows,
        np.concatenate(groups) if groups else None,
    )


def read_arff(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read one ARFF file of numeric attributes whose last attribute is the class."""
    (name, content), *_ = sources[0].read().items()
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
    for source in sources:
        ((name, content),) = source.read().items()
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
    for source in sources:
        ((name, content),) = source.read().items()
        X, labels = svmlight.parse(content, name, entry.columns)
        y: NDArray[Any] = labels
        if entry.classes:
            known = np.array([codes.get(label, -1) for label in labels.tolist()], dtype=np.int64)
            for row in np.flatnonzero(known < 0)[:1]:
                line = svmlight.line_of(content, int(row))
                raise broken(name, line, f"{labels[row]:g} is not a known label")
            y = known
        parts.append(Parsed(X if entry.sparse else X.toarray(), y))
    return _join(entry, parts)


def read_rcv1(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read the RCV1 vectors (training file first) and, last, the topics of the documents.

    The option `topic` names the positive class.
    """
    *vectors, topics = sources
    ((topics_name, content),) = topics.read().items()
    has = svmlight.parse_topics(content, topics_name, str(entry.options["topic"]))
    parts = []
    for source in vectors:
        ((name, content),) = source.read().items()
        X, documents = svmlight.parse(content, name, entry.columns)
        missing = [int(document) for document in documents if int(document) not in has]
        if missing:
            raise broken(name, None, f"document {missing[0]} has no topic in {topics_name}")
        parts.append(Parsed(X, np.array([has[int(each)] for each in documents], dtype=np.int64)))
    return _join(entry, parts)


def read_har(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read triples of text files: features, activity, subject; training files first."""
    parts = []
    for start in range(0, len(sources), 3):
        features, activity, subject = (
            tables.parse(content, name, columns=width, separator=None, text=text)
            for source, width, text in zip(
                sources[start : start + 3], (entry.columns, 1, 1), ((), (0,), ()), strict=True
            )
            for name, content in source.read().items()
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
    parts = []
    for start in range(0, len(sources), 2):
        images, labels = (
            _idx(content, name, dimensions)
            for source, dimensions in zip(sources[start : start + 2], (3, 1), strict=True)
            for name, content in source.read().items()
        )
        if len(images) != len(labels):
            reason = f"{len(images)} images and {len(labels)} labels"
            raise broken(", ".join(sources[start].read()), None, reason)
        if labels.size and labels.max() >= len(entry.classes):
            row = int(np.argmax(labels >= len(entry.classes)))
            reason = f"label {labels[row]} of row {row + 1} is not below {len(entry.classes)}"
            raise broken(", ".join(sources[start + 1].read()), None, reason)
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


READERS: dict[str, Reader] = {
    "adult": Reader(read_adult, 1),
    "arff": Reader(read_arff, 1),
    "har": Reader(read_har, 1),
    "idx": Reader(read_idx, 1),
    "rcv1": Reader(read_rcv1, 1),
    "svmlight": Reader(read_svmlight, 1),
    "table": Reader(read_table, 1),
}
"""The readers by the name that an entry uses."""
