"""Finding the files of a data set on disk, and checking that they are right."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rfbench.datasets import cache, catalog
from rfbench.datasets.archives import FoundFiles
from rfbench.datasets.catalog import Entry, Member
from rfbench.errors import DataError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FileCheck:
    """The state of one file of a data set.

    `status` is 'ok' (a known hash), 'unpinned' (no hash is known yet), 'mismatch' or 'missing';
    `path` is where it was found (the first path of several), `sha256` the hash of its content,
    `expected` the hash that it should have, where one is known, `problem` why it cannot be read.
    """

    name: str
    path: Path | None
    sha256: str | None
    status: Literal["ok", "unpinned", "mismatch", "missing"]
    expected: str | None = None
    problem: str = ""


def data_folder() -> Path:
    """Return `./data` if it exists, else `data` of a checkout, else the user's cache folder."""
    here = Path.cwd() / "data"
    if here.is_dir():
        return here
    checkout = Path(__file__).parents[2]
    if (checkout / "pyproject.toml").is_file():
        return checkout / "data"
    import pooch

    return Path(pooch.os_cache("rfbench"))


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


def _in_folder(folder: Path, entry: Entry, member: Member) -> FoundFiles | None:
    """Find a file in one folder: by itself, compressed, or inside its download."""
    loose = sorted(path for path in folder.glob(member.name) if path.is_file())
    if len(loose) == member.count:
        return FoundFiles(tuple(loose), member.name, member.count)
    for name in member.names[1:]:
        if (folder / name).is_file():
            return FoundFiles((folder / name,), member.pattern, member.count)
    return None


def locate(entry: Entry) -> list[FoundFiles | None]:
    """Return where each file of an entry stands, or None where it is nowhere."""
    folders = [folder / entry.folder for folder in search_folders()]
    return [
        next(filter(None, (_in_folder(folder, entry, member) for folder in folders)), None)
        for member in entry.files
    ]


def on_disk(name: str) -> bool:
    """Say whether every file of a data set is there; its content is not checked."""
    return None not in locate(catalog.entry(name))


def paths(name: str) -> list[Path]:
    """Return the files of a data set; none if it needs no file. DataError if one is missing."""
    return files_of(complete(catalog.entry(name)))


def files_of(sources: list[FoundFiles]) -> list[Path]:
    """Return the files on disk behind sources, each once."""
    return list(dict.fromkeys(path for source in sources for path in source.paths))


def complete(entry: Entry) -> list[FoundFiles]:
    """Return where each file of an entry stands; DataError if one is missing."""
    found = []
    for member, source in zip(entry.files, locate(entry), strict=True):
        if source is None:
            raise missing(entry, member, "It was not found on disk.")
        found.append(source)
    return found


def missing(entry: Entry, member: Member, why: str) -> DataError:
    """Return the error for a file that cannot be had: what it is, where to get and to put it."""
    folder = data_folder() / entry.folder
    urls = homes(entry, member)
    return DataError(
        f"'{(member.sources or (member.name,))[0]}' of {entry.name} is missing.",
        why,
        f"{f'Get it from {urls} and' if urls else 'It cannot be downloaded:'} put it into "
        f"{folder}, or run `rfbench data add {entry.name} FILE`.",
    )


def homes(entry: Entry, member: Member) -> str:
    """Return where a file may be had, in words; empty if it has no address."""
    return " or ".join(url for each in entry.downloads_of(member) for url in each.urls)


def check(entry: Entry, member: Member, source: FoundFiles) -> FileCheck:
    """Compare one file with the hashes that are known for it."""
    path = source.paths[0]
    download = next((d for d in entry.downloads_of(member) if d.name == path.name), None)
    whole = download.sha256 if download else None
    expected = member.sha256 or whole
    try:
        found = cache.content_sha256(source, memory())
    except DataError as error:
        log.warning("%s", error)
        facts = {"Its home is": homes(entry, member), "Its sha256 is": expected}
        why = " ".join([error.what, *(f"{word} {fact}." for word, fact in facts.items() if fact)])
        return FileCheck(member.name, path, None, "mismatch", expected, why)
    if found in (member.sha256, *member.also):
        return FileCheck(member.name, path, found, "ok", found)
    if download and whole:
        seen = cache.file_sha256(path, memory())
        if seen in (whole, *download.also):
            return FileCheck(member.name, path, found, "ok", found)
        if member.sha256 is None:
            return FileCheck(member.name, path, seen, "mismatch", whole)
    pinned = member.sha256 or cache.read_json(_pins()).get(_pin_key(entry, member))
    if pinned is None:
        return FileCheck(member.name, path, found, "unpinned")
    return FileCheck(member.name, path, found, "ok" if found == pinned else "mismatch", pinned)


def verify(name: str) -> list[FileCheck]:
    """Compare every file of a data set with the hashes that are known."""
    entry = catalog.entry(name)
    return [
        FileCheck(member.name, None, None, "missing", member.sha256)
        if source is None
        else check(entry, member, source)
        for member, source in zip(entry.files, locate(entry), strict=True)
    ]


def content_hashes(entry: Entry, sources: list[FoundFiles]) -> list[str]:
    """Return the hash of each file's content; DataError if one is not what is known of it."""
    hashes = []
    for member, source in zip(entry.files, sources, strict=True):
        result = check(entry, member, source)
        if result.status == "mismatch" or result.sha256 is None:
            raise mismatch(entry, result)
        hashes.append(result.sha256)
    return hashes


def mismatch(entry: Entry, result: FileCheck) -> DataError:
    """Return the error for a file with another hash than expected."""
    return DataError(
        f"{result.path} is not the expected '{result.name}' of {entry.name}.",
        result.problem or f"Its sha256 is {result.sha256}, expected is {result.expected}.",
        f"Remove it and run `rfbench data fetch {entry.name}`.",
    )


def pin(entry: Entry, sources: list[FoundFiles]) -> None:
    """Record the hashes of files for which none was known; from then on they have to match."""
    for member, source in zip(entry.files, sources, strict=True):
        result = check(entry, member, source)
        if result.status == "unpinned" and result.sha256 is not None:
            cache.add_json(_pins(), _pin_key(entry, member), result.sha256)
            log.info("%s of %s is pinned to %s", member.name, entry.name, result.sha256)


def _pins() -> Path:
    return data_folder() / "pins.json"


def memory() -> Path:
    """Return the file in which hashes are remembered."""
    return data_folder() / "cache" / "hashes.json"


def _pin_key(entry: Entry, member: Member) -> str:
    return f"{entry.folder}/{member.name}"
