"""Reading and writing files in folders of rfbench, without following links out of them.

A results folder may come from an untrusted source. A link in it could redirect a write to any file
of the user, or copy the content of any file to a page; a pipe would block the reader. So a link, a
pipe or a device inside such a folder is rejected. The folder itself, and the folders above it, may
be links, because the user created these.
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

# With these flags, a link that is created after the check is not followed, and a pipe does not
# block.
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK


def check(file: Path, top: Path | None = None) -> None:
    """Raise ResultsError if a file of a results folder is not regular, or is reached by a link.

    Parameters
    ----------
    file : Path
        The file, which may be missing.
    top : Path, optional
        Folder of rfbench that contains it, at any depth; by default its parent folder.

    Raises
    ------
    ResultsError
        If `file` exists and is not a regular file, if there is a link between `top` and it, or if
        the file is not in `top`.
    """
    top = top or file.parent
    _check_inside(file, top)
    if os.path.lexists(file) and not stat.S_ISREG(file.lstat().st_mode):
        raise _in_the_way(file)


def _check_inside(file: Path, top: Path) -> None:
    """Raise ResultsError if a file is not in `top`, or is behind a link there."""
    if not file.is_relative_to(top) or ".." in file.relative_to(top).parts:
        raise ResultsError(
            f"{file} is not in the folder {top}.",
            "rfbench reads and writes only inside its own folders.",
            "Remove the reference to the file.",
        )
    for folder in list(file.relative_to(top).parents)[:-1]:
        if (top / folder).is_symlink():
            raise _in_the_way(top / folder)


def _in_the_way(wrong: Path) -> ResultsError:
    return ResultsError(
        f"{wrong} is a link, or not a regular file, but rfbench expects a file "
        "that it has written.",
        "rfbench reads and writes only inside its own folders.",
        "Remove {wrong}, or replace it by a copy of the file.",
    )


def open_checked(file: Path, top: Path | None = None) -> BinaryIO:
    """Check a file of a results folder, and open it for reading.

    Raises OSError if the file is missing or cannot be read.
    """
    check(file, top)
    return os.fdopen(os.open(file, os.O_RDONLY | _SAFELY), "rb")


def read(file: Path, top: Path | None = None) -> bytes:
    """Check a file of a results folder, and return its content."""
    with open_checked(file, top) as stream:
        return stream.read()


@contextmanager
def lock_file(file: Path) -> Iterator[None]:
    """Lock a file against other processes; the system releases the lock when the process ends.

    Raises BlockingIOError if another process has the lock; OSError if the file cannot be written.
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
    """Check a file of a results folder, append bytes to it, and `force` them to the disk.

    An empty or missing file gets the header first. Raises ResultsError if the file has a hard link
    elsewhere; OSError if the disk is full or writing is not permitted.
    """
    check(file)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _SAFELY
    with os.fdopen(os.open(file, flags, 0o666), "ab") as stream:
        status = os.fstat(stream.fileno())
        if status.st_nlink > 1:
            raise ResultsError(
                f"{file} has a hard link in another folder.",
                "Appending to the file would change a file outside the folders of rfbench.",
                "Replace it by a copy of the file.",
            )
        stream.write((b"" if status.st_size else header) + content)
        stream.flush()
        if force:
            os.fsync(stream.fileno())


def replace(file: Path, content: bytes, top: Path | None = None) -> None:
    """Write a file so that after a crash it has either the old or the new content.

    Parameters
    ----------
    file : Path
        The file; its folder is created.
    content : bytes
        The new content.
    top : Path, optional
        Folder of rfbench that contains the file, see `check`.

    Raises
    ------
    WriteError
        If the folder cannot be written; the old file is kept.
    ResultsError
        If a link, or something else that is not a file, has this path.
    """
    check(file, top)
    with (
        ExitStack() as removed,
        raise_as_write_error(
            f"{file} could not be written",
            "The old content of the file is unchanged.",
            "Free disk space, or use another --out. Then run the same command again.",
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
    """Remove a file of a results folder, if it exists; for a link, only the link."""
    _check_inside(file, top or file.parent)
    file.unlink(missing_ok=True)


def remove_folder(folder: Path, top: Path | None = None) -> None:
    """Remove a folder with its content, if it exists; links are not followed.

    `top` is the folder of rfbench that contains it, see `check`. Raises OSError if it cannot be
    removed.
    """
    _check_inside(folder / "any", top or folder.parent)
    if folder.exists():
        shutil.rmtree(folder)


def remove_empty(folder: Path) -> None:
    """Remove a folder, unless it has any content."""
    with suppress(OSError):
        folder.rmdir()


def make_folder(folder: Path) -> None:
    """Create a folder and its parents; raise OSError if this fails."""
    folder.mkdir(parents=True, exist_ok=True)


def move(file: Path, target: Path, top: Path | None = None) -> None:
    """Check the path `target`, and move a file to it on the same file system."""
    check(target, top)
    make_folder(target.parent)
    os.replace(file, target)


def save_array(file: Path, array: NDArray[Any]) -> None:
    """Write an array to a new file for `numpy.load`; raise OSError if the file exists."""
    import numpy as np

    with file.open("xb") as stream:
        np.save(stream, array, allow_pickle=False)


@contextmanager
def make_scratch_folder(above: Path, prefix: str) -> Iterator[Path]:
    """Create `above` if needed, and yield a temporary folder in it that is removed at the end.

    Raises OSError if it cannot be created.
    """
    make_folder(above)
    with tempfile.TemporaryDirectory(dir=above, prefix=prefix) as scratch:
        yield Path(scratch)


@contextmanager
def stage_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder to fill, which is renamed to `folder` at the end, completely or not at all.

    Raises OSError if `folder` exists already or cannot be written.
    """
    with make_scratch_folder(folder.parent, f".{folder.name[:100]}-") as scratch:
        stage = scratch / "new"  # a scratch folder is readable for this user alone
        stage.mkdir()
        yield stage
        os.replace(stage, folder)


def write_named(file: Path, content: bytes) -> None:
    """Write a file whose name the user gave: links are followed, and a device receives the bytes.

    A regular file is replaced atomically, see `replace`. Raises WriteError if it cannot be written.
    """
    target = file.resolve() if file.is_symlink() else file
    if target.is_file() or not target.exists():
        return replace(target, content)
    with raise_as_write_error(f"{file} could not be written"):
        target.write_bytes(content)
