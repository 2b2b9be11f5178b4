"""Rows in a folder of `.npy` files with a manifest of their hashes: packed data, and the cache."""

from __future__ import annotations

import contextlib
import glob
import json
import logging
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rfbench.arrays import FloatArray
from rfbench.datasets.hashes import file_sha256, sha256_of
from rfbench.datasets.readers import Parsed
from rfbench.errors import DataError
from rfbench.rows import RowSource

log = logging.getLogger(__name__)

MANIFEST = "packed.json"
PART_BYTES = 2**28
VERSION = 1
_CSR = ("data", "indices", "indptr")
_OLD_SECONDS = 3600


def write(
    folder: Path, data: Parsed, *, dtype: str = "float64", part_bytes: int = PART_BYTES
) -> None:
    """Write rows into a new folder, which appears whole or not at all.

    The X of `data` is an array, sparse rows, or blocks of shape (b, d) in their order, of which
    never more than a part is in memory. `dtype`, float64 or float32, is that of the rows in the
    parts; they are read in float64 all the same. OSError if the folder is there already or cannot
    be written, DataError if a value of a block is not finite in `dtype`.
    """
    stage = folder.with_name(f".{folder.name}-{uuid4().hex}")
    files: dict[str, str] = {}

    def save(name: str, array: NDArray[Any]) -> None:
        np.save(stage / name, array)
        files[name] = sha256_of(stage / name)

    X: Any = data.X
    dense = not hasattr(X, "tocsr")
    parts: Iterable[FloatArray] = []
    sizes: list[int] = []
    columns = 0
    try:
        _sweep(folder)
        stage.mkdir(parents=True)
        if dense:
            whole = isinstance(X, np.ndarray)
            parts = [X.astype(dtype, copy=False)] if whole else _parts(X, dtype, part_bytes)
        else:
            for name in _CSR:
                save(f"{name}.npy", getattr(X, name))
            columns = X.shape[1]
        for part in parts:
            save(f"rows-{len(sizes):05}.npy", part)
            sizes.append(len(part))
            columns = part.shape[1]
        if dense and sum(sizes) != len(data.y):
            raise ValueError(f"{sum(sizes)} rows have {len(data.y)} targets")
        save("target.npy", data.y)
        if data.groups is not None:
            save("groups.npy", data.groups)
        facts = {"version": VERSION, "parts": sizes, "columns": columns, "dtype": dtype}
        facts |= {"train_rows": data.n_given_train, "about": data.about, "files": files}
        (stage / MANIFEST).write_text(json.dumps(facts, indent=1), encoding="utf-8")
        os.replace(stage, folder)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _sweep(folder: Path) -> None:
    """Remove what writers that were killed left, once it is older than any write takes."""
    name = f".{glob.escape(folder.name)}-{'[0-9a-f]' * 32}"
    for stage in folder.parent.glob(name):
        with contextlib.suppress(OSError):  # another one sweeps as well
            if stage.stat().st_mtime < time.time() - _OLD_SECONDS:
                shutil.rmtree(stage)


def _parts(blocks: Iterable[FloatArray], name: str, part_bytes: int) -> Iterator[FloatArray]:
    """Yield the rows again, in parts of the same size; a part is gone with the next one."""
    dtype = np.dtype(name)
    part, filled = np.empty((0, 0), dtype), 0
    for block in blocks:
        if not part.size:
            rows = max(1, part_bytes // (block.shape[1] * dtype.itemsize))
            part = np.empty((rows, block.shape[1]), dtype)
        begin = 0
        while begin < len(block):
            taken = block[begin : begin + len(part) - filled]
            with np.errstate(over="ignore"):
                part[filled : filled + len(taken)] = taken
            if not np.isfinite(part[filled : filled + len(taken)]).all():
                raise DataError(f"A value is NaN, infinite or too large for {dtype}.")
            begin, filled = begin + len(taken), filled + len(taken)
            if filled == len(part):
                yield part
                filled = 0
    if filled:
        yield part[:filled]


def identity(folder: Path) -> str:
    """Return the identity of packed data, the hash of their manifest; DataError without one."""
    _facts(folder)
    return sha256_of(folder / MANIFEST)


def _facts(folder: Path) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if facts["version"] != VERSION:
            raise ValueError(f"version {facts['version']}, and {VERSION} is known")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{folder} holds no packed data.",
            f"{MANIFEST} cannot be read: {error}.",
            "Correct the path, or pack a file: `rfbench data pack FILE FOLDER`.",
        ) from error
    return facts


def read(folder: Path, *, on_disk: bool = True) -> Parsed:
    """Return rows that `write` wrote: as a source that stays on disk, or as arrays.

    The hash of every file is compared with the manifest's, and remembered while the file stays.
    DataError if there is no manifest, or a file is missing or has another hash.
    """
    facts = _facts(folder)
    for name, expected in facts["files"].items():
        path = folder / name
        if not path.is_file() or file_sha256(path) != expected:
            raise DataError(
                f"{path} is {'damaged' if path.is_file() else 'missing'}.",
                f"{MANIFEST} says that its hash is {expected[:16]}...",
                "Pack the data again, into a new folder.",
            )

    def load(name: str, mode: Any = "r") -> Any:
        there = f"{name}.npy" in facts["files"]
        return np.asarray(np.load(folder / f"{name}.npy", mmap_mode=mode)) if there else None

    y, d, about = load("target"), int(facts["columns"]), facts["about"]
    if on_disk:
        ends = np.cumsum(facts["parts"])
        parts = tuple(folder / f"rows-{number:05}.npy" for number in range(len(ends)))
        X: Any = RowSource(parts, ends, d, np.arange(len(y)))
        about |= {"kind": "own", "rows": len(y), "columns": d, "train_rows": facts["train_rows"]}
    elif facts["parts"]:
        X = load("rows-00000")
    else:
        X = sparse.csr_array(tuple(load(name, None) for name in _CSR), shape=(len(y), d))
    return Parsed(X, y, facts["train_rows"], load("groups"), about)


def store(folder: Path, parsed: Parsed) -> Parsed:
    """Write parsed rows to the cache and return them as they are read there, dense ones as a map.

    Of several writers, which write the same, any may win. Where nothing can be written, the rows
    are returned as they came.
    """
    try:
        write(folder, parsed)
    except OSError as error:
        if not folder.exists():
            log.warning("%s cannot be written, so it is parsed each time: %s", folder, error)
    return cached(folder) or parsed


def cached(folder: Path) -> Parsed | None:
    """Return what `store` wrote; None, and it is removed, if it cannot be used."""
    if not folder.exists():
        return None
    try:
        return read(folder, on_disk=False)
    except MemoryError:
        raise
    except Exception as error:  # a damaged file makes numpy raise almost anything
        log.warning("%s cannot be used and is made anew: %r", folder, error)
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # it is a file
            folder.unlink()
        return None
