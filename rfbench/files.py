"""The one door to the files of a folder of ours: nothing outside of it is written or shown.

A results folder may come from somebody else. A link inside of it would lead a write to any file of
this person, and the content of any file onto a page; a pipe would hang whoever opens it. So a link,
a pipe or a device inside such a folder is refused. The folder itself, and those above it, may be
links: these are the person's own.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from rfbench.errors import ResultsError, WriteError

# A link that appears after the check is not followed either, and a pipe does not wait for a writer.
_SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def check(file: Path, top: Path | None = None) -> None:
    """Refuse a file of ours that is a link, a pipe, a folder or a device, or lies behind a link.

    Parameters
    ----------
    file : Path
        The file; it need not be there.
    top : Path, optional
        The folder of ours that holds it, at any depth; by default the one that it lies in.

    Raises
    ------
    ResultsError
        If there is something else at the place of the file, or a link between `top` and it.
    """
    top = top or file.parent
    inside = [top / folder for folder in list(file.relative_to(top).parents)[:-1]]
    wrong = next((folder for folder in inside if folder.is_symlink()), None)
    if wrong is None and os.path.lexists(file) and not stat.S_ISREG(file.lstat().st_mode):
        wrong = file
    if wrong is not None:
        raise ResultsError(
            f"{wrong} is a link, or no file, where rfbench keeps its own.",
            "Nothing outside of a folder of rfbench is read or written through what lies in it.",
            "Remove it, or put a copy of the file in its place.",
        )


def opened(file: Path, top: Path | None = None) -> BinaryIO:
    """Open a file of ours for reading; see `check`.

    Raises OSError if it is not there or may not be read.
    """
    check(file, top)
    return os.fdopen(os.open(file, os.O_RDONLY | _SAFELY), "rb")


def read(file: Path, top: Path | None = None) -> bytes:
    """Return the content of a file of ours; see `opened`."""
    with opened(file, top) as stream:
        return stream.read()


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold a file of ours against other processes; the system ends that with the process.

    Raises BlockingIOError if another holds it; OSError if it cannot be written.
    """
    check(file)
    handle = os.open(file, os.O_RDWR | os.O_CREAT | _SAFELY, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)  # a child may have a copy of the handle
        os.close(handle)


def append(file: Path, content: bytes, header: bytes = b"") -> None:
    """Add bytes at the end of a file of ours and force them to the disk; see `check`.

    A file that is empty or not there gets the header first. Raises OSError if there is no room or
    no permission.
    """
    check(file)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _SAFELY
    with os.fdopen(os.open(file, flags, 0o666), "ab") as stream:
        stream.write((b"" if os.fstat(stream.fileno()).st_size else header) + content)
        stream.flush()
        os.fsync(stream.fileno())


def replace(file: Path, content: bytes, top: Path | None = None) -> None:
    """Write a file so that after a crash either the old content is there or the new one.

    Parameters
    ----------
    file : Path
        The file; its folder is made.
    content : bytes
        All of it.
    top : Path, optional
        The folder of ours that holds the file; see `check`.

    Raises
    ------
    WriteError
        If the folder cannot be written; the old file stays.
    ResultsError
        If a link, or another thing that is no file, is in the way.
    """
    check(file, top)
    scratch = None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, scratch = tempfile.mkstemp(dir=file.parent, prefix=f".{file.stem[:100]}")
        with os.fdopen(handle, "wb") as new:
            new.write(content)
            new.flush()
            os.fsync(new.fileno())
        os.chmod(scratch, 0o644)
        os.replace(scratch, file)
    except OSError as error:
        raise WriteError(
            f"{file} could not be written: {error.strerror}.",
            "What was there before stays as it was.",
            "Make room, or give another --out, and run the same command again.",
        ) from error
    finally:
        if scratch is not None:
            Path(scratch).unlink(missing_ok=True)


def write_named(file: Path, content: bytes) -> None:
    """Write a file whose name the person gave: a link leads to its end, a device takes the bytes.

    A file is replaced whole; see `replace`. Raises WriteError if it cannot be written.
    """
    target = file.resolve() if file.is_symlink() else file
    if target.is_file() or not target.exists():
        return replace(target, content)
    try:
        target.write_bytes(content)
    except OSError as error:
        raise WriteError(f"{file} could not be written: {error.strerror}.") from error
