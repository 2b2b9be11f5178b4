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
"""The most bytes that a download, or one of its members once unpacked, may hold."""

MOST_NAMED = 8
_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2")
Files = list[tuple[str, bytes]]


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
        files: Files = []
        inside: list[str] = []
        for path in self.paths:
            try:
                if path.name.endswith(_ARCHIVES):
                    with path.open("rb") as stream:
                        files += _search(stream, path.name, self.pattern, limit, inside)
                else:
                    with opened(path) as stream:
                        name = path.stem if path.suffix in UNPACK else path.name
                        files.append((name, _bounded(stream, path.name, limit)))
            except (DataError, MemoryError):
                raise
            except Exception as error:  # damaged archives make the libraries raise almost anything
                raise DataError(
                    f"{path} cannot be read.",
                    f"{type(error).__name__}: {error}.",
                    "Remove the file and get it again.",
                ) from error
        if len(files) != self.count:
            where = ", ".join(map(str, self.paths[:3]))
            more = f" and {len(inside) - MOST_NAMED:,} more" if len(inside) > MOST_NAMED else ""
            holds = f" It has {', '.join(inside[:MOST_NAMED])}{more}." if inside else ""
            raise DataError(
                f"{where} holds {len(files)} files named '{self.pattern}', not {self.count}."
                + holds,
                "It is incomplete, or another archive under this name.",
                "Remove the file and get it again.",
            )
        return dict(sorted(files))


def _search(
    stream: IO[bytes], archive: str, pattern: str, limit: int, names: list[str], depth: int = 1
) -> Files:
    """Read the members that match; where there is none, look into the archives inside.

    The names of all members are added to `names`.
    """
    files: Files = []
    inner = []
    for name, opener in _members(stream, archive):
        path = PurePosixPath(name)
        names.append(name)
        if path.match(pattern) and not path.name.startswith("._"):
            files.append((path.name, _bounded(opener(), name, limit)))
        elif name.endswith(_ARCHIVES) and not path.name.startswith("._"):
            inner.append((name, opener))
    if not files and depth:
        for name, opener in inner:
            content = io.BytesIO(_bounded(opener(), name, limit))
            files += _search(content, name, pattern, limit, [], depth - 1)
    return files


def _members(stream: IO[bytes], archive: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the files of an archive, no links or devices, each with what opens it."""
    if archive.endswith(".zip"):
        packed = zipfile.ZipFile(stream)
        for info in packed.infolist():
            if not info.is_dir():
                yield info.filename, partial(packed.open, info)
    else:
        tape = tarfile.open(fileobj=stream)  # noqa: SIM115
        for member in tape:
            if member.isreg():
                yield member.name, partial(tape.extractfile, member)


def _bounded(stream: IO[bytes], name: str, limit: int) -> bytes:
    content = stream.read(limit + 1)
    if len(content) > limit:
        raise too_large(f"'{name}'", limit)
    return content


def too_large(what: str, limit: int) -> DataError:
    """Return the error for a file beyond the bound."""
    return DataError(
        f"{what} holds more than {limit:,} bytes.",
        "No file in the catalogue is that large.",
        "Remove the file and get it again from its original home.",
    )
