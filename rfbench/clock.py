"""Measurement of the wall-clock and CPU seconds of the steps of a method."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import ClassVar

CLOCK_PARTS = ("pp", "features", "train", "test")


class Clock:
    """Clock that sums wall-clock and CPU seconds for each part of the time of a method.

    The part "pp" (preprocessing) is the time of drawing, scoring and selecting features. "features"
    is the time of computing the features of the training set. The parts "train" and "test" are
    fitting and prediction.

    Parts may be nested, also parts of different clocks. While an inner part runs, the outer part is
    paused, so that every second is counted once. CPU seconds are summed over all threads of the
    process.
    """

    _running: ClassVar[list[tuple[Clock, str]]] = []
    _since: ClassVar[tuple[float, float]] = (0.0, 0.0)

    def __init__(self) -> None:
        self.wall = dict.fromkeys(CLOCK_PARTS, 0.0)
        self.cpu = dict.fromkeys(CLOCK_PARTS, 0.0)

    @contextmanager
    def time_part(self, name: str) -> Iterator[None]:
        """Add the time of a ``with`` block to the total time of the part `name`."""
        Clock._book()
        Clock._running.append((self, name))
        try:
            yield
        finally:
            Clock._book()
            Clock._running.pop()

    @classmethod
    def _book(cls) -> None:
        now = time.perf_counter(), time.process_time()
        if cls._running:
            clock, name = cls._running[-1]
            clock.wall[name] += now[0] - cls._since[0]
            clock.cpu[name] += now[1] - cls._since[1]
        cls._since = now

    @staticmethod
    def time_part_of(clock: Clock | None, name: str) -> AbstractContextManager[None]:
        """Add the time of a ``with`` block to the part `name` of `clock`.

        If `clock` is None, the time is added to the part that is already running.
        """
        return nullcontext() if clock is None else clock.time_part(name)

    def add(self, other: Clock, to: str | None = None) -> None:
        """Add the times of a different clock to this clock.

        Times are added part by part. If `to` is given, all times are added to this part.
        """
        for part in CLOCK_PARTS:
            self.wall[to or part] += other.wall[part]
            self.cpu[to or part] += other.cpu[part]
