"""Readers for the files of the data sets in the catalog. Each reader returns arrays.

The hashes of the files are checked before, so broken files are rare. Therefore the readers have
few checks of their own, and `read_catalog_data` checks their results.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from rfbench.datasets import arff, files
from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.catalog import Entry
from rfbench.datasets.columns import Parsed
from rfbench.errors import DataError


def read_catalog_data(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Return the rows and the target of a data set in the catalog.

    `sources` are the files of the data set. Raise DataError if a file is broken.
    """
    try:
        parsed = READERS[entry.reader](entry, sources)
        values: Any = parsed.X if isinstance(parsed.X, np.ndarray) else parsed.X.data
        if not (np.isfinite(values).all() and np.isfinite(parsed.y).all()):
            raise ValueError("a value is not finite")
        sides = parsed.X, parsed.y, parsed.groups
        if len({side.shape[0] for side in sides if side is not None}) > 1:
            raise ValueError("files that belong together have different numbers of rows")
    except (DataError, MemoryError):
        raise
    except Exception as error:  # damaged files make the libraries raise many types of errors
        raise DataError(
            f"The files of {entry.name} cannot be read: {' '.join(str(error).split())[:300]}.",
            "A file is damaged, or is a different version.",
            "Remove the files and download them again.",
        ) from error
    return parsed


def _contents(sources: Sequence[FoundFiles]) -> Iterator[bytes]:
    """Yield the decompressed content of each file, one file at a time."""
    for source in sources:
        yield from source.read().values()


