"""Location of the user's cache folder, which contains files that can be computed again."""

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
    """Return the user's cache folder for rfbench.

    The environment variable RFBENCH_CACHE specifies the folder. Otherwise it is ``rfbench`` in
    XDG_CACHE_HOME or in ``~/.cache``. If the user has no home folder, it is a temporary folder.
    Raise ConfigError if a variable contains a relative path, because anyone may have put files into
    the current folder.
    """
    if given := _absolute(CACHE):
        return Path(given)
    if usual := _usual():
        return Path(usual) / "rfbench"
    _temporary.append(tempfile.TemporaryDirectory(prefix="rfbench-"))
    atexit.register(_temporary[-1].cleanup)
    os.environ[CACHE] = _temporary[-1].name
    log.warning(
        "This user does not have a home folder, so nothing is stored for later "
        "commands. To store files, set %s to a folder.",
        CACHE,
    )
    return Path(_temporary[-1].name)


def is_temporary_folder() -> bool:
    """Return True if the cache folder is removed when this process ends."""
    return str(find_user_folder()) in {each.name for each in _temporary}


def check_cache_folder() -> None:
    """Raise ConfigError if an environment variable for a cache folder contains a relative path.

    If the user has no home folder, the library numba is given a folder for its cache. A cache in
    the current folder would be unsafe, because the cache of numba contains pickles, which can run
    any code.
    """
    _absolute(CACHE)
    if not (_absolute(NUMBA) or _usual()):
        os.environ[NUMBA] = str(find_user_folder() / "numba")


def _usual() -> str:
    """Return the folder for the caches of all programs of the user.

    The result is an empty string if the user has no home folder.
    """
    if given := _absolute("XDG_CACHE_HOME"):
        return given
    _absolute("HOME")
    home = os.path.expanduser("~")
    return "" if home == "~" else os.path.join(home, ".cache")


def _absolute(name: str) -> str:
    """Return the path in the environment variable `name`, or an empty string if it is not set.

    Raise ConfigError if the path is relative.
    """
    given = os.environ.get(name, "")
    if given and not os.path.isabs(given):
        raise ConfigError(
            f"{name} is the relative folder {given}.",
            "Other users may have put files into the current folder.",
            "Use an absolute path, or unset the variable.",
        )
    return given
