"""Reading and writing of files in folders of rfbench, without following links.

A results folder may come from an untrusted source. A link in the folder could redirect a write to
any file of the user, or copy the content of any file to a page. A pipe would block a read.
Therefore links, pipes and devices inside such a folder are rejected. The folder itself, and the
folders above it, may be links, because the user created them.
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

# Flags for opening a file safely. The call does not follow a link that was created after the file
# was checked, and does not wait for the writer of a pipe.
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK


def check_regular_file(file: Path, top: Path | None = None) -> None:
    """Raise ResultsError if a file of a results folder is not a regular file, or is behind a link.

    Parameters
    ----------
    file : Path
        The file, which may be missing.
    top : Path, optional
        Folder of rfbench that contains the file at any depth. The default is the parent folder.

    Raises
    ------
    ResultsError
        If `file` exists and is not a regular file, if a folder between `top` and the file is a
        link, or if the file is not in `top`.
    """
    top = top or file.parent
    _check_inside(file, top)
    if os.path.lexists(file) and not stat.S_ISREG(file.lstat().st_mode):
        raise _in_the_way(file)


def _check_inside(file: Path, top: Path) -> None:
    """Raise ResultsError if a file is not in `top`, or if a folder between the two is a link."""
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
        "Remove it, or replace it by a copy of the file.",
    )


def open_checked(file: Path, top: Path | None = None) -> BinaryIO:
    """Open a file of a results folder for reading in binary mode.

    `top` is the results folder. Raise ResultsError if the file is not a regular file inside it, and
    OSError if the file is missing or cannot be read.
    """
    check_regular_file(file, top)
    return os.fdopen(os.open(file, os.O_RDONLY | _SAFELY), "rb")


def read(file: Path, top: Path | None = None) -> bytes:
    """Return the content of a file of a results folder.

    `top` is the results folder. Raise ResultsError if the file is not a regular file inside it.
    """
    with open_checked(file, top) as stream:
        return stream.read()


@contextmanager
def lock_file(file: Path) -> Iterator[None]:
    """Lock a file against other processes within a ``with`` statement.

    The system also releases the lock if the process is killed. Raise BlockingIOError if another
    process has the lock, and OSError if the file cannot be written.
    """
    check_regular_file(file)
    handle = os.open(file, os.O_RDWR | os.O_CREAT | _SAFELY, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        # Unlock explicitly. A child process may have a copy of the handle, so closing the handle is
        # not sufficient.
        fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)


def append(file: Path, content: bytes, header: bytes = b"", *, force: bool = True) -> None:
    """Append bytes to a file of a results folder, after checking that it is a regular file.

    The `header` is written first if the file is empty or missing. If `force` is True, the bytes are
    written to the disk immediately. Raise ResultsError if the file has a hard link elsewhere, and
    OSError if the disk is full or writing is not permitted.
    """
    check_regular_file(file)
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
    """Replace the content of a file so that a crash leaves either the old or the new content.

    Parameters
    ----------
    file : Path
        Path of the file. Its folder is created if it does not exist.
    content : bytes
        The new content.
    top : Path, optional
        Folder of rfbench that contains the file, see `check_regular_file`.

    Raises
    ------
    WriteError
        If the folder cannot be written. The old file is unchanged.
    ResultsError
        If the path is a link, or anything else that is not a regular file.
    """
    check_regular_file(file, top)
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
    """Remove a file of a results folder if the file exists.

    If the file is a link, only the link is removed, not its target. `top` is the results folder.
    """
    _check_inside(file, top or file.parent)
    file.unlink(missing_ok=True)


def remove_folder(folder: Path, top: Path | None = None) -> None:
    """Remove a folder and its content if the folder exists. Links in the folder are not followed.

    `top` is the results folder that contains `folder`. Raise OSError if the folder cannot be
    removed.
    """
    _check_inside(folder / "any", top or folder.parent)
    if folder.exists():
        shutil.rmtree(folder)


def remove_empty_folder(folder: Path) -> None:
    """Remove a folder if the folder is empty."""
    with suppress(OSError):
        folder.rmdir()


def make_folder(folder: Path) -> None:
    """Create a folder and all parent folders. Raise OSError if a folder cannot be created."""
    folder.mkdir(parents=True, exist_ok=True)


def move(file: Path, target: Path, top: Path | None = None) -> None:
    """Move a file to the path `target`, which is on the same file system.

    A regular file at `target` is replaced. Raise ResultsError if `target` is a link, or outside the
    results folder `top`.
    """
    check_regular_file(target, top)
    make_folder(target.parent)
    os.replace(file, target)


def save_array(file: Path, array: NDArray[Any]) -> None:
    """Write an array to a new `.npy` file. Raise OSError if the file already exists."""
    import numpy as np

    with file.open("xb") as stream:
        np.save(stream, array, allow_pickle=False)


@contextmanager
def make_scratch_folder(above: Path, prefix: str) -> Iterator[Path]:
    """Yield a temporary folder in `above`, which is removed at the end of the ``with`` statement.

    The name of the temporary folder starts with `prefix`. The folder `above` is created if it does
    not exist. Raise OSError if a folder cannot be created.
    """
    make_folder(above)
    with tempfile.TemporaryDirectory(dir=above, prefix=prefix) as scratch:
        yield Path(scratch)


@contextmanager
def stage_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder that is renamed to `folder` at the end of the ``with`` statement.

    If an error occurs, `folder` is not created. Raise OSError if `folder` exists already or cannot
    be written.
    """
    with make_scratch_folder(folder.parent, f".{folder.name[:100]}-") as scratch:
        stage = scratch / "new"  # a temporary folder that only this user can read
        stage.mkdir()
        yield stage
        os.replace(stage, folder)


def write_user_file(file: Path, content: bytes) -> None:
    """Write a file whose path the user specified, so that links are followed.

    A regular file is replaced as in `replace`. If the path is a device, the bytes are written to
    it. Raise WriteError if the file cannot be written.
    """
    target = file.resolve() if file.is_symlink() else file
    if target.is_file() or not target.exists():
        return replace(target, content)
    with raise_as_write_error(f"{file} could not be written"):
        target.write_bytes(content)
