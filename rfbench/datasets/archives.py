"""Functions that read plain files, compressed files and members of zip archives.

Nothing is unpacked to disk. The requested files are read into memory, up to a limit of size.
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
"""Maximum size in bytes of a download, and of a member after decompression.

All files of the catalog are smaller. With twice this value, an archive that unpacks to zeros needs
twice the memory before it is rejected.
"""


def _open_zip(path: Path, mode: str = "rb", **kwargs: Any) -> Any:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if len(names) != 1:
            raise ValueError(f"The archive contains {len(names)} files instead of one")
        stream = archive.open(names[0])
    return io.TextIOWrapper(stream, **kwargs) if "t" in mode else stream


UNPACK: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zip": _open_zip,
}


def open_unpacked(path: Path, mode: str = "rb", **kwargs: Any) -> Any:
    """Open a plain or compressed file for reading its decompressed content.

    The suffix of `path` determines the compression. A zip archive has to contain exactly one file.
    """
    return UNPACK.get(path.suffix.lower(), open)(path, mode, **kwargs)


@dataclass(frozen=True)
class FoundFiles:
    """The files on disk that contain one file of a data set, or several files that match a pattern.

    `paths` are the files on disk: a single file, an archive, or several separate files. `pattern`
    is the end of the path of a file inside an archive, and may contain ``*``. `count` is the number
    of files that have to match `pattern`.
    """

    paths: tuple[Path, ...]
    pattern: str
    count: int = 1

    def read(self) -> dict[str, bytes]:
        """Return a dictionary from the name of each file to its decompressed content.

        Raise DataError if a file cannot be read or is too large, or if the number of files is not
        `count`.
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
            # Catch all exceptions, because the libraries raise many types of errors for damaged
            # archives.
            except Exception as error:
                raise DataError(
                    f"{path} cannot be read.",
                    f"{type(error).__name__}: {error}.",
                    "Remove the file and download it again.",
                ) from error
        if len(files) != self.count:
            where = ", ".join(map(str, self.paths[:3]))
            raise DataError(
                f"{where} contains {len(files)} files named '{self.pattern}' instead of "
                f"{self.count}.",
                f"The archive contains {format_names(inside) or 'nothing'}. It is incomplete, or a "
                "different archive.",
                "Remove the file and download it again.",
            )
        return dict(sorted(files))


def _search(
    place: Path | io.BytesIO, pattern: str, names: list[str], depth: int = 1
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each file in a zip archive whose path matches `pattern`.

    Zip archives inside the archive are searched, too, down to `depth` levels. The paths of all
    files are appended to the list `names`.
    """
    with zipfile.ZipFile(place) as packed:
        for name in packed.namelist():
            path = PurePosixPath(name)
            if path.name.startswith("._"):  # file that macOS adds to archives
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
        raise make_size_limit_error(f"'{name}'")
    return content


def make_size_limit_error(what: str) -> DataError:
    """Return the error for a file with more than `MAX_MEMBER_BYTES` bytes.

    `what` is the name of the file in the error message.
    """
    return DataError(
        f"{what} has more than {MAX_MEMBER_BYTES:,} bytes.",
        "All files in the catalog are smaller.",
        "Remove the file and download it again from its original address.",
    )
