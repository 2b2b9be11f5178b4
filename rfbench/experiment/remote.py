"""Jobs on machines that share no disk with this one.

A worker gets a parcel: the job, the code files that it names, and which versions measure alike. It
runs the job in a child process, with a journal in a folder of its own, and the rows are its result.
Where its machine lacks the data it says so, and the parcel comes again with the files; they are
kept there by the hash of their content.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import tempfile
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rfbench import datasets, plugins
from rfbench.datasets.hashes import user_folder
from rfbench.datasets.locate import search_folders
from rfbench.errors import DataError, ExecutorError, RfbenchError
from rfbench.experiment import environment
from rfbench.experiment.executors import Executor, local
from rfbench.experiment.plan import Job, Trial
from rfbench.experiment.schedule import Schedule
from rfbench.experiment.worker import Limits

MEASURING = ("python", "rfbench", "numpy", "scipy", "scikit-learn", "numba")
"""What has to have the same version everywhere."""

DATA = "RFBENCH_DATA"


@dataclass(frozen=True)
class Parcel:
    """What a worker gets."""

    run: str  # of the run; `stop` takes it
    job: Job
    limits: Limits
    versions: dict[str, str]  # those of the machine that asks, see `versions`
    code: dict[str, bytes]  # files of classes that are imported by their file, by relative path
    # Files of the job's data set by their path in a data folder; empty at first.
    data: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Cluster(Executor):
    """An executor whose workers share no disk with this machine: they get parcels."""

    run: str = field(default_factory=lambda: uuid.uuid4().hex)  # see `stop`

    def submit(self, function: object, *words: Any) -> Future[Any]:
        """Send a job to a worker, and its data too where the worker lacks them."""
        job, _, limits = words
        parcel = Parcel(self.run, job, limits, versions(), _code_of(job))
        outer: Future[Any] = Future()

        def send(parcel: Parcel) -> None:
            try:
                self.call(do_parcel, parcel).add_done_callback(receive)
            except Exception as error:
                outer.set_exception(_readable(error, self.broken))

        def receive(future: Future[Any]) -> None:
            try:
                rows = future.result()
                if rows is None:
                    send(replace(parcel, data=_data_of(job)))
                else:
                    outer.set_result(rows)
            except BaseException as error:
                outer.set_exception(_readable(error, self.broken))

        send(parcel)
        return outer


def _readable(error: BaseException, broken: tuple[type[BaseException], ...]) -> BaseException:
    if isinstance(error, (RfbenchError, OSError, *broken)):
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
    found = environment.versions()
    code = hashlib.sha256()
    spec = importlib.util.find_spec("rfbench")
    assert spec is not None
    assert spec.origin is not None
    for file in sorted(Path(spec.origin).parent.rglob("*.py")):
        code.update(file.read_bytes())
    return {name: found[name] for name in MEASURING} | {"code of rfbench": code.hexdigest()[:12]}


def check_versions(wanted: dict[str, str]) -> None:
    """Raise ExecutorError where this machine has other versions than the one that asks."""
    for name, found in versions().items():
        if found != wanted[name]:
            raise ExecutorError(
                f"A worker has {name} {found}, and this machine has {wanted[name]}.",
                "Other versions may give other numbers.",
                "Install the same versions everywhere.",
            )


def _code_of(job: Job) -> dict[str, bytes]:
    """Return the files that the job's classes are imported from, by relative path."""
    code = {}
    for spec in _imported(job):
        name = spec.name.rpartition(":")[0]
        if name and not Path(name).is_absolute():
            code[name] = plugins.file_of(spec.name, spec.folder).read_bytes()
    return code


def _imported(job: Job) -> list[Any]:
    return [
        spec
        for trial in job.trials
        for spec in (*trial.experiment.samplers, trial.sampler, trial.experiment.solver)
        if spec.imported
    ]


def _data_of(job: Job) -> dict[str, bytes]:
    """Return the files of a job's data set by their path in a data folder."""
    (name,) = {trial.dataset.name for trial in job.trials}
    folders = search_folders()
    return {
        str(next(path.relative_to(top) for top in folders if path.is_relative_to(top))):
        path.read_bytes()
        for path in datasets.paths(name)
    }  # fmt: skip


_running: dict[str, list[tuple[Executor, threading.Event]]] = {}
"""What a worker process does now, by run."""


_stopped: set[str] = set()
"""Runs whose parcels may still be on their way."""


def stop(run: str) -> None:
    """End what this worker does for a run, and begin nothing more for it."""
    _stopped.add(run)
    for executor, stopping in _running.get(run, []):
        stopping.set()
        executor.kill()


def do_parcel(parcel: Parcel) -> list[dict[str, Any]] | None:
    """Run a job in a child of this worker and return its rows; None if its data are not here.

    Raises ExecutorError: this machine has another version of rfbench, or of what it computes with.
    """
    check_versions(parcel.versions)
    place = _place_of_data(parcel)
    if place is None:
        return None
    child = local(1)
    stopping = threading.Event()
    _running.setdefault(parcel.run, []).append((child, stopping))
    if parcel.run in _stopped:
        stopping.set()
    try:
        with tempfile.TemporaryDirectory(prefix="rfbench-") as scratch:
            _write(Path(scratch), parcel.code)
            for spec in _imported(parcel.job):
                spec.came_from(Path(scratch))
            inside = replace(child, call=functools.partial(child.call, within, place))
            schedule = Schedule(Path(scratch), inside, parcel.limits, stopping)
            return list(schedule.rows([parcel.job]))
    finally:
        child.close()
        _running[parcel.run].remove((child, stopping))


def within(place: str, function: Callable[..., Any], *words: Any) -> Any:
    """Call a function in a child that looks for data in a folder first; "": in none."""
    os.environ[DATA] = place
    return function(*words)


def _place_of_data(parcel: Parcel) -> str | None:
    """Return what RFBENCH_DATA is to be for the job's data; None where they are not here."""
    trial = parcel.job.trials[0]
    if _has(trial):
        return os.environ.get(DATA, "")
    if trial.dataset.own:
        raise DataError(
            f"A worker's machine has no {trial.dataset.name}, or with another content.",
            "Only data of the catalogue travel.",
            "Put it to the same path there.",
        )
    place = user_folder() / "by-hash" / trial.data_sha256
    if parcel.data and not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as stage:
            _write(Path(stage), parcel.data)
            with contextlib.suppress(OSError):  # another worker was first
                os.rename(stage, place)
                os.mkdir(stage)
    return str(place) if place.exists() else None


def _write(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def _has(trial: Trial) -> bool:
    try:
        spec = trial.dataset
        found = datasets.data_sha256(spec.name, spec.parameters, spec.folder)
        return found == trial.data_sha256
    except DataError:
        return False
