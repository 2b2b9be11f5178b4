"""The one door to what runs jobs: processes of this machine, or workers of others."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from rfbench.experiment.children import ChildDied, Children


@dataclass(frozen=True)
class Executor:
    """Somebody who runs calls elsewhere, with the interface of `concurrent.futures`.

    Attributes
    ----------
    name : str
        What `rfbench.experiment.clusters.find` finds it by.
    submit, call : callable
        ``submit(do_job, job, folder, limits)`` and ``call(function, *words)`` return a Future.
    workers : callable
        How many jobs may be in flight now.
    broken : tuple of exception types
        What a future raises whose worker is gone.
    kill, close : callable
        End the work in the middle; or when it is done.
    remote : bool
        The workers have no part in this machine's disk. Their trials run in children of theirs, so
        the loss of a worker is no trial's fault, and its job is given to another one. Of a local
        worker that is gone the trial that it had begun is the suspect.
    """

    name: str
    submit: Callable[..., Future[Any]]
    call: Callable[..., Future[Any]]
    workers: Callable[[], int]
    broken: tuple[type[BaseException], ...]
    kill: Callable[[], None]
    close: Callable[[], None]
    remote: bool = False


def local(n_jobs: int) -> Executor:
    """Return the executor of so many processes on this machine."""
    children = Children(n_jobs)
    return Executor(
        "local",
        children.submit,
        children.submit,
        lambda: n_jobs,
        (ChildDied,),
        kill=children.kill,
        close=children.close,
    )
