"""Jobs go to the workers of an executor; their rows come back, whatever happens to a worker.

At most one job per worker is in flight, so that those in flight are those that run. When a local
worker dies (a segmentation fault, `os._exit`, no memory, a timeout), the rows of its job are taken
from the job's journal. A trial that timed out is marked; one that had begun is repeated last, with
no other beside it, to see whether it was the guilty one; the other trials of its job go on.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any

from rfbench.errors import WriteError
from rfbench.experiment.children import Local
from rfbench.experiment.journal import Journal, suspect
from rfbench.experiment.plan import Job, Trial
from rfbench.experiment.worker import Limits

POLL_SECONDS = 1.0

Row = dict[str, Any]


class Schedule:
    """Runs jobs on an executor, each within the limits of one worker, and yields their rows.

    The journals are in the results folder. Once `stopping` is set no further job begins; those in
    flight are finished.
    """

    def __init__(
        self,
        folder: Path,
        executor: Local,
        limits: Limits,
        stopping: threading.Event | None = None,
    ) -> None:
        self.folder, self.executor, self.limits = folder, executor, limits
        self.stopping = stopping or threading.Event()
        self._waiting: deque[Job] = deque()
        self._suspects: deque[Job] = deque()
        self._flying: dict[Future[list[Row]], Job] = {}

    def rows(self, jobs: Iterable[Job], suspects: Iterable[Job] = ()) -> Iterator[Row]:
        """Yield the rows of the jobs, as the jobs finish, and then those of the suspects.

        One of the suspects may end this process; then the rows of all others are there.
        """
        self._waiting.extend(jobs)
        self._suspects.extend(suspects)
        alone = False  # what is in flight is a suspect
        while True:
            begins = not (self.stopping.is_set() or self.limits.over())
            if begins and not (alone and self._flying):
                while self._waiting and len(self._flying) < self.executor.workers():
                    self._submit(self._waiting.popleft())
                if alone := not self._flying and bool(self._suspects):
                    self._submit(self._suspects.popleft())
            if not self._flying:
                for job in self._suspects:
                    suspect(self.folder, job.trials[0].id)
                return
            done, _ = wait(self._flying, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
            if self.limits.over(by=POLL_SECONDS):  # workers that are only starting end nothing
                self.executor.kill()
            for future in done:
                job = self._flying.pop(future)
                yield from self._result(future, job, alone)
                Journal(self.folder, job.trials[0].id).remove()  # its rows are in trials.csv

    def _submit(self, job: Job) -> None:
        self._flying[self.executor.submit(job, self.folder, self.limits)] = job

    def _result(self, future: Future[list[Row]], job: Job, alone: bool) -> list[Row]:
        try:
            return future.result()
        except self.executor.broken as error:
            return self._after_a_crash(job, str(error), alone)
        except OSError as error:
            raise WriteError(
                f"A worker could not write its rows: {error.strerror or error}.",
                "Rows that were written before are on the disk.",
                "Make room, or give another --out, and run the same command again.",
            ) from error

    def _after_a_crash(self, job: Job, message: str, alone: bool) -> list[Row]:
        """Return the rows of a job whose worker is gone; its other trials are put back."""
        journal = Journal(self.folder, job.trials[0].id)
        rows, begun = journal.read()
        report = journal.crash_report() or ("Timeout" if self.limits.over() else "")
        there = {row["trial_id"] for row in rows}
        rest = [trial for trial in job.trials if trial.id not in there]
        if begun is None and not rows:
            begun = job.trials[0].id
        guilty = next((trial for trial in rest if trial.id == begun), None)
        if guilty is not None:
            rest.remove(guilty)
            if alone or report.startswith("Timeout"):
                rows.append(verdict(guilty, report or message))
            else:
                self._suspects.append(Job((guilty,)))
        if rest:
            self._waiting.appendleft(Job(tuple(rest)))
        return rows


def verdict(trial: Trial, report: str) -> Row:
    """Return the row of a trial whose worker died, from what the worker left behind."""
    from rfbench.experiment.trial import describe

    first = next((line for line in report.splitlines() if line.strip()), "The worker died.")
    if first.startswith("Timeout"):
        status, message = "timeout", f"It ran longer than it may: {first.rstrip('!')}."
    else:
        status, message = "crashed", f"The worker process died: {first}"
    return {**describe(trial), "status": status, "message": message, "traceback": report}
