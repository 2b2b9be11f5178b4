"""Arrays that several methods see, made read-only: whoever writes into one gets a ValueError."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

Value = TypeVar("Value")


def make_read_only(value: Value) -> Value:
    """Make an array, a CSR matrix or the arrays of an object read-only, and return it."""
    parts: Any = [value] if isinstance(value, np.ndarray) else vars(value).values()
    for part in parts:
        if isinstance(part, np.ndarray):
            part.setflags(write=False)
        elif hasattr(part, "indptr"):
            make_read_only(part)
    return value
