"""One fan-out: `joblib.Parallel` over jobs, each driven by `run_job` in a child process.

Here the backend is `threading`: a thread holds one child, so a crash costs a trial and no worker.
Elsewhere it is joblib's own `dask`: the same `run_job` runs there, and a job is one trial.

Here a row is on the disk before the next trial of its job begins. A trial whose child was killed
by a signal may not be to blame: it is repeated last, with no other beside it.
"""

from __future__ import annotations

import itertools
import logging
import os
import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from joblib import Parallel, delayed, parallel_config

from rfbench.errors import ConfigError, ExecutorError, RfbenchError, nearest
from rfbench.experiment import environment
from rfbench.experiment.children import Child, Died, Row, give_back, take
from rfbench.experiment.plan import Job, Trial
from rfbench.experiment.worker import Limits
from rfbench.results.manifest import MEASURING

CONNECT_SECONDS = 10


@dataclass(frozen=True)
class Executor:
    """Who runs trials: so many children of this process, or workers of a client of dask."""

    workers: int
    client: Any = None

    def close(self) -> None:
        """Leave the scheduler; it goes on."""
        if self.client is not None:
            self.client.close()


def find(text: str = "local", n_jobs: int | None = None) -> Executor:
    """Return the executor that ``--executor`` names: ``local`` or ``dask:ADDRESS``.

    `n_jobs` trials are at work; None: one per core here, or per thread of dask's workers.
    ConfigError if it is none of these, ExecutorError if there is no scheduler, or no dask.
    """
    kind, _, address = text.partition(":")
    if text == "local":
        return Executor(n_jobs or os.cpu_count() or 1)
    if kind != "dask" or not address:
        hint = nearest(kind, ["local", "dask"])
        raise ConfigError(f"--executor {text} is no executor.{hint}", "", "Write dask:ADDRESS.")
    # What a scheduler that is gone means for the run is said once, and not by a traceback.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        import distributed

        library: Any = distributed
        client = library.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        return Executor(n_jobs or max(1, sum(client.nthreads().values())), client)
    except (ImportError, OSError, ValueError) as error:  # TimeoutError is an OSError
        raise ExecutorError(
            f"There is no dask scheduler at {address}, or no dask here.",
            f"{type(error).__name__}: {error}.",
            "Start it, or correct it; dask comes with pip install 'rfbench[dask]'.",
        ) from error


class FanOut:
    """Runs jobs, and hands each row to `record` when it comes: one at a time, from any thread.

    `begin` is called with the identity of a trial before it begins here. Once `stopping` is set
    no trial begins; those at work are finished.
    """

    def __init__(
        self,
        record: Callable[[Row], None],
        limits: Limits,
        begin: Callable[[str], None] = lambda trial_id: None,
        stopping: threading.Event | None = None,
    ) -> None:
        self.limits, self.begin, self._record = limits, begin, record
        self.stopping = stopping or threading.Event()
        self.killed = False
        self.at_work: set[Child] = set()
        self._lock = threading.Lock()
        self._error: BaseException | None = None

    def run(
        self, jobs: Iterable[Job], suspects: Sequence[Trial] = (), n_jobs: int = 1
    ) -> list[Trial]:
        """Run the jobs, then the trials that are suspect one by one; return those that are left.

        Raises what `record` and the start of a child raise, once all trials at work are ended.
        """
        left = deque(suspects)
        try:
            with parallel_config(backend="threading"):
                for died in self._parallel(self._guarded, ((job,) for job in jobs), n_jobs):
                    left += died
            while left and self.goes_on():
                self._guarded(Job((left.popleft(),)), alone=True)
        except BaseException:
            self.kill()
            raise
        if self._error is not None:
            raise self._error
        return list(left)

    def run_on(self, executor: Executor, trials: Iterable[Trial]) -> None:
        """Run the trials on the workers of dask.

        Raises ExecutorError: a worker is of another version, or cannot run a trial.
        """
        here = versions()
        calls = ((here, pickle.dumps((Job((trial,)), self.limits))) for trial in trials)
        try:
            with parallel_config(backend="dask", client=executor.client):
                for rows in self._parallel(run_remotely, calls, executor.workers):
                    for row in rows:
                        self.record(row)
        except (RfbenchError, OSError):
            raise
        except Exception as error:
            raise ExecutorError(
                "A worker could not run a trial.",
                f"{type(error).__name__}: {error}",
                "Rows that came back are on the disk: run the same command again.",
            ) from error

    def goes_on(self) -> bool:
        """Tell whether another trial may begin."""
        return not self.stopping.is_set() and self.limits.seconds() != 0

    def record(self, row: Row) -> None:
        """Hand a row on; none after `kill`."""
        with self._lock:
            if not self.killed:
                self._record(row)

    def kill(self) -> None:
        """End the children that are at work."""
        self.killed = True
        self.stopping.set()
        for child in list(self.at_work):
            child.kill()

    def _parallel(self, function: Callable[..., Any], calls: Iterable[Any], n: int) -> Any:
        """Yield what the calls return as they end; at most n of them are begun."""
        calls = itertools.takewhile(lambda _: not self.stopping.is_set(), calls)
        parallel = Parallel(n, return_as="generator_unordered", batch_size=1, pre_dispatch=n)
        return parallel(delayed(function)(*words) for words in calls)

    def _guarded(self, job: Job, *, alone: bool = False) -> list[Trial]:
        """Run a job; what is raised ends the run, and not a thread of joblib's alone."""
        try:
            return run_job(job, self, alone=alone)
        except BaseException as error:
            self._error = self._error or error
            self.kill()
            return []


def run_job(job: Job, run: FanOut, *, alone: bool = False) -> list[Trial]:
    """Run the trials of a job in a child of this process, and record their rows.

    When it dies the other trials go on in a new one. Returns the trials in which it was killed by
    a signal; those that are repeated `alone` are to blame.
    """
    left, suspects = deque(job.trials), []
    while left and run.goes_on():
        child, trial = take(job.code), left[0]
        run.at_work.add(child)
        try:
            child.begin(Job(tuple(left)), run.limits)
            while left and child.is_sound() and run.goes_on():
                trial = left[0]
                run.begin(trial.id)
                run.record(child.measure(trial, run.limits.seconds()))
                left.popleft()
        except Died as death:
            if run.killed:
                break
            left.popleft()
            if death.by_signal and not alone:
                suspects.append(trial)
            else:
                run.record(verdict(trial, death))
        except BaseException:
            child.close()
            raise
        else:
            give_back(child)
        finally:
            run.at_work.discard(child)
    return suspects


def verdict(trial: Trial, death: Died) -> Row:
    """Return the row of a trial in which its child died."""
    from rfbench.experiment.trial import describe

    row = {**describe(trial), "status": death.status, "message": str(death)}
    return {**row, "traceback": death.trace} if death.trace else row


# Workers of other machines.


def versions() -> dict[str, str]:
    """Return the versions that numbers depend on."""
    return {name: environment.versions()[name] for name in MEASURING}


def run_remotely(wanted: dict[str, str], content: bytes) -> list[Row]:
    """Run a pickled job with its limits in a child of this process, and return the rows.

    Raises ExecutorError: the versions here are not those `wanted`.
    """
    for name, version in versions().items():
        if version != wanted[name]:
            raise ExecutorError(
                f"A worker has {name} {version}, and this machine has {wanted[name]}.",
                "Other versions may give other numbers.",
                "Install the same versions everywhere.",
            )
    job, limits = pickle.loads(content)
    rows: list[Row] = []
    FanOut(rows.append, limits).run([job])
    return rows
