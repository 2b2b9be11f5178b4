"""Data sets in a folder of the files `X.npy`, `y.npy` and `groups.npy`, which are read in blocks.

The optional file `facts.json` contains the number of training rows, which come first, and the
metadata of the data set.
"""

from __future__ import annotations

import hashlib
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rfbench.datasets import columns, stored
from rfbench.datasets.cache import hash_file
from rfbench.datasets.catalog import Entry
from rfbench.datasets.columns import Parsed
from rfbench.errors import DataError
from rfbench.rows import RowSource

_NAMES = (stored.FACTS_FILE, "X.npy", "y.npy", "groups.npy")


def write_npy_folder(folder: Path, data: Parsed) -> None:
    """Write the rows, the target and the groups of a data set into a new folder of `.npy` files.

    If writing fails, no folder remains. Raise OSError if the folder already exists or cannot be
    written.
    """
    arrays = {"X": data.X, "y": data.y, "groups": data.groups}
    about = None if data.about is None else dict(data.about)
    # fields of the catalog entry that describes the data in this folder
    facts = {"train_rows": data.n_given_train, "about": about}
    stored.write_stored_data(
        folder, facts, {k: array for k, array in arrays.items() if array is not None}
    )


def hash_npy_folder(folder: Path, task: str | None = None) -> str:
    """Return a hash of the `.npy` files in a folder and of the `task`, if it is given.

    Raise DataError if the folder does not contain the file `X.npy`.
    """
    if not (folder / "X.npy").is_file():
        raise DataError(
            f"{folder} does not contain rows.",
            "The folder needs the files X.npy and y.npy, and may have groups.npy.",
            "Correct the path, or write the files. data/README.md has an example.",
        )
    digests = {name: hash_file(folder / name) for name in _NAMES if (folder / name).is_file()}
    return hashlib.sha256(json.dumps([digests, task] if task else digests).encode()).hexdigest()


def open_npy_folder(folder: Path, task: str | None = None) -> Parsed:
    """Open a data set in a folder of `.npy` files, without reading all rows into memory.

    `task` is the kind of target. If `task` is None, it is read from `facts.json` or inferred from
    the target. Raise DataError if a file is missing or damaged, or if the files have different
    numbers of rows.
    """
    try:
        return _arrays(folder, task)
    except (MemoryError, DataError):
        raise
    # Catch all exceptions, because numpy and pydantic raise many types of errors for invalid files.
    except Exception as error:
        raise DataError(
            f"The files of {folder} do not belong together.",
            f"{' '.join(str(error).split())[:200]}.",
            "Write the files again, into a new folder.",
        ) from error


def _arrays(folder: Path, task: str | None) -> Parsed:
    mapped: Any = partial(np.load, mmap_mode="r", allow_pickle=False)
    place = folder / stored.FACTS_FILE
    facts: dict[str, Any] = json.loads(place.read_bytes()) if place.exists() else {}
    (n, d), kind = mapped(folder / "X.npy").shape, mapped(folder / "X.npy").dtype.kind
    y, about = columns.to_native_byte_order(mapped(folder / "y.npy")), facts.get("about")
    groups = np.asarray(mapped(folder / "groups.npy")) if (folder / "groups.npy").exists() else None
    if y.shape != (n,) or kind not in "fiu" or (groups is not None and groups.shape != (n,)):
        raise ValueError(
            f"X has {n} rows of the type {kind!r}, and the target has the shape {y.shape}"
        )
    if pd.isna(y).any() or np.isin(y, [np.inf, -np.inf]).any():
        raise ValueError("the target has missing or infinite values")
    if about is None or task is not None:
        target = columns.Table(folder.name, None, pd.Series(y), {})
        target.complete(task)
        y, classes, found = target.encode_target(task, ())
        target.check_no_ambiguous_cells()
        about = columns.describe_target(y, classes, found, target.notes)
    about = {**about, "rows": n, "columns": d, "train_rows": facts.get("train_rows")}
    name = folder.name
    entry = Entry.model_validate({"name": name, "title": name, "kind": "own", **about})
    source = RowSource(folder / "X.npy", d, np.arange(n))
    return Parsed(source, y, entry.train_rows, groups, about)
