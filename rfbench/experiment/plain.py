"""What comes of other people's code, as numbers and text that can be written down."""

from __future__ import annotations

import traceback
from typing import Any

import numpy as np

SPOILED = "spoiled"
"""Key of a row after whose trial the worker must not go on."""
LONGEST_MESSAGE = 2000
LONGEST_TRACEBACK = 100_000


def words(error: BaseException) -> str:
    """Return an error's message, or say that it has none that can be read."""
    try:
        return str(error)[:LONGEST_MESSAGE]
    except BaseException:
        return "its message cannot be read"


def traceback_of(error: BaseException) -> str:
    """Return an error's traceback, as Python prints it."""
    return "".join(traceback.format_exception(error))[:LONGEST_TRACEBACK]


def plain(value: Any) -> Any:
    """Return a measured value as a number or text that can be written down; else TypeError."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise TypeError(f"{type(value).__name__} is neither a number nor text")
