"""Finding the files of a data set on disk, and checking that they are right."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rfbench.datasets import catalog, hashes
from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.catalog import Entry, Member
from rfbench.datasets.hashes import data_folder
from rfbench.errors import DataError

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


def search_folders() -> list[Path]:
    """Return the folders that are searched, in order: the one in RFBENCH_DATA, the data folder.

    DataError if RFBENCH_DATA names something that is not a folder.
    """
    given = os.environ.get("RFBENCH_DATA")
    if not given:
        return [data_folder()]
    if not Path(given).is_dir():
        raise DataError(
            f"RFBENCH_DATA names {given}, which is not a folder.",
            "Data sets are searched there first.",
            "Correct the variable, or unset it.",
        )
    return [Path(given), data_folder()]


def locate(entry: Entry) -> list[FoundFiles | None]:
    """Return where each file of an entry stands, or None where it is nowhere."""
    folders = [folder / entry.folder for folder in search_folders()]
    return [
        next(filter(None, (_in_folder(folder, member) for folder in folders)), None)
        for member in entry.files
    ]


def _in_folder(folder: Path, member: Member) -> FoundFiles | None:
    """Find a file in one folder: by itself, compressed, or inside its download."""
    loose = sorted(path for path in folder.glob(member.name) if path.is_file())
    if len(loose) == member.count:
        return FoundFiles(tuple(loose), member.name, member.count)
    for name in member.names[1:]:
        if (folder / name).is_file():
            return FoundFiles((folder / name,), member.pattern, member.count)
    return None


def on_disk(name: str) -> bool:
    """Say whether every file of a data set is there; its content is not checked."""
    return None not in locate(catalog.entry(name))


def paths(name: str) -> list[Path]:
    """Return the files of a data set, each once; none if it needs no file.

    DataError if one is missing or not the right one.
    """
    return files_of(right(catalog.entry(name)))


def files_of(checks: list[FileCheck]) -> list[Path]:
    """Return the files behind some checks, each once."""
    return list(dict.fromkeys(path for each in checks if each.source for path in each.source.paths))


def missing(entry: Entry, member: Member, why: str) -> DataError:
    """Return the error for a file that cannot be had: what it is, where to get and to put it."""
    folder = data_folder() / entry.folder
    urls = _homes(entry, member)
    return DataError(
        f"'{(member.sources or (member.name,))[0]}' of {entry.name} is missing.",
        why,
        f"{f'Get it from {urls} and' if urls else 'It cannot be downloaded:'} put it into "
        f"{folder}, or run `rfbench data add {entry.name} FILE`.",
    )


def _homes(entry: Entry, member: Member) -> str:
    return " or ".join(url for each in entry.downloads_of(member) for url in each.urls)


def verify(name: str) -> list[FileCheck]:
    """Compare every file of a data set with the hashes that are known."""
    return _checks(catalog.entry(name))


def _checks(entry: Entry) -> list[FileCheck]:
    return [
        check(entry, member, source)
        if source
        else FileCheck(member, None, "missing", expected=member.sha256)
        for member, source in zip(entry.files, locate(entry), strict=True)
    ]


def right(entry: Entry) -> list[FileCheck]:
    """Return the checks of an entry's files; DataError if one is missing or not the right one."""
    checks = _checks(entry)
    for found in checks:
        if found.status == "missing":
            raise missing(entry, found.member, "It was not found on disk.")
        refuse_mismatch(entry, found)
    return checks


def check(entry: Entry, member: Member, source: FoundFiles) -> FileCheck:
    """Compare one file with the hashes that are known for it."""
    path = source.paths[0]
    download = next((d for d in entry.downloads_of(member) if d.name == path.name), None)
    whole = download.sha256 if download else None
    expected = member.sha256 or whole
    try:
        found = hashes.content_sha256(source)
    except DataError as error:
        log.warning("%s", error)
        facts = {"Its home is": _homes(entry, member), "Its sha256 is": expected}
        why = " ".join([error.what, *(f"{word} {fact}." for word, fact in facts.items() if fact)])
        return FileCheck(member, source, "mismatch", None, expected, why)
    if found in (member.sha256, *member.also):
        return FileCheck(member, source, "ok", found, found)
    if download and whole:
        seen = hashes.file_sha256(path)
        if seen in (whole, *download.also):
            return FileCheck(member, source, "ok", found, found)
        if member.sha256 is None:
            return FileCheck(member, source, "mismatch", seen, whole)
    pinned = member.sha256 or hashes.read_json(_pins()).get(f"{entry.folder}/{member.name}")
    if pinned is None:
        return FileCheck(member, source, "unpinned", found)
    status: Literal["ok", "mismatch"] = "ok" if found == pinned else "mismatch"
    return FileCheck(member, source, status, found, pinned)


def refuse_mismatch(entry: Entry, found: FileCheck) -> None:
    """Raise DataError for a file with another hash than expected."""
    if found.status == "mismatch":
        raise DataError(
            f"{found.path} is not the expected '{found.name}' of {entry.name}.",
            found.problem or f"Its sha256 is {found.sha256}, expected is {found.expected}.",
            f"Remove it and run `rfbench data fetch {entry.name}`.",
        )


def pin(entry: Entry, checks: list[FileCheck]) -> None:
    """Record the hashes of files for which none was known; from then on they have to match."""
    for found in checks:
        if found.status == "unpinned" and found.sha256 is not None:
            hashes.add_json(_pins(), f"{entry.folder}/{found.name}", found.sha256)
            log.info("%s of %s is pinned to %s", found.name, entry.name, found.sha256)


def _pins() -> Path:
    return data_folder() / "pins.json"
