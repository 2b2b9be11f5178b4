"""How the papers' tables write numbers: a value and its spread have the same decimals."""

from __future__ import annotations

import math

PLUS_MINUS = "{}±{}"
PARENTHESES = "{} ({})"
UPPER_BOUND = "≤"
FEWEST, MOST = 2, 4


def with_spread(value: float, spread: float, decimals: int, form: str = PLUS_MINUS) -> str:
    """Write ``55.74±1.69`` or ``16.14 (0.06)``; a spread that is not known (NaN) is left out."""
    texts = f"{value:.{decimals}f}", f"{spread:.{decimals}f}"
    return texts[0] if math.isnan(spread) else form.format(*texts)


def percent(value: float, spread: float, form: str) -> str:
    """Write a number in percent with two decimals, more where its spread would show only zeros."""
    needed = -math.floor(math.log10(spread)) if spread > 0 else FEWEST
    return with_spread(value, spread, min(max(needed, FEWEST), MOST), form)


def seconds(value: float, spread: float = math.nan, shared: bool = False) -> str:
    """Write a time in any unit with three significant digits, ``≤`` before an upper bound."""
    decimals = max(0, 2 - math.floor(math.log10(value))) if value > 0 else FEWEST
    return UPPER_BOUND * shared + with_spread(value, spread, decimals)
