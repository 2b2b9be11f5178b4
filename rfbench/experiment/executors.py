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

    Workers of other machines run trials in children of theirs, so the loss of a worker is no
    trial's fault, and its job is given to another one. Of a local worker that is gone the trial
    that it had begun is the suspect.
    """

    name: str  # what `rfbench.experiment.clusters.find` finds it by
    call: Callable[..., Future[Any]]  # ``call(function, *words)`` begins a call
    workers: Callable[[], int]  # how many jobs may be in flight now
    broken: tuple[type[BaseException], ...]  # what a future raises whose worker is gone
    kill: Callable[[], None]  # end the work in the middle
    close: Callable[[], None]  # end when it is done

    def submit(self, function: Callable[..., Any], *words: Any) -> Future[Any]:
        """Begin ``do_job(job, folder, limits)``; the future has its rows."""
        return self.call(function, *words)


def local(n_jobs: int) -> Executor:
    """Return the executor of so many processes on this machine."""
    children = Children(n_jobs)
    return Executor(
        "local",
        children.submit,
        lambda: n_jobs,
        (ChildDied,),
        children.kill,
        children.close,
    )
