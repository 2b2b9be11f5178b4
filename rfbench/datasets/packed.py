"""Rows in a folder of `.npy` files with a manifest of their hashes: packed data, and the cache."""

from __future__ import annotations

import contextlib
import glob
import logging
import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, Literal
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, PositiveInt, ValidationError
from scipy import sparse

from rfbench.arrays import FloatArray
from rfbench.datasets import hashes
from rfbench.datasets.catalog import Task
from rfbench.datasets.columns import Parsed
from rfbench.datasets.hashes import Sha256, file_sha256, sha256_of
from rfbench.datasets.tables import Schema
from rfbench.errors import DataError
from rfbench.rows import RowSource

log = logging.getLogger(__name__)

MANIFEST = "packed.json"
_CSR = ("data", "indices", "indptr")
_OLD_SECONDS = 3600


class _Facts(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class About(_Facts):
    """What a catalogue's entry would say of data of one's own."""

    kind: Literal["own"] = "own"
    task: Task
    classes: dict[str, int | None]
    note: str
    rows: PositiveInt | None = None
    columns: PositiveInt | None = None
    train_rows: PositiveInt | None = None
    sparse: bool = False
    fills_gaps: Literal[False] = False  # of manifests that were written before there were tables


class Manifest(_Facts):
    """What `packed.json` says.

    `files` are the hashes of ``NAME.npy``: rows, or data, indices and indptr of sparse ones;
    target; groups and table (the JSON of a `Schema`, as bytes), where there are such. `source` is,
    in the cache, the identity of the data, which is made of the hashes of its files.
    """

    version: Literal[2] = 2
    columns: PositiveInt
    train_rows: PositiveInt | None
    about: About | None
    source: Sha256 | None = None
    files: dict[Literal["rows", "data", "indices", "indptr", "target", "groups", "table"], Sha256]


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
    arrays = {"target": data.y} | ({} if data.groups is None else {"groups": data.groups})
    if data.schema is not None:
        arrays["table"] = np.frombuffer(data.schema.model_dump_json().encode(), dtype=np.uint8)
    try:
        _sweep(folder)
        stage.mkdir(parents=True)
        if hasattr(X, "tocsr"):
            arrays |= {name: getattr(X, name) for name in _CSR}
            columns = X.shape[1]
        elif isinstance(X, np.ndarray):
            arrays["rows"] = X.astype(dtype, copy=False)
            columns = X.shape[1]
        else:
            with (stage / "rows.npy").open("wb") as file:
                columns = _stream(file, X, len(data.y), np.dtype(dtype), gaps="table" in arrays)
        for name, array in arrays.items():
            np.save(stage / f"{name}.npy", array)
        manifest = Manifest(
            columns=columns,
            train_rows=data.n_given_train,
            about=None if data.about is None else About(**data.about),
            source=source,
            files={path.stem: sha256_of(path) for path in sorted(stage.iterdir())},  # type: ignore[misc]
        )
        (stage / MANIFEST).write_text(manifest.model_dump_json(indent=1), encoding="utf-8")
        if source:
            hashes.remember(f"cache|{source}", sha256_of(stage / MANIFEST))
        if source and folder.exists() and not _believed(folder, source):
            _remove(folder)
        os.replace(stage, folder)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _stream(
    file: IO[bytes], blocks: Iterable[FloatArray], n: int, dtype: np.dtype[Any], *, gaps: bool
) -> int:
    """Write blocks as one array of n rows; return the number of columns."""
    rows = columns = 0
    for block in blocks:
        if not columns:
            columns = block.shape[1]
            header = {"descr": dtype.str, "fortran_order": False, "shape": (n, columns)}
            np.lib.format.write_array_header_1_0(file, header)
        with np.errstate(over="ignore"):
            cast = np.ascontiguousarray(block, dtype=dtype)
        if not (np.isfinite(cast) | (gaps & ~np.isfinite(block))).all():
            raise DataError(f"A value is NaN, infinite or too large for {dtype}.")
        file.write(cast.data)
        rows += len(cast)
    if rows != n:
        raise ValueError(f"{rows} rows have {n} targets")
    return columns


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


def identity(folder: Path) -> str:
    """Return the identity of packed data, the hash of their manifest; DataError without one."""
    _manifest(folder)
    return sha256_of(folder / MANIFEST)


def _manifest(folder: Path) -> Manifest:
    try:
        return Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except (OSError, ValueError) as error:
        if (folder / "rows-00000.npy").exists():
            raise DataError(
                f"{folder} was packed by an earlier version of rfbench, in parts.",
                "Rows are one file now.",
                "Pack its file again: `rfbench data pack FILE NEW_FOLDER --target COLUMN`.",
            ) from None
        why = str(error)
        if isinstance(error, ValidationError):
            first = error.errors()[0]
            why = " ".join([*map(str, first["loc"]), first["msg"]])[:200]
        raise DataError(
            f"{folder} holds no packed data.",
            f"{MANIFEST} cannot be read: {why}.",
            "Correct the path, or pack a file: `rfbench data pack FILE FOLDER`.",
        ) from error


def read(folder: Path, *, on_disk: bool = True) -> Parsed:
    """Return rows that `write` wrote: as a source that stays on disk, or as arrays.

    The hash of every file is compared with the manifest's, and remembered while the file stays.
    DataError if there is no manifest, or a file is missing, has another hash, or does not fit.
    """
    facts = _manifest(folder)
    for name, expected in facts.files.items():
        path = folder / f"{name}.npy"
        if not path.is_file() or file_sha256(path) != expected:
            raise DataError(
                f"{path} is {'damaged' if path.is_file() else 'missing'}.",
                f"{MANIFEST} says that its hash is {expected[:16]}...",
                "Pack the data again, into a new folder.",
            )
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


def _arrays(folder: Path, facts: Manifest, on_disk: bool) -> Parsed:
    def load(name: str, mode: Literal["r"] | None = "r") -> NDArray[Any]:
        if name not in facts.files:
            raise ValueError(f"There is no {name}")
        return np.asarray(np.load(folder / f"{name}.npy", mmap_mode=mode, allow_pickle=False))

    y, groups = load("target"), load("groups") if "groups" in facts.files else None
    n, d, train, about = len(y), facts.columns, facts.train_rows, facts.about
    if "rows" in facts.files or on_disk:
        X: Any = load("rows")
        _fits(X.shape == (n, d) and X.dtype.kind in "fiu", f"a table of {n} rows and {d} columns")
    else:
        X = sparse.csr_array(tuple(load(name, None) for name in _CSR), shape=(n, d))
    _fits(train is None or train <= n, f"a training part of {train} rows")
    _fits(groups is None or (groups.dtype.kind, groups.shape) == ("i", (n,)), "a group per row")
    if about is None:
        return Parsed(X, y, train, groups)
    schema = None
    if "table" in facts.files:
        schema = Schema.model_validate_json(load("table").tobytes())
        _fits(len(schema.names) == d and set(schema.words) <= set(schema.names), "these columns")
    if about.task == "regression":
        _fits(y.dtype == np.float64 and np.isfinite(y).all(), "a finite target")
    else:
        codes = y.dtype == np.int64 and 0 <= y.min() <= y.max() < len(about.classes)
        _fits(codes, "a target of class codes")
    fields = about.model_dump(exclude={"fills_gaps"})
    if on_disk:
        X = RowSource(folder / "rows.npy", d, np.arange(n))
        fields |= {"rows": n, "columns": about.columns or d, "train_rows": train}
    return Parsed(X, y, train, groups, fields, schema)


def _fits(holds: Any, what: str) -> None:
    if not holds:
        raise ValueError(f"They have to hold {what}")


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
    """Whether this user has written a cache of this source with this manifest.

    A cache may have come with somebody else's files: what it says of itself is no proof.
    """
    with contextlib.suppress(OSError):
        return hashes.recall(f"cache|{source}") == sha256_of(folder / MANIFEST)
    return False


def cached(folder: Path, source: str) -> Parsed | None:
    """Return what `store` wrote; None if this user did not, or, and it is removed, if it broke."""
    if not folder.exists() or not _believed(folder, source):
        return None
    try:
        return read(folder, on_disk=False)
    except (DataError, OSError) as error:
        log.warning("%s cannot be used and is made anew: %s", folder, error)
        _remove(folder)
        return None
