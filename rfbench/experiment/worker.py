"""What happens inside a worker process: limits, one job after the other, rows safe at once."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import resource
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rfbench import files, memory
from rfbench.errors import ConfigError
from rfbench.experiment import environment
from rfbench.experiment.journal import Journal
from rfbench.experiment.plan import Job
from rfbench.results.manifest import MACHINES

LEAST_MEMORY = 400 * 2**20


@dataclass(frozen=True)
class Limits:
    """What one worker may use."""

    memory: int | None = None  # bytes of its own memory; an allocation beyond them is a MemoryError
    timeout: float | None = None  # seconds for one trial; the worker ends itself when they are over
    # Moment of `time.monotonic`, which all processes of a machine share: no job begins after it,
    # and trials end as with a timeout.
    deadline: float | None = None
    workers: int | None = None  # of the run, which its rows say

    def seconds(self) -> float | None:
        """Return how long a trial may run that begins now."""
        if self.deadline is None:
            return self.timeout
        left = max(self.deadline - time.monotonic(), 1e-3)
        return left if self.timeout is None else min(left, self.timeout)

    def over(self, by: float = 0.0) -> bool:
        """Return whether the deadline has passed, by so many seconds."""
        return self.deadline is not None and time.monotonic() >= self.deadline + by


def memory_share(text: str, workers: int) -> int:
    """Return the bytes for one worker of what ``--memory`` allows all of them.

    That is ``80%`` of the memory that is free now, or a number of GiB; ConfigError if it is
    neither, or more than there is.
    """
    import psutil

    machine = psutil.virtual_memory()
    try:
        if text.endswith("%"):
            share = float(text[:-1]) / 100
            total, most = machine.available * share, machine.available
            there = "It is a share of the memory that is free now."
        else:
            total = float(text.lower().removesuffix("gib").removesuffix("gb")) * 2**30
            most, there = machine.total, f"The machine has {machine.total / 2**30:.1f} GiB."
    except ValueError:
        total = -1.0
    if not 0 < total < float("inf"):
        raise ConfigError(
            f"--memory {text} is not an amount of memory.", "", "Write 80%, or GiB: 6."
        )
    if total > most:
        raise ConfigError(f"--memory {text} is more than there is.", there, "Allow less: 80%.")
    if total / workers < LEAST_MEMORY:
        raise ConfigError(
            f"--memory {text} leaves {total / workers / 2**20:.0f} MiB for each of {workers} "
            "workers.",
            f"Python and its libraries alone need {LEAST_MEMORY / 2**20:.0f} MiB.",
            "Allow more memory, or take fewer --jobs.",
        )
    return int(total / workers)


def obey(limits: Limits) -> None:
    """Set the memory that this process may use; a larger allocation is a MemoryError."""
    memory.limit_to(limits.memory)
    with contextlib.suppress(ValueError, OSError):
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        soft = hard if limits.memory is None else limits.memory
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def end() -> None:
    """End this process at once, and those that trials left running in it."""
    os.killpg(os.getpid(), signal.SIGKILL)


def do_job(job: Job, folder: Path, limits: Limits) -> list[dict[str, Any]]:
    """Run the trials of a job; each row is on the disk, in the job's journal, once it is there.

    A worker that a trial left in a state of its own making ends; the parent goes on with the other
    trials in a new one.
    """
    from rfbench.experiment.isolation import CLOSED, RUINED
    from rfbench.experiment.trial import run_job

    obey(limits)
    rows: list[dict[str, Any]] = []
    journal = Journal(folder, job.trials[0].id)
    files.check(journal.trace, folder)
    journal.trace.parent.mkdir(parents=True, exist_ok=True)
    trace = journal.trace.open("w", encoding="utf-8")

    def on_start(trial_id: str) -> None:
        journal.begin(trial_id)
        if (seconds := limits.seconds()) is not None:
            faulthandler.dump_traceback_later(seconds, exit=True, file=trace)

    faulthandler.enable(trace)
    try:
        for row in run_job(job, on_start):
            ruined = row.pop(RUINED, None)
            row["workers"] = limits.workers
            if not rows:
                row[MACHINES] = environment.machine_by_id()
            if ruined and CLOSED in ruined:
                end()  # a row might go to another file; the trial is repeated alone, and is known
            try:
                journal.add(row)
            finally:
                if ruined or journal.was_closed:
                    end()
            rows.append(row)
    finally:
        faulthandler.cancel_dump_traceback_later()
        faulthandler.disable()
        journal.close()
        with contextlib.suppress(OSError):  # a trial closed it
            trace.close()
    return rows
