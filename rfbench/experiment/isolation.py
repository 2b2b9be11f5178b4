"""A room for one trial: what its code does to the process does not reach the next trial.

`contained` notes the state that a trial may change and puts it back. What cannot be put back is
named, and the worker process that it happened in is replaced.

Out of reach is code that writes over the functions or the memory of others. Code that kills the
run itself costs no row that is written: the next run goes on, see `rfbench.experiment.runner`.
"""

from __future__ import annotations

import contextlib
import gc
import os
import random
import resource
import signal
import stat
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

RUINED = "ruined"
"""Key of a row whose worker must not go on; a list of what its trial left behind."""

LONGEST_MESSAGE = 2000
LONGEST_TRACEBACK = 100_000
THREAD_SECONDS = 0.1


@contextlib.contextmanager
def contained(seed: int) -> Iterator[list[str]]:
    """Put back what is changed inside; the list names, afterwards, what cannot be put back.

    The seed, at most 2^32 - 1, is that of Python's and numpy's global generators inside: code that
    draws from them is as repeatable as the rest.
    """
    owner = os.getpid()
    before = [(name, read(), put_back) for name, read, put_back in _STATE]
    threads, pipes = set(threading.enumerate()), _pipes()
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    ruined: list[str] = []
    try:
        yield ruined
    finally:
        if os.getpid() != owner:  # A fork of this process that came out of the trial.
            os._exit(1)
        for name, value, put_back in before:
            try:
                put_back(value)
            except Exception:
                ruined.append(f"another {name}")
        for thread in set(threading.enumerate()) - threads:
            if not thread.daemon:
                thread.join(THREAD_SECONDS)
                ruined += ["a running thread"] if thread.is_alive() else []
        now = _pipes()
        ruined += ["a closed file"] if any(now.get(n) != pipe for n, pipe in pipes.items()) else []


def words(error: BaseException) -> str:
    """Return an error's message, or say that it has none that can be read."""
    return _printable(lambda: str(error), LONGEST_MESSAGE)


def traceback_of(error: BaseException) -> str:
    """Return an error's traceback, as Python prints it."""
    return _printable(lambda: "".join(traceback.format_exception(error)), LONGEST_TRACEBACK)


def plain(value: Any) -> Any:
    """Return a measured value as a number or text that can be written down; else TypeError."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.item()
    if type(value) is str:
        return _printable(lambda: value, LONGEST_TRACEBACK)
    if value is None or type(value) in (bool, int, float):
        return value
    raise TypeError(f"{type(value).__name__} is neither a number nor text")


def _printable(read: Callable[[], str], longest: int) -> str:
    """Return a text with what is no character of a text file written as an escape."""
    try:
        return "".join(
            c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode()
            for c in read()[:longest]
        )
    except BaseException:
        return "its message cannot be read"


def _limits() -> dict[int, tuple[int, int]]:
    kinds = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
    return {kind: resource.getrlimit(kind) for kind in kinds}


def _set_limits(old: dict[int, tuple[int, int]]) -> None:
    for kind, limits in old.items():
        if resource.getrlimit(kind) != limits:
            resource.setrlimit(kind, limits)


def _set_folder(old: str) -> None:
    if old:
        os.chdir(old)


def _set_environment(old: dict[str, str]) -> None:
    if dict(os.environ) != old:
        os.environ.clear()
        os.environ.update(old)


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _handlers() -> dict[int, Any]:
    if threading.current_thread() is not threading.main_thread():
        return {}
    return {number: signal.getsignal(number) for number in signal.valid_signals()}


def _set_handlers(old: dict[int, Any]) -> None:
    for number, handler in old.items():
        if handler is not None and signal.getsignal(number) is not handler:
            signal.signal(number, handler)


def _filters() -> tuple[list[Any], list[Any], Any]:
    return warnings.filters, list(warnings.filters), warnings.showwarning  # type: ignore[return-value]


def _set_filters(old: tuple[list[Any], list[Any], Any]) -> None:
    filters, content, warnings.showwarning = old
    # Only if they changed: setting them makes warnings that were shown be shown again.
    if warnings.filters is not filters or filters != content:
        warnings.resetwarnings()
        filters[:] = content
        warnings.filters = filters


def _pipes() -> dict[int, tuple[int, int]]:
    """Return the identity of the open descriptors that are no regular files."""
    found = {}
    with contextlib.suppress(OSError):
        for name in os.listdir("/dev/fd"):
            with contextlib.suppress(OSError):
                facts = os.fstat(int(name))
                if not (stat.S_ISREG(facts.st_mode) or stat.S_ISDIR(facts.st_mode)):
                    found[int(name)] = (facts.st_dev, facts.st_ino)
    return found


State = tuple[str, Callable[[], Any], Callable[[Any], Any]]


def _attribute(name: str) -> State:
    return f"sys.{name}", lambda: getattr(sys, name), lambda old: setattr(sys, name, old)


_STATE: tuple[State, ...] = (
    ("resource limit", _limits, _set_limits),
    ("current folder", lambda: os.getcwd() if os.path.exists(".") else "", _set_folder),
    ("environment", lambda: dict(os.environ), _set_environment),
    ("file mode", _mask, os.umask),
    ("search path", lambda: list(sys.path), lambda old: sys.path.__setitem__(slice(None), old)),
    *(_attribute(name) for name in ("stdin", "stdout", "stderr", "excepthook")),
    ("recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
    ("garbage collection", gc.isenabled, lambda on: gc.enable() if on else gc.disable()),
    ("signal handler", _handlers, _set_handlers),
    (
        "alarm",
        lambda: signal.getitimer(signal.ITIMER_REAL),
        lambda old: signal.setitimer(signal.ITIMER_REAL, *old),
    ),
    (
        "blocked signals",
        lambda: signal.pthread_sigmask(signal.SIG_BLOCK, []),
        lambda old: signal.pthread_sigmask(signal.SIG_SETMASK, old),
    ),
    ("warnings filters", _filters, _set_filters),
    ("generator of Python", random.getstate, random.setstate),
    ("generator of numpy", np.random.get_state, np.random.set_state),
    ("error handling of numpy", np.geterr, lambda old: np.seterr(**old)),
    ("error handler of numpy", np.geterrcall, np.seterrcall),
)
