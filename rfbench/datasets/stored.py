"""Storage of data sets in folders of `.npy` files and a file `facts.json`, without pickles.

Each array is a separate file, which can be memory-mapped. The numeric columns of a table are
stored as one array. Strings are stored as integer codes and a list of distinct strings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from rfbench import files
from rfbench.datasets.columns import Parsed

FACTS_FILE = "facts.json"
Arrays = dict[str, NDArray[Any]]
SPARSE = ("data", "indices", "indptr")


def write_stored_data(
    folder: Path, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write arrays as `.npy` files, and `facts` as `facts.json`, into a new folder.

    If writing fails, no folder remains. Raise OSError if the folder already exists or cannot be
    written.
    """
    with files.stage_folder(folder) as stage:
        for name, array in arrays.items():
            files.save_array(stage / f"{name}.npy", array)
        files.replace(stage / FACTS_FILE, json.dumps(facts, indent=1).encode())


def split_into_json_and_arrays(data: Parsed) -> tuple[dict[str, Any], Arrays] | None:
    """Return the content of a data set as a dictionary of JSON values and a dictionary of arrays.

    The result is None if the data set contains values of a type that cannot be stored.
    """
    facts: dict[str, Any] = {"n_given_train": data.n_given_train, "about": data.about}
    arrays = {"y": np.asarray(data.y)}
    if data.groups is not None:
        arrays["groups"] = np.asarray(data.groups)
    X = data.X
    if isinstance(X, pd.DataFrame):
        table = _table(X)
        if table is None:
            return None
        facts["columns"], more = table
    elif isinstance(X, sparse.csr_array):
        facts["shape"] = list(map(int, X.shape))
        more = {name: getattr(X, name) for name in SPARSE}
    elif isinstance(X, np.ndarray):
        more = {"X": X}
    else:
        return None
    arrays |= more
    return None if any(array.dtype.hasobject for array in arrays.values()) else (facts, arrays)


def read_stored_data(folder: Path) -> Parsed:
    """Return the data set that `write_stored_data` has stored in a folder.

    If a file is damaged, any type of error may be raised.
    """
    facts = json.loads((folder / FACTS_FILE).read_bytes())
    arrays = {
        file.stem: np.load(file, mmap_mode="r", allow_pickle=False) for file in folder.glob("*.npy")
    }
    X: Any
    if "columns" in facts:
        X = _dataframe(facts["columns"], arrays)
    elif "shape" in facts:
        X = sparse.csr_array(tuple(arrays[name] for name in SPARSE), shape=facts["shape"])
    else:
        X = arrays["X"]
    y, groups = arrays["y"], arrays.get("groups")
    if not X.shape[0] == len(y) == len(y if groups is None else groups):
        raise ValueError("The arrays have different numbers of rows.")
    return Parsed(X, y, facts["n_given_train"], groups, facts["about"])


def _table(X: pd.DataFrame) -> tuple[list[Any], Arrays] | None:
    """Return a list that describes the columns of a table, and arrays with their values.

    The list can be stored as JSON. The result is None if a column has a type that cannot be stored.
    """
    columns: list[Any] = []
    numbers, codes = [], []
    words: list[bytes] = []
    for name in X:
        column = X[name]
        if column.dtype == np.float64:
            columns.append([name, "numbers"])
            numbers.append(column.to_numpy())
            continue
        if isinstance(column.dtype, pd.CategoricalDtype):
            own, different = column.cat.codes.to_numpy(), column.cat.categories
            kind = "ordered" if column.cat.ordered else "categories"
        elif column.dtype == object:
            kind, (own, different) = "words", pd.factorize(column)
        else:
            return None
        whole = all(each is None for each in column[column.isna()]) or kind != "words"
        if not (whole and all(type(each) is str for each in different)):
            return None
        columns.append([name, kind, len(different), str(different.dtype)])
        codes.append(np.asarray(own, dtype=np.int32))
        words += [word.encode(errors="surrogatepass") for word in different]
    if not all(type(name) is str for name in X):
        return None
    arrays: Arrays = {
        "numbers": np.array(numbers, dtype=np.float64),
        "codes": np.array(codes, dtype=np.int32),
        "words": np.frombuffer(b"".join(words), dtype=np.uint8),
        "ends": np.cumsum([len(word) for word in words], dtype=np.int64),
    }
    if not _is_plain(X.index):
        arrays["index"] = X.index.to_numpy()
    return columns, arrays


def _is_plain(index: pd.Index[Any]) -> bool:
    return isinstance(index, pd.RangeIndex) and index.equals(pd.RangeIndex(len(index)))


def _dataframe(columns: list[Any], arrays: Arrays) -> pd.DataFrame:
    """Return the table with the given column descriptions and arrays, the inverse of `_table`."""
    content, ends = arrays["words"].tobytes(), [0, *arrays["ends"].tolist()]
    words = iter(content[a:b].decode(errors="surrogatepass") for a, b in pairwise(ends))
    numbers, codes = iter(arrays["numbers"]), iter(arrays["codes"])
    read: dict[str, Any] = {}
    for name, kind, *different in columns:
        if kind == "numbers":
            read[name] = next(numbers)
            continue
        count, dtype = different
        own, values = next(codes), [next(words) for _ in range(count)]
        if kind == "words":  # missing values have the code -1
            read[name] = pd.Series(np.array([*values, None], dtype=object)[own], dtype=object)
        else:
            categories = pd.Index(values, dtype=dtype)
            read[name] = pd.Categorical.from_codes(own, categories, ordered=kind == "ordered")
    table = pd.DataFrame(read, copy=False)
    return table.set_axis(arrays["index"]) if "index" in arrays else table
