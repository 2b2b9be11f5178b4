"""The folder of this user for files that can be made again, which nobody else writes."""

from __future__ import annotations

import atexit
import logging
import os
import tempfile
from pathlib import Path

from rfbench.errors import ConfigError

log = logging.getLogger(__name__)

CACHE, NUMBA = "RFBENCH_CACHE", "NUMBA_CACHE_DIR"
_temporary: list[tempfile.TemporaryDirectory[str]] = []


def find_user_folder() -> Path:
    """Return the folder: RFBENCH_CACHE, or ``rfbench`` in XDG_CACHE_HOME or in ``~/.cache``.

    Without a home it is a temporary folder, which the workers of this process share. ConfigError
    if a variable names a relative folder: anybody may have put files into the current one.
    """
    if given := _absolute(CACHE):
        return Path(given)
    if usual := _usual():
        return Path(usual) / "rfbench"
    _temporary.append(tempfile.TemporaryDirectory(prefix="rfbench-"))
    atexit.register(_temporary[-1].cleanup)
    os.environ[CACHE] = _temporary[-1].name
    log.warning(
        "This user has no home folder: nothing is kept after this command. Set %s to keep it.",
        CACHE,
    )
    return Path(_temporary[-1].name)


def is_temporary() -> bool:
    """Tell whether what is kept for this user ends with this process."""
    return str(find_user_folder()) in {each.name for each in _temporary}


def check() -> None:
    """Keep all caches out of the current folder, also that of numba, which loads pickles.

    ConfigError if a variable names a relative folder.
    """
    _absolute(CACHE)
    if not (_absolute(NUMBA) or _usual()):
        os.environ[NUMBA] = str(find_user_folder() / "numba")


def _usual() -> str:
    """Return the folder of all caches of this user; an empty text without a home."""
    if given := _absolute("XDG_CACHE_HOME"):
        return given
    _absolute("HOME")
    home = os.path.expanduser("~")
    return "" if home == "~" else os.path.join(home, ".cache")


def _absolute(name: str) -> str:
    """Return the folder that a variable names, if it is set."""
    given = os.environ.get(name, "")
    if given and not os.path.isabs(given):
        raise ConfigError(
            f"{name} names the relative folder {given}.",
            "rfbench would use files that somebody else may have put into the current folder.",
            "Give the whole path, or unset the variable.",
        )
    return given
