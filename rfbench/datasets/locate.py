"""Finding the files of a data set on disk, and checking that they are right."""

from __future__ import annotations

import json
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from rfbench.datasets import catalog, hashes
from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.catalog import Entry, Member
from rfbench.datasets.hashes import Sha256, data_folder
from rfbench.errors import DataError

log = logging.getLogger(__name__)

_PINS = TypeAdapter(dict[str, Sha256])


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
    urls = _homes(entry, member)
    return DataError(
        f"'{(member.sources or (member.name,))[0]}' of {entry.name} is missing.",
        why,
        f"{f'Get it from {urls} and' if urls else 'It cannot be downloaded:'} put it into "
        f"{data_folder() / entry.folder}, under its own name.",
    )


def _homes(entry: Entry, member: Member) -> str:
    return " or ".join(
        f"{url} (the distinct lines of {len(each.parts)} files there)" if each.parts else url
        for each in entry.downloads_of(member)
        for url in each.urls
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
    """Compare one file with the hashes that are known for it: its own, or its download's."""
    path = source.paths[0]
    download = next((d for d in entry.downloads_of(member) if d.name == path.name), None)
    archive = download.sha256 if download else None
    expected = member.sha256 or archive
    try:
        content = hashes.content_sha256(source)
    except DataError as error:
        log.warning("%s", error)
        facts = {"Its home is": _homes(entry, member), "Its sha256 is": expected}
        why = " ".join([error.what, *(f"{word} {fact}." for word, fact in facts.items() if fact)])
        return FileCheck(member, source, "mismatch", None, expected, why)
    if content in (member.sha256, *member.also):
        return FileCheck(member, source, "ok", content, content)
    if download and download.git_blob:
        blob = hashes.remembered(f"git|{hashes.state(path)}", lambda: hashes.git_blob(path))
        if not blob.startswith(download.git_blob):
            why = f"Its id in git is {blob}, expected is {download.git_blob}..."
            return FileCheck(member, source, "mismatch", content, expected, why)
    if download and archive:
        packed = hashes.file_sha256(path)
        if packed in (archive, *download.also):
            return FileCheck(member, source, "ok", content, content)
        if member.sha256 is None:
            return FileCheck(member, source, "mismatch", packed, archive)
    pinned = member.sha256 or _pins().get(f"{entry.folder}/{member.name}")
    if pinned is None:
        return FileCheck(member, source, "unpinned", content)
    return FileCheck(member, source, "ok" if content == pinned else "mismatch", content, pinned)


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

    From then on they have to match.
    """
    new = {
        f"{entry.folder}/{each.name}": str(each.sha256)
        for each in checks
        if each.status == "unpinned" or each.sha256 in each.member.also
    }
    if new:
        text = json.dumps(_pins() | new, indent=1, sort_keys=True)
        hashes.write(data_folder() / "pins.json", text)
        log.info("pinned: %s", new)


def _pins() -> dict[str, str]:
    """Return the hashes that were recorded; DataError if their file cannot be read."""
    path = data_folder() / "pins.json"
    try:
        return _PINS.validate_json(path.read_bytes(), strict=True)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path} cannot be read.",
            f"It has to hold the SHA-256 of files by their names ({type(error).__name__}).",
            "Correct it, or remove it: files are pinned anew, as they are then.",
        ) from error
