"""The data folder, and hashes of files, remembered there while a file stays as it is."""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from rfbench.datasets.archives import FoundFiles

log = logging.getLogger(__name__)


def data_folder() -> Path:
    """Return `./data` if it exists, else `data` of a checkout, else the user's cache folder."""
    here = Path.cwd() / "data"
    if here.is_dir():
        return here
    checkout = Path(__file__).parents[2]
    return checkout / "data" if (checkout / "pyproject.toml").is_file() else user_folder()


def user_folder() -> Path:
    """Return the folder of this user for what can be had again."""
    import pooch

    return Path(pooch.os_cache("rfbench"))


def memory() -> Path:
    """Return the file in which hashes are remembered."""
    return data_folder() / "cache" / "hashes.json"


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
    stage = path.with_name(f".{path.name}-{uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        stage.write_text(text, encoding="utf-8")
        os.replace(stage, path)
    except OSError as error:
        log.warning("%s cannot be written: %s", path, error)


def remembered(key: str, compute: Callable[[], str]) -> str:
    """Return what is remembered under a key; of none, compute and add it."""
    known = read_json(memory()).get(key)
    if known is None:
        known = compute()
        add_json(memory(), key, known)
    return known


def content_sha256(source: FoundFiles) -> str:
    """Return the hash of a source's unpacked content; of several files, over names and hashes.

    DataError if the source cannot be read.
    """

    def compute() -> str:
        digests = {name: _digest(content) for name, content in source.read().items()}
        if len(digests) == 1:
            return next(iter(digests.values()))
        return _digest("".join(f"{digest} {name}\n" for name, digest in digests.items()).encode())

    key = "|".join((source.pattern, *map(state, source.paths)))
    return remembered(key if len(source.paths) == 1 else _digest(key.encode()), compute)


def file_sha256(path: Path) -> str:
    """Return the hash of a file as it lies on disk."""
    return remembered(state(path), lambda: sha256_of(path))


def state(path: Path) -> str:
    """Return what changes when a file does: its place, size and times (a copy may keep one)."""
    status = path.stat()
    return f"{path.resolve()}|{status.st_size}|{status.st_mtime_ns}|{status.st_ctime_ns}"


def sha256_of(path: Path) -> str:
    """Return the hash of a file as it lies on disk, read now."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
