"""Bar 7: how the time of every sampler grows with n, M and d."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench import samplers
from rfbench.errors import RfbenchError
from rfbench.registry import SAMPLERS
from scripts.bench.case import EXPONENT, Bar, Case, Exponent
from scripts.bench.timing import best_of

FEWEST_SIZES = 4
BATCH = 0.2
"""Seconds for the repetitions of a point that is fast."""
POOL = 10
"""Candidates of a pool for every feature."""


@dataclass(frozen=True)
class Grid:
    """The sizes that are measured: each list with the other two sizes at their base."""

    base: dict[str, int]
    sizes: dict[str, tuple[int, ...]]


FULL = Grid(
    {"n": 8_000, "M": 200, "d": 32},
    {
        "n": (4_000, 8_000, 16_000, 32_000, 64_000),
        "M": (50, 100, 200, 400, 800),
        "d": (16, 32, 64, 128, 256),
    },
)


def growth_cases(name: str, grid: Grid = FULL, least: int = 2) -> Iterator[Case]:
    """Yield the points of a sampler and, along each size, its exponent."""
    for along, sizes in grid.sizes.items():
        points: list[Case] = []
        for size in sizes:
            try:
                points.append(_point(name, along, {**grid.base, along: size}, least))
            except RfbenchError:
                continue
        yield from points
        if len(points) >= FEWEST_SIZES:
            yield _exponent(name, along, points)


def exponents(cases: Sequence[Case]) -> dict[str, dict[str, float]]:
    """Return the exponents of each sampler by the size that they belong to."""
    found: dict[str, dict[str, float]] = {}
    for case in cases:
        if isinstance(case, Exponent):
            along, _, rest = case.case.removeprefix(EXPONENT).partition(": ")
            found.setdefault(rest.split(",")[0], {})[along] = case.slope
    return found


def _point(name: str, along: str, size: dict[str, int], least: int) -> Case:
    n, d, M = size["n"], size["d"], size["M"]
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n, d))
    y = np.sign(X[:, 0])
    parameters: dict[str, Any] = {"n_components": M, "bandwidth": math.sqrt(d), "random_state": 0}
    pool = inspect.signature(SAMPLERS.find(name)).parameters.get("pool_size")
    if pool is not None and pool.default is not None:
        parameters["pool_size"] = POOL * M

    def fit_and_transform() -> None:
        samplers.make(name, **parameters).fit(X, y).transform(X)

    seconds = best_of(fit_and_transform, least, BATCH)
    return Case(f"growth in {along}: {name}, fit and transform", seconds, n, d, M)


def _exponent(name: str, along: str, points: list[Case]) -> Exponent:
    sizes = [getattr(point, along) for point in points]
    slope = np.polyfit(np.log(sizes), np.log([point.seconds for point in points]), 1)[0]
    first, last = points[0], points[-1]
    return Exponent(
        f"{EXPONENT}{along}: {name}, fit and transform",
        last.seconds,
        last.n,
        last.d,
        last.M,
        f"log time over log {along}, slope from {along} = {sizes[0]} on",
        first.seconds,
        bars=(Bar(7, "ratio"),),
        slope=float(slope),
    )
