"""What several fits of a trial have in common: pools, drawn and projected once, and metrics.

Each trial is charged the full time all the same: `PoolCache.owed` holds what a sampler that found
its pool ready would have spent on it. What the fits of one search share is charged to it once, and
the drawing of the final features in full besides: `t_pp` is what they take with settings given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np

from rfbench.arrays import Array, Rows
from rfbench.clock import Clock
from rfbench.frozen import frozen
from rfbench.samplers.feature_map import FeatureMap

Key = tuple[Any, ...]
Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class PoolScores:
    """A pool of candidates and what its features sum up to on the scoring rows.

    Attributes
    ----------
    pool : FeatureMap
    moments : array of shape (n_columns, k)
        Z'Y.
    sums : array of shape (n_columns,)
        Z'1.
    target_means : array of shape (k,)
    n : int
        Number of scoring rows.
    rounding : array of shape (k,)
        About the rounding error of the target moments.
    """

    pool: FeatureMap
    moments: Array
    sums: Array
    target_means: Array
    n: int
    rounding: Array

    def target_moments(self, *, centred: bool) -> Array:
        """Return Z'Y, or Z'(Y - mean Y)."""
        if not centred:
            return self.moments
        return self.moments - np.outer(self.sums, self.target_means)

    def less(self, part: PoolScores) -> PoolScores:
        """Return the scores on the other rows than those of a part."""
        n = self.n - part.n
        means = (self.n * self.target_means - part.n * part.target_means) / n
        moments, sums = self.moments - part.moments, self.sums - part.sums
        return PoolScores(self.pool, moments, sums, means, n, self.rounding)


@dataclass
class PoolCache:
    """The last few pools, and sums of their features, with the time that each took.

    Attributes
    ----------
    size : int
        Values of a kind that are kept; the kind is the first part of a key.
    owed : Clock
        What the sampler that is fitted now has to be charged.
    """

    size: int = 2
    owed: Clock = field(default_factory=Clock)
    _forgets: bool = False
    _charged: set[Key] | None = None
    _known: dict[Key, tuple[Any, Clock, Rows]] = field(default_factory=dict)

    def get(self, key: Key, X: Rows, make: Callable[[], Value], size: int | None = None) -> Value:
        """Return the value of this key and of X itself (no copy of it), made now or found.

        The arrays of the value become read-only, because several samplers see them. Of small values
        more may be kept than of others: `size`.
        `make` must not ask the cache in its turn: that time would be owed twice.
        """
        if self._forgets and X is not None:
            return make()
        made = key not in self._known or self._known[key][2] is not X
        if made:
            clock = Clock()
            with clock.part("pp"):
                value = frozen(make())
            self._known.pop(key, None)
            alike = [known for known in self._known if known[0] == key[0]]
            for oldest in alike[: max(0, len(alike) + 1 - (size or self.size))]:
                del self._known[oldest]
            self._known[key] = (value, clock, X)
        found, clock, _ = self._known[key]
        if made or self._charged is None or key not in self._charged:
            self.owed.charge(clock)
        if self._charged is not None:
            self._charged.add(key)
        return cast("Value", found)

    @contextmanager
    def charged_once(self, keys: set[Key]) -> Iterator[None]:
        """Charge once what the fits inside have in common; `keys` is what they have asked for."""
        before, self._charged = self._charged, keys
        try:
            yield
        finally:
            self._charged = before

    @contextmanager
    def forgetting(self) -> Iterator[None]:
        """Keep no values of rows that are fitted inside: a fold's are gone with it."""
        before, self._forgets = self._forgets, True
        try:
            yield
        finally:
            self._forgets = before

    def settle(self, clock: Clock) -> None:
        """Charge a clock what is owed."""
        clock.charge(self.owed)
        self.owed = Clock()


_current: ContextVar[PoolCache | None] = ContextVar("pool cache", default=None)


@contextmanager
def cached_pools() -> Iterator[PoolCache]:
    """Let the samplers that are fitted inside share their pools."""
    cache = PoolCache()
    token = _current.set(cache)
    try:
        yield cache
    finally:
        _current.reset(token)


def shared(
    key: Key, random_state: Any, X: Rows, make: Callable[[], Value], size: int | None = None
) -> Value:
    """Return a value made from X, shared where a cache is active and the seed is a number."""
    cache = _current.get()
    if cache is None or not isinstance(random_state, int | np.integer):
        return make()
    return cache.get((*key, int(random_state)), X, make, size)
