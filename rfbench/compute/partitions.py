"""Sums over parts of the rows, added up in a tree: the same numbers on any number of workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, TypeVar

Value = TypeVar("Value")


class AddUp(Protocol):
    """Runs calls, here or elsewhere, and adds up what they return as `in_tree` does."""

    def __call__(
        self, calls: Iterable[Callable[[], Value]], add: Callable[[Value, Value], Value], /
    ) -> Value:
        """Return the sum of the results."""


def in_tree(values: Iterable[Value], add: Callable[[Value, Value], Value]) -> Value:
    """Add up neighbours, then neighbouring sums; an odd one waits for the next round.

    The order of the additions depends on the number of values alone. Of k values that come one by
    one at most log2(k) + 1 are held.

    Examples
    --------
    >>> in_tree("abcde", lambda left, right: f"({left}{right})")
    '(((ab)(cd))e)'
    """
    held: list[tuple[int, Value]] = []
    for value in values:
        size = 1
        while held and held[-1][0] == size:
            value, size = add(held.pop()[1], value), 2 * size
        held.append((size, value))
    total = held.pop()[1]
    while held:
        total = add(held.pop()[1], total)
    return total


def in_turn(calls: Iterable[Callable[[], Any]], add: Callable[[Any, Any], Any]) -> Any:
    """Do the calls in this process, one after the other."""
    return in_tree((call() for call in calls), add)


@dataclass(frozen=True)
class Partitions:
    """How rows are parted.

    Attributes
    ----------
    count : int
    add_up : AddUp
    """

    count: int
    add_up: AddUp = in_turn

    def bounds(self, n: int) -> list[tuple[int, int]]:
        """Return first row and end of each part of n rows: equal parts, none of them empty."""
        count = max(1, min(self.count, n))
        ends = [n * k // count for k in range(count + 1)]
        return list(pairwise(ends))
