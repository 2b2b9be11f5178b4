"""Measurement of the length scale of a feature map z with an unknown kernel.

The length scale is the distance |x - y| of two rows at which the mean of the product z(x)'z(y) is
exp(-1/2) times the mean of z(x)'z(x). For features of a Gaussian kernel, the length scale is the
bandwidth.
"""

from __future__ import annotations

import contextlib
import functools
import math
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rfbench.arrays import Array
from rfbench.errors import MethodError
from rfbench.kernels import to_dense

# Number of pairs of rows at which the length scale of a map is measured. The map has as many
# features as there are rows. Nystroem features can then use all rows as landmarks, and their
# products are equal to the kernel. The value was chosen without a measurement. With twice the
# value, each fit has twice as many rows and features.
PAIRS = 64
# Value of the Gaussian kernel at a distance of one bandwidth, exp(-1/2) by definition. The length
# scale of a map is the distance at which its kernel has this value.
FALLEN = math.exp(-0.5)
# A measured length scale is rounded to a power of 2^(1/8), by definition. The rounding changes the
# length scale by at most 4.4 %, which is more than the error of the measurement. A true length
# scale of 1 is therefore found exactly. With twice the value, neighboring powers would differ by
# less than the error.
PARTS_PER_OCTAVE = 8
# Largest accepted error of a measured length scale, in steps of 2^(1/8). By definition, two
# standard errors must be at most 2 % of the length scale. With twice the limit, a length scale of 1
# may be rounded to a neighboring power of 2^(1/8).
LARGEST_ERROR = PARTS_PER_OCTAVE * math.log2(1.02)
# FEW_SEEDS is the number of seeds at each distance of the search for the length scale. MOST_SEEDS
# is the maximum number of seeds of the final measurement. The values were chosen without a
# measurement. With twice as many seeds, the search and the final measurement need twice the time.
FEW_SEEDS, MOST_SEEDS = 4, 512
# COARSE is the step of the search for the length scale, a factor of 4. FURTHEST is the limit of the
# search, a factor of 2^20. The values were chosen without a measurement. With twice the step, the
# search may skip the distances at which the kernel decreases.
COARSE, FURTHEST = 2 * PARTS_PER_OCTAVE, 20 * PARTS_PER_OCTAVE
# This number is added to all rows. If the products of features then change, the kernel depends on
# the position of the rows, and not only on their differences. The value was chosen without a
# measurement. With the value halved, weak dependences on the position are not detected.
SHIFT = 3.0


@contextlib.contextmanager
def _seed_globals(seed: int) -> Iterator[None]:
    """Seed the global random generators of Python and numpy within a ``with`` statement.

    The previous states of the generators are restored at the end.
    """
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002


def compute_feature_products(transformer: Any, rows: Array, *target: Array) -> tuple[Array, Array]:
    """Fit a transformer z on n rows, and return inner products of the features of these rows.

    The first result contains z(x)'z(y) for n / 2 pairs: row i of the first half is x, and row i of
    the second half is y. The second result contains z(x)'z(x) for all n rows x.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transformer.fit(rows, *target)
        Z = np.asarray(to_dense(transformer.transform(rows)), dtype=np.float64)
    first, second = np.split(Z, 2)
    return (first * second).sum(axis=1), (Z**2).sum(axis=1)


def measure_length_scale(make: Callable[[int], Any], d: int) -> float:
    """Return the length scale of a feature map, rounded to a power of 2^(1/8).

    The length scale is the distance of two rows at which the mean product of their features is
    exp(-1/2) times the mean product at distance 0. The features are computed for random pairs of
    rows at different distances, with several seeds of the feature map. The pairs and the seeds are
    the same in every call.

    Parameters
    ----------
    make : callable
        Function ``make(seed)`` that returns an unfitted transformer with ``2 * PAIRS`` features.
    d : int
        Number of columns of the rows.

    Raises
    ------
    Exception
        The error of the transformer, if it fails for all of the first seeds. If only some seeds
        fail, these seeds are skipped.
    MethodError
        If the mean product does not decrease to exp(-1/2), if it depends on the position of the
        rows, or if two standard errors of the length scale exceed 2 %.
    """
    generator = np.random.default_rng([13, d])
    centers, ways = generator.standard_normal((2, PAIRS, d))
    ways /= 2 * np.linalg.norm(ways, axis=1, keepdims=True)
    rows = np.vstack([centers + ways, centers - ways])
    failures: list[Exception] = []

    @functools.cache
    def compute_means(part: int, seed: int, shift: float) -> tuple[float, float]:
        scaled = 2.0 ** (part / PARTS_PER_OCTAVE) * (rows + shift)
        try:
            with _seed_globals(seed):
                products, squares = compute_feature_products(make(seed), scaled)
        except Exception as error:
            failures.append(error)
            return math.nan, math.nan
        return float(products.mean()), float(squares.mean())

    def compute_excess(part: int, seeds: int = FEW_SEEDS, shift: float = 0.0) -> Array:
        """Return the amount by which the mean product of features exceeds its target, per seed.

        The target is `FALLEN` times the mean product of a row's features with themselves. The
        amounts are divided by this mean product. Seeds that failed have NaN.
        """
        products, squares = np.transpose([compute_means(part, s, shift) for s in range(seeds)])
        if failures and np.isnan(products).all():
            raise failures[-1]
        return np.asarray((products - FALLEN * squares) / np.nanmean(squares))

    is_near = np.nanmean(compute_excess(0)) > 0
    near = far = 0
    while (np.nanmean(compute_excess(far if is_near else near)) > 0) == is_near:
        near, far = (far, far + COARSE) if is_near else (near - COARSE, near)
        if max(abs(near), abs(far)) > FURTHEST:
            raise MethodError(
                f"The mean product of features does not decrease to {FALLEN:.2f} as the "
                "distance of the rows grows."
            )
    while far - near > 1:
        middle = (near + far) // 2
        near, far = (middle, far) if np.nanmean(compute_excess(middle)) > 0 else (near, middle)
    seeds = 2 * FEW_SEEDS
    excess = compute_excess(near, seeds)
    fall = float(np.nanmean(excess - compute_excess(far, seeds)))
    moved = compute_excess(near, seeds, SHIFT) - excess
    if not abs(np.nanmean(moved)) <= fall + 4 * _compute_error(moved):
        raise MethodError(
            "The mean product of features depends on the position of the rows, not only on x - y."
        )
    while 2 * _compute_error(excess) > LARGEST_ERROR * fall:
        seeds *= 2
        if seeds > MOST_SEEDS:
            raise MethodError(
                f"{MOST_SEEDS} draws of the features do not determine the length scale to 2 %."
            )
        excess = compute_excess(near, seeds)
    return float(2.0 ** (round(near + float(np.nanmean(excess)) / fall) / PARTS_PER_OCTAVE))


def _compute_error(values: Array) -> float:
    return float(np.nanstd(values, ddof=1) / math.sqrt(np.isfinite(values).sum()))
