"""What runs jobs in worker processes, whatever happens to them.

Jobs go to joblib's loky executor, at most one per worker at a time, so that those in flight are
those that run. When a worker dies (a segmentation fault, `os._exit`, no memory, a timeout), loky
breaks the whole pool. Then the rows of the jobs in flight are taken from their journals, a trial
that timed out is marked, every other trial that had begun is repeated alone to see whether it was
the guilty one, and the pool is built anew.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from joblib.externals.loky import get_reusable_executor

from rfbench.errors import WriteError
from rfbench.experiment.journal import Journal
from rfbench.experiment.plan import Job, Trial
from rfbench.experiment.worker import Limits, do_job, start

WORKER_IDLE_SECONDS = 60
POLL_SECONDS = 0.2


class LocalExecutor:
    """Runs jobs in worker processes and yields their rows.

    Parameters
    ----------
    folder : Path
        The results folder, for the journals.
    n_jobs : int
        Number of worker processes.
    limits : Limits
        Of one worker.
    stopping : threading.Event
        Once it is set no further job begins; those in flight are finished.
    """

    def __init__(
        self, folder: Path, n_jobs: int, limits: Limits, stopping: threading.Event
    ) -> None:
        self.folder, self.n_jobs, self.limits, self.stopping = folder, n_jobs, limits, stopping
        self._executor: Any = None

    def rows(self, jobs: list[Job]) -> Iterator[dict[str, Any]]:
        """Yield the rows of the jobs, as the jobs finish."""
        waiting = deque(jobs)
        flying: dict[Future[list[dict[str, Any]]], Job] = {}
        while (waiting and not self.stopping.is_set()) or flying:
            while waiting and len(flying) < self.n_jobs and not self.stopping.is_set():
                job = waiting.popleft()
                flying[self._submit(job)] = job
            done, _ = wait(flying, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
            if any(isinstance(future.exception(), BrokenProcessPool) for future in done):
                suspects = list(flying.values())
                flying.clear()
                for job in suspects:
                    rows, rest = self._after_a_crash(job)
                    yield from rows
                    if rest:
                        waiting.appendleft(rest)
                continue
            for future in done:
                job = flying.pop(future)
                yield from _result(future)
                Journal.of(self.folder, job).remove()

    def _submit(self, job: Job, n_jobs: int | None = None) -> Future[list[dict[str, Any]]]:
        try:
            self._executor = get_reusable_executor(
                max_workers=n_jobs or self.n_jobs,
                timeout=WORKER_IDLE_SECONDS,
                initializer=start,
                initargs=(self.limits, os.getpid()),
            )
            future: Future[list[dict[str, Any]]] = self._executor.submit(
                do_job, job, self.folder, self.limits
            )
        except OSError as error:
            raise WriteError(
                f"No worker process could be started: {error.strerror or error}.",
                "Workers need the system's shared memory, on Linux /dev/shm, for their locks.",
                "Make it writable (in a container: mount a tmpfs there), and run the same "
                "command again.",
            ) from error
        return future

    def _after_a_crash(self, job: Job) -> tuple[list[dict[str, Any]], Job | None]:
        """Return the rows of a job whose worker is gone, and the job of its other trials."""
        journal = Journal.of(self.folder, job)
        rows, begun = journal.read()
        report = journal.crash_report()
        journal.remove()
        rest = [trial for trial in job.trials if trial.id not in {row["trial_id"] for row in rows}]
        if begun is None and not rows:
            begun = job.trials[0].id
        guilty = next((trial for trial in rest if trial.id == begun), None)
        if guilty is not None:
            rest.remove(guilty)
            late = report.startswith("Timeout")
            rows += [verdict(guilty, report)] if late else self._alone(guilty)
        return rows, Job(tuple(rest)) if rest else None

    def _alone(self, trial: Trial) -> list[dict[str, Any]]:
        """Repeat a trial with no other beside it; its own row, or one that says it crashed."""
        job = Job((trial,))
        journal = Journal.of(self.folder, job)
        try:
            rows = _result(self._submit(job, n_jobs=1))
        except BrokenProcessPool as error:
            rows, _ = journal.read()
            rows = rows or [verdict(trial, journal.crash_report() or str(error))]
        journal.remove()
        return rows

    def kill(self) -> None:
        """End the workers in the middle of what they do."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, kill_workers=True)


def _result(future: Future[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    try:
        return future.result()
    except OSError as error:
        raise WriteError(
            f"A worker could not write its rows: {error.strerror or error}.",
            "Rows that were written before are on the disk.",
            "Make room, or give another --out, and run the same command again.",
        ) from error


def verdict(trial: Trial, report: str) -> dict[str, Any]:
    """Return the row of a trial whose worker died, from what the worker left behind."""
    from rfbench.experiment.trial import describe

    first = next((line for line in report.splitlines() if line.strip()), "The worker died.")
    if first.startswith("Timeout"):
        status, message = "timeout", f"It ran longer than --timeout: {first.rstrip('!')}."
    else:
        status, message = "crashed", f"The worker process died: {first}"
    return {**describe(trial), "status": status, "message": message, "traceback": report}
