"""A room for one trial: what its code does to the process does not reach the next trial.

`contained` puts back what every trial relies on. A process whose state is another one afterwards
is replaced; so is one that ran other people's code, before it does anything else (see
`rfbench.experiment.children`). Code that kills the run itself costs no row that is written: the
next run goes on, see `rfbench.experiment.runner`.
"""

from __future__ import annotations

import contextlib
import os
import random
import resource
import signal
import stat
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

RUINED = "ruined"
"""Key of a row whose worker must not go on; a list of what its trial left behind."""

CLOSED = "a closed file"

LONGEST_MESSAGE = 2000
LONGEST_TRACEBACK = 100_000
THREAD_SECONDS = 0.1


@contextlib.contextmanager
def contained(seed: int) -> Iterator[list[str]]:
    """Put back seeds, folder, environment, warnings; the list names, afterwards, what else changed.

    The seed, at most 2^32 - 1, is that of Python's and numpy's global generators inside: code that
    draws from them is as repeatable as the rest.
    """
    owner, before = os.getpid(), _state()
    threads, pipes = set(threading.enumerate()), _pipes()
    folder, environment = os.getcwd() if os.path.exists(".") else "", dict(os.environ)
    filters, content, show = warnings.filters, list(warnings.filters), warnings.showwarning
    generators = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    ruined: list[str] = []
    try:
        with np.errstate():
            yield ruined
    finally:
        if os.getpid() != owner:  # A fork of this process that came out of the trial.
            os._exit(1)
        random.setstate(generators[0])
        np.random.set_state(generators[1])  # noqa: NPY002
        with contextlib.suppress(OSError):  # it was removed
            os.chdir(folder)
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)
        warnings.showwarning = show
        # Only if they changed: setting them makes warnings that were shown be shown again.
        if warnings.filters is not filters or filters != content:
            warnings.resetwarnings()
            filters[:] = content  # type: ignore[index]
            warnings.filters = filters
        after = _state()
        ruined += [name for name, value in before.items() if after[name] != value]
        for thread in set(threading.enumerate()) - threads:
            if not thread.daemon:
                thread.join(THREAD_SECONDS)
                ruined += ["a running thread"] if thread.is_alive() else []
        # Another file may have its number by now, and get what is meant for the run.
        now = _pipes()
        ruined += [CLOSED] if any(now.get(n) != pipe for n, pipe in pipes.items()) else []


def _state() -> dict[str, object]:
    """Return what would spoil the journal, or end the process in the middle of another trial."""
    return {
        "another file mode": _mask(),
        "another resource limit": _limits(),
        "a pending alarm": signal.getitimer(signal.ITIMER_REAL)[0] > 0,
        "other blocked signals": signal.pthread_sigmask(signal.SIG_BLOCK, []),
        "another handler of Ctrl-C": signal.getsignal(signal.SIGINT),
    }


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _limits() -> dict[int, tuple[int, int]]:
    kinds = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
    return {kind: resource.getrlimit(kind) for kind in kinds}


def _pipes() -> dict[int, tuple[int, int]]:
    """Return the identity of the open descriptors that are no regular files."""
    pipes = {}
    with contextlib.suppress(OSError):
        for name in os.listdir("/dev/fd"):
            with contextlib.suppress(OSError):
                facts = os.fstat(int(name))
                if not (stat.S_ISREG(facts.st_mode) or stat.S_ISDIR(facts.st_mode)):
                    pipes[int(name)] = (facts.st_dev, facts.st_ino)
    return pipes


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
