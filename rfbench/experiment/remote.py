"""Jobs in workers of other machines: each runs in a child of its worker, as it would here.

A worker refuses a job of other versions than its own. The journal is in a folder of its own, and
the rows are the result. Data of the catalogue have to be on every machine; rows of the user's own
travel, once a worker says that it lacks them, and stay in its cache.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import shutil
import socket
import tempfile
import threading
import uuid
from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any

from rfbench import datasets, plugins
from rfbench.datasets import own
from rfbench.datasets.columns import Parsed
from rfbench.errors import DataError, ExecutorError, RfbenchError
from rfbench.experiment import environment
from rfbench.experiment.children import Local
from rfbench.experiment.executors import Executor, Rows
from rfbench.experiment.plan import Job, Trial
from rfbench.experiment.schedule import Schedule
from rfbench.experiment.worker import Limits
from rfbench.results.manifest import MEASURING
from rfbench.rows import RowSource


class Cluster(Executor):
    """An executor whose workers may share no disk with this machine."""

    def __init__(self) -> None:
        self.run = uuid.uuid4().hex  # see `stop`
        self._shared: dict[str, Any] = {}
        self._lock = threading.Lock()

    @abstractmethod
    def begin(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Begin a call in a worker."""

    def upload(self, name: str, content: bytes) -> None:
        """Give a file to all workers; without a way to do that it has to be there."""

    def share(self, value: Any) -> Any:
        """Return what stands for a large argument of calls."""
        return value

    def submit(self, job: Job, folder: Path, limits: Limits) -> Future[Rows]:
        """Send a job to a worker, and the user's own rows too where the worker lacks them."""
        outer: Future[Rows] = Future()

        def send(*, with_rows: bool = False) -> None:
            try:
                rows = [self._rows_of(job.trials[0])] if with_rows else []
                call = self.begin(do_remotely, self.run, job, limits, versions(), code, *rows)
                call.add_done_callback(receive)
            except Exception as error:
                outer.set_exception(self._readable(error))

        def receive(future: Future[Rows | None]) -> None:
            try:
                result = future.result()
            except BaseException as error:
                outer.set_exception(self._readable(error))
                return
            if result is None:
                # dask calls this in its event loop, which sharing the rows has to wait for.
                threading.Thread(target=send, kwargs={"with_rows": True}).start()
            else:
                outer.set_result(result)

        code = {}
        for name, file in _files_of(job).items():
            content = file.read_bytes()
            code[name] = f"rfbench_{hashlib.sha256(content).hexdigest()}.py"
            self.upload(code[name], content)
        send()
        return outer

    def _rows_of(self, trial: Trial) -> Any:
        """Return the rows of the user's own data, shared once per run."""
        spec, sha256 = trial.dataset, trial.data_sha256
        with self._lock:
            if sha256 not in self._shared:
                _, rows, _ = own.read(spec.name, spec.parameters, spec.folder, sha256)
                if isinstance(rows.X, RowSource):
                    raise DataError(
                        f"A worker's machine has no {spec.name}, or with another content.",
                        "Packed data stay where they are.",
                        "Put them to the same path there, on a disk that all machines see.",
                    )
                self._shared[sha256] = self.share(rows)
            return self._shared[sha256]

    def _readable(self, error: BaseException) -> BaseException:
        if isinstance(error, (RfbenchError, OSError, *self.broken)):
            return error
        if isinstance(error, CancelledError):
            return ExecutorError(
                "The executor gave a job back.",
                "Its scheduler was stopped, or cannot be reached.",
                "Start it, and run the same command again: rows that came back are on the disk.",
            )
        return ExecutorError(
            "A worker could not run a job.",
            f"{type(error).__name__}: {error}.",
            "Look whether rfbench is installed there, in the version of this machine.",
        )


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions that numbers depend on, with a hash of rfbench's own code."""
    there = environment.versions()
    code = hashlib.sha256()
    spec = importlib.util.find_spec("rfbench")
    assert spec is not None
    assert spec.origin is not None
    for file in sorted(Path(spec.origin).parent.rglob("*.py")):
        code.update(file.read_bytes())
    return {name: there[name] for name in MEASURING} | {"code of rfbench": code.hexdigest()[:12]}


