"""Import of matplotlib for drawing to files, without a display or a backend.

An ordinary import of matplotlib has two risks. It validates the environment variable MPLBACKEND,
which a notebook may have set to a module that is not installed here. It also reads a file
``matplotlibrc`` in the current folder, which may be untrusted.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from rfbench import platforms
from rfbench.errors import ConfigError

log = logging.getLogger(__name__)

BACKEND = "MPLBACKEND"
RC_FILE = "matplotlibrc"
# Environment variables with paths of matplotlib's settings and caches. The paths may be relative to
# the current folder.
PLACES = ("MATPLOTLIBRC", "MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "HOME")
# Folder that replaces the current folder while matplotlib is imported. The folder contains no
# Python modules. The current folder may be on the import path, so its modules could be imported by
# mistake.
ELSEWHERE = Path(__file__).resolve().parent / "pages" / "templates"


def import_matplotlib() -> ModuleType:
    """Import matplotlib without MPLBACKEND and without a ``matplotlibrc`` in the current folder.

    The ``matplotlibrc`` in the user's configuration folder, or in MATPLOTLIBRC, is read as usual.
    If matplotlib is imported already, its settings are not changed.

    Returns
    -------
    module
        The module `matplotlib`.

    Raises
    ------
    ConfigError
        If matplotlib cannot read the user's ``matplotlibrc``, or if it is not a file.
    """
    if "matplotlib" not in sys.modules:
        _refuse_a_pipe()
        messages: list[str] = []
        backend = os.environ.pop(BACKEND, None)
        try:
            with _away_from_a_settings_file(), _collected(messages):
                import matplotlib
        except (OSError, ValueError) as error:
            why = messages[-1] if messages else " ".join(str(error).split())
            raise _unreadable(why) from error
        finally:
            if backend is not None:
                os.environ[BACKEND] = backend
        if backend:  # the user's code may import pyplot later, which then uses this backend
            with contextlib.suppress(ValueError):
                matplotlib.rcParams["backend"] = backend
        for message in messages:
            if " in file " in message:
                log.warning("matplotlib ignores a line of its settings: %s", message)
            else:
                log.info("matplotlib: %s", message)
    import matplotlib.style

    return matplotlib


def _unreadable(why: str) -> ConfigError:
    return ConfigError(
        f"matplotlib cannot read its settings: {why}",
        "The settings are in the file matplotlibrc of your configuration folder, "
        "or in the file that the environment variable MATPLOTLIBRC names.",
        "Correct or remove this file.",
    )


def _refuse_a_pipe() -> None:
    """Raise ConfigError if the settings file of matplotlib is a pipe or a device.

    Reading a pipe might never end.
    """
    places = []
    if named := os.environ.get("MATPLOTLIBRC"):
        places = [named, os.path.join(named, RC_FILE)]
    above = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    usual = os.path.expanduser("~/.matplotlib") if platforms.DARWIN else f"{above}/matplotlib"
    places.append(os.path.join(os.environ.get("MPLCONFIGDIR") or usual, RC_FILE))
    # Like matplotlib, use the first path that exists and is not a folder.
    there = (place for place in places if os.path.exists(place) and not os.path.isdir(place))
    place = next(there, os.devnull)
    if not os.path.isfile(place) and place != os.devnull:
        raise _unreadable(f"{place} is not a regular file.")


@contextlib.contextmanager
def _away_from_a_settings_file() -> Iterator[None]:
    """Leave the current folder within a ``with`` block if it contains a file ``matplotlibrc``."""
    if not os.path.lexists(RC_FILE):
        yield
        return
    given = {name: os.environ[name] for name in PLACES if os.environ.get(name)}
    here = os.open(os.curdir, platforms.OPEN_FOLDER)
    os.environ.update({name: os.path.abspath(value) for name, value in given.items()})
    try:
        os.chdir(ELSEWHERE)
        yield
    finally:
        os.fchdir(here)
        os.close(here)
        os.environ.update(given)


@contextlib.contextmanager
def _collected(messages: list[str]) -> Iterator[None]:
    """Append the first line of each log message of matplotlib to `messages` in a ``with`` block."""

    class Collecting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage().strip().partition("\n")[0])

    logger, handler = logging.getLogger("matplotlib"), Collecting(logging.WARNING)
    propagated = logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagated
