"""What numbers and effects come to over the keys that a paper does not print."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pandas as pd

RANGES = (
    "number", "low", "half_low", "high", "half_high", "combinations", "trials", "varied", "page",
)  # fmt: skip


@dataclass(frozen=True)
class EffectRange:
    """By how much the difference of two methods changes over the keys that a paper does not print.

    `low` and `high` are means of paired differences to the reading, in the same trials.
    """

    low: float
    high: float
    combinations: int
    varied: tuple[str, ...]


# Of a paper, its items, a data set, two methods, M and a metric: the range of the first method's
# metric less the second's, from that of the reading; None if it was not varied.
Effect = Callable[[str, Sequence[str], str, tuple[str, str], int, str], EffectRange | None]


def not_varied(*_: object) -> None:
    """Return None: the `Effect` where nothing was varied."""


@dataclass(frozen=True)
class Unprinted:
    """What is known of the keys that papers do not print; by default nothing.

    Attributes
    ----------
    ranges : DataFrame
        One line per number: ``number``, its place in `rfbench.papers.published`; ``low`` and
        ``high``, the smallest and the largest mean of the paired differences to the reading, on
        the same splits and draws of the same run, in the paper's unit (the reading's own, 0, is
        among them); ``half_low`` and ``half_high``, half the widths of their 90 % intervals over
        the trials; ``combinations`` and ``trials`` behind it; the names of the choices that were
        ``varied``; ``page``, the file that says more.
    effect : callable
        See `Effect`.
    """

    ranges: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(RANGES)))
    effect: Effect = not_varied


def off(published: float, low: float, high: float) -> float:
    """Return how far a published number lies outside a range: 0 within it."""
    return max(low - published, published - high, 0.0)
