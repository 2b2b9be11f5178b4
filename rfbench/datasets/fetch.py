"""Downloading the files of a data set, or taking in those that a person has downloaded."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import tempfile
from pathlib import Path

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
"""How often a download from one address is tried again."""


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
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".part-", dir=folder) as stage:
            for download, url in ((each, url) for each in downloads for url in each.urls):
                try:
                    staged = _from(url, Path(stage), download.name, progress)
                    _check_staged(entry, staged)
                except Exception as error:  # pooch passes on whatever its transport raises
                    log.info("%s from %s: %s", download.name, url, error)
                    reasons.append(f"{url}: {_reason(error)}")
                else:
                    staged.chmod(0o644)
                    os.replace(staged, folder / download.name)
                    return download.name
    except OSError as error:
        reasons.append(str(error))
    with contextlib.suppress(OSError):
        folder.rmdir()  # only where nothing is in it
    raise missing(entry, member, f"The download failed ({'; '.join(reasons)}).")


def _reason(error: Exception) -> str:
    """Return in a few words why a download failed."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the server answered {error.response.status_code}"
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    return str(error)


def _from(url: str, folder: Path, name: str, progress: bool) -> Path:
    import pooch

    pooch.get_logger().setLevel(logging.CRITICAL)
    bar = _Bar(name) if progress else None
    pup = pooch.create(
        path=folder,
        base_url="",
        registry={name: None},
        urls={name: url},
        retry_if_failed=RETRIES,
    )
    try:
        (folder / name).unlink(missing_ok=True)
        agent = {"User-Agent": f"rfbench/{rfbench.__version__}"}  # some servers refuse requests'
        downloader = pooch.HTTPDownloader(progressbar=bar or False, headers=agent)
        return Path(pup.fetch(name, downloader=downloader))
    finally:
        if bar:
            bar.close()


class _Bar:
    """A progress bar of rich in the shape that pooch expects of one."""

    def __init__(self, name: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

        columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn()
        self._progress = Progress(*columns, console=Console(stderr=True))
        self._task = self._progress.add_task(name, total=None)
        self._progress.start()

    @property
    def total(self) -> float | None:
        return self._progress.tasks[0].total

    @total.setter
    def total(self, value: float) -> None:
        self._progress.update(self._task, total=value or None)

    def update(self, count: int) -> None:
        self._progress.advance(self._task, count)

    def reset(self) -> None:
        self._progress.update(self._task, completed=0)

    def close(self) -> None:
        self._progress.stop()


def _check_staged(entry: Entry, staged: Path) -> None:
    """Check a file that is not in its place yet against each that it is or has in it."""
    for member in entry.files:
        one_of_many = member.count > 1 and staged.match(member.name)
        if not one_of_many and any(staged.match(name) for name in member.names):
            source = FoundFiles((staged,), member.pattern, member.count)
            refuse_mismatch(entry, check(entry, member, source))


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
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".part-", dir=folder) as stage:
            staged = Path(stage) / file.name
            shutil.copyfile(file, staged)
            _check_staged(entry, staged)
            os.replace(staged, folder / file.name)
    except OSError as error:
        raise DataError(
            f"{file} cannot be copied to {folder}.", f"{error}.", "Check the folder's permissions."
        ) from error
    return folder / file.name
