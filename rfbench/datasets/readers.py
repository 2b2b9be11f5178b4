"""The files of the catalogue's data sets to arrays, with errors that name the file and the line."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from rfbench.datasets import adult, files
from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.catalog import Entry
from rfbench.datasets.columns import Parsed
from rfbench.errors import DataError

Result = TypeVar("Result")
_FAULTS = ValueError, OverflowError, pd.errors.ParserWarning


def broken(name: str, line: int | None, reason: str) -> DataError:
    """Return the error for a file that is not in its format."""
    where = name if line is None else f"{name}, line {line}"
    return DataError(
        f"{where}: {' '.join(reason.split()).rstrip('.')}.",
        "The file is damaged or of another version.",
        "Remove the file and get it again.",
    )


def _contents(sources: Sequence[FoundFiles]) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of files, one after the other."""
    for source in sources:
        yield from source.read().items()


def _by_lines(name: str, content: bytes, read: Callable[[bytes], Result], first: int = 1) -> Result:
    """Return what `read` makes of the lines of a file, of which the first has this number.

    What it refuses is looked for in halves of halves, down to one line: DataError
    names it. A second look is slow, and so taken only then.
    """
    if not content.strip():
        raise broken(name, None, "no rows")
    try:
        return read(content)
    except _FAULTS as error:
        reason = str(error)
    lines = content.splitlines(keepends=True)
    low, high = 0, len(lines)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            read(b"".join(lines[low:middle]))
            low = middle
        except _FAULTS:
            high = middle
    try:
        read(lines[low])
    except _FAULTS as error:
        raise broken(name, first + low, str(error)) from None
    raise broken(name, None, reason)


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
                reason = f"{len(names)} names where {fields} are expected"
                raise broken(name, 1, reason)
        chosen = _chosen(entry, name, names)

        def read(lines: bytes, chosen: Mapping[str, Any] = chosen) -> Parsed:
            text = [
                *chosen["drop"],
                *chosen["words"],
                *([chosen["target"]] if entry.classes else []),
            ]
            return _shaped(entry, _table(lines, fields, text=text, separator=separator), **chosen)

        parts.append(_by_lines(name, content, read, 1 + bool(entry.options.get("header"))))
    return _join(entry, parts, sources[0].count)


def _chosen(entry: Entry, name: str, names: Sequence[Any]) -> dict[str, Any]:
    """Return the positions of the columns that the options name."""

    def position(column: int | str) -> int:
        if isinstance(column, int):
            return column % len(names)
        if column not in names:
            raise broken(name, 1, f"no column is named '{column}'")
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
    mark = re.search(rb"(?im)^[ \t]*@data[ \t]*\r?\n", content)
    if mark is None:
        raise broken(name, None, "no line '@DATA'")
    top, body = content[: mark.end()], content[mark.end() :]
    fields = int(entry.options["fields"])

    def read(lines: bytes) -> Parsed:
        table = files.arff(top + lines)
        if table.shape[1] != fields:
            raise ValueError(f"{table.shape[1]} attributes where {fields} are expected")
        table.columns = pd.RangeIndex(fields)
        chosen = _chosen(entry, name, range(fields))
        text = [*chosen["words"], *([chosen["target"]] if entry.classes else [])]
        table = table.astype(dict.fromkeys(text, str))
        _finite(table.drop(columns=text).to_numpy(dtype=np.float64))
        return _shaped(entry, table, **chosen)

    parsed = _by_lines(name, body, read, 1 + top.count(b"\n"))
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

    def read(lines: bytes) -> Parsed:
        table = _table(lines, 15, text=[*text, 14], comment="|")
        blocks = [
            np.eye(len(values))[_codes(table[column], {v: code for code, v in enumerate(values)})]
            if values
            else table[[column]].to_numpy()
            for column, values in categories.items()
        ]
        return Parsed(np.hstack(blocks), _codes(table[14], labels))

    return _join(entry, [_by_lines(name, content, read) for name, content in _contents(sources)])


def _read_svmlight(name: str, content: bytes, entry: Entry) -> Parsed:
    """Return sparse rows, indices from 1 to the entry's columns, with their labels as codes."""
    codes = {float(label): code for label, code in entry.codes.items()}

    def read(lines: bytes) -> Parsed:
        text = re.sub(rb"#.*", b"", lines)
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

    return _by_lines(name, content, read)


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

    def read(lines: bytes) -> pd.DataFrame:
        table = _table(lines, 3, text=[0], separator=None)
        _whole(table[1])
        return table

    table = _by_lines(topics, content, read)
    positive = table[1][table[0] == entry.options["topic"]]
    parts = []
    for name, content in _contents(sources[:-1]):
        part = _read_svmlight(name, content, plain)
        for document in part.y[~np.isin(part.y, table[1])][:1]:
            raise broken(name, None, f"document {document:g} has no topic in {topics}")
        parts.append(replace(part, y=np.isin(part.y, positive).astype(np.int64)))
    return _join(entry, parts)


def read_har(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read triples of text files: features, activity, subject; training files first."""
    parts, contents = [], _contents(sources)
    for (name, rows), (of_labels, labels), (of_subjects, subjects) in zip(
        contents, contents, contents, strict=True
    ):
        X = _by_lines(
            name, rows, lambda lines: _table(lines, entry.columns, separator=None).to_numpy()
        )
        y = _by_lines(
            of_labels, labels, lambda lines: _codes(_table(lines, 1, text=[0])[0], entry.codes)
        )
        groups = _by_lines(of_subjects, subjects, lambda lines: _whole(_table(lines, 1)[0]))
        for other, values in ((of_labels, y), (of_subjects, groups)):
            if len(values) != len(X):
                raise broken(other, None, f"{len(values)} rows, but {name} has {len(X)}")
        parts.append(Parsed(np.ascontiguousarray(X), y, groups=groups))
    return _join(entry, parts)


def read_idx(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read pairs of idx files, images and labels, training files first; pixels stay bytes."""
    parts, contents = [], _contents(sources)
    for (name, content), (of_labels, other) in zip(contents, contents, strict=True):
        images, labels = _idx(content, name, 3), _idx(other, of_labels, 1)
        if len(images) != len(labels):
            raise broken(name, None, f"{len(images)} images and {len(labels)} labels")
        if labels.max() >= len(entry.classes):
            row = int(np.argmax(labels >= len(entry.classes)))
            reason = f"label {labels[row]} of row {row + 1} is not below {len(entry.classes)}"
            raise broken(of_labels, None, reason)
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
