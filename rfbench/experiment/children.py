"""Processes of this machine for trials, by loky: a crash costs the child, never its parent.

Each child is an executor of joblib's loky with one worker, so that a crash breaks no other one.
It has a session of its own: Ctrl-C is its parent's business, and what trials leave running ends
with it. It ends when its parent does, and after a minute without work.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from multiprocessing import util
from pathlib import Path
from typing import Any

import psutil
from joblib.externals.loky import process_executor
from joblib.externals.loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

from rfbench.errors import WriteError
from rfbench.experiment.plan import Job
from rfbench.experiment.worker import Limits, do_job, end

Rows = list[dict[str, Any]]
IDLE_SECONDS = 60.0
PARENT_CHECK_SECONDS = 1.0
DEATH_CHECK_SECONDS = 0.2
SIGNALS = (signal.SIGINT, signal.SIGTERM)
OURS = "RFBENCH_"


class ChildDied(Exception):
    """The process ended before it had a result."""


class Child:
    """A process that does one call after the other; it begins with the first."""

    def __init__(self, code: str) -> None:
        self.code = code  # imported code that may have run in it
        self.idle_since = 0.0
        self.process: Any = None
        self._pool = ProcessPoolExecutor(
            1, timeout=IDLE_SECONDS, initializer=_begin, initargs=(os.getpid(),)
        )

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Begin a call; BrokenProcessPool if the process has ended since the last one."""
        # A daemon, as the workers of dask are, may begin no process; this one leaves none behind.
        multiprocessing.current_process().daemon = False
        folder = ""
        with contextlib.suppress(OSError):  # it was removed
            folder = os.getcwd()
        variables = {name: value for name, value in os.environ.items() if name.startswith(OURS)}
        future: Future[Any] = self._pool.submit(_do, folder, variables, function, args)
        self.process = self.process or next(iter(self._pool._processes.values()), None)
        return future

    def kill(self) -> None:
        """End the process, and those that trials left running in it, also if it has ended."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        if self.process.exitcode is None:  # it may have had no group yet
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGKILL)


_lock = threading.Lock()
_busy: dict[Future[Any], tuple[Local, Child]] = {}
_idle: list[Child] = []
"""Children without work: those of a run are found by the next one in the same process."""


class Local:
    """So many processes of this machine."""

    broken = (ChildDied,)

    def __init__(self, n_jobs: int = 1) -> None:
        self._n_jobs, self._killed = n_jobs, False

    def submit(self, job: Job, folder: Path, limits: Limits) -> Future[Rows]:
        """Begin a job in a process that has run no other code than the job names."""
        return self.call(do_job, job, folder, limits, code=job.code)

    def call(self, function: Callable[..., Any], *args: Any, code: str = "") -> Future[Any]:
        """Begin a call; its future raises ChildDied if its process does not survive it.

        `code` names what is imported by the call and is not rfbench's own. The child does no call
        of other code from then on: what it left behind in the process is its own loss.
        """
        _watch()
        outer: Future[Any] = Future()
        # A signal reaches no child before it has a session of its own, and does not come between
        # the start of a child and its entry among those that `kill` ends.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            inner = None
            while inner is None:
                child = _take(code)
                with contextlib.suppress(BrokenProcessPool):  # it ended while it had no work
                    inner = child.submit(function, *args)
            _busy[outer] = self, child
        except OSError as error:
            raise WriteError(
                f"No worker process could be started: {error.strerror or error}.",
                "",
                "Take fewer --jobs, or end other processes, and run the same command again.",
            ) from error
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if self._killed:
            child.kill()
        inner.add_done_callback(functools.partial(_done, outer))
        return outer

    def workers(self) -> int:
        """Return the number of processes."""
        return self._n_jobs

    def kill(self) -> None:
        """End the processes that are at work."""
        self._killed = True
        for owner, child in list(_busy.values()):
            if owner is self:
                child.kill()

    def close(self) -> None:
        """Leave the processes to the next run."""


def _take(code: str) -> Child:
    """Return an idle child that has run no other code, and will not end by itself, or a new one."""
    latest = time.monotonic() - IDLE_SECONDS / 2
    with _lock:
        _idle[:] = [child for child in _idle if child.idle_since > latest]
        for wanted in (code, ""):
            for child in reversed(_idle):
                if child.code == wanted:
                    _idle.remove(child)
                    child.code = code
                    return child
        # It takes the place of one that is idle: there are never more than are used at once.
        if _idle:
            _idle.pop(0).kill()
    return Child(code)


def _done(outer: Future[Any], inner: Future[Any]) -> None:
    """Hand a result on; the child is ready for the next call by then."""
    (_, child), error = _busy.pop(outer), inner.exception()
    if isinstance(error, BrokenProcessPool):
        child.kill()
        outer.set_exception(ChildDied(_how(error)))
        return
    child.idle_since = time.monotonic()
    with _lock:
        _idle.append(child)
    if error is None:
        outer.set_result(inner.result())
    else:
        outer.set_exception(error)


def _how(error: BaseException) -> str:
    """Return in words how a process ended, from what loky says of it: ``EXIT(3)``."""
    code = re.search(r"\((-?\d+)\)", str(error))
    if code is None:
        return f"The worker process ended: {str(error).splitlines()[0]}"
    number = int(code[1])
    died = f"by signal {-number}" if number < 0 else f"with exit code {number}"
    return f"The worker process ended {died}."


@functools.cache
def _watch() -> None:
    """End, from now on, what trials left running where their child has ended in a call.

    loky sees the end of a child by a pipe, which they hold open: it would wait for them.
    """

    def look() -> None:
        while True:
            time.sleep(DEATH_CHECK_SECONDS)
            for _, child in list(_busy.values()):
                with contextlib.suppress(psutil.NoSuchProcess):
                    if psutil.Process(child.process.pid).status() == psutil.STATUS_ZOMBIE:
                        child.kill()

    threading.Thread(target=look, daemon=True).start()


# What follows runs in the child.


def _begin(parent: int) -> None:
    """Make this process a child of `parent`, the id of the process that it serves."""
    sys.addaudithook(functools.partial(_refuse, {parent, os.getpgrp()}))
    os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    # loky ends a worker that has grown by 300 MB, with a warning in the parent; a child that holds
    # a large data set would end again and again, and warnings as errors end loky's own thread.
    process_executor._MAX_MEMORY_LEAK_SIZE = float("inf")
    util.Finalize(None, end, exitpriority=1000)  # also where loky ends it
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _refuse(run: set[int], event: str, args: Any) -> None:
    """Refuse to ask the run to stop, which is its user's business alone.

    Code that kills the run cannot be stopped, but the next run finds its trial. One that asks it to
    stop would leave trials that nobody misses.
    """
    asks = event in ("os.kill", "os.killpg") and args[1] in SIGNALS
    if asks and abs(args[0]) in run:
        raise PermissionError("a trial may not send a signal to the run")


def _do(folder: str, variables: dict[str, str], function: Callable[..., Any], args: Any) -> Any:
    """Do a call in the folder of the parent and with its variables of rfbench."""
    for name in [name for name in os.environ if name.startswith(OURS)]:
        del os.environ[name]
    os.environ.update(variables)
    with contextlib.suppress(OSError):
        os.chdir(folder)
    return function(*args)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_SECONDS)
    end()
