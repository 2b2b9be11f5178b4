"""Rows in a folder of `.npy` files: packed data, and the cache of what was parsed.

`X.npy` (`X.npz` where the rows are sparse), `y.npy` and, where there are groups, `groups.npy` are
numpy's own; `facts.json` says what a catalogue's entry would.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import numpy as np
from pydantic import BaseModel, ConfigDict, PositiveInt
from scipy import sparse

from rfbench.arrays import FloatArray
from rfbench.datasets import hashes
from rfbench.datasets.columns import Parsed
from rfbench.datasets.hashes import file_sha256, sha256_of
from rfbench.datasets.tables import Schema
from rfbench.errors import DataError
from rfbench.rows import RowSource

log = logging.getLogger(__name__)

FACTS = "facts.json"
_NAMES = (FACTS, "X.npy", "X.npz", "y.npy", "groups.npy")
_OLD_SECONDS = 3600


class Facts(BaseModel):
    """What `facts.json` says: the first `train_rows` rows train, `table` names the columns."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    train_rows: PositiveInt | None
    about: dict[str, Any] | None  # of data of one's own: fields of a catalogue's entry
    table: Schema | None


def write(folder: Path, data: Parsed, *, dtype: str = "float64", source: str | None = None) -> None:
    """Write rows into a new folder, which appears whole or not at all.

    The X of `data` is an array, sparse rows, or blocks of shape (b, d) in their order, of which one
    at a time is in memory. `dtype`, float64 or float32, is that of the rows in the file;
    they are read in float64 all the same. With a `source` it is a cache, which takes
    the place of another one. OSError if the folder is there already or cannot be written, DataError
    if a value of a block is too large for `dtype`, or, but for those of a table, not finite.
    """
    stage = folder.with_name(f".{folder.name}-{uuid4().hex}")
    X: Any = data.X
    about = None if data.about is None else dict(data.about)
    facts = Facts(train_rows=data.n_given_train, about=about, table=data.schema)
    try:
        _sweep(folder)
        stage.mkdir(parents=True)
        if hasattr(X, "tocsr"):
            sparse.save_npz(stage / "X.npz", sparse.csr_array(X), compressed=False)
        elif isinstance(X, np.ndarray):
            np.save(stage / "X.npy", X.astype(dtype, copy=False))
        else:
            with (stage / "X.npy").open("wb") as file:
                _stream(file, X, len(data.y), np.dtype(dtype), gaps=data.schema is not None)
        np.save(stage / "y.npy", data.y)
        if data.groups is not None:
            np.save(stage / "groups.npy", data.groups)
        (stage / FACTS).write_text(facts.model_dump_json(indent=1), encoding="utf-8")
        if source:
            hashes.remember(f"cache|{source}", identity(stage, sha256_of))
        if source and folder.exists() and not _believed(folder, source):
            _remove(folder)
        os.replace(stage, folder)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _stream(
    file: IO[bytes], blocks: Iterable[FloatArray], n: int, dtype: np.dtype[Any], *, gaps: bool
) -> None:
    """Write blocks as one array of n rows: through a map a full disk would end the process."""
    rows = 0
    for block in blocks:
        if not file.tell():
            header = {"descr": dtype.str, "fortran_order": False, "shape": (n, block.shape[1])}
            np.lib.format.write_array_header_1_0(file, header)
        with np.errstate(over="ignore"):
            cast = np.ascontiguousarray(block, dtype=dtype)
        if not (np.isfinite(cast) | (gaps & ~np.isfinite(block))).all():
            raise DataError(f"A value is NaN, infinite or too large for {dtype}.")
        file.write(cast.data)
        rows += len(cast)
    if rows != n:
        raise ValueError(f"{rows} rows have {n} targets")


def _sweep(folder: Path) -> None:
    """Remove what writers that were killed left, once it is older than any write takes."""
    name = f".{glob.escape(folder.name)}-{'[0-9a-f]' * 32}"
    for stage in folder.parent.glob(name):
        with contextlib.suppress(OSError):  # another one sweeps as well
            if stage.stat().st_mtime < time.time() - _OLD_SECONDS:
                shutil.rmtree(stage)


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):  # it is a file
        folder.unlink()


