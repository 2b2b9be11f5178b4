"""Grammar for lists of values: `50:1000`, `50:1000:50`, `50,100,200`, `log:50:1000:8`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np

from rfbench.errors import ConfigError
from rfbench.yamlfile import parse_scalar

# Number of values of a range such as 50:1000, which has no step. The number was chosen without a
# measurement. With twice as many values, a run needs twice the time.
DEFAULT_POINTS = 20
# Largest number of values of a list. The limit detects a step with a wrong sign or exponent, which
# would otherwise start a run of weeks. The number was chosen without a measurement. With twice this
# number, fewer of these mistakes would be detected.
MAX_POINTS = 10_000
# Largest absolute value of a number in a list. The largest float64 is 1.8e308, by definition, so
# all values of a range with such ends are finite.
LARGEST_NUMBER = 1e300
GRID_GRAMMAR = "50:1000 (20 points at most), 50:1000:50 (with a step), 50,100,200 or log:50:1000:8"


def expand_grid_text(text: str) -> list[Any]:
    """Return the list of values that a string such as ``50:1000`` describes.

    ``a:b`` has all integers from a to b if there are at most 20, else 20 evenly spaced values.
    ``a:b:step`` includes b if it is on a step. ``log:a:b:n`` has n values with equal ratios. If the
    ends are integers, the values are rounded to integers. ``a,b,c`` is a list. Any other string is
    a single value.

    >>> expand_grid_text("50:1000")[:3], expand_grid_text("2:5"), expand_grid_text("eerf")
    ([50, 100, 150], [2, 3, 4, 5], ['eerf'])
    >>> expand_grid_text("log:1e-2:1e2:5")
    [0.01, 0.1, 1.0, 10.0, 100.0]
    """
    text = text.strip()
    if "," in text:
        parts = [part.strip() for part in text.strip("[]").split(",")]
        if "" in parts:
            raise _wrong(text, "a value between two commas is missing")
        return join_lists(expand_grid_text(part) for part in parts)
    if ":" not in text:
        return [parse_scalar(text)]
    head, *rest = text.split(":")
    ends = [_number(text, part) for part in (rest if head == "log" else [head, *rest])]
    if head == "log":
        return _logarithmic(text, *ends)
    if len(ends) not in (2, 3):
        raise _wrong(text, "a range needs two or three numbers")
    first, last, *steps = ends
    if last < first:
        raise _wrong(text, "the end of the range is below its start")
    integers = all(isinstance(number, int) for number in ends)
    if not steps:
        count = min(DEFAULT_POINTS, int(last - first) + 1) if integers else DEFAULT_POINTS
        return _unique(np.linspace(float(first), float(last), count), integers)
    step = steps[0]
    if step <= 0:
        raise _wrong(text, "the step has to be positive")
    if (last - first) / step > MAX_POINTS:
        raise _wrong(text, f"the range has more than {MAX_POINTS} values")
    begin, width, end = Decimal(str(first)), Decimal(str(step)), Decimal(str(last))
    values = [begin + i * width for i in range(int((end - begin) / width) + 1)]
    return [int(value) if integers else float(value) for value in values]


def join_lists(lists: Iterable[list[Any]]) -> list[Any]:
    """Concatenate lists. Raise ConfigError as soon as there are more than `MAX_POINTS` values."""
    values: list[Any] = []
    for part in lists:
        values += part
        if len(values) > MAX_POINTS:
            raise ConfigError(f"A list has more than {MAX_POINTS} values.")
    return values


def _logarithmic(text: str, *numbers: int | float) -> list[Any]:
    if len(numbers) != 3 or not isinstance(numbers[2], int) or not 1 <= numbers[2] <= MAX_POINTS:
        raise _wrong(text, "log: needs a start, an end and a number of values")
    first, last, count = numbers
    if first <= 0 or last < first:
        raise _wrong(
            text, "the start and the end of log: have to be positive and in ascending order"
        )
    of_integers = isinstance(first, int) and isinstance(last, int)
    exponents = np.linspace(math.log10(first), math.log10(last), int(count))
    integers = exponents.round()
    return _unique(
        10.0 ** np.where(np.isclose(exponents, integers), integers, exponents), of_integers
    )


def _unique(values: np.ndarray[Any, Any], integers: bool) -> list[Any]:
    listed = [round(float(value)) if integers else float(f"{value:.12g}") for value in values]
    return list(dict.fromkeys(listed))


def _number(text: str, part: str) -> int | float:
    value = parse_scalar(part.strip())
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not abs(value) <= LARGEST_NUMBER
    ):
        raise _wrong(text, f"'{part}' is not a number, or is above {LARGEST_NUMBER:g}")
    return value


def _wrong(text: str, reason: str) -> ConfigError:
    return ConfigError(f"'{text}' is not a list of values: {reason}.", "", f"Write {GRID_GRAMMAR}.")
