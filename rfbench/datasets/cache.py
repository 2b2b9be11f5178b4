"""Parsed arrays and hashes of files, remembered in the data folder."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from scipy import sparse

from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.readers import Parsed

log = logging.getLogger(__name__)

_ROWS_AT_ONCE = 4096
_OLD_SECONDS = 3600
_CSR = ("data", "indices", "indptr")


def store(place: Path, parsed: Parsed, dtype: str) -> Parsed | None:
    """Write arrays and return them as they are read from there; None if that cannot be.

    Dense rows go to PLACE.npy, all else to PLACE.npz, which knows the hash of the first and comes
    last. Each appears whole or not at all; of several writers, which write the same, any may win.
    """
    X = parsed.X
    arrays = {"y": parsed.y} | ({} if parsed.groups is None else {"groups": parsed.groups})
    facts = {"shape": X.shape, "n_given_train": parsed.n_given_train, "about": parsed.about}
    try:
        if isinstance(X, np.ndarray):
            with _whole(_rows_of(place)) as stage:
                target = np.lib.format.open_memmap(stage, "w+", np.dtype(dtype), X.shape)
                for start in range(0, len(X), _ROWS_AT_ONCE):
                    target[start : start + _ROWS_AT_ONCE] = X[start : start + _ROWS_AT_ONCE]
                target.flush()
                facts["sha256"] = sha256_of(stage)
        else:
            arrays |= {part: getattr(X, part) for part in _CSR} | {"data": X.data.astype(dtype)}
        with _whole(_rest_of(place)) as stage, stage.open("wb") as stream:
            np.savez(stream, facts=np.array(json.dumps(facts)), **arrays)  # type: ignore[arg-type]
    except OSError as error:
        log.warning("%s cannot be written, so the data are parsed each time: %s", place, error)
        return None
    return load(place)


def load(place: Path) -> Parsed | None:
    """Read arrays that `store` wrote, dense rows as a memory map; None if they are not usable.

    The checksum of a map is compared once per process and state of its file.
    """
    if not _rest_of(place).is_file():
        return None
    try:
        with _rest_of(place).open("rb") as stream, np.load(stream, allow_pickle=False) as kept:
            arrays = {name: kept[name] for name in kept}  # zipfile compares their checksums
        facts: dict[str, Any] = json.loads(str(arrays["facts"]))
        if "sha256" in facts:
            rows = _rows_of(place)
            if _known_digest(rows, state(rows)) != facts["sha256"]:
                raise ValueError(f"the checksum of {rows.name} is another")
            X: Any = np.asarray(np.load(rows, mmap_mode="r"))
        else:
            X = sparse.csr_array(tuple(arrays[part] for part in _CSR), shape=facts["shape"])
            X.check_format(full_check=True)
        if list(X.shape) != facts["shape"] or arrays["y"].shape != X.shape[:1]:
            raise ValueError("the shapes do not fit together")
        return Parsed(X, arrays["y"], facts["n_given_train"], arrays.get("groups"), facts["about"])
    except Exception as error:  # a damaged file makes numpy raise almost anything
        log.warning("%s cannot be used and is made anew: %r", place, error)
        return None


def _rows_of(place: Path) -> Path:
    return place.with_name(f"{place.name}.npy")


def _rest_of(place: Path) -> Path:
    return place.with_name(f"{place.name}.npz")


@contextlib.contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """Give the place to write a file to that appears whole or not at all.

    What writers that were killed left is removed, once it is older than any write takes.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for other in path.parent.glob(".*-*"):
        with contextlib.suppress(OSError):
            old = other.lstat().st_mtime < time.time() - _OLD_SECONDS
            if old and re.fullmatch(r"\..+-[0-9a-f]{32}", other.name):
                other.unlink()
    stage = path.with_name(f".{path.name}-{uuid4().hex}")
    try:
        yield stage
        os.replace(stage, path)
    finally:
        stage.unlink(missing_ok=True)


def read_json(path: Path) -> dict[str, str]:
    """Return a flat JSON object; an empty one if the file is missing or torn."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def add_json(path: Path, key: str, value: str) -> None:
    """Add one entry to a JSON object on disk, whole or not at all."""
    text = json.dumps({**read_json(path), key: value}, indent=1, sort_keys=True)
    try:
        with _whole(path) as stage:
            stage.write_text(text, encoding="utf-8")
    except OSError as error:
        log.warning("%s cannot be written: %s", path, error)


def content_sha256(source: FoundFiles, memory: Path) -> str:
    """Return the hash of a source's unpacked content; of several files, over names and hashes.

    The file `memory` keeps it while the files stay as they are. Raises DataError if the source
    cannot be read.
    """

    def compute() -> str:
        digests = {name: _digest(content) for name, content in source.read().items()}
        if len(digests) == 1:
            return next(iter(digests.values()))
        return _digest("".join(f"{digest} {name}\n" for name, digest in digests.items()).encode())

    key = "|".join((source.pattern, *map(state, source.paths)))
    return remembered(memory, key if len(source.paths) == 1 else _digest(key.encode()), compute)


def file_sha256(path: Path, memory: Path) -> str:
    """Return the hash of a file as it lies on disk, remembered as in `content_sha256`."""
    return remembered(memory, state(path), lambda: sha256_of(path))


def remembered(memory: Path, key: str, compute: Callable[[], str]) -> str:
    """Return what the file `memory` has under a key; of none, compute and add it."""
    known = read_json(memory).get(key)
    if known is None:
        known = compute()
        add_json(memory, key, known)
    return known


def state(path: Path) -> str:
    """Return what changes when a file does: its place, size and times (a copy may keep one)."""
    status = path.stat()
    return f"{path.resolve()}|{status.st_size}|{status.st_mtime_ns}|{status.st_ctime_ns}"


@cache
def _known_digest(path: Path, state: str) -> str:
    return sha256_of(path)


def sha256_of(path: Path) -> str:
    """Return the hash of a file as it lies on disk, read now."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
