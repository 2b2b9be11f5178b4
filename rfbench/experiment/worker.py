"""What happens inside a worker process: its limits, and one trial or call after the other.

`rfbench.experiment.children` starts it. Its input is pickles of its parent, its output lines of
JSON: whatever a trial's code does to the process, nothing that comes back is run.
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
from rfbench.escaping import guard_warnings
from rfbench.experiment import marks

# For Python and its libraries alone, which take .3 GB (measured). Halved, no trial can start.
LEAST_MEMORY = 400 * 2**20
# Chosen without a measurement: doubled, a child outlives a killed parent by .4 s and not by .2 s.
PARENT_CHECK_SECONDS = 0.2
# What a worker does besides trials, by name: these functions alone. They lie above this module,
# which therefore imports them when they are asked for.
CALLS = {"draw": "rfbench.figures:draw_folder"}
ENVIRONMENT_PREFIX = "RFBENCH_"


@dataclass(frozen=True)
class Limits:
    """What one worker may use."""

    memory: int | None = None  # bytes of its own memory; an allocation beyond them is a MemoryError
    timeout: float | None = None  # seconds for one trial; its worker is killed when they are over
    # When all trials end, in the seconds of `time.monotonic` of this machine: none begins after it.
    deadline: float | None = None

    def seconds(self) -> float | None:
        """Return how long a trial that begins now may take; None: as long as it likes."""
        left = None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
        return min((each for each in (self.timeout, left) if each is not None), default=None)


@dataclass(frozen=True)
class Call:
    """An order to call a function of `CALLS`, whose result JSON can hold."""

    name: str
    words: tuple[Any, ...]
    folder: str  # with the variables, see `read_surroundings`
    variables: dict[str, str]


def call_safely(name: str, words: tuple[Any, ...]) -> tuple[Any, str]:
    """Call a function of `CALLS`; return its result, and the text of an expected error."""
    module, _, function = CALLS[name].partition(":")
    try:
        return getattr(importlib.import_module(module), function)(*words), ""
    except (RfbenchError, OSError, MemoryError) as error:
        return None, str(error) or type(error).__name__


def compute_memory_share(text: str, workers: int) -> int:
    """Return the bytes for one worker of what ``--memory`` allows all of them.

    That is ``80%`` of the memory that is free now, or a number of GiB; ConfigError if it is
    neither, more than there is, or too little for so many workers.
    """
    machine = usable.measure_memory()
    try:
        if text.endswith("%"):
            total, most = machine.available * float(text[:-1]) / 100, machine.available
        else:
            total, most = float(text.lower().removesuffix("gib")) * 2**30, machine.total
    except ValueError:
        total = most = 0
    if not workers * LEAST_MEMORY <= total <= most:
        raise ConfigError(
            f"--memory {text} is no amount of memory for {workers} worker{'s' * (workers > 1)}.",
            f"The machine has {machine.total / 2**30:.1f} GiB, and each worker needs "
            f"{LEAST_MEMORY / 2**20:.0f} MiB.",
            "Write 80% of what is free, or GiB: 6; or take fewer --jobs.",
        )
    return int(total / workers)


def read_surroundings() -> tuple[str, dict[str, str]]:
    """Return the folder of this process, empty if it was removed, and its variables of rfbench."""
    folder = os.getcwd() if os.path.exists(".") else ""
    return folder, {
        name: value for name, value in os.environ.items() if name.startswith(ENVIRONMENT_PREFIX)
    }


def apply_limits(limits: Limits, folder: str, variables: dict[str, str]) -> None:
    """Take over limits and surroundings; an allocation beyond the memory is a MemoryError."""
    with contextlib.suppress(OSError):
        os.chdir(folder)
    for name in read_surroundings()[1].keys() - variables:
        del os.environ[name]
    os.environ.update(variables)
    memory.limit_to(limits.memory)
    platforms.limit_memory(limits.memory)


def main(parent: int, trace: int) -> None:
    """Work for the process `parent` until it ends.

    `trace` is the descriptor of a file for the traceback of a crash or a timeout.
    """
    mark = marks.read_own_mark()
    threading.Thread(target=_watch, args=(parent, mark), daemon=True).start()
    guard_warnings()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a KeyboardInterrupt is the trial's own
    faulthandler.enable(trace)
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull) as nothing:  # a trial reads nothing, and what it prints is no answer
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    try:
        _serve(orders, answers, trace)
    except EOFError:
        _end(mark)
    except BaseException:
        with contextlib.suppress(OSError):  # a trial closed it
            os.write(trace, traceback.format_exc().encode())
    finally:
        os._exit(1)  # not by way of what a trial has registered for the end


def _serve(orders: IO[bytes], answers: IO[bytes], trace: int) -> None:
    """Say what machine this is; then answer each trial with its row, each call with its result."""
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
        if order is None:  # the job has ended: what its trials share is forgotten
            context = Context()
            continue
        if isinstance(order, Call):
            apply_limits(Limits(), order.folder, order.variables)
            answer({"answer": call_safely(order.name, order.words)})
            continue
        trial, limits, surrounding = order
        apply_limits(limits, *surrounding)
        if seconds := limits.seconds():
            faulthandler.dump_traceback_later(seconds, file=trace)
        (row,) = run_job((trial,), context)
        if os.getpid() != owner:  # a fork of this process that the trial made
            os._exit(1)
        faulthandler.cancel_dump_traceback_later()
        answer(row)


def _watch(parent: int, mark: str) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_SECONDS)
    _end(mark)


def _end(mark: str) -> None:
    """End this process, and those that trials left running in it or in sessions of their own."""
    with contextlib.suppress(Exception):  # a trial may have changed any module, or used all memory
        marks.end_marked(mark)
    platforms.kill_group(os.getpid())