def _table(
    content: bytes,
    fields: int,
    *,
    text: Collection[int] = (),
    separator: str | None = ",",
    comment: str | None = None,
) -> pd.DataFrame:
    """Return a table from delimited text without a header, with `fields` fields per line.

    The columns at the positions in `text` are strings, and all other columns are numbers. If
    `separator` is None, fields are separated by blanks. Raise ValueError if a number cannot be
    read.
    """
    table: pd.DataFrame = files.read_delimited(
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
    return table


def _codes(labels: pd.Series[Any], codes: Mapping[str, int]) -> NDArray[np.int64]:
    """Return the class codes of labels, as defined by the dictionary `codes`.

    A whole number may be written with decimals: the label ``1.0`` has the same code as ``1``.
    """
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
    """Join the rows of several files of a data set.

    If there are more than `count` files, the rows of the first `count` files are the training set.
    """
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
    """Read text files of numbers and categories, one column of which is the target.

    The catalog entry of the data set has these options:

    - `fields`: the number of fields per line.
    - `separator`: the separator of the fields.
    - `header`: True if line 1 contains names.
    - `target`, `drop`, `group`, `words`: positions of columns, or names if there is a header. A
      column in `words` contains categories, and becomes one column of 0 and 1 per category.
    - `replace`: a number and its replacement.
    - `permuted`: a seed and a number n of rows, for the split of published code. The first n rows
      are permuted by numpy's default generator. The training set is the beginning of the
      permutation and the test set its end.
    """
    fields, separator = int(entry.options["fields"]), str(entry.options.get("separator", ","))
    parts = []
    for content in _contents(sources):
        names: list[Any] = list(range(fields))
        if entry.options.get("header"):
            top, _, content = content.partition(b"\n")
            names = [field.strip() for field in top.decode("latin-1").split(separator)]
        chosen = _chosen(entry, names)
        text = [*chosen["drop"], *chosen["words"], *([chosen["target"]] if entry.classes else [])]
        table = _table(content, fields, text=text, separator=separator)
        parts.append(_shaped(entry, table, **chosen))
    joined = _join(entry, parts, sources[0].count)
    if "permuted" not in entry.options:
        return joined
    seed, n = entry.options["permuted"]
    # Some files have one line more than the catalog entry states. The last line is then ignored.
    if not n <= len(joined.y) <= n + 1:
        raise ValueError(f"it has {len(joined.y):,} lines instead of {n:,}")
    order = np.random.default_rng(seed).permutation(n)
    test = entry.rows - int(entry.train_rows or 0)
    rows = np.concatenate([order[: entry.train_rows], order[n - test :]])
    return replace(joined, X=joined.X[rows], y=joined.y[rows])


def _chosen(entry: Entry, names: Sequence[Any]) -> dict[str, Any]:
    """Return the positions of the target, of the group, and of the other columns in the options.

    `names` are the names or the positions of all columns.
    """

    def position(column: int | str) -> int:
        return column % len(names) if isinstance(column, int) else names.index(column)

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
    """Return the rows, the target and the groups of a table with numbered columns.

    The features are the numeric columns, followed by one column of 0 and 1 per category for each
    column in `words`. `target`, `drop`, `words` and `group` are column numbers.
    """
    special = [*drop, *words, target, *([] if group is None else [group])]
    blocks = [table.drop(columns=special).to_numpy(dtype=np.float64)]
    for column in words:
        codes, values = pd.factorize(table[column].str.strip(), sort=True)
        blocks.append(np.eye(len(values))[codes])
    # Copy the rows, because pandas may return a read-only view of its own memory.
    X = np.require(np.hstack(blocks) if words else blocks[0], requirements=["C", "W"])
    if "replace" in entry.options:
        old, new = entry.options["replace"]
        X[old == X] = new
    y: NDArray[Any] = (
        _codes(table[target], entry.codes) if entry.classes else table[target].to_numpy(copy=True)
    )
    return Parsed(X, y, groups=None if group is None else table[group].to_numpy(dtype=np.int64))


def read_arff(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read one ARFF file of a data set in the catalog.

    The options of the catalog entry are `fields`, `target`, `drop`, `group` and `words`, as in
    `read_table`, with column positions. The option `leave_out` contains the indices of rows that do
    not belong to the data.
    """
    (content,) = _contents(sources)
    chosen = _chosen(entry, range(int(entry.options["fields"])))
    text = [*chosen["words"], *([chosen["target"]] if entry.classes else [])]
    table, _ = arff.read_arff(content.decode("utf-8", errors="replace"))
    table.columns = pd.RangeIndex(table.shape[1])
    parsed = _shaped(entry, table.astype(dict.fromkeys(text, str)), **chosen)
    rows = ~np.isin(np.arange(len(parsed.y)), entry.options.get("leave_out", ()))
    return Parsed(parsed.X[rows], parsed.y[rows])


_ADULT = {
    "age": "",
    "workclass": (
        "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay "
        "Never-worked ?"
    ),
    "fnlwgt": "",
    "education": (
        "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th "
        "Masters 1st-4th 10th Doctorate 5th-6th Preschool"
    ),
    "education-num": "",
    "marital-status": (
        "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent "
        "Married-AF-spouse"
    ),
    "occupation": (
        "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty "
        "Handlers-cleaners Machine-op-inspct Adm-clerical Farming-fishing Transport-moving "
        "Priv-house-serv Protective-serv Armed-Forces ?"
    ),
    "relationship": "Wife Own-child Husband Not-in-family Other-relative Unmarried",
    "race": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black",
    "sex": "Female Male",
    "capital-gain": "",
    "capital-loss": "",
    "hours-per-week": "",
    "native-country": (
        "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) "
        "India Japan Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica "
        "Vietnam Mexico Portugal Ireland France Dominican-Republic Laos Ecuador Taiwan Haiti "
        "Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia El-Salvador "
        "Trinadad&Tobago Peru Hong Holand-Netherlands ?"
    ),
}
ADULT = {name: tuple(text.split()) for name, text in _ADULT.items()}
"""The columns of Adult, in the order of its documentation, with the categories of each column.

The category ``?`` (unknown) is last. An empty tuple means a numeric column.
"""


def read_adult(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read the files `adult.data` and `adult.test` of the data set Adult.

    Each category becomes a column of 0 and 1, in the place of the original column. An unknown value
    (``?``) is a separate category. A label may end in a full stop.
    """
    labels = {label + stop: code for label, code in entry.codes.items() for stop in ("", ".")}
    categories = dict(enumerate(ADULT.values()))
    text = [column for column, values in categories.items() if values]

    parts = []
    for content in _contents(sources):
        table = _table(content, 15, text=[*text, 14], comment="|")
        blocks = [
            np.eye(len(values))[_codes(table[at], {v: code for code, v in enumerate(values)})]
            if values
            else table[[at]].to_numpy()
            for at, values in categories.items()
        ]
        parts.append(Parsed(np.hstack(blocks), _codes(table[14], labels)))
    return _join(entry, parts)


def _read_svmlight(content: bytes, entry: Entry) -> Parsed:
    """Return the sparse rows and the class codes in the content of an svmlight file.

    Column numbers in the file start at 1.
    """
    codes = {float(label): code for label, code in entry.codes.items()}
    X, labels = files.read_svmlight(io.BytesIO(content), n_features=entry.columns, zero_based=False)
    if codes:
        labels = np.array([codes[label] for label in labels.tolist()], dtype=np.int64)
    arrays = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return Parsed(sparse.csr_array(arrays, shape=X.shape), labels)


def read_svmlight(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read the svmlight files of a data set.

    The rows stay sparse if the catalog entry declares sparse rows. Otherwise the rows become a
    dense array.
    """
    parts = [_read_svmlight(content, entry) for content in _contents(sources)]
    joined = _join(entry, parts)
    return joined if entry.sparse else replace(joined, X=joined.X.toarray())


def read_rcv1(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read the feature vectors of the RCV1 documents, and the topics of the documents.

    The documents in the first file are the training set. The positive class contains the documents
    with the topic in the option `topic`.
    """
    (topics,) = _contents(sources[-1:])
    # The label of a row in these files is the number of a document. Do not convert labels to
    # classes here, because the classes follow from the topics of the documents.
    plain = entry.model_copy(update={"classes": {}})
    table = _table(topics, 3, text=[0], separator=None)
    positive = table[1][table[0] == entry.options["topic"]]
    parts = [_read_svmlight(content, plain) for content in _contents(sources[:-1])]
    return _join(
        entry, [replace(part, y=np.isin(part.y, positive).astype(np.int64)) for part in parts]
    )


def read_har(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read the data set HAR (human activity recognition), with a group for each subject.

    Three consecutive files contain the features, the activities and the subjects of the same rows.
    The files of the training set are first.
    """
    parts, contents = [], _contents(sources)
    for rows, labels, subjects in zip(contents, contents, contents, strict=True):
        X = _table(rows, entry.columns, separator=None).to_numpy()
        y = _codes(_table(labels, 1, text=[0])[0], entry.codes)
        groups = _table(subjects, 1)[0].to_numpy(dtype=np.int64)
        parts.append(Parsed(np.ascontiguousarray(X), y, groups=groups))
    return _join(entry, parts)


def read_idx(entry: Entry, sources: Sequence[FoundFiles]) -> Parsed:
    """Read images and labels from idx files, the format of MNIST.

    Files of images and of labels alternate, and the files of the training set are first. Pixels
    stay bytes.
    """
    parts, contents = [], _contents(sources)
    for pixels, labels in zip(contents, contents, strict=True):
        images = _idx(pixels, 3)
        parts.append(Parsed(images.reshape(len(images), -1), _idx(labels, 1).astype(np.int64)))
    return _join(entry, parts)


def _idx(content: bytes, dimensions: int) -> NDArray[np.uint8]:
    _, *shape = np.frombuffer(content, ">u4", 1 + dimensions).tolist()
    return np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


READERS: dict[str, Callable[[Entry, Sequence[FoundFiles]], Parsed]] = {
    "adult": read_adult,
    "arff": read_arff,
    "har": read_har,
    "idx": read_idx,
    "rcv1": read_rcv1,
    "svmlight": read_svmlight,
    "table": read_table,
}
"""Readers by the name that a catalog entry uses.

The name is a part of the identity of the data. A reader that returns different rows for the same
files gets a new name.
"""
