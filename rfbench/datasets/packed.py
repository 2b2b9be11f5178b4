"""Packed data: a folder of `.npy` parts with a manifest of their hashes."""

from __future__ import annotations

import functools
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import FloatArray
from rfbench.datasets import cache
from rfbench.datasets.locate import memory
from rfbench.datasets.readers import Parsed
from rfbench.errors import DataError
from rfbench.rows import RowSource

MANIFEST = "packed.json"
PART_BYTES = 2**28
VERSION = 1


def write(
    folder: Path,
    blocks: Iterable[FloatArray],
    y: NDArray[Any],
    about: Mapping[str, Any],
    *,
    dtype: str = "float64",
    n_given_train: int | None = None,
    groups: NDArray[np.int64] | None = None,
    part_bytes: int = PART_BYTES,
) -> None:
    """Write rows into a new folder, which appears whole or not at all.

    `blocks` are the rows in their order, arrays of shape (b, d); never more than a part of them is
    in memory. `about` is what a catalogue's entry says: task, classes and note. `dtype`, float64 or
    float32, is that of the rows in the parts; they are read in float64 all the same. For the others
    see `rfbench.datasets.readers.Parsed`. DataError if the folder is there already or cannot be
    written, or a value is not finite in `dtype`.
    """
    if folder.exists():
        raise DataError(
            f"{folder} is there already.", "Packed data are never changed.", "Name a new folder."
        )
    stage = folder.with_name(f".{folder.name}-{uuid4().hex}")
    files: dict[str, str] = {}

    def save(name: str, array: NDArray[Any]) -> None:
        np.save(stage / name, array)
        files[name] = cache.sha256_of(stage / name)

    try:
        stage.mkdir(parents=True)
        sizes: list[int] = []
        columns = 0
        for part in _parts(blocks, np.dtype(dtype), part_bytes):
            save(f"rows-{len(sizes):05}.npy", part)
            sizes.append(len(part))
            columns = part.shape[1]
        if sum(sizes) != len(y):
            raise ValueError(f"{sum(sizes)} rows have {len(y)} targets")
        save("target.npy", y)
        if groups is not None:
            save("groups.npy", groups)
        facts = {"version": VERSION, "parts": sizes, "columns": columns, "dtype": dtype}
        facts |= {"train_rows": n_given_train, "about": dict(about), "files": files}
        (stage / MANIFEST).write_text(json.dumps(facts, indent=1), encoding="utf-8")
        os.replace(stage, folder)
    except OSError as error:
        raise DataError(f"{folder} cannot be written.", f"{error}.") from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _parts(
    blocks: Iterable[FloatArray], dtype: np.dtype[Any], part_bytes: int
) -> Iterator[FloatArray]:
    """Yield the rows again, in parts of the same size; a part is gone with the next one."""
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
    return cache.sha256_of(folder / MANIFEST)


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


@functools.cache
def _sha256(path: Path, state: str) -> str:
    return cache.file_sha256(path, memory())


def read(folder: Path) -> Parsed:
    """Return the rows of packed data, which stay on disk.

    The hash of every file is compared with the manifest's, and remembered while the file stays.
    DataError if there is no manifest, or a file is missing or has another hash.
    """
    facts = _facts(folder)
    for name, expected in facts["files"].items():
        path = folder / name
        if not path.is_file() or _sha256(path, cache.state(path)) != expected:
            raise DataError(
                f"{path} is {'damaged' if path.is_file() else 'missing'}.",
                f"{MANIFEST} says that its hash is {expected[:16]}...",
                "Pack the data again, into a new folder.",
            )
    ends = np.cumsum(facts["parts"])
    n, d = int(ends[-1]), int(facts["columns"])
    parts = tuple(folder / f"rows-{number:05}.npy" for number in range(len(ends)))
    X = RowSource(parts, ends, d, np.arange(n))
    y, groups = (
        np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r"))
        if f"{name}.npy" in facts["files"]
        else None
        for name in ("target", "groups")
    )
    assert y is not None
    shape = {"kind": "own", "rows": n, "columns": d, "train_rows": facts["train_rows"]}
    return Parsed(X, y, facts["train_rows"], groups, {**facts["about"], **shape})