def check_versions(wanted: dict[str, str]) -> None:
    """Raise ExecutorError where this machine has other versions than the one that asks."""
    for name, version in versions().items():
        if version != wanted[name]:
            raise ExecutorError(
                f"A worker has {name} {version}, and this machine has {wanted[name]}.",
                "Other versions may give other numbers.",
                "Install the same versions everywhere.",
            )


def _imported(job: Job) -> list[Any]:
    return [
        spec
        for trial in job.trials
        for spec in (*trial.experiment.samplers, trial.sampler, trial.experiment.solver)
        if spec.imported
    ]


def _files_of(job: Job) -> dict[str, Path]:
    """Return the files that the job's classes are imported from, by relative path."""
    files = {}
    for spec in _imported(job):
        name = spec.name.rpartition(":")[0]
        if name and not Path(name).is_absolute():
            files[name] = plugins.file_of(spec.name, spec.folder)
    return files


# What follows runs in a worker.

_running: dict[str, list[tuple[Local, threading.Event]]] = {}
"""What a worker process does now, by run."""

_stopped: set[str] = set()
"""Runs whose jobs may still be on their way."""


def stop(run: str) -> None:
    """End what this worker does for a run, and begin nothing more for it."""
    _stopped.add(run)
    for executor, stopping in _running.get(run, []):
        stopping.set()
        executor.kill()


def do_remotely(
    run: str,
    job: Job,
    limits: Limits,
    wanted: dict[str, str],
    code: dict[str, str],
    rows: Parsed | None = None,
) -> Rows | None:
    """Run a job in a child of this worker and return its rows.

    `wanted` are the versions of the machine that asks, `code` the names that files were uploaded
    under, by relative path, and `rows` the user's own data; None is returned if they are needed.

    Raises ExecutorError: this machine has another version of rfbench, or of what it computes with,
    or lacks data of the catalogue.
    """
    check_versions(wanted)
    trial = job.trials[0]
    if not _has(trial):
        if not trial.dataset.own:
            raise _missing(trial)
        if rows is None:
            return None
        own.keep(trial.data_sha256, rows)
    executor, stopping = Local(1), threading.Event()
    _running.setdefault(run, []).append((executor, stopping))
    if run in _stopped:
        stopping.set()
    try:
        with tempfile.TemporaryDirectory(prefix="rfbench-") as scratch:
            folder = Path(scratch)
            for name, uploaded in code.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(_uploads() / uploaded, folder / name)
            for spec in _imported(job) if code else ():
                spec.came_from(folder)
            return list(Schedule(folder, executor, limits, stopping).rows([job]))
    finally:
        _running[run].remove((executor, stopping))


def _uploads() -> Path:
    """Return where dask puts files that are given to all workers."""
    import distributed

    return Path(distributed.get_worker().local_directory)


def _has(trial: Trial) -> bool:
    spec, sha256 = trial.dataset, trial.data_sha256
    if spec.own:
        return own.is_here(spec.name, spec.parameters, spec.folder, sha256)
    try:
        return datasets.data_sha256(spec.name, spec.parameters) == sha256
    except DataError:
        return False


def _missing(trial: Trial) -> ExecutorError:
    specs = [spec for spec in trial.experiment.dataset if not spec.own]
    names = {spec.name for spec in specs if not datasets.on_disk(spec.name)} | {trial.dataset.name}
    return ExecutorError(
        f"A worker's machine has no {', '.join(sorted(names))}, or with another content.",
        f"The machine is {socket.gethostname()}.",
        "Run `rfbench data fetch NAME` there, or set RFBENCH_DATA there to a folder that all "
        "machines see.",
    )
