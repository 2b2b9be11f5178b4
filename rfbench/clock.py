"""Wall and CPU seconds, booked to the parts of a trial."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

PARTS = ("pp", "features", "train", "test")


class Clock:
    """Adds up wall-clock and CPU seconds a part: pp, features, train, test.

    CPU seconds are those of the whole process, all its threads together.
    """

    def __init__(self) -> None:
        self.wall = dict.fromkeys(PARTS, 0.0)
        self.cpu = dict.fromkeys(PARTS, 0.0)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Book the time spent inside to one part."""
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.wall[name] += time.perf_counter() - wall
            self.cpu[name] += time.process_time() - cpu

    def features(self) -> AbstractContextManager[None]:
        """Book to the features of the training rows."""
        return self.part("features")

    def train(self) -> AbstractContextManager[None]:
        """Book to the fit."""
        return self.part("train")
