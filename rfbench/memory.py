"""Memory limits of this process, and checks that arrays fit into memory before they are created."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rfbench import platforms, usable
from rfbench.errors import MemoryLimitError

# number of bytes in a gibibyte (GiB), by definition
GIB = 2**30
# A feature matrix is stored only up to MATRIX_BYTES bytes, and up to the share MATRIX_SHARE of the
# free memory. A larger matrix is computed again in blocks in each pass. The values were chosen
# without a measurement. With twice the values, four workers together may use all memory.
MATRIX_BYTES = 2**30
MATRIX_SHARE = 0.25

_limit: float | None = None


def limit_process_memory(amount: float | None) -> None:
    """Set the number of bytes that the checks in this module allow this process to use.

    If `amount` is None, only the free memory of the machine limits the process.
    """
    global _limit
    _limit = amount


@contextmanager
def limit_temporarily(amount: float | None) -> Iterator[None]:
    """Set the number of bytes that this process may use, within a ``with`` statement.

    The limit is as in `limit_process_memory`. At the end, the previous limit is restored.
    """
    before = _limit
    limit_process_memory(amount)
    try:
        yield
    finally:
        limit_process_memory(before)


@contextmanager
def limit_memory_to_free() -> Iterator[None]:
    """Raise MemoryError for allocations beyond the free memory within a ``with`` statement."""
    with platforms.limit_more_memory(count_free_bytes()):
        yield


def check_memory_fits(needed: float, what: str, todo: str) -> None:
    """Raise MemoryLimitError if arrays of `needed` bytes do not fit into the free memory.

    `what` is the start of the error message, such as the size of a matrix. `todo` is the advice in
    the message.
    """
    free = count_free_bytes()
    if needed > free:
        raise MemoryLimitError(
            f"{what} needs about {needed / GIB:.3g} GiB of memory.",
            f"{free / GIB:.3g} GiB of memory are free.",
            todo,
        )


def can_hold_in_memory(needed: float) -> bool:
    """Return True if a feature matrix of `needed` bytes is small enough to be kept in memory."""
    return needed <= min(MATRIX_BYTES, count_free_bytes() * MATRIX_SHARE)


def count_free_bytes() -> float:
    """Return the number of bytes that this process can still allocate.

    The number respects the memory limit of the process and the free memory of the machine.
    """
    available = float(usable.measure_usable_memory().available)
    if _limit is None:
        return available
    return max(0.0, min(available, _limit - platforms.measure_own_memory()))
