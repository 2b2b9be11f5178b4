"""Processes of their own for trials: a crash costs the child, never its parent.

A child is a fresh Python that does one call at a time and sends the result back through a socket.
It is no `multiprocessing` process, because those may not be started by a daemon, as the workers of
dask are. It has a session of its own: Ctrl-C is its parent's business, and what trials leave
running ends with it. It ends when its parent does, and after a minute without work.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection, Pipe
from typing import Any

from rfbench.errors import WriteError

IDLE_SECONDS = 60.0
PARENT_CHECK_SECONDS = 1.0
DEATH_CHECK_SECONDS = 0.2
START = """\
import sys
sys.path[:] = {path!r}
from rfbench.experiment import children
children.serve({number}, {parent})
"""


def _is_ours(variable: str) -> bool:
    return variable.startswith("RFBENCH_")


def _surroundings() -> tuple[str, dict[str, str]]:
    """Return what a child has from its parent at each call: the folder and rfbench's variables."""
    folder = ""
    with contextlib.suppress(OSError):  # it was removed
        folder = os.getcwd()
    return folder, {name: os.environ[name] for name in filter(_is_ours, os.environ)}


class ChildDied(Exception):
    """The process ended before it had a result."""


class Child:
    """A process that waits for calls."""

    def __init__(self) -> None:
        self.connection, other = Pipe()
        number = other.fileno()
        try:
            code = START.format(path=sys.path, number=number, parent=os.getpid())
            self.process = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.DEVNULL,
                pass_fds=[number],
                start_new_session=True,
            )
        except OSError as error:
            raise WriteError(
                f"No worker process could be started: {error.strerror or error}.",
                "",
                "Take fewer --jobs, or end other processes, and run the same command again.",
            ) from error
        finally:
            other.close()
        self.idle_since = 0.0

    def call(self, function: Callable[..., Any], *words: Any) -> Any:
        """Return the result of a call, or raise what it raised; ChildDied if there is none."""
        try:
            self.connection.send((_surroundings(), function, words))
            # A process that the call left running may hold the socket open: no end of file then.
            while not self.connection.poll(DEATH_CHECK_SECONDS):
                if self.process.poll() is not None and not self.connection.poll():
                    raise EOFError
            fine, result = self.connection.recv()
        except (EOFError, ConnectionError):
            code = self.end()
            died = f"by signal {-code}" if code < 0 else f"with exit code {code}"
            raise ChildDied(f"The worker process ended {died}.") from None
        if not fine:
            raise result
        return result

    def kill(self) -> None:
        """End the process, if it has not ended, and those that trials left running in it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def end(self) -> int:
        """Kill the process; return its exit code, that of its own end if it had begun."""
        self.connection.close()
        self.kill()
        return self.process.wait()


_idle: list[Child] = []
"""Children without work: those of a run are found by the next one in the same process."""


@atexit.register
def _end_idle() -> None:
    for child in _idle:
        child.end()


class Children:
    """Runs calls in children, so many at a time, as a `concurrent.futures` executor does."""

    def __init__(self, count: int) -> None:
        self._threads = ThreadPoolExecutor(count)
        self._busy: set[Child] = set()
        self._killed = False

    def submit(self, function: Callable[..., Any], *words: Any) -> Future[Any]:
        """Begin a call; its future raises ChildDied if its process does not survive it."""
        return self._threads.submit(self._call, function, *words)

    def _call(self, function: Callable[..., Any], *words: Any) -> Any:
        child = _fresh() or Child()
        self._busy.add(child)
        try:
            if self._killed:
                child.kill()
            return child.call(function, *words)
        finally:
            self._busy.discard(child)
            if not child.connection.closed:
                child.idle_since = time.monotonic()
                _idle.append(child)

    def close(self) -> None:
        """Take no further calls, and wait for those that have begun."""
        self._threads.shutdown()

    def kill(self) -> None:
        """End the children in the middle of what they do."""
        self._killed = True
        for child in list(self._busy):
            child.kill()
        self._threads.shutdown(cancel_futures=True)


def _fresh() -> Child | None:
    """Return an idle child that will not end by itself in this moment."""
    while _idle:
        child = _idle.pop()
        if time.monotonic() - child.idle_since < IDLE_SECONDS / 2 and child.process.poll() is None:
            return child
        child.end()
    return None


def serve(number: int, parent: int) -> None:
    """Do calls that come through a socket, until the parent is gone or sends none for long.

    `number` is the socket's file descriptor, `parent` the id of the process at its other end.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    connection = Connection(number)
    os.set_inheritable(number, False)
    try:
        while connection.poll(IDLE_SECONDS):
            (folder, variables), function, words = connection.recv()
            for name in filter(_is_ours, [*os.environ]):
                del os.environ[name]
            os.environ.update(variables)
            with contextlib.suppress(OSError):
                os.chdir(folder)
            try:
                answer = True, function(*words)
            except Exception as error:
                answer = False, error
            connection.send(answer)
    except (EOFError, OSError):
        pass
    end()


def end() -> None:
    """End this child at once, and the processes that trials left running in it."""
    os.killpg(os.getpid(), signal.SIGKILL)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_SECONDS)
    end()
