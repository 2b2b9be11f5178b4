"""Downloading the files of a data set: pooch carries the bytes.

Which file, from which address, and whether it is the right one is said here.
"""

from __future__ import annotations

import contextlib
import logging
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rfbench
from rfbench.datasets import archives, catalog
from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.catalog import Download, Entry, Member
from rfbench.datasets.hashes import data_folder
from rfbench.datasets.locate import (
    FileCheck,
    check,
    locate,
    missing,
    pin,
    refuse_mismatch,
    right,
)
from rfbench.errors import DataError

log = logging.getLogger(__name__)

RETRIES = 2
"""How often a download from one address is tried again, after 1 and 2 seconds."""
SILENCE = 30
"""Seconds without an answer after which there is none."""
CHUNK = 1 << 16


def fetch(name: str, *, progress: bool = False) -> list[Path]:
    """Download the files of a data set that are not on disk yet, check and return them all.

    `progress` shows a bar. DataError if a file cannot be had, or is not the right one.
    """
    sources = [each.source for each in obtain(catalog.entry(name), progress=progress)]
    return list(dict.fromkeys(path for source in sources if source for path in source.paths))


def obtain(entry: Entry, *, progress: bool = False) -> list[FileCheck]:
    """Return the checks of an entry's files, downloading and pinning what is needed."""
    done: set[str] = set()
    for member, source in zip(entry.files, locate(entry), strict=True):
        if source is None and not done.intersection(member.sources):
            done.add(_download(entry, member, progress))
    checks = right(entry)
    if done:
        pin(entry, checks)
    return checks


def _download(entry: Entry, member: Member, progress: bool) -> str:
    """Fetch the first of a file's downloads that can be had, and return its name."""
    addresses = [(each, url) for each in entry.downloads_of(member) for url in each.urls]
    if not addresses:
        raise missing(entry, member)
    folder = data_folder() / entry.folder
    reasons = []
    for download, url in addresses:
        name = download.name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".part-", dir=folder) as stage:
                path = Path(stage) / name
                _bring(download, url, path, progress)
                source = FoundFiles((path,), member.pattern, member.count)
                refuse_mismatch(entry, check(entry, member, source))
                os.replace(path, folder / name)
            return name
        except (OSError, ValueError, DataError) as error:
            log.info("%s from %s: %s", name, url, error)
            reasons.append(f"{url}: {_reason(error)}")
            with contextlib.suppress(OSError):
                folder.rmdir()  # only where nothing is in it
    raise missing(entry, member, f"The download failed ({'; '.join(reasons)}).")


def _bring(download: Download, url: str, path: Path, progress: bool) -> None:
    """Download a file, or make it of its parts: their distinct lines, in order."""
    if not download.parts:
        return _copy(url, path, progress)
    lines: dict[bytes, None] = {}
    for part in download.parts:
        piece = path.with_name(Path(part).name)
        _copy(url + part, piece, progress)
        lines |= dict.fromkeys(piece.read_bytes().splitlines())
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def _reason(error: Exception) -> str:
    """Return in a few words why a download failed: what requests says fills a page."""
    from requests import RequestException

    if not isinstance(error, RequestException):
        return str(error)
    code = getattr(error.response, "status_code", None)
    return f"the server answered {code}" if code else type(error).__name__


def _copy(url: str, path: Path, progress: bool) -> None:
    """Download a file; what a server or the way to it spoils is asked for again."""
    import pooch
    from requests import RequestException
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    # Some servers refuse Python's own name, and some would pack a file a second time.
    headers = {"User-Agent": f"rfbench/{rfbench.__version__}", "Accept-Encoding": "identity"}
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn()
    for attempt in range(1 + RETRIES):
        bar = Progress(*columns, console=Console(stderr=True), disable=not progress)
        meter = _Meter(bar, bar.add_task(path.name, total=None))
        carrier = pooch.HTTPDownloader(meter, CHUNK, timeout=SILENCE, headers=headers)
        try:
            with bar:
                carrier(url, str(path), None)
            return
        except RequestException as error:
            code = getattr(error.response, "status_code", 500)
            if attempt == RETRIES or code < 500:
                raise
            time.sleep(2**attempt)


@dataclass
class _Meter:
    """What pooch tells its progress to: it moves a bar, and ends a download that is too large."""

    bar: Any
    task: Any
    total: int = 0  # bytes that the server promises, 0 where it does not
    done: int = 0

    def update(self, n: int) -> None:
        self.done += n
        if max(self.done, self.total) > archives.LIMIT:
            raise archives.too_large("The download")
        self.bar.update(self.task, completed=self.done, total=self.total or None)

    def reset(self) -> None:
        self.done = 0  # at its end pooch counts all bytes anew

    def close(self) -> None:
        pass
