"""The code of a worker process, which runs trials and function calls one at a time.

`rfbench.experiment.worker_process` starts the worker process. The worker reads pickles from its
parent and writes lines of JSON. The parent does not unpickle output of the worker, so that the code
of a trial cannot run in the parent.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import json
import os
import pickle
import signal
import threading
import time
import traceback
from dataclasses import dataclass
from typing import IO, Any

from rfbench import memory, platforms, usable
from rfbench.errors import ConfigError, RfbenchError
from rfbench.escaping import escape_warnings
from rfbench.experiment import marks

# Smallest memory limit of a worker process in bytes. Python and the libraries of rfbench need 0.3
# GB (measured). With half the value, no trial could start.
LEAST_MEMORY = 400 * 2**20
# Seconds between two checks that the parent process is alive. Chosen without a measurement. With
# twice the value, a worker would continue for up to 0.4 s after its parent was killed, instead of
# 0.2 s.
PARENT_CHECK_SECONDS = 0.2
# Functions other than trials that a worker process can call by name. The module of a function is
# imported at the first call, so that this folder's modules do not depend on that module.
CALLS = {"draw": "rfbench.figures:draw_folder"}
ENVIRONMENT_PREFIX = "RFBENCH_"


@dataclass(frozen=True)
class Limits:
    """Limits of a worker process: memory, time per trial, and end of the run."""

    # Memory limit of the worker process in bytes. An allocation beyond the limit raises
    # MemoryError.
    memory: int | None = None
    timeout: float | None = None  # seconds for one trial, after which its worker is killed
    # Time at which the whole run ends, in seconds of `time.monotonic` on this machine. No trial
    # starts later.
    deadline: float | None = None

    def compute_time_limit(self) -> float | None:
        """Return the time limit in seconds for a trial that starts now, or None without a limit."""
        left = None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
        return min((each for each in (self.timeout, left) if each is not None), default=None)


@dataclass(frozen=True)
class Call:
    """A request to a worker process to call a function of `CALLS`, whose result has to be JSON."""

    name: str
    words: tuple[Any, ...]
    folder: str  # current folder of the process that started the worker
    variables: dict[str, str]


def call_listed_function(name: str, arguments: tuple[Any, ...]) -> tuple[Any, str]:
    """Call the function with the key `name` in `CALLS`, and return its result and "".

    If the call fails, return None and an error message.
    """
    module, _, function = CALLS[name].partition(":")
    try:
        return getattr(importlib.import_module(module), function)(*arguments), ""
    except (RfbenchError, OSError, MemoryError) as error:
        return None, str(error) or type(error).__name__


def compute_memory_share(text: str, workers: int) -> int:
    """Return the memory limit in bytes for one worker process.

    `text` is the memory for all workers together: a share of the free memory such as ``80%``, or a
    number of GiB. Raise ConfigError if `text` has a different form, exceeds the memory, or is too
    small for the number of workers.
    """
    machine = usable.measure_usable_memory()
    try:
        if text.endswith("%"):
            total, most = machine.available * float(text[:-1]) / 100, machine.available
        else:
            total, most = float(text.lower().removesuffix("gib")) * 2**30, machine.total
    except ValueError:
        total = most = 0
    if not workers * LEAST_MEMORY <= total <= most:
        raise ConfigError(
            f"--memory {text} is not a valid amount for {workers} worker{'s' * (workers > 1)}.",
            f"The machine has {machine.total / 2**30:.1f} GiB, and each worker needs "
            f"{LEAST_MEMORY / 2**20:.0f} MiB.",
            "Write a share of the free memory, such as 80%, or a number of GiB, such "
            "as 6. Alternatively, use fewer --jobs.",
        )
    return int(total / workers)


def read_folder_and_environment() -> tuple[str, dict[str, str]]:
    """Return the path of the current folder and the environment variables of rfbench.

    The path is empty if the folder was removed.
    """
    folder = os.getcwd() if os.path.exists(".") else ""
    return folder, {
        name: value for name, value in os.environ.items() if name.startswith(ENVIRONMENT_PREFIX)
    }


def apply_limits(limits: Limits, folder: str, variables: dict[str, str]) -> None:
    """Set the memory limit, the current folder and the environment variables of this process.

    Allocations beyond the memory limit then raise MemoryError.
    """
    with contextlib.suppress(OSError):
        os.chdir(folder)
    for name in read_folder_and_environment()[1].keys() - variables:
        del os.environ[name]
    os.environ.update(variables)
    memory.limit_process_memory(limits.memory)
    platforms.limit_memory(limits.memory)


def main(parent: int, trace: int) -> None:
    """Run the trials and function calls that a parent process sends, until the parent ends.

    `parent` is the process id of the parent. `trace` is the descriptor of the file to which the
    traceback of a crash or a timeout is written.
    """
    mark = marks.read_mark_of_this_process()
    threading.Thread(target=_watch, args=(parent, mark), daemon=True).start()
    escape_warnings()
    # Ignore Ctrl-C. A KeyboardInterrupt in this process can then only be raised by the code of a
    # trial.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable(trace)
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # Redirect the printed output of trials to stderr, because the parent process reads only result
    # rows from stdout. Trials read an empty standard input.
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    try:
        _serve(orders, answers, trace)
    except EOFError:
        _end(mark)
    except BaseException:
        with contextlib.suppress(OSError):  # the trial may have closed this file
            os.write(trace, traceback.format_exc().encode())
    finally:
        os._exit(1)  # os._exit skips exit handlers that a trial has registered


def _serve(orders: IO[bytes], answers: IO[bytes], trace: int) -> None:
    """Read trials and function calls from the parent process, and write their results.

    Facts about the machine are written first.
    """
    from rfbench.compute import waves
    from rfbench.experiment import environment
    from rfbench.experiment.context import Context
    from rfbench.experiment.trial import run_job

    def answer(content: dict[str, Any]) -> None:
        answers.write(json.dumps(content).encode() + b"\n")
        answers.flush()

    waves.warm_up()
    answer(environment.describe_machine_by_id())
    owner, context = os.getpid(), Context()
    while True:
        order = pickle.load(orders)
        # The order None marks the end of a job. A new context frees the memory of the prepared rows
        # and other objects that the trials of the job shared.
        if order is None:
            context = Context()
            continue
        if isinstance(order, Call):
            apply_limits(Limits(), order.folder, order.variables)
            answer({"answer": call_listed_function(order.name, order.words)})
            continue
        trial, limits, surrounding = order
        apply_limits(limits, *surrounding)
        if seconds := limits.compute_time_limit():
            faulthandler.dump_traceback_later(seconds, file=trace)
        (row,) = run_job((trial,), context)
        if os.getpid() != owner:  # this process is a fork that a trial has created
            os._exit(1)
        faulthandler.cancel_dump_traceback_later()
        answer(row)


def _watch(parent: int, mark: str) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_SECONDS)
    _end(mark)


def _end(mark: str) -> None:
    """Kill this process and all processes that its trials left running, also in other sessions."""
    # Ignore all errors. A trial may have changed any module or used all memory, but its processes
    # still have to be killed.
    with contextlib.suppress(Exception):
        marks.kill_marked_processes(mark)
    platforms.kill_process_group(os.getpid())
