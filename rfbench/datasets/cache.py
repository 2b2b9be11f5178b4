"""What is kept for this user: hashes of files while they stay as they are, and rows once read.

Nobody else writes into the folder, so that what is there is believed. Nothing in it is unpickled.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rfbench import files
from rfbench.datasets import stored
from rfbench.errors import ResultsError
from rfbench.home import find_user_folder as find_user_folder

if TYPE_CHECKING:
    from rfbench.datasets.archives import FoundFiles
    from rfbench.datasets.columns import Parsed

log = logging.getLogger(__name__)

# Seconds. A kernel ticks 100 times a second or more often, and halved to 0.01 this would be one
# tick.
TICK = 0.02


def load_cached(key: str) -> str | None:
    """Return the word that is remembered under a key; None if nothing is."""
    try:
        return next(iter(_memory(key).read_text("utf-8").split()), None)
    except (OSError, ValueError):
        return None


def store_cached(key: str, value: str) -> None:
    """Remember a word under a key, in a file of its own; a warning says that it cannot be."""
    try:
        files.replace(_memory(key), value.encode())
    except ResultsError as error:
        log.warning("%s", error)


def _memory(key: str) -> Path:
    digest = hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()
    return find_user_folder() / "hashes" / digest


def compute_cached(key: str, compute: Callable[[], str]) -> str:
    """Return what is remembered under a key; if nothing is, compute and remember it."""
    value = load_cached(key)
    if value is None:
        value = compute()
        store_cached(key, value)
    return value


def hash_content(source: FoundFiles) -> str:
    """Return the hash of a source's unpacked content; of several files, over names and hashes.

    DataError if the source cannot be read.
    """

    def compute() -> str:
        digests = {n: hashlib.sha256(content).hexdigest() for n, content in source.read().items()}
        if len(digests) == 1:
            return next(iter(digests.values()))
        lines = "".join(f"{digest} {name}\n" for name, digest in digests.items())
        return hashlib.sha256(lines.encode()).hexdigest()

    return compute_cached(
        "|".join((source.pattern, *map(describe_file_state, source.paths))), compute
    )


def hash_file(path: Path) -> str:
    """Return the hash of a file as it lies on disk."""

    def compute() -> str:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    return compute_cached(describe_file_state(path), compute)


def describe_file_state(path: Path) -> str:
    """Return what changes when a file does: its place, size and times (a copy may keep one)."""
    status = os.stat(path)
    age = time.time() - status.st_ctime
    if 0 <= age < TICK:  # else a change within the same tick would leave them as they are
        time.sleep(TICK - age)
        status = os.stat(path)
    identity = f"{os.path.abspath(path)}|{status.st_ino}"  # a link may come to name another file
    return f"{identity}|{status.st_size}|{status.st_mtime_ns}|{status.st_ctime_ns}"


def find_cached(sha256: str) -> Parsed | None:
    """Return the rows that were kept of data with an identity, arrays as maps of the file."""
    folder = _rows(sha256)
    if not folder.is_dir():
        return None
    try:
        return stored.read(folder)
    except Exception as error:  # of a damaged file numpy raises almost anything
        log.warning("%s cannot be used and is made anew: %s", folder, error)
        return None


def load_or_read(sha256: str, read: Callable[[], Parsed]) -> Parsed:
    """Return the rows of data with an identity; if none were kept, read and keep them."""
    parsed = find_cached(sha256)
    if parsed is not None:
        return parsed
    parsed, folder = read(), _rows(sha256)
    parts = stored.split_into_parts(parsed)
    if parts is None:
        return parsed
    try:
        files.remove_folder(folder)  # one that is torn
        stored.write(folder, *parts)
    except (OSError, ResultsError) as error:
        if not folder.is_dir():  # else another process was faster
            log.warning("%s cannot be written, so its rows are read each time: %s", folder, error)
    return find_cached(sha256) or parsed


def _rows(sha256: str) -> Path:
    return find_user_folder() / "arrays" / sha256
