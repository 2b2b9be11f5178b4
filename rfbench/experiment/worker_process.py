"""Child processes that run trials on this machine. A crash ends a child but not its parent.

A child has its own session, so that only its parent receives Ctrl-C. A child ends when its parent
ends. The next run of the same parent reuses idle children.

If a trial leaves processes running, they are ended with the child, even if they have their own
sessions. Processes that clear their environment are an exception (see `rfbench.experiment.marks`).
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from rfbench import interpreter, platforms
from rfbench.errors import ExecutorError
from rfbench.experiment import marks
from rfbench.experiment.worker import Call, Limits, read_folder_and_environment

if TYPE_CHECKING:
    from rfbench.experiment.plan import Trial

Row = dict[str, Any]
CHILD_CODE = "from rfbench.experiment.worker import main; main(*map(int, sys.argv[1:]))"
# Seconds that a worker process may use after the time limit of a trial to write a traceback. Chosen
# without a measurement. With half the value, the worker could be killed on a busy machine before
# the traceback is written. With twice the value, a run could exceed its time limit by half a
# second.
GRACE_SECONDS = 0.25

# Maximum size in bytes of the result row that a worker process sends (256 MiB). Usual rows have at
# most a few hundred thousand bytes. Chosen without a measurement. With twice the limit, a trial
# that prints endlessly would need twice the memory before the trial is stopped.
LONGEST_ANSWER = 2**28
STATUSES = ("ok", "failed", "memory")


class WorkerDiedError(Exception):
    """Error of a trial whose child process died or was killed.

    `columns` are the columns of the result row that describe the failure. `by_signal` is True if
    the child was killed by a signal that its parent did not send, for example by a segmentation
    fault.
    """

    def __init__(self, columns: Row, *, by_signal: bool) -> None:
        super().__init__(columns["message"])
        self.columns, self.by_signal = columns, by_signal


class WorkerProcess:
    """A child process that runs trials one at a time.

    If `early` is True, the constructor returns while the child still imports modules, and the
    method `begin` waits for the imports. The constructor raises ExecutorError if the child does not
    start.
    """

    def __init__(self, *, early: bool = False) -> None:
        # Facts about the machine, such as its CPU. The child process sends them when it starts.
        self.machine: dict[str, Any] | None = None
        self.code = ""  # names of the user code that this child may have run
        self._answers, self._ran_user_code = b"", False
        self._trace = tempfile.TemporaryFile("ab+")  # noqa: SIM115
        self._mark, variable = marks.make_process_mark()
        words = [str(os.getpid()), str(self._trace.fileno())]
        try:
            self._process = subprocess.Popen(
                interpreter.build_command(CHILD_CODE, *words),
                env=interpreter.build_environment() | variable,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
                pass_fds=[self._trace.fileno()],
            )
            assert self._process.stdout is not None
            self._pipe = self._process.stdout.fileno()
            self._death = platforms.open_process_descriptor(self._process.pid)
            os.set_blocking(self._pipe, False)
        except OSError as error:
            self._trace.close()
            raise _not_started(error) from error
        if not early:
            self.begin()

    def begin(self) -> None:
        """Wait until the child process has imported the modules that trials need."""
        if self.machine is None:
            try:
                self.machine = json.loads(self._answer())
            except (OSError, WorkerDiedError) as error:
                self._trace.close()
                raise _not_started(error) from error

    def measure(self, trial: Trial, limits: Limits) -> Row:
        """Run a trial in the child process, and return the result row of the trial.

        Raise WorkerDiedError if the child died or did not return the row in time. The child has
        then ended.
        """
        # Import these modules here, and not at the start of the file, because the import needs a
        # second.
        from rfbench.experiment.plan import RAN_USER_CODE, list_known_columns
        from rfbench.results.manifest import MACHINES

        self._trace.truncate(0)
        self.send((trial, limits, read_folder_and_environment()))
        line = self._answer(limits.compute_time_limit())
        # User code in the child process could change the columns that are known before the
        # measurement, such as the name of the method. These columns are therefore computed again in
        # this process and compared.
        known = list_known_columns(trial) if trial.code else {"trial_id": trial.id}
        try:
            row = json.loads(line)
            self._ran_user_code = bool(row.pop(RAN_USER_CODE, False))
            sound = row["status"] in STATUSES and all(row[key] == known[key] for key in known)
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError):
            sound = False
        if not sound:
            raise self._ended("The worker process did not return a row of its trial.")
        return {**row, MACHINES: self.machine}

    def call(self, name: str, words: tuple[Any, ...]) -> tuple[Any, str]:
        """Call the function with the key `name` in `CALLS` in the child process.

        Return the result of the function and its error message. Raise WorkerDiedError if the child
        died.
        """
        self._trace.truncate(0)
        self.send(Call(name, words, *read_folder_and_environment()))
        result, error = json.loads(self._answer())["answer"]
        return result, error

    def is_usable(self) -> bool:
        """Return True if the child process can run another trial."""
        return not (self._ran_user_code or wait([self._death], 0))

    def kill(self) -> None:
        """Kill the child process and the other processes in its process group."""
        # Kill only a process that is still running. The operating system may have given the process
        # id of a finished child to a different process.
        if self._process.returncode is None:
            platforms.kill_process_group(self._process.pid)

    def close(self) -> None:
        """End the child process, wait until it has ended, and release its resources."""
        if not self._trace.closed:
            self.kill()
            self._trace.close()
            with contextlib.suppress(BrokenPipeError), self._process:
                os.close(self._death)
            marks.kill_marked_processes(self._mark)

    def send(self, content: object) -> None:
        """Send a trial with its limits, or a function call, to the child process.

        If `content` is None, the child frees the objects that the earlier trials shared.
        """
        assert self._process.stdin is not None
        try:
            pickle.dump(content, self._process.stdin)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None

    def _answer(self, seconds: float | None = None) -> bytes:
        """Return the next line of the child's output.

        End the child and raise WorkerDiedError if there is no line within the time limit `seconds`.
        """
        end = None if seconds is None else time.monotonic() + seconds + GRACE_SECONDS
        while b"\n" not in self._answers:
            left = None if end is None else max(0.0, end - time.monotonic())
            ready = wait([self._pipe, self._death], left)
            if not ready:
                raise self._ended(f"The trial exceeded its time limit of {seconds:g} s.", "timeout")
            piece = os.read(self._pipe, 2**20) if self._pipe in ready else b""
            self._answers += piece
            if not piece or len(self._answers) > LONGEST_ANSWER:
                raise self._ended()
        line, _, self._answers = self._answers.partition(b"\n")
        return line

    def _ended(self, why: str = "", status: str = "crashed") -> WorkerDiedError:
        """End the child process, and return an error with the reason `why`.

        If `why` is empty, the error describes how the child ended.
        """
        by_itself = not why and bool(wait([self._death], 1.0))
        self._trace.seek(0)
        trace = self._trace.read().decode(errors="backslashreplace")
        self.close()
        number = self._process.returncode
        if by_itself:
            how = f"by signal {-number}" if number < 0 else f"with exit code {number}"
            why = f"The worker process ended {how}. {trace.partition(chr(10))[0]}".rstrip()
        columns = {
            "status": status,
            "message": why or "The worker process closed its output.",
            "traceback": trace,
        }
        return WorkerDiedError(columns, by_signal=by_itself and number < 0)


def _not_started(error: Exception) -> ExecutorError:
    return ExecutorError(
        "No worker process could be started.",
        f"{getattr(error, 'strerror', None) or error}",
        "Use fewer --jobs, or end other processes, and run the same command again.",
    )


_lock = threading.Lock()
_idle: list[WorkerProcess] = []


@contextlib.contextmanager
def start_worker_early() -> Iterator[None]:
    """Start a child process, which imports modules while this process plans the trials.

    The first call of `acquire_worker` returns this child. If `acquire_worker` is not called, the
    child is ended at the end of the context.
    """
    early: list[WorkerProcess] = []
    # Ignore an error at the early start. `acquire_worker` tries again to start a child, and then
    # raises the error.
    with contextlib.suppress(ExecutorError):
        early.append(WorkerProcess(early=True))
    with _lock:
        _idle.extend(early)
    try:
        yield
    finally:
        with _lock:
            unused = [each for each in early if each in _idle and each.machine is None]
            for child in unused:
                _idle.remove(child)
        for child in unused:
            child.close()


def acquire_worker(code: str) -> WorkerProcess:
    """Return a child process that has imported no user code except `code`.

    If there is no such idle child, a new child is started, and an idle child with other user code
    is ended.
    """
    with _lock:
        for dead in [each for each in _idle if not each.is_usable()]:
            _idle.remove(dead)
            dead.close()
        _idle.sort(key=lambda each: (each.code == code, not each.code))
        child = _idle.pop() if _idle else None
    if child and child.code not in (code, ""):
        child.close()
        child = None
    child = child or WorkerProcess()
    child.begin()
    child.code = code
    return child


def release_worker(child: WorkerProcess) -> None:
    """Return a child process to the list of idle children, or end the child if it is not usable."""
    if not child.is_usable():
        child.close()
        return
    with contextlib.suppress(WorkerDiedError):
        child.send(None)
        with _lock:
            _idle.append(child)
