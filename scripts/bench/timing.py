"""Clocks for a busy machine: the fastest of several runs, in turn."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

BATCH_SECONDS = 0.01
Clock = Callable[[], float]


def seconds_of(work: Callable[[], object], clock: Clock = time.perf_counter) -> float:
    """Return the seconds of one call, by default on the wall clock."""
    start = clock()
    work()
    return clock() - start


def fastest(work: Callable[[], object], repeats: int, clock: Clock = time.perf_counter) -> float:
    """Return the seconds of the fastest of several calls."""
    return min(seconds_of(work, clock) for _ in range(repeats))


def best_of(work: Callable[[], object], least: int = 2, seconds: float = 0.5) -> float:
    """Return the seconds of the fastest of at least `least` calls, as many as fit in `seconds`."""
    first = seconds_of(work)
    return min(first, fastest(work, max(least - 1, math.ceil(seconds / max(first, 0.01)))))


def in_turn(
    works: Sequence[Callable[[], object]],
    rounds: int,
    clock: Clock = time.perf_counter,
    long: float = math.inf,
) -> list[float]:
    """Return the smallest seconds of each work; every round runs all of them.

    Work that needs more than `long` seconds is run in the first round only.
    """
    best = [math.inf] * len(works)
    for done in range(rounds):
        for i, work in enumerate(works):
            if not done or best[i] <= long:
                best[i] = min(best[i], seconds_of(work, clock))
    return best


def rate(work: Callable[[], object], batches: int = 8, clock: Clock = time.perf_counter) -> float:
    """Return the seconds of one call of short work, from the fastest batch of calls."""
    calls = max(1, math.ceil(BATCH_SECONDS / max(fastest(work, 2), 1e-7)))

    def batch() -> None:
        for _ in range(calls):
            work()

    return fastest(batch, batches, clock) / calls