def identity(folder: Path, sha256: Callable[[Path], str] = file_sha256) -> str:
    """Return the hash of all that packed data say; DataError if there are none."""
    _facts(folder)
    digests = {name: sha256(folder / name) for name in _NAMES if (folder / name).is_file()}
    return hashlib.sha256(json.dumps(digests).encode()).hexdigest()


def _facts(folder: Path) -> Facts:
    try:
        return Facts.model_validate_json((folder / FACTS).read_bytes())
    except (OSError, ValueError) as error:
        if (folder / "packed.json").exists():
            raise DataError(
                f"{folder} was packed by an earlier version of rfbench.",
                "Rows are plain .npy files now.",
                "Pack its file again: `rfbench data pack FILE NEW_FOLDER --target COLUMN`.",
            ) from None
        raise DataError(
            f"{folder} holds no packed data.",
            f"{FACTS} cannot be read: {' '.join(str(error).split())[:200]}.",
            "Correct the path, or pack a file: `rfbench data pack FILE FOLDER`.",
        ) from error


def read(folder: Path, *, on_disk: bool = True) -> Parsed:
    """Return rows that `write` wrote: as a source that stays on disk, or as arrays.

    DataError if there are no facts, or a file is missing, torn, or has another number of rows than
    the others. Nothing is unpickled.
    """
    facts = _facts(folder)
    try:
        return _arrays(folder, facts, on_disk)
    except MemoryError:
        raise
    except Exception as error:  # of a strange file numpy raises almost anything
        raise DataError(
            f"The arrays of {folder} do not fit together.",
            f"{' '.join(str(error).split())[:200]}.",
            "Pack the data again, into a new folder.",
        ) from error


def _arrays(folder: Path, facts: Facts, on_disk: bool) -> Parsed:
    mapped: Any = partial(np.load, mmap_mode="r", allow_pickle=False)
    y = np.asarray(mapped(folder / "y.npy"))
    groups = np.asarray(mapped(folder / "groups.npy")) if (folder / "groups.npy").exists() else None
    X: Any
    if on_disk or not (folder / "X.npz").exists():
        X = np.asarray(mapped(folder / "X.npy"))
    else:
        X = sparse.load_npz(folder / "X.npz")
    (n, d), train, about = X.shape, facts.train_rows, facts.about
    if len(y) != n or X.dtype.kind not in "fiu" or (on_disk and about is None):
        raise ValueError(f"They have {n} rows and {len(y)} targets of {about}")
    if about is not None and on_disk:
        X = RowSource(folder / "X.npy", d, np.arange(n))
        width = about.get("columns") or d
        about = {**about, "rows": n, "columns": width, "train_rows": train}
    return Parsed(X, y, train, groups, about, facts.table)


def cache_folder() -> Path:
    """Return where parsed rows are kept: in the data folder, else in that of the user."""
    folder = hashes.data_folder()
    return (folder if os.access(folder, os.W_OK) else hashes.user_folder()) / "cache"


def store(folder: Path, parsed: Parsed, source: str) -> Parsed:
    """Write parsed rows to the cache and return them as they are read there, dense ones as a map.

    `source` is the identity of the data. Of several writers, which write the same, any may win.
    Where nothing can be written, the rows are returned as they came.
    """
    try:
        write(folder, parsed, source=source)
    except OSError as error:
        if not folder.exists():
            log.warning("%s cannot be written, so it is parsed each time: %s", folder, error)
    return cached(folder, source) or parsed


def _believed(folder: Path, source: str) -> bool:
    """Whether this user has written just this as the cache of a source.

    A cache may have come with somebody else's files: what it says of itself is no proof.
    """
    with contextlib.suppress(OSError, DataError):
        return hashes.recall(f"cache|{source}") == identity(folder)
    return False


def cached(folder: Path, source: str) -> Parsed | None:
    """Return what `store` wrote; None if this user did not, or if it is no longer the same."""
    if not folder.exists() or not _believed(folder, source):
        return None
    try:
        return read(folder, on_disk=False)
    except (DataError, OSError) as error:
        log.warning("%s cannot be used and is made anew: %s", folder, error)
        _remove(folder)
        return None
