"""Executors of other machines: dask, ray, and all with the interface of `concurrent.futures`."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import uuid
import warnings
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Future
from typing import Any

from rfbench import plugins
from rfbench.errors import ConfigError, ExecutorError, nearest
from rfbench.experiment import remote
from rfbench.experiment.executors import Executor, local
from rfbench.experiment.remote import Cluster
from rfbench.permissions import check_permission

CONNECT_SECONDS = 10


def find(text: str, n_jobs: int | None = None, *, allow_imports: bool = False) -> Executor:
    """Return the executor that ``--executor`` names.

    That is ``local``, ``dask:ADDRESS``, ``ray`` or ``ray:ADDRESS``, or ``module:factory``: a
    function without parameters that returns an executor with the interface of `concurrent.futures`.
    `n_jobs` are in flight; None: one per core here, or as many as the cluster has threads.

    ConfigError if it is no executor, MethodError if its import needs permission (see
    `rfbench.permissions.check_permission`), ExecutorError if it is not there.
    """
    kind, _, address = text.partition(":")
    if text == "local":
        return local(n_jobs or os.cpu_count() or 1)
    if kind == "dask" and address:
        return dask(address, n_jobs)
    if kind == "ray":
        return ray(address, n_jobs)
    if kind and address.replace(".", "_").isidentifier():
        return imported(text, n_jobs, allow_imports=allow_imports)
    raise ConfigError(
        f"--executor {text} is no executor.{nearest(kind, ['local', 'dask', 'ray'])}",
        "",
        "Write local, dask:ADDRESS, ray, ray:ADDRESS or module:factory.",
    )


def dask(address: str, n_jobs: int | None = None) -> Executor:
    """Return the workers of a dask scheduler, such as ``tcp://10.0.0.1:8786``."""
    try:
        import distributed
    except ImportError as error:
        raise _not_installed("dask") from error
    library: Any = distributed
    # What a scheduler that is gone means for the run is said once, and not by a traceback.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        client = library.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:  # TimeoutError is an OSError
        raise _unreachable(f"dask scheduler at {address}", error) from error
    pool = client.get_executor(pure=False)
    run = uuid.uuid4().hex

    def carry(*words: Any) -> Future[Any]:
        with warnings.catch_warnings():  # of large parcels: those with data
            warnings.simplefilter("ignore", UserWarning)
            try:
                future: Future[Any] = pool.submit(*words)
            except Exception:
                if client.status == "running":
                    raise
                raise CancelledError from None  # as its jobs in flight are
        return future

    def workers() -> int:
        with contextlib.suppress(OSError, RuntimeError):
            return n_jobs or max(1, sum(client.nthreads().values()))
        return 1  # of a scheduler that does not answer its jobs tell

    def kill() -> None:
        with contextlib.suppress(Exception):
            client.run(remote.stop, run)
        client.close(timeout=CONNECT_SECONDS)

    broken = (library.KilledWorker,)
    return Cluster(f"dask:{address}", carry, workers, broken, kill, client.close, run)


def ray(address: str = "", n_jobs: int | None = None) -> Executor:
    """Return the workers of a ray cluster; without an address one is started here."""
    try:
        import ray as library
    except ImportError as error:
        raise _not_installed("ray") from error
    try:
        library.init(address=address or None, ignore_reinit_error=True, log_to_driver=False)
    except Exception as error:  # also a bare one, where its start takes too long
        raise _unreachable(f"ray cluster{address and f' at {address}'}", error) from error
    broken = (library.exceptions.WorkerCrashedError, library.exceptions.NodeDiedError)
    task = library.remote(_call)

    def carry(*words: Any) -> Future[Any]:
        future: Future[Any] = task.remote(*words).future()
        return future

    return Cluster(
        f"ray:{address}",
        carry,
        lambda: n_jobs or int(library.cluster_resources().get("CPU", 1)),
        broken,
        library.shutdown,
        library.shutdown,
    )


def _call(function: Callable[..., Any], *words: Any) -> Any:
    return function(*words)


def imported(path: str, n_jobs: int | None = None, *, allow_imports: bool = False) -> Executor:
    """Return the executor that a function makes, see `find`."""
    check_permission(path, anything=allow_imports)
    pool = plugins.load_object(path)()
    return Cluster(
        path,
        pool.submit,
        lambda: n_jobs or getattr(pool, "_max_workers", None) or os.cpu_count() or 1,
        (BrokenExecutor,),
        functools.partial(pool.shutdown, wait=False, cancel_futures=True),
        pool.shutdown,
    )


def _not_installed(extra: str) -> ExecutorError:
    return ExecutorError(
        f"{extra} is not installed.", "", f"Install it: pip install 'rfbench[{extra}]'."
    )


def _unreachable(what: str, error: Exception) -> ExecutorError:
    return ExecutorError(
        f"There is no {what}.", f"{type(error).__name__}: {error}.", "Start it, or correct it."
    )
