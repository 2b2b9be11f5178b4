"""The one door to the files of a folder of ours: nothing outside of it is written or shown.

A results folder may come from somebody else. A link inside of it would lead a write to any file of
this person, and the content of any file onto a page; a pipe would hang whoever opens it. So a link,
a pipe or a device inside such a folder is refused. The folder itself, and those above it, may be
links: these are the person's own.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from rfbench.errors import ResultsError, raise_as_write_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A link that appears after the check is not followed either, and a pipe does not wait for a writer.
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK


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
        If there is something else at the place of the file, or a link between `top` and it, or if
        the file is not in `top`.
    """
    top = top or file.parent
    _check_inside(file, top)
    if os.path.lexists(file) and not stat.S_ISREG(file.lstat().st_mode):
        raise _in_the_way(file)


def _check_inside(file: Path, top: Path) -> None:
    """Refuse what is not in `top`, or behind a link there."""
    if not file.is_relative_to(top) or ".." in file.relative_to(top).parts:
        raise ResultsError(
            f"{file} is not in {top}.",
            "Nothing outside of a folder of rfbench is read or written through what lies in it.",
            "Remove what names it.",
        )
    for folder in list(file.relative_to(top).parents)[:-1]:
        if (top / folder).is_symlink():
            raise _in_the_way(top / folder)


def _in_the_way(wrong: Path) -> ResultsError:
    return ResultsError(
        f"{wrong} is a link, or no file, where rfbench keeps its own.",
        "Nothing outside of a folder of rfbench is read or written through what lies in it.",
        "Remove it, or put a copy of the file in its place.",
    )


def open_checked(file: Path, top: Path | None = None) -> BinaryIO:
    """Open a file of ours for reading; see `check`.

    Raises OSError if it is not there or may not be read.
    """
    check(file, top)
    return os.fdopen(os.open(file, os.O_RDONLY | _SAFELY), "rb")


def read(file: Path, top: Path | None = None) -> bytes:
    """Return the content of a file of ours; see `open_checked`."""
    with open_checked(file, top) as stream:
        return stream.read()


@contextmanager
def lock_file(file: Path) -> Iterator[None]:
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


def append(file: Path, content: bytes, header: bytes = b"", *, force: bool = True) -> None:
    """Add bytes at the end of a file of ours, and `force` them to the disk; see `check`.

    A file that is empty or not there gets the header first. Raises ResultsError if the file has
    another name elsewhere (a hard link); OSError if there is no room or no permission.
    """
    check(file)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _SAFELY
    with os.fdopen(os.open(file, flags, 0o666), "ab") as stream:
        status = os.fstat(stream.fileno())
        if status.st_nlink > 1:
            raise ResultsError(
                f"{file} has a second name elsewhere.",
                "What is added to it would change a file outside of a folder of rfbench.",
                "Put a copy of the file in its place.",
            )
        stream.write((b"" if status.st_size else header) + content)
        stream.flush()
        if force:
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
    with (
        ExitStack() as removed,
        raise_as_write_error(
            f"{file} could not be written",
            "What was there before stays as it was.",
            "Make room, or give another --out, and run the same command again.",
        ),
    ):
        make_folder(file.parent)
        handle, scratch = tempfile.mkstemp(dir=file.parent, prefix=f".{file.stem[:100]}")
        removed.callback(Path(scratch).unlink, missing_ok=True)
        with os.fdopen(handle, "wb") as new:
            new.write(content)
            new.flush()
            os.fsync(new.fileno())
        os.chmod(scratch, 0o644)
        os.replace(scratch, file)


def remove(file: Path, top: Path | None = None) -> None:
    """Remove a file of ours, if it is there; of a link only itself. See `check`."""
    _check_inside(file, top or file.parent)
    file.unlink(missing_ok=True)


def remove_folder(folder: Path, top: Path | None = None) -> None:
    """Remove a folder of ours with all that is in it, if it is there; links are not followed.

    `top` is the folder of ours that holds it, see `check`. OSError if it cannot be removed.
    """
    _check_inside(folder / "any", top or folder.parent)
    if folder.exists():
        shutil.rmtree(folder)


def remove_empty(folder: Path) -> None:
    """Remove a folder if nothing is in it."""
    with suppress(OSError):
        folder.rmdir()


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it; OSError if it cannot be made."""
    folder.mkdir(parents=True, exist_ok=True)


def move(file: Path, target: Path, top: Path | None = None) -> None:
    """Put a file in the place of another one on the same file system; see `check` of that."""
    check(target, top)
    make_folder(target.parent)
    os.replace(file, target)


def save_array(file: Path, array: NDArray[Any]) -> None:
    """Write an array into a new file, which `numpy.load` reads; OSError if it is there already."""
    import numpy as np

    with file.open("xb") as stream:
        np.save(stream, array, allow_pickle=False)


@contextmanager
def make_scratch_folder(above: Path, prefix: str) -> Iterator[Path]:
    """Give a new folder in another one, which is made; it goes at the end with all that is in it.

    OSError if it cannot be made.
    """
    make_folder(above)
    with tempfile.TemporaryDirectory(dir=above, prefix=prefix) as scratch:
        yield Path(scratch)


@contextmanager
def stage_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to be filled, which becomes `folder` at the end: whole, or not at all.

    OSError if `folder` is there already or cannot be written.
    """
    with make_scratch_folder(folder.parent, f".{folder.name[:100]}-") as scratch:
        stage = scratch / "new"  # a scratch folder is for this user alone
        stage.mkdir()
        yield stage
        os.replace(stage, folder)


def write_named(file: Path, content: bytes) -> None:
    """Write a file whose name the person gave: a link leads to its end, a device takes the bytes.

    A file is replaced whole; see `replace`. Raises WriteError if it cannot be written.
    """
    target = file.resolve() if file.is_symlink() else file
    if target.is_file() or not target.exists():
        return replace(target, content)
    with raise_as_write_error(f"{file} could not be written"):
        target.write_bytes(content)
