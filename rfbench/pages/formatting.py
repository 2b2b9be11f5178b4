"""Formatting of numbers, ranges, counts and lists as text, for all pages."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rfbench.escaping import Markdown, escape_markdown

DASH = "\N{EN DASH}"


def format_number(value: Any, decimals: int | None = None) -> str:
    """Format a number with `decimals` decimals; by default with six significant digits.

    By default, all digits of an integer are shown. A missing number is a dash.

    >>> format_number(1234567), format_number(0.123456789)
    ('1234567', '0.123457')
    >>> format_number(2.5, 2), format_number(None)
    ('2.50', '–')
    """
    if is_missing(value):
        return DASH
    if decimals is not None:
        return f"{float(value):.{decimals}f}"
    return f"{value:.0f}" if value == round(value) and abs(value) < 1e15 else f"{value:.6g}"


def is_missing(value: Any) -> bool:
    """Return True if a value is None, NaN or pandas.NA."""
    import pandas as pd

    return bool(pd.isna(value))


def format_significant(value: Any, digits: int = 2) -> str:
    """Format a number with `digits` significant digits and without an exponent.

    >>> [format_significant(x) for x in (66.15, 1.974, 0.0087, 315.2)]
    ['66', '2.0', '0.0087', '320']
    """
    if is_missing(value):
        return DASH
    shown = float(f"{float(value):.{digits}g}")
    exponent = math.floor(math.log10(abs(shown))) if shown else 0
    return f"{shown:.{max(digits - 1 - exponent, 0)}f}"


def format_signed(value: Any, decimals: int = 2) -> str:
    """Format a difference with a plus or minus sign; a difference that rounds to 0 has no sign.

    >>> format_signed(1.234), format_signed(-0.5), format_signed(-0.001)
    ('+1.23', '-0.50', '0.00')
    """
    if is_missing(value):
        return DASH
    text = f"{float(value):+.{decimals}f}"
    return text if float(text) else text[1:]


def format_spread(mean: Any, error: Any, most: int = 4) -> str:
    """Format a mean and its standard error, such as ``17.37 ± 0.12``.

    The standard error has two digits, and both numbers have at most `most` decimals. The standard
    error of a single trial is unknown and is written as a dash. Very small or very large numbers
    are written with an exponent.

    >>> format_spread(17.3712, 0.1234), format_spread(5.0, float("nan"))
    ('17.37 ± 0.12', '5 ± –')
    >>> format_spread(0.00012, 0.000034)
    '1.20e-04 ± 3.4e-05'
    """
    if is_missing(mean):
        return DASH
    if is_missing(error) or error == 0:
        return f"{mean:.4g} ± {DASH if is_missing(error) else 0}"
    decimals = 1 - math.floor(math.log10(error))
    if decimals > most + 1 or abs(mean) >= 1e7:
        return f"{mean:.2e} ± {error:.1e}"
    decimals = min(max(decimals, 0), most)
    return f"{mean:.{decimals}f} ± {error:.{decimals}f}"


def format_plus_minus(mean: Any, error: Any, decimals: int) -> str:
    """Format a mean and its standard error, both with `decimals` decimals.

    >>> format_plus_minus(55.738, 0.5412, 2), format_plus_minus(5.0, float("nan"), 1)
    ('55.74 ± 0.54', '5.0 ± –')
    """
    return f"{format_number(mean, decimals)} ± {format_number(error, decimals)}"


def format_span(low: Any, high: Any, decimals: int | None = None) -> str:
    """Format the range from `low` to `high`; one number if both have the same text.

    >>> format_span(120, 214), format_span(3.0, 3.0), format_span(0.481, 0.484, 2)
    ('120–214', '3', '0.48')
    """
    first, last = format_number(low, decimals), format_number(high, decimals)
    return first if first == last or is_missing(high) else f"{first}{DASH}{last}"


def format_p_value(value: Any) -> str:
    """Format a p-value with two significant digits.

    >>> format_p_value(0.01234), format_p_value(1.0)
    ('0.012', '1')
    """
    return DASH if is_missing(value) else f"{float(value):.2g}"


def format_seconds(value: Any) -> str:
    """Format a time, given in seconds, in milliseconds, seconds, minutes or hours.

    >>> [format_seconds(x) for x in (0.0123, 0.9996, 42, 300, 12000)]
    ['12.3 ms', '1 s', '42 s', '5.0 min', '3.3 h']
    """
    if is_missing(value):
        return DASH
    if value < 0.9995:
        return f"{1000 * value:.3g} ms"
    if value < 120:
        return f"{value:.3g} s"
    return f"{value / 60:.1f} min" if value < 7200 else f"{value / 3600:.1f} h"


def count(n: Any, noun: str, plural: str = "") -> str:
    """Format the number `n` followed by `noun`, in the singular or the plural.

    >>> count(1, "trial"), count(10, "trial"), count(2, "penalty", "penalties")
    ('1 trial', '10 trials', '2 penalties')
    """
    return f"{format_number(n)} {noun if n == 1 else plural or noun + 's'}"


def join_names(items: Iterable[Any], none: str = "none") -> str:
    """Join names with commas; return `none` if there are no names.

    >>> join_names(["a", "b"]), join_names([])
    ('a, b', 'none')
    """
    return ", ".join(map(str, items)) or none


def link(target: str | Path, page_folder: Path, name: str = "") -> Markdown:
    """Return a Markdown link to the file or folder `target`.

    The address is relative to `page_folder`. The text of the link is `name`, by default the name of
    the file.
    """
    import os

    there = Path(target).resolve()
    relative = Path(os.path.relpath(there, page_folder.resolve())).as_posix()
    return Markdown(f"[{escape_markdown(name or there.name)}]({quote(relative)})")
