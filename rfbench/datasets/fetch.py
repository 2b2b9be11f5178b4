"""Downloading the files of a data set, or taking in those that a person has downloaded."""

from __future__ import annotations

import contextlib
import http.client
import logging
import os
import shutil
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from socket import gaierror

import rfbench
from rfbench.datasets import catalog
from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.catalog import Entry, Member
from rfbench.datasets.hashes import data_folder
from rfbench.datasets.locate import (
    FileCheck,
    check,
    files_of,
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


def fetch(name: str, *, progress: bool = False) -> list[Path]:
    """Download the files of a data set that are not on disk yet, check and return them all.

    `progress` shows a bar. DataError if a file cannot be had, or is not the right one.
    """
    return files_of(obtain(catalog.entry(name), progress=progress))


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
    downloads = entry.downloads_of(member)
    if not downloads:
        raise missing(entry, member, "It was not found on disk.")
    folder = data_folder() / entry.folder
    reasons = []
    try:
        for download, url in ((each, url) for each in downloads for url in each.urls):
            try:
                with _staged(entry, download.name) as stage:
                    _copy(url, stage, progress)
                return download.name
            except (OSError, http.client.HTTPException, DataError) as error:
                log.info("%s from %s: %s", download.name, url, error)
                reasons.append(f"{url}: {_reason(error)}")
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()  # only where nothing is in it
    raise missing(entry, member, f"The download failed ({'; '.join(reasons)}).")


@contextlib.contextmanager
def _staged(entry: Entry, name: str) -> Iterator[Path]:
    """Give a place to write a file to; once it is checked it takes its place, whole."""
    folder = data_folder() / entry.folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".part-", dir=folder) as stage:
        path = Path(stage) / name
        yield path
        for member in entry.files:
            one_of_many = member.count > 1 and path.match(member.name)
            if not one_of_many and any(path.match(each) for each in member.names):
                source = FoundFiles((path,), member.pattern, member.count)
                refuse_mismatch(entry, check(entry, member, source))
        os.replace(path, folder / name)


def _reason(error: Exception) -> str:
    """Return in a few words why a download failed."""
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code}"
    cause = getattr(error, "reason", error)
    if isinstance(cause, TimeoutError):
        return "no answer in time"
    if isinstance(cause, ConnectionError | gaierror):
        return "no connection"
    return str(cause)


def _copy(url: str, path: Path, progress: bool) -> None:
    """Download a file; what a server or the way to it spoils is asked for again."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    # Some servers refuse Python's own name.
    agent = {"User-Agent": f"rfbench/{rfbench.__version__}"}
    request = urllib.request.Request(url, headers=agent)
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn()
    for attempt in range(1 + RETRIES):
        bar = Progress(*columns, console=Console(stderr=True), disable=not progress)
        try:
            with urllib.request.urlopen(request, timeout=SILENCE) as answer, bar:
                size = answer.length
                with path.open("wb") as file:
                    shutil.copyfileobj(
                        bar.wrap_file(answer, size or 0, description=path.name), file
                    )
            if size is not None and path.stat().st_size != size:
                raise http.client.IncompleteRead(b"", size - path.stat().st_size)
            return
        except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
            code = getattr(error, "code", 500)
            if attempt == RETRIES or code < 500:
                raise
            time.sleep(2**attempt)


def add(name: str, file: Path) -> Path:
    """Copy a file that the user has downloaded to where it is looked for; return the copy.

    It is one of the data set's files, or an archive with them, under its original name. DataError
    if it is not, or has the wrong hash.
    """
    entry, file = catalog.entry(name), Path(file)
    if not file.is_file():
        raise DataError(f"{file} is not a file.", todo="Check the path.")
    names = [download.name for download in entry.downloads]
    names += [each for member in entry.files for each in member.names]
    if not any(file.match(each) for each in names):
        raise DataError(
            f"'{file.name}' is none of the files of {entry.name}.",
            todo=f"Rename it to one of: {', '.join(dict.fromkeys(names))}.",
        )
    folder = data_folder() / entry.folder
    try:
        with _staged(entry, file.name) as stage:
            shutil.copyfile(file, stage)
    except OSError as error:
        raise DataError(
            f"{file} cannot be copied to {folder}.", f"{error}.", "Check the folder's permissions."
        ) from error
    return folder / file.name
