"""Which executor is meant: this machine, dask's workers, or anything of `concurrent.futures`."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rfbench import plugins
from rfbench.compute.partitions import in_tree
from rfbench.errors import ConfigError, ExecutorError, nearest
from rfbench.experiment.children import Local
from rfbench.experiment.executors import Executor
from rfbench.experiment.remote import Cluster, check_versions, stop, versions
from rfbench.experiment.trial import thread_pools, warm_up
from rfbench.permissions import check_permission

CONNECT_SECONDS = 10


def find(text: str, n_jobs: int | None = None, *, allow_imports: bool = False) -> Executor:
    """Return the executor that ``--executor`` names.

    That is ``local``, ``dask:ADDRESS``, or ``module:factory``: a function without parameters that
    returns an executor with the interface of `concurrent.futures`. `n_jobs` are in flight; None:
    one per core here, or as many as the cluster has threads.

    ConfigError if it is no executor, MethodError if its import needs permission (see
    `rfbench.permissions.check_permission`), ExecutorError if it is not there.
    """
    kind, _, address = text.partition(":")
    if text == "local":
        return Local(n_jobs or os.cpu_count() or 1)
    if kind == "dask" and address:
        return Dask(address, n_jobs)
    if kind and address.replace(".", "_").isidentifier():
        check_permission(text, anything=allow_imports)
        return Imported(text, n_jobs)
    raise ConfigError(
        f"--executor {text} is no executor.{nearest(kind, ['local', 'dask'])}",
        "",
        "Write local, dask:ADDRESS or module:factory.",
    )


def connect(address: str) -> Any:
    """Return a client of the scheduler; ExecutorError if there is none, or no dask."""
    try:
        import distributed
    except ImportError as error:
        raise ExecutorError(
            "dask is not installed.", "", "Install it: pip install 'rfbench[dask]'."
        ) from error
    library: Any = distributed
    # What a scheduler that is gone means for the run is said once, and not by a traceback.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        return library.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:  # TimeoutError is an OSError
        raise ExecutorError(
            f"There is no dask scheduler at {address}.",
            f"{type(error).__name__}: {error}.",
            "Start it, or correct it.",
        ) from error


class Dask(Cluster):
    """The workers of a scheduler, such as ``tcp://10.0.0.1:8786``; `n_jobs` None: all of them.

    A job whose worker is lost is repeated by dask on another one, a few times.
    """

    def __init__(self, address: str, n_jobs: int | None = None) -> None:
        super().__init__()
        self._client, self._n_jobs = connect(address), n_jobs
        self._pool = self._client.get_executor(pure=False)
        self._uploaded: set[str] = set()
        self.broken = (_lost(),)
        self.add_up = OnWorkers(address)

    def begin(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Begin a call in a worker; futures of dask among the arguments become their values."""
        try:
            future: Future[Any] = self._pool.submit(function, *args)
        except Exception:
            if self._client.status == "running":
                raise
            raise CancelledError from None  # as its jobs in flight are
        return future

    def upload(self, name: str, content: bytes) -> None:
        """Give a file to all workers, also those that are still to come."""
        if name not in self._uploaded:
            with tempfile.TemporaryDirectory(prefix="rfbench-") as folder:
                path = Path(folder) / name
                path.write_bytes(content)
                # Nobody imports it: that is for the child that does its trials.
                self._client.upload_file(str(path), load=False)
            self._uploaded.add(name)

    def share(self, value: Any) -> Any:
        """Scatter a large argument: it goes to a worker once, and on from there."""
        return self._client.scatter(value, hash=False)

    def workers(self) -> int:
        """Return how many threads the workers have that are there now."""
        with contextlib.suppress(OSError, RuntimeError):
            return self._n_jobs or max(1, sum(self._client.nthreads().values()))
        return 1  # of a scheduler that does not answer its jobs tell

    def kill(self) -> None:
        """End what the workers do for this run."""
        with contextlib.suppress(Exception):
            self._client.run(stop, self.run)
        self._client.close(timeout=CONNECT_SECONDS)

    def close(self) -> None:
        """Leave the scheduler; it goes on."""
        self._client.close()


@dataclass(frozen=True)
class OnWorkers:
    """An `AddUp`: the workers of a scheduler do the calls, and add up what they return.

    A sum stays with a worker until it is added to its neighbour, so that the process that asks
    gets one value, however many parts there are.
    """

    address: str

    def __call__(self, calls: Iterable[Callable[[], Any]], add: Callable[[Any, Any], Any]) -> Any:
        """Return the sum of the results.

        Raises ExecutorError: the scheduler is not there, or a worker is lost with its parts.
        """
        pools = thread_pools(len(sys.modules)).info()
        threads = max((pool["num_threads"] for pool in pools), default=1)
        # Open only while it is needed: a trial leaves no thread behind.
        with connect(self.address) as client:
            submit = partial(client.submit, pure=False)
            try:
                # The rows are scattered: in the arguments of a call they would go through the
                # scheduler, and stay with it.
                parts = (
                    submit(do_part, versions(), threads, client.scatter(call, hash=False))
                    for call in calls
                )
                return in_tree(parts, partial(submit, add)).result()
            except (CancelledError, _lost()) as error:
                raise ExecutorError(
                    "A worker was lost with a part of the rows.",
                    f"{type(error).__name__}: {error}",
                    "Run the same command again, with --retry failed.",
                ) from None


def do_part(wanted: dict[str, str], threads: int, call: Callable[[], Any]) -> Any:
    """Do a call in a worker with the versions and the threads of the trial that it is a part of."""
    check_versions(wanted)
    warm_up()
    with thread_pools(len(sys.modules)).limit(limits=threads):
        return call()


def _lost() -> type[BaseException]:
    """Return what dask raises where the workers of a job were lost more often than it repeats."""
    import distributed

    error: type[BaseException] = distributed.KilledWorker
    return error


class Imported(Cluster):
    """What a function makes, see `find`; code files and data have their path on every machine."""

    broken = (BrokenExecutor,)

    def __init__(self, path: str, n_jobs: int | None) -> None:
        super().__init__()
        self._pool = plugins.load_object(path)()
        self._n_jobs = n_jobs or getattr(self._pool, "_max_workers", None) or os.cpu_count() or 1

    def begin(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Begin a call in the pool."""
        future: Future[Any] = self._pool.submit(function, *args)
        return future

    def workers(self) -> int:
        """Return how many calls the pool does at once, as far as it says so."""
        return self._n_jobs

    def kill(self) -> None:
        """Leave the pool to itself, with nothing that waits."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """End the pool."""
        self._pool.shutdown()
