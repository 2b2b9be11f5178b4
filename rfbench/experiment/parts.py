"""The parts of one problem's rows, done by the workers of a run."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import Any

from rfbench.compute.partitions import in_tree
from rfbench.errors import ExecutorError
from rfbench.experiment import clusters, remote
from rfbench.experiment.executors import Executor
from rfbench.experiment.plan import Trial
from rfbench.experiment.trial import thread_pools, warm_up


@dataclass(frozen=True)
class OnWorkers:
    """An `AddUp`: the calls are done by workers and their results added up here, in a tree."""

    # See `rfbench.experiment.clusters.find`; it is open only while it is needed, so that a trial
    # leaves no thread behind.
    executor: str
    workers: int

    def __call__(self, calls: Iterable[Callable[[], Any]], add: Callable[[Any, Any], Any]) -> Any:
        """Return the sum of the results.

        Raises ExecutorError: the executor is not there, or a worker is lost.
        """
        executor = clusters.find(self.executor, self.workers, allow_imports=True)
        try:
            total = in_tree(_results(executor, calls), add)
        except BaseException as error:
            executor.kill()
            if not isinstance(error, (CancelledError, *executor.broken)):
                raise
            raise ExecutorError(
                "A worker was lost with a part of the rows.",
                f"{type(error).__name__}: {error}",
                "Run the same command again, with --retry failed.",
            ) from None
        executor.close()
        return total


def _results(executor: Executor, calls: Iterable[Callable[[], Any]]) -> Iterator[Any]:
    """Yield the results in the order of the calls; one call more than there are workers waits."""
    pools = thread_pools(len(sys.modules)).info()
    threads = max((pool["num_threads"] for pool in pools), default=1)
    flying: deque[Future[Any]] = deque()
    for call in calls:
        flying.append(executor.call(do_part, remote.versions(), threads, call))
        if len(flying) > executor.workers():
            yield flying.popleft().result()
    yield from (future.result() for future in flying)


def do_part(wanted: dict[str, str], threads: int, call: Callable[[], Any]) -> Any:
    """Do a call in a worker with the versions and the threads of the trial that it is a part of."""
    remote.check_versions(wanted)
    warm_up()
    with thread_pools(len(sys.modules)).limit(limits=threads):
        return call()


def parted(trials: Iterable[Trial]) -> bool:
    """Tell whether there are trials whose rows are parted: they run one at a time."""
    return any(trial.experiment.solver.parameters.get("partitions") for trial in trials)
