"""Bar 6: time to score a pool, and to compute the exact weights of a large pool."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rfbench import samplers
from rfbench.samplers.base import make_streams
from rfbench.samplers.lkrf import compute_chi_square_weights
from rfbench.samplers.pool import compute_target_moments
from scripts.bench.case import Bar, Case
from scripts.bench.timing import fastest, in_turn

SCORED = ("eerf", "lkrf", "surrogate-leverage")
SIZES = ((10_000, 10, 5_000), (5_000, 50, 10_000), (5_000, 784, 4_500))
"""Scored rows, d, candidates."""
MOST_OF_PROJECTION = 1.5
CANDIDATES = 1_000_000
MOST_SECONDS = 1.0


def pool_case(name: str, n: int, d: int, candidates: int, rounds: int = 5) -> Case:
    """Time the fit of a sampler with a pool, compared with the projection of the pool alone."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n, d))
    y = np.sign(X[:, 0])
    number = iter(range(10**6))

    def make() -> Any:
        return samplers.make(
            name,
            n_components=candidates // 10,
            pool_size=candidates,
            score_rows=1.0,
            bandwidth=math.sqrt(d),
            random_state=next(number),
        )

    unit = make().fit(X, y).draw_unit_map(make_streams(0), d, candidates)

    def project() -> None:
        compute_target_moments(unit, X, np.empty((len(X), 0)))

    seconds, projection = in_turn([lambda: make().fit(X, y), project], rounds)
    return Case(
        f"{name}: t_pp (limit: projecting the pool)",
        seconds,
        n,
        d,
        candidates,
        limit_seconds=projection,
        bars=(Bar(6, "limit_ratio", most=MOST_OF_PROJECTION),),
    )


def weights_case(candidates: int = CANDIDATES) -> Case:
    """Time the exact weights of LKRF."""
    scores = np.random.default_rng(0).standard_normal(candidates) ** 2
    return Case(
        "lkrf: exact weights of the pool",
        fastest(lambda: compute_chi_square_weights(scores, 100.0), 3),
        M=candidates,
        bars=(Bar(6, "seconds", most=MOST_SECONDS),),
    )
