"""Distribution of jobs with `joblib.Parallel`. A job is a tuple of trials.

On this machine the backend of joblib is `threading`. Each thread controls one child process, which
runs the trials of a job, so that a crash ends a trial but no thread. On other machines the backend
is joblib's `dask`. The workers of dask also run trials in child processes, with one trial per job.

On this machine a result row is on disk before the next trial of its job starts. If a signal kills a
child, the cause may be a different process that uses too much memory. The trial is therefore
repeated alone, after all other trials.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import pickle
import signal
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from joblib import Parallel, delayed, parallel_config

from rfbench import source, usable
from rfbench.errors import ConfigError, ExecutorError, RfbenchError
from rfbench.experiment import environment
from rfbench.experiment.plan import Job, Trial, list_known_columns
from rfbench.experiment.worker import Limits, call_listed_function
from rfbench.experiment.worker_process import (
    Row,
    WorkerDiedError,
    WorkerProcess,
    acquire_worker,
    release_worker,
)
from rfbench.results.manifest import MEASURING


def find_executor(text: str = "local", n_jobs: int | None = None) -> tuple[int, Any]:
    """Return the number of trials that run in parallel, and the dask client or None.

    `text` is the value of ``--executor``: ``local`` or ``dask:ADDRESS``. If `n_jobs` is None, the
    number is the number of cores of this machine, or the number of threads of the dask workers.
    Raise ConfigError for other values of `text`. Raise ExecutorError if there is no dask scheduler,
    or if dask is not installed.
    """
    kind, _, address = text.partition(":")
    if text == "local":
        return n_jobs or usable.count_usable_cores(), None
    if kind != "dask" or not address:
        raise ConfigError(f"--executor {text} is not valid.", "", "Write local or dask:ADDRESS.")
    # Hide the messages of dask about a lost scheduler, because rfbench reports the loss itself.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        import distributed

        library: Any = distributed
        client = library.Client(address, timeout=10, set_as_default=False)
        return n_jobs or max(1, sum(client.nthreads().values())), client
    # dask raises TimeoutError, a subclass of OSError, if the scheduler does not respond.
    except (ImportError, OSError, ValueError) as error:
        raise ExecutorError(
            f"There is no dask scheduler at {address}, or dask is not installed.",
            f"{type(error).__name__}: {error}.",
            "Start the scheduler, or correct the address. `pip install "
            "'rfbench[dask]'` installs dask.",
        ) from error


class FanOut:
    """Runs trials in child processes, and calls the function `record` with each result row.

    The calls come from different threads, but never two at the same time. The function `begin` is
    called with the identity of each trial before the trial starts. After the attribute `stopping`
    is set, no trial starts, and running trials are finished.
    """

    def __init__(
        self,
        record: Callable[[Row], None],
        limits: Limits,
        begin: Callable[[str], None] = lambda trial_id: None,
    ) -> None:
        self.limits, self.begin, self._record = limits, begin, record
        self.stopping = self.killed = False
        self.running: set[WorkerProcess] = set()
        self._lock = threading.Lock()
        self._error: BaseException | None = None

    def run(
        self, jobs: Iterable[Job], suspects: Sequence[Trial] = (), n_jobs: int = 1
    ) -> list[Trial]:
        """Run the jobs (tuples of trials), and then each trial of `suspects` alone.

        A suspect is a trial whose child process was killed by a signal. Return the suspects that
        did not run. If `record` raises an error, or if a child cannot be started, all children are
        killed and the error is raised.
        """
        left = deque(suspects)
        try:
            with parallel_config(backend="threading"):
                for died in self._parallel(self._guarded, ((job,) for job in jobs), n_jobs):
                    left += died
            while left and self._can_start_trial():
                self._guarded((left.popleft(),), alone=True)
        except BaseException:
            self.kill()
            raise
        if self._error is not None:
            raise self._error
        return list(left)

    def run_on_cluster(self, client: Any, trials: Iterable[Trial], n_jobs: int) -> None:
        """Run the trials on the workers of the dask cluster to which `client` is connected.

        Raise ExecutorError if a worker has different versions or code, or cannot run a trial.
        """
        here = collect_versions()
        calls = ((here, pickle.dumps(((trial,), self.limits))) for trial in trials)
        try:
            with parallel_config(backend=_on_workers(client)):
                answers = self._parallel(run_pickled_job, calls, n_jobs)
                try:
                    for answer in answers:
                        # Workers with an old version of rfbench return only a list of rows, without
                        # the versions of packages. The empty dictionary of versions then leads to
                        # an error.
                        there, rows = answer if isinstance(answer, tuple) else ({}, [])
                        _refuse_others(there, here)
                        for row in rows:
                            self.record(row)
                finally:
                    with warnings.catch_warnings():  # ignore warnings about canceled trials
                        warnings.simplefilter("ignore")
                        answers.close()
        except (RfbenchError, OSError):
            raise
        except Exception as error:
            raise ExecutorError(
                "A worker could not run a trial.",
                f"{type(error).__name__}: {error}",
                "All returned rows are stored. Run the same command again.",
            ) from error

    def _can_start_trial(self) -> bool:
        """Return True if the run was not stopped and the deadline of the run has not passed."""
        return not self.stopping and self.limits.compute_time_limit() != 0

    def record(self, row: Row) -> None:
        """Call the function `record` of the constructor with a result row.

        After a call of `kill`, rows are ignored.
        """
        with self._lock:
            if not self.killed:
                self._record(row)

    def kill(self) -> None:
        """Kill all running child processes."""
        with self._lock:  # wait until a row that is being written is complete
            self.killed = self.stopping = True
        for child in list(self.running):
            child.kill()

    def _parallel(self, function: Callable[..., Any], calls: Iterable[Any], n: int) -> Any:
        """Call a function in n threads or workers, and yield the results as the calls finish.

        `calls` contains the tuple of arguments of each call.
        """
        calls = itertools.takewhile(lambda _: not self.stopping, calls)
        parallel = Parallel(n, return_as="generator_unordered", batch_size=1, pre_dispatch=n)
        return parallel(delayed(function)(*words) for words in calls)

    def _guarded(self, job: Job, *, alone: bool = False) -> list[Trial]:
        """Run the trials of a job. After an error, store the error and kill all child processes.

        The method `run` raises the stored error.
        """
        try:
            return self.run_job(job, alone=alone)
        except BaseException as error:
            self._error = self._error or error
            self.kill()
            return []

    def run_job(self, job: Job, *, alone: bool = False) -> list[Trial]:
        """Run the trials of a job in a child process, and record their rows.

        If the child dies, the remaining trials run in a new child. Return the trials during which a
        signal killed the child. If `alone` is True, such trials are recorded as crashed instead.
        """
        left, suspects = deque(job), []
        while left and self._can_start_trial():
            child = acquire_worker(left[0].code)
            self.running.add(child)
            try:
                while left and child.is_usable() and self._can_start_trial():
                    self.begin(left[0].id)
                    self.record(child.measure(left[0], self.limits))
                    left.popleft()
            except WorkerDiedError as death:
                if self.killed:
                    break
                trial = left.popleft()
                if death.by_signal and not alone:
                    suspects.append(trial)
                else:
                    self.record(list_known_columns(trial) | death.columns)
            except BaseException:
                child.close()
                raise
            else:
                release_worker(child)
            finally:
                self.running.discard(child)
        return suspects

    @contextlib.contextmanager
    def stop_on_signals(self, say: Callable[[], None]) -> Iterator[None]:
        """Stop the run on the first SIGINT or SIGTERM, and call the function `say`.

        The second signal raises KeyboardInterrupt.
        """
        came: list[int] = []

        def on_signal(number: int, frame: object) -> None:
            came.append(number)
            if len(came) > 1:
                raise KeyboardInterrupt
            self.stopping = True
            say()

        main = threading.current_thread() is threading.main_thread()
        numbers = (signal.SIGINT, signal.SIGTERM) if main else ()
        before = {number: signal.signal(number, on_signal) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


# Functions that run calls other than trials in parallel.


def call_in_child_processes(
    name: str, calls: Sequence[tuple[Any, ...]], n_jobs: int
) -> Iterator[tuple[Any, str]]:
    """Call one of the functions in `CALLS` with each tuple of arguments, in child processes.

    Yield the results in the order of `calls`, each with an error message. For a failed call, the
    result is None. If `n_jobs` is 1, the function is called in this process. Running children are
    killed if the iterator is closed early.
    """
    if n_jobs == 1:
        yield from (call_listed_function(name, words) for words in calls)
        return
    at_work: set[WorkerProcess] = set()
    stopping = threading.Event()

    def call_one(words: tuple[Any, ...]) -> tuple[Any, str]:
        if stopping.is_set():
            return None, "The call was not started."
        try:
            child = acquire_worker("")
        except ExecutorError as error:
            return None, str(error)
        at_work.add(child)
        try:
            answer = child.call(name, words)
        except WorkerDiedError as death:
            return None, str(death)
        finally:
            at_work.discard(child)
        release_worker(child)
        return answer

    parallel = Parallel(n_jobs, backend="threading", batch_size=1, return_as="generator")
    answers = parallel(delayed(call_one)(words) for words in calls)
    try:
        yield from answers
    finally:
        stopping.set()
        for child in list(at_work):
            child.kill()


# Functions that connect to workers on other machines.


def _on_workers(client: Any) -> Any:
    """Return joblib's backend for dask, changed so that no call runs in this process.

    joblib runs calls in this process if the backend reports a single thread. The changed backend
    therefore reports at least two.
    """
    from joblib._dask import DaskDistributedBackend

    class WorkersAlone(DaskDistributedBackend):  # type: ignore[misc]
        def effective_n_jobs(self, n_jobs: int) -> int:
            return max(2, int(super().effective_n_jobs(n_jobs)))

    return WorkersAlone(client=client)


def collect_versions() -> dict[str, str]:
    """Return the versions of packages that affect results, and the hash and folder of rfbench."""
    found = {name: environment.read_versions()[name] for name in MEASURING}
    return {**found, "code": source.hash_code(), "path": str(source.PACKAGE)}


def _refuse_others(there: dict[str, str], here: dict[str, str]) -> None:
    """Raise ExecutorError if a worker's versions or code differ from this machine.

    `there` contains the versions of the worker, and `here` the versions of this machine.
    """
    for name in MEASURING:
        if (version := there.get(name, "unknown")) != here[name]:
            raise ExecutorError(
                f"A worker has {name} {version}, and this machine has {here[name]}.",
                "Results may depend on the version.",
                "Install the same versions on all machines.",
            )
    if there.get("code") != here["code"]:
        raise ExecutorError(
            "A worker has different code of rfbench than this machine.",
            f"The worker has {there.get('code')} in {there.get('path')}. This machine "
            f"has {here['code']} in {here['path']}.",
            "Install the same files on all machines, and start the workers again.",
        )


def run_pickled_job(here: dict[str, str], content: bytes) -> tuple[dict[str, str], list[Row]]:
    """Run a job (a tuple of trials) on a dask worker, in a child process.

    `content` is a pickle of the job and its resource limits. `here` contains the versions of the
    machine that requested the job. Return the versions of this worker and the result rows. Raise
    ExecutorError if the versions or the code differ.
    """
    there = collect_versions()
    _refuse_others(there, here)
    job, limits = pickle.loads(content)
    rows: list[Row] = []
    FanOut(rows.append, limits).run([job])
    return there, rows
