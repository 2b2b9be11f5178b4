"""Refusing in time what would not fit into memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rfbench import platforms, usable
from rfbench.errors import MemoryLimit

GIB = 2**30  # bytes, by definition
# Features larger than this, or than MATRIX_SHARE of the free memory, are not held: they are formed
# anew, block by block. Chosen without a measurement: of a quarter, what a solver makes of the
# features still fits. Doubled, four workers at once may take all memory; halved, more fits form
# their features in every pass.
MATRIX_BYTES = 2**30
MATRIX_SHARE = 0.25

_limit: float | None = None


def limit_to(amount: float | None) -> None:
    """Let this process have so many bytes of its own; None: what the machine has free."""
    global _limit
    _limit = amount


@contextmanager
def limit_temporarily(amount: float | None) -> Iterator[None]:
    """Let this process have so many bytes of its own for a while."""
    before = _limit
    limit_to(amount)
    try:
        yield
    finally:
        limit_to(before)


@contextmanager
def raise_beyond_limit() -> Iterator[None]:
    """Make a MemoryError of an allocation beyond `count_free_bytes`."""
    with platforms.limited_to_more(count_free_bytes()):
        yield


def check_fits(needed: float, what: str, todo: str) -> None:
    """Raise MemoryLimit where arrays of so many bytes do not fit into the memory that is free.

    `what` says what takes them, with its numbers, as the beginning of a sentence, and `todo` what
    the person can do.
    """
    free = count_free_bytes()
    if needed > free:
        raise MemoryLimit(
            f"{what} takes about {needed / GIB:.3g} GiB of memory.",
            f"Free now are {free / GIB:.3g} GiB.",
            todo,
        )


def can_hold(needed: float) -> bool:
    """Tell whether a matrix of features of so many bytes is held rather than formed again."""
    return needed <= min(MATRIX_BYTES, count_free_bytes() * MATRIX_SHARE)


def count_free_bytes() -> float:
    """Return the bytes that this process can still allocate: within its limit, not swapping."""
    available = float(usable.measure_memory().available)
    if _limit is None:
        return available
    return max(0.0, min(available, _limit - platforms.own_memory()))
