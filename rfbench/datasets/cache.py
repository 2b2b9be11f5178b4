"""Cache for the hashes of files and for parsed data sets, in a folder of the user.

A hash is valid until its file changes. Only the user can write to the folder, so the content of
the folder is trusted. No file in the folder is unpickled.
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

# If a file is changed twice within this number of seconds, both changes may have the same
# modification time. A kernel clock has at least 100 ticks per second, so this value is at least two
# ticks. With a halved value, a change within the next tick could be missed.
TICK = 0.02


def load_cached_text(key: str) -> str | None:
    """Return the string that the cache contains for `key`, or None if there is no such string."""
    try:
        return next(iter(_memory(key).read_text("utf-8").split()), None)
    except (OSError, ValueError):
        return None


def store_cached_text(key: str, value: str) -> None:
    """Store a string in the cache under `key`, in a separate file.

    If the file cannot be written, log a warning.
    """
    try:
        files.replace(_memory(key), value.encode())
    except ResultsError as error:
        log.warning("%s", error)


def _memory(key: str) -> Path:
    digest = hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()
    return find_user_folder() / "hashes" / digest


def compute_cached_text(key: str, compute: Callable[[], str]) -> str:
    """Return the string that the cache contains for `key`.

    If there is no such string, call `compute`, and store its result in the cache.
    """
    value = load_cached_text(key)
    if value is None:
        value = compute()
        store_cached_text(key, value)
    return value


def hash_content(source: FoundFiles) -> str:
    """Return the SHA-256 hash of the decompressed content of a file.

    If `source` is several files, return the hash of the list of their names and hashes. Raise
    DataError if a file cannot be read.
    """

    def compute() -> str:
        digests = {n: hashlib.sha256(content).hexdigest() for n, content in source.read().items()}
        if len(digests) == 1:
            return next(iter(digests.values()))
        lines = "".join(f"{digest} {name}\n" for name, digest in digests.items())
        return hashlib.sha256(lines.encode()).hexdigest()

    return compute_cached_text(
        "|".join((source.pattern, *map(describe_file_state, source.paths))), compute
    )


def hash_file(path: Path) -> str:
    """Return the SHA-256 hash of the bytes of a file, without decompressing the file."""

    def compute() -> str:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    return compute_cached_text(describe_file_state(path), compute)


def describe_file_state(path: Path) -> str:
    """Return a string that changes if the file changes.

    The string contains the path, the inode, the size and the modification times of the file.
    """
    status = os.stat(path)
    age = time.time() - status.st_ctime
    # If the file was changed within the last TICK seconds, wait. Otherwise a second change could
    # have the same modification time and would not be detected.
    if 0 <= age < TICK:
        time.sleep(TICK - age)
        status = os.stat(path)
    # The string contains the inode of the file. The path may be a link, and the link may refer to a
    # different file later.
    identity = f"{os.path.abspath(path)}|{status.st_ino}"
    return f"{identity}|{status.st_size}|{status.st_mtime_ns}|{status.st_ctime_ns}"


def find_cached_rows(sha256: str) -> Parsed | None:
    """Return the parsed data set with the hash `sha256` from the cache, or None.

    The arrays are memory-mapped. None means that the data set is not cached, or that its files are
    damaged.
    """
    folder = _rows(sha256)
    if not folder.is_dir():
        return None
    try:
        return stored.read_stored_data(folder)
    except Exception as error:  # damaged files make numpy raise many types of errors
        log.warning("%s cannot be used and is rebuilt: %s", folder, error)
        return None


def load_cached_rows_or_read(sha256: str, read: Callable[[], Parsed]) -> Parsed:
    """Return the parsed data set with the hash `sha256` from the cache.

    If the data set is not in the cache, call `read`, and store its result in the cache.
    """
    parsed = find_cached_rows(sha256)
    if parsed is not None:
        return parsed
    parsed, folder = read(), _rows(sha256)
    parts = stored.split_into_json_and_arrays(parsed)
    if parts is None:
        return parsed
    try:
        files.remove_folder(folder)  # remove the damaged folder from the cache
        stored.write_stored_data(folder, *parts)
    except (OSError, ResultsError) as error:
        if not folder.is_dir():  # an existing folder is from another process
            log.warning("%s cannot be written, so its rows are read each time: %s", folder, error)
    return find_cached_rows(sha256) or parsed


def _rows(sha256: str) -> Path:
    return find_user_folder() / "arrays" / sha256
