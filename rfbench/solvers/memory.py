"""Refusing in time what would not fit into memory."""

from __future__ import annotations

from rfbench.errors import MethodError

GIB = 2**30


def check_fits(needed: float, what: str, todo: str, limit_gib: float | None = None) -> None:
    """Raise MethodError where arrays do not fit into the memory that is free.

    Parameters
    ----------
    needed : float
        Bytes.
    what : str
        What takes them, with its numbers, as the beginning of a sentence.
    todo : str
        What the person can do.
    limit_gib : float or None
        The memory allowed; None: what the machine has free now.
    """
    free = free_bytes() if limit_gib is None else limit_gib * GIB
    if needed > free:
        raise MethodError(
            f"{what} takes about {needed / GIB:.3g} GiB of memory.",
            f"{'Free now' if limit_gib is None else 'Allowed'} are {free / GIB:.3g} GiB.",
            todo,
        )


def free_bytes() -> float:
    """Return the bytes that can be allocated without swapping."""
    import psutil

    return float(psutil.virtual_memory().available)
