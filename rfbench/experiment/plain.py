"""What comes of other people's code, as numbers and text that can be written down."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

SPOILED = "spoiled"
"""Key of a row after whose trial the worker must not go on."""

LONGEST_MESSAGE = 2000
LONGEST_TRACEBACK = 100_000


def words(error: BaseException) -> str:
    """Return an error's message, or say that it has none that can be read."""
    return _printable(lambda: str(error), LONGEST_MESSAGE)


def traceback_of(error: BaseException) -> str:
    """Return an error's traceback, as Python prints it."""
    return _printable(lambda: "".join(traceback.format_exception(error)), LONGEST_TRACEBACK)


def plain(value: Any) -> Any:
    """Return a measured value as a number or text that can be written down; else TypeError."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.item()
    if type(value) is str:
        return _printable(lambda: value, LONGEST_TRACEBACK)
    if value is None or type(value) in (bool, int, float):
        return value
    raise TypeError(f"{type(value).__name__} is neither a number nor text")


def _printable(read: Callable[[], str], longest: int) -> str:
    """Return a text with what is no character of a text file written as an escape."""
    try:
        return "".join(
            c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode()
            for c in read()[:longest]
        )
    except BaseException:
        return "its message cannot be read"
