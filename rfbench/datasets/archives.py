"""Opening files as they lie on disk: plain, compressed, or inside an archive.

Nothing is unpacked to disk: the wanted members are read into memory, up to a bound.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

from rfbench.errors import DataError

LIMIT = 1 << 30
"""The most bytes that one member may hold once unpacked."""

MOST_NAMED = 8
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2")


def _open_zip(path: Path, mode: str = "rb", **kwargs: Any) -> Any:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if len(names) != 1:
            raise ValueError(f"It holds {len(names)} files, and one is looked for")
        stream = archive.open(names[0])
    return io.TextIOWrapper(stream, **kwargs) if "t" in mode else stream


UNPACK: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zip": _open_zip,
}


def opened(path: Path, mode: str = "rb", **kwargs: Any) -> Any:
    """Open a file, unpacked; a zip has to hold one file."""
    return UNPACK.get(path.suffix.lower(), open)(path, mode, **kwargs)


@dataclass(frozen=True)
class FoundFiles:
    """One file of a data set (or several of one pattern) at the place where it was found.

    `paths` are the files on disk: a file or archive, or several loose files; `pattern` is the end
    of the member's path inside an archive and may hold ``*``; `count` files have to match it.
    """

    paths: tuple[Path, ...]
    pattern: str
    count: int = 1

    def read(self, limit: int = LIMIT) -> dict[str, bytes]:
        """Return the unpacked content of every file, in the order of the names.

        DataError if one cannot be read or is too large, or if the number is wrong.
        """
        files = [file for path in self.paths for file in _read(path, self.pattern, limit)]
        if len(files) != self.count:
            where = ", ".join(map(str, self.paths[:3]))
            inside = [name for path in self.paths for name in _names_in(path)]
            more = f" and {len(inside) - MOST_NAMED:,} more" if len(inside) > MOST_NAMED else ""
            holds = f" It has {', '.join(inside[:MOST_NAMED])}{more}." if inside else ""
            raise DataError(
                f"{where} holds {len(files)} files named '{self.pattern}', not {self.count}."
                + holds,
                "It is incomplete, or another archive under this name.",
                "Remove the file and get it again.",
            )
        return dict(sorted(files))


def _read(path: Path, pattern: str, limit: int) -> list[tuple[str, bytes]]:
    try:
        if path.name.endswith(_ARCHIVES):
            with path.open("rb") as stream:
                return _search(stream, path.name, pattern, limit)
        with opened(path) as stream:
            name = path.stem if path.suffix in UNPACK else path.name
            return [(name, _bounded(stream, path.name, limit))]
    except (DataError, MemoryError):
        raise
    except Exception as error:  # damaged archives make the libraries raise almost anything
        raise DataError(
            f"{path} cannot be read.",
            f"{type(error).__name__}: {error}.",
            "Remove the file and get it again.",
        ) from error


def _search(
    stream: IO[bytes], archive: str, pattern: str, limit: int, nested: bool = False
) -> list[tuple[str, bytes]]:
    """Read the members that match; where there is none, look into the archives inside."""
    files = []
    for name, opener in _members(stream, archive):
        path = PurePosixPath(name)
        if path.match(pattern) and not path.name.startswith("._"):
            with opener() as member:
                files.append((path.name, _bounded(member, name, limit)))
    if files or nested:
        return files
    for suffix in _ARCHIVES:
        stream.seek(0)
        for name, content in _search(stream, archive, f"*{suffix}", limit, nested=True):
            files += _search(io.BytesIO(content), name, pattern, limit, nested=True)
    return files


def _members(stream: IO[bytes], archive: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the files of an archive, no links or devices, each with what opens it."""
    if archive.endswith(".zip"):
        with zipfile.ZipFile(stream) as packed:
            for info in packed.infolist():
                if not info.is_dir():
                    yield info.filename, partial(packed.open, info)
    else:
        with tarfile.open(fileobj=stream) as tape:
            for member in tape:
                if member.isreg():
                    yield member.name, partial(tape.extractfile, member)


def _names_in(path: Path) -> list[str]:
    """Return the names of an archive's files; none if it is no archive."""
    if not path.name.endswith(_ARCHIVES):
        return []
    with path.open("rb") as stream:
        return [name for name, _ in _members(stream, path.name)]


def _bounded(stream: IO[bytes], name: str, limit: int) -> bytes:
    content = stream.read(limit + 1)
    if len(content) > limit:
        raise DataError(
            f"'{name}' holds more than {limit:,} bytes.",
            "No file in the catalogue is that large.",
            "Remove the file and get it again from its original home.",
        )
    return content
