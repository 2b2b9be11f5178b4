"""Parameters that depend on the trial: `M`, `10*M`, `0.01*d`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

COUNTS = ("n_components", "pool_size", "score_rows", "base_size")
_EXPRESSION = re.compile(r"(?:((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e-?[0-9]+)?)\s*\*\s*)?([Mdn])")


def resolve_parameters(parameters: Mapping[str, Any], *, M: int, d: int, n: int) -> dict[str, Any]:
    """Replace `M`, `d`, `n` and multiples such as `10*M` or `0.01*d` by their numbers.

    Numbers of things (a pool's size, rows) are rounded. What is no finite number stays text, which
    the method refuses.
    """
    numbers = {"M": M, "d": d, "n": n}

    def value_of(key: str, value: Any) -> Any:
        match = _EXPRESSION.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            return value
        product = float(match[1] or 1) * numbers[match[2]]
        if not math.isfinite(product):
            return value
        return round(product) if key in COUNTS or product == int(product) else product

    return {key: value_of(key, value) for key, value in parameters.items()}
