"""The rows of a trial in a metric that is learnt from them, and those of each fold in its own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from rfbench.arrays import Rows
from rfbench.clock import Clock
from rfbench.datasets import Prepared
from rfbench.frozen import frozen
from rfbench.rows import some
from rfbench.samplers.metric import LearnedMetric
from rfbench.solvers.folds import Index


@dataclass
class LearnedRows:
    """Rows in the metric of `kernel_metric`; each metric is learnt once.

    Attributes
    ----------
    given : Prepared
        The rows before it.
    kind, kernel : str
        See `LearnedMetric`.
    random_state : int
        Of every metric.
    clock : Clock
        What all metrics took so far, and the rows in that of all training rows. A trial that finds
        them ready is charged it all the same: its folds are those of the others.
    alone : Clock
        The part of it that the metric of all training rows took.
    """

    given: Prepared
    kind: str
    kernel: str
    random_state: int
    clock: Clock = field(default_factory=Clock)
    alone: Clock = field(default_factory=Clock)
    _of_folds: dict[bytes, LearnedMetric] = field(default_factory=dict)

    @cached_property
    def prepared(self) -> Prepared:
        """Training and test rows in the metric of all training rows."""
        given, alone = self.given, self.alone
        metric = self._metric(given.X_train, given.y_train, given.groups, alone)
        with alone.part("features"):
            train = metric.transform(given.X_train)
        with alone.part("test"):
            test = metric.transform(given.X_test)
        self.clock.charge(alone)
        return frozen(replace(given, X_train=train, X_test=test))

    def fold(self, rest: Index, held: Index, clock: Clock) -> tuple[Rows, Rows]:
        """Return a fold's rows that are fitted and its rows held out, in the metric of the first.

        The clock is charged for the rows alone.
        """
        given, key = self.given, rest.tobytes()
        rows = some(given.X_train, rest)
        if key not in self._of_folds:
            groups = None if given.groups is None else given.groups[rest]
            self._of_folds[key] = self._metric(rows, given.y_train[rest], groups, self.clock)
        with clock.part("features"):
            inside = self._of_folds[key].transform
            return inside(rows), inside(some(given.X_train, held))

    def _metric(self, rows: Rows, y: Index, groups: Index | None, clock: Clock) -> LearnedMetric:
        metric = LearnedMetric(kind=self.kind, kernel=self.kernel, random_state=self.random_state)
        with clock.part("train"):
            return metric.fit(rows, y, groups)
