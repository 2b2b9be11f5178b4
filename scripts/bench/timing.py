"""Clocks for a machine that is not alone: the fastest of several runs, taken in turn."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

BATCH_SECONDS = 0.01


def seconds_of(work: Callable[[], object]) -> float:
    """Return the wall-clock seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def fastest(work: Callable[[], object], repeats: int) -> float:
    """Return the seconds of the fastest of several calls."""
    return min(seconds_of(work) for _ in range(repeats))


def best_of(work: Callable[[], object], least: int = 2, seconds: float = 0.5) -> float:
    """Return the seconds of the fastest call of at least so many, and of as many as fit in."""
    first = seconds_of(work)
    return min(first, fastest(work, max(least - 1, math.ceil(seconds / max(first, 0.01)))))


def in_turn(works: list[Callable[[], object]], rounds: int) -> list[float]:
    """Return the fastest seconds of each piece of work; every round runs all of them."""
    best = [math.inf] * len(works)
    for _ in range(rounds):
        best = [min(seen, seconds_of(work)) for seen, work in zip(best, works, strict=True)]
    return best


def rate(work: Callable[[], object], batches: int = 8) -> float:
    """Return the seconds of one call of a short piece of work, from the fastest batch of calls."""
    calls = max(1, math.ceil(BATCH_SECONDS / max(fastest(work, 2), 1e-7)))

    def batch() -> None:
        for _ in range(calls):
            work()

    return fastest(batch, batches) / calls
