"""Parsed arrays and hashes of files, remembered in the data folder."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
import shutil
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rfbench.arrays import Rows
from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.readers import Parsed

log = logging.getLogger(__name__)

_ROWS_AT_ONCE = 4096
_OLD_SECONDS = 3600


def store(folder: Path, parsed: Parsed, dtype: str) -> Parsed | None:
    """Write arrays to `folder` and return them as they are read from there.

    The folder appears whole or not at all. Returns None if it cannot be written.
    """
    _sweep(folder.parent)
    stage = _beside(folder)
    try:
        stage.mkdir(parents=True)
        _write(stage, parsed, dtype)
        _publish(stage, folder)
    except OSError as error:
        log.warning("%s cannot be written, so the data are parsed each time: %s", folder, error)
        return None
    finally:
        shutil.rmtree(stage, ignore_errors=True)
    return load(folder)


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}-{uuid4().hex}")


def _sweep(parent: Path) -> None:
    """Remove what writers that were killed have left, once it is older than any write takes."""
    with contextlib.suppress(OSError):
        for path in parent.iterdir():
            abandoned = re.fullmatch(r"\..+-[0-9a-f]{32}", path.name)
            if abandoned and path.lstat().st_mtime < time.time() - _OLD_SECONDS:
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)


def _write(stage: Path, parsed: Parsed, dtype: str) -> None:
    X = parsed.X
    if isinstance(X, np.ndarray):
        target = np.lib.format.open_memmap(stage / "X.npy", "w+", np.dtype(dtype), X.shape)
        for start in range(0, len(X), _ROWS_AT_ONCE):
            target[start : start + _ROWS_AT_ONCE] = X[start : start + _ROWS_AT_ONCE]
        target.flush()
    else:
        np.save(stage / "data.npy", X.data.astype(dtype))
        np.save(stage / "indices.npy", X.indices)
        np.save(stage / "indptr.npy", X.indptr)
    np.save(stage / "y.npy", parsed.y)
    if parsed.groups is not None:
        np.save(stage / "groups.npy", parsed.groups)
    facts = {
        "shape": list(X.shape),
        "n_given_train": parsed.n_given_train,
        "groups": parsed.groups is not None,
        "about": parsed.about,
        "sha256": {path.name: _file_digest(path) for path in sorted(stage.glob("*.npy"))},
    }
    (stage / "facts.json").write_text(json.dumps(facts), encoding="utf-8")


def _publish(stage: Path, folder: Path) -> None:
    """Move the stage to its place; another process may have been faster, then its copy stays."""
    if folder.exists():
        if load(folder) is not None:
            return
        old = _beside(folder)
        with contextlib.suppress(OSError):
            os.replace(folder, old)
        shutil.rmtree(old, ignore_errors=True)
    try:
        os.rename(stage, folder)
    except OSError:
        if load(folder) is None:
            raise


def load(folder: Path) -> Parsed | None:
    """Read arrays that `store` wrote, dense rows as a memory map; None if they are not usable.

    Their checksums are compared once per process and state of the files.
    """
    if not folder.is_dir():
        return None
    try:
        facts: dict[str, Any] = json.loads((folder / "facts.json").read_text(encoding="utf-8"))
        for name, expected in facts["sha256"].items():
            if _known_digest(folder / name, state(folder / name)) != expected:
                raise ValueError(f"the checksum of {name} is another")
        rows, columns = facts["shape"]
        X: Rows
        if (folder / "X.npy").exists():
            X = np.asarray(np.load(folder / "X.npy", mmap_mode="r"))
        else:
            parts = tuple(np.load(folder / f"{part}.npy") for part in ("data", "indices", "indptr"))
            X = sparse.csr_array(parts, shape=(rows, columns))
            X.check_format(full_check=True)
        y: NDArray[Any] = np.load(folder / "y.npy")
        groups = np.load(folder / "groups.npy") if facts["groups"] else None
        if X.shape != (rows, columns) or y.shape != (rows,):
            raise ValueError("the shapes do not fit together")
        return Parsed(X, y, facts["n_given_train"], groups, facts.get("about"))
    except Exception as error:  # a damaged file makes numpy raise almost anything
        log.warning("%s cannot be used and is made anew: %r", folder, error)
        return None


def read_json(path: Path) -> dict[str, str]:
    """Return a flat JSON object; an empty one if the file is missing or torn."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def add_json(path: Path, key: str, value: str) -> None:
    """Add one entry to a JSON object on disk, whole or not at all."""
    stage = _beside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stage.write_text(
            json.dumps({**read_json(path), key: value}, indent=1, sort_keys=True), encoding="utf-8"
        )
        os.replace(stage, path)
    except OSError as error:
        log.warning("%s cannot be written: %s", path, error)
    finally:
        with contextlib.suppress(OSError):
            stage.unlink(missing_ok=True)


def content_sha256(source: FoundFiles, memory: Path) -> str:
    """Return the hash of a source's unpacked content.

    Hashes are remembered in the file `memory` by path, size and time of the last change. The hash
    of several files is the hash over their names and hashes.

    Raises
    ------
    DataError
        If the source cannot be read.
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

    return remembered(memory, state(path), lambda: _file_digest(path))


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
    return _file_digest(path)


def _file_digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
