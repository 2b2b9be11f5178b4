"""The data folder, and hashes of files, remembered for this user while a file stays as it is."""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path

from rfbench import files
from rfbench.datasets.archives import FoundFiles
from rfbench.errors import ResultsError

log = logging.getLogger(__name__)

TICK = 0.02  # seconds: no clock of files' times is coarser


def data_folder() -> Path:
    """Return `./data` if it exists, else `data` of a checkout, else the user's cache folder."""
    here = Path.cwd() / "data"
    if here.is_dir():
        return here
    checkout = Path(__file__).parents[2]
    return checkout / "data" if (checkout / "pyproject.toml").is_file() else user_folder()


def user_folder() -> Path:
    """Return the folder of this user for what can be had again: RFBENCH_CACHE, or the usual one.

    Nobody else writes there, so that what is remembered there is believed.
    """
    if given := os.environ.get("RFBENCH_CACHE"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "rfbench"


def recall(key: str) -> str | None:
    """Return the word that is remembered under a key; None if nothing is."""
    try:
        return next(iter(_memory(key).read_text("utf-8").split()), None)
    except (OSError, ValueError):
        return None


def remember(key: str, value: str) -> None:
    """Remember a word under a key, in a file of its own; a warning says that it cannot be."""
    try:
        files.replace(_memory(key), value.encode())
    except ResultsError as error:
        log.warning("%s", error)


def _memory(key: str) -> Path:
    digest = hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()
    return user_folder() / "hashes" / digest


def remembered(key: str, compute: Callable[[], str]) -> str:
    """Return what is remembered under a key; if nothing is, compute and remember it."""
    value = recall(key)
    if value is None:
        value = compute()
        remember(key, value)
    return value


def content_sha256(source: FoundFiles) -> str:
    """Return the hash of a source's unpacked content; of several files, over names and hashes.

    DataError if the source cannot be read.
    """

    def compute() -> str:
        digests = {n: hashlib.sha256(content).hexdigest() for n, content in source.read().items()}
        if len(digests) == 1:
            return next(iter(digests.values()))
        lines = "".join(f"{digest} {name}\n" for name, digest in digests.items())
        return hashlib.sha256(lines.encode()).hexdigest()

    return remembered("|".join((source.pattern, *map(state, source.paths))), compute)


def file_sha256(path: Path) -> str:
    """Return the hash of a file as it lies on disk."""

    def compute() -> str:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    return remembered(state(path), compute)


def state(path: Path) -> str:
    """Return what changes when a file does: its place, size and times (a copy may keep one)."""
    status = os.stat(path)
    age = time.time() - status.st_ctime
    if 0 <= age < TICK:  # else a change within the same tick would leave them as they are
        time.sleep(TICK - age)
        status = os.stat(path)
    identity = f"{os.path.abspath(path)}|{status.st_ino}"  # a link may come to name another file
    return f"{identity}|{status.st_size}|{status.st_mtime_ns}|{status.st_ctime_ns}"
