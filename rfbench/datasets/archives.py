"""Opening files as they lie on disk: plain, compressed, or inside a zip.

Nothing is unpacked to disk: the wanted members are read into memory, up to a bound.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from rfbench.datasets.values import format_names
from rfbench.errors import DataError

MAX_MEMBER_BYTES = 1 << 30
"""The most bytes that a download, or one of its members once unpacked, may hold.

No file of the catalogue is as large. Doubled, an archive that unpacks to zeros takes twice as much
memory before it is refused.
"""


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


def open_unpacked(path: Path, mode: str = "rb", **kwargs: Any) -> Any:
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

    def read(self) -> dict[str, bytes]:
        """Return the unpacked content of every file, in the order of the names.

        DataError if one cannot be read or is too large, or if the number is wrong.
        """
        files: list[tuple[str, bytes]] = []
        inside: list[str] = []
        for path in self.paths:
            try:
                if path.suffix == ".zip":
                    files += _search(path, self.pattern, inside)
                else:
                    with open_unpacked(path) as stream:
                        name = path.stem if path.suffix in UNPACK else path.name
                        files.append((name, _bounded(stream, path.name)))
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
            raise DataError(
                f"{where} holds {len(files)} files named '{self.pattern}', not {self.count}.",
                f"It has {format_names(inside) or 'nothing'}: "
                "it is incomplete, or another archive.",
                "Remove the file and get it again.",
            )
        return dict(sorted(files))


def _search(
    place: Path | io.BytesIO, pattern: str, names: list[str], depth: int = 1
) -> Iterator[tuple[str, bytes]]:
    """Yield the members of a zip that match, and those of zips inside; `names` gets all names."""
    with zipfile.ZipFile(place) as packed:
        for name in packed.namelist():
            path = PurePosixPath(name)
            if path.name.startswith("._"):  # what macOS adds
                continue
            names.append(name)
            if path.match(pattern):
                yield path.name, _bounded(packed.open(name), name)
            elif depth and path.suffix == ".zip":
                inner = io.BytesIO(_bounded(packed.open(name), name))
                yield from _search(inner, pattern, names, depth - 1)


def _bounded(stream: IO[bytes], name: str) -> bytes:
    content = stream.read(MAX_MEMBER_BYTES + 1)
    if len(content) > MAX_MEMBER_BYTES:
        raise make_size_error(f"'{name}'")
    return content


def make_size_error(what: str) -> DataError:
    """Return the error for a file beyond the bound."""
    return DataError(
        f"{what} holds more than {MAX_MEMBER_BYTES:,} bytes.",
        "No file in the catalogue is that large.",
        "Remove the file and get it again from its original home.",
    )
