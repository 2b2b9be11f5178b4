"""The one door to what runs jobs: processes of this machine, or workers of others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from rfbench.compute.partitions import AddUp
from rfbench.experiment.plan import Job
from rfbench.experiment.worker import Limits

Rows = list[dict[str, Any]]


class Executor(ABC):
    """Somebody who does jobs elsewhere, with futures of `concurrent.futures`.

    Workers of other machines run trials in children of theirs, so the loss of a worker is no
    trial's fault, and its job is given to another one. Of a local worker that is gone the trial
    that it had begun is the suspect.

    Attributes
    ----------
    broken : tuple of exception classes
        What a future raises whose worker is gone.
    add_up : AddUp or None
        Has the parts of one problem done by the workers, where they can do that.
    """

    broken: tuple[type[BaseException], ...]
    add_up: AddUp | None = None

    @abstractmethod
    def submit(self, job: Job, folder: Path, limits: Limits) -> Future[Rows]:
        """Begin `rfbench.experiment.worker.do_job`."""

    @abstractmethod
    def workers(self) -> int:
        """Return how many jobs may be in flight now."""

    @abstractmethod
    def kill(self) -> None:
        """End the work in the middle."""

    @abstractmethod
    def close(self) -> None:
        """End; no work is in flight."""
