"""Finding the files of a data set on disk, and checking that they are right."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rfbench import files
from rfbench.datasets import catalog, hashes
from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.catalog import Entry, Member
from rfbench.datasets.hashes import data_folder
from rfbench.errors import DataError, ResultsError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FileCheck:
    """The state of one file of a data set."""

    member: Member
    source: FoundFiles | None  # where it was found
    # 'ok' (a known hash), 'unpinned' (no hash is known yet), 'mismatch' or 'missing'
    status: Literal["ok", "unpinned", "mismatch", "missing"]
    sha256: str | None = None  # of its content
    expected: str | None = None  # the hash that it should have, where one is known
    problem: str = ""  # why it cannot be read

    @property
    def name(self) -> str:
        """Its name, unpacked."""
        return self.member.name

    @property
    def path(self) -> Path | None:
        """Where it was found, of several files the first."""
        return self.source.paths[0] if self.source else None


def locate(entry: Entry) -> list[FoundFiles | None]:
    """Return where each file of an entry stands, or None where it is nowhere.

    The folder in RFBENCH_DATA is searched, then the data folder. DataError if that is no folder.
    """
    given = os.environ.get("RFBENCH_DATA")
    if given and not Path(given).is_dir():
        raise DataError(
            f"RFBENCH_DATA names {given}, which is not a folder.",
            "Data sets are searched there first.",
            "Correct the variable, or unset it.",
        )
    folders = [
        folder / entry.folder for folder in ([Path(given)] if given else []) + [data_folder()]
    ]
    return [
        next(filter(None, (_in_folder(folder, member) for folder in folders)), None)
        for member in entry.files
    ]


def _in_folder(folder: Path, member: Member) -> FoundFiles | None:
    """Find a file in one folder: by itself, compressed, or inside its download."""
    loose = sorted(path for path in folder.glob(member.name) if path.is_file())
    if len(loose) == member.count:
        return FoundFiles(tuple(loose), member.name, member.count)
    packed = (folder / name for name in member.names[1:] if (folder / name).is_file())
    return next((FoundFiles((path,), member.pattern, member.count) for path in packed), None)


def on_disk(name: str) -> bool:
    """Say whether every file of a data set is there; its content is not checked."""
    return None not in locate(catalog.entry(name))


def missing(entry: Entry, member: Member, why: str = "It was not found on disk.") -> DataError:
    """Return the error for a file that cannot be had: what it is, where to get and to put it."""
    urls = " or ".join(url for each in entry.downloads_of(member) for url in each.urls)
    return DataError(
        f"'{(member.sources or (member.name,))[0]}' of {entry.name} is missing.",
        why,
        f"{f'Get it from {urls} and' if urls else 'It cannot be downloaded:'} put it into "
        f"{data_folder() / entry.folder}, under its own name.",
    )


def verify(name: str) -> list[FileCheck]:
    """Compare every file of a data set with the hashes that are known."""
    entry = catalog.entry(name)
    return [
        check(entry, member, source)
        if source
        else FileCheck(member, None, "missing", expected=member.sha256)
        for member, source in zip(entry.files, locate(entry), strict=True)
    ]


def right(entry: Entry) -> list[FileCheck]:
    """Return the checks of an entry's files; DataError if one is missing or not the right one."""
    checks = verify(entry.name)
    for each in checks:
        if each.status == "missing":
            raise missing(entry, each.member)
        refuse_mismatch(entry, each)
    return checks


def check(entry: Entry, member: Member, source: FoundFiles) -> FileCheck:
    """Compare one file with the hashes that are known: its own, its download's, or a pinned one."""
    path = source.paths[0]
    download = next((d for d in entry.downloads_of(member) if d.name == path.name), None)
    archive = download.sha256 if download else None
    expected = member.sha256 or archive
    try:
        content = hashes.content_sha256(source)
    except DataError as error:
        why = f"{error.what} {error.why}"
        return FileCheck(member, source, "mismatch", None, expected, why)
    if content in (member.sha256, *member.also):
        return FileCheck(member, source, "ok", content, content)
    if download and archive:
        packed = hashes.file_sha256(path)
        if packed in (archive, *download.also):
            return FileCheck(member, source, "ok", content, content)
        if member.sha256 is None:
            return FileCheck(member, source, "mismatch", packed, archive)
    place = _pin(entry, member)
    known = member.sha256 or (
        place.read_text("utf-8", "replace").strip() if place.is_file() else None
    )
    if known is None:
        return FileCheck(member, source, "unpinned", content)
    return FileCheck(member, source, "ok" if content == known else "mismatch", content, known)


def refuse_mismatch(entry: Entry, checked: FileCheck) -> None:
    """Raise DataError for a file with another hash than expected."""
    if checked.status == "mismatch":
        raise DataError(
            f"{checked.path} is not the expected '{checked.name}' of {entry.name}.",
            checked.problem or f"Its sha256 is {checked.sha256}, expected is {checked.expected}.",
            f"Remove it and run `rfbench data fetch {entry.name}`.",
        )


def pin(entry: Entry, checks: list[FileCheck]) -> None:
    """Record the hashes of files for which none, or only that of a copy, was known.

    From then on they have to match. Each stands in a file of its own.
    """
    for each in checks:
        place = _pin(entry, each.member)
        new = each.status == "unpinned" or each.sha256 in each.member.also
        if new and not place.exists():
            try:
                files.replace(place, f"{each.sha256}\n".encode())
            except ResultsError as error:
                log.warning("%s", error)


def _pin(entry: Entry, member: Member) -> Path:
    return data_folder() / entry.folder / f"{member.name}.sha256"
