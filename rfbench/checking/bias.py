"""Is the product of a map's features the kernel? Its bias and its error over seeds.

Bias is relative to the error of one draw, the standard deviation over seeds. The number of seeds is
fixed beforehand: with it a bias of a tenth of that error, at one pair of rows, is found with
probability `POWER`, and a map without any bias is refused with probability `LEVEL` at most
(t tests, Bonferroni over the pairs). Before that number there is one look, which can only refuse,
and only beyond `CERTAIN_Z` standard errors: what it adds to the level is below 1e-10.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from sklearn.datasets import load_wine

from rfbench.arrays import Array
from rfbench.checking.closed_forms import Softmax
from rfbench.kernels import Kernel

Draw = Callable[[Array, int, int], Any]
"""From rows, M and a seed to features, or to features and what their products lack (a number)."""


class CheckFailed(AssertionError):
    """A promise that is not kept; the message is a sentence that says what came instead."""


class MapClaim(NamedTuple):
    """A map, the kernel that it claims, and two M at which it is measured."""

    name: str
    draw: Draw
    kernel: Kernel
    sizes: tuple[int, int] = (16, 256)


# Chosen: one right map in a thousand is refused, and a bias of a tenth of the error of one draw is
# found nine times in ten. Halved, SEEN needs four times the seeds, and LEVEL a tenth more.
LEVEL, POWER, SEEN = 0.001, 0.9, 0.1
# Pairs of rows at which the bias is tested, the number that `choose_pairs` makes by definition:
# four directions and the data at three distances each, and two rows with themselves.
TESTS = 17
# Seeds that find a bias of `SEEN` errors of one draw at one of the pairs: 2,808, by definition of
# the power of the normal test.
N_SEEDS = math.ceil(((stats.norm.isf(LEVEL / 2 / TESTS) + stats.norm.ppf(POWER)) / SEEN) ** 2)
# Standard errors at the first look. A t variable of 199 degrees of freedom exceeds 8 with a
# probability of 6e-14; halved to 4, the look would add 1.5e-3 over all pairs, more than
# the level.
CERTAIN_Z = 8.0
# Of CPU, chosen without a measurement. Halved, slow maps are measured with fewer seeds, and a
# smaller bias is missed; the page says how much would be seen.
MAX_SECONDS = 60.0
# Seeds of the first look, and of the larger M. Chosen without a measurement: FIRST_LOOK is a
# fourteenth of all seeds, so that a wrong map ends early; of 20 values a root mean square has a
# relative standard error of about 4 % over the 17 pairs. Doubled, the check of the rate takes twice
# as long.
FIRST_LOOK, FEW_SEEDS = 200, 20
# Of a kernel, where nothing is said. Its square and its inverse are far from it, so that a map that
# divides by the wrong one of them is found: at 1 it would pass, and at twice 3 the features hardly
# vary.
BANDWIDTH = 3.0
# Of pairs, in bandwidths: a Gaussian kernel is .88, .61 and .14 there. Doubled, the last is 3e-4,
# where every map is right.
DISTANCES = (0.5, 1.0, 2.0)
# Columns of the rows. Twice as many cost more in maps that form d x d matrices; with one or two,
# maps whose rows of frequencies are orthogonal differ too little from independent ones.
N_INPUTS = 5
TESTED = slice(0, TESTS)  # by definition all but the pair further out, which is for the error alone


class Pairs(NamedTuple):
    """The rows that a map is fitted on, real ones first, and the pairs of rows that end them.

    `left` and `right` have the shape (pairs, d); `rows` are some of real data, then both of these.
    """

    names: Sequence[str]
    left: Array
    right: Array
    rows: Array

    def kernel(self, kernel: Kernel) -> Array:
        """Return k(x, y) of each pair."""
        return np.diag(kernel(self.left, self.right)).copy()


def choose_pairs(bandwidth: float) -> Pairs:
    """Return the pairs on which every map is measured.

    They lie around a point .3 bandwidths from the origin on all-ones, because features of x + y,
    such as an offset that is missing or positive features, do not show at the origin. The last one
    is a pair at distance 1, a bandwidth further out.
    """
    generator = np.random.default_rng(17)
    real = np.asarray(load_wine().data[:, :N_INPUTS])
    real = (real - real.mean(axis=0)) / real.std(axis=0)
    real = 0.35 * real[generator.permutation(len(real))[:60]]
    ones = np.full(N_INPUTS, N_INPUTS**-0.5)
    directions = {"an axis": np.eye(N_INPUTS)[0], "all-ones": ones}
    for name in ("a random direction", "another direction"):
        drawn = generator.standard_normal(N_INPUTS)
        directions[name] = drawn / np.linalg.norm(drawn)
    centre = 0.3 * ones
    made = [
        (f"distance {length:g} along {name}", centre + way * length / 2, centre - way * length / 2)
        for name, way in directions.items()
        for length in DISTANCES
    ]
    for name, way in list(directions.items())[1::-1]:
        made.append((f"a row with itself on {name}", 0.5 * way, 0.5 * way))
    gaps = np.linalg.norm(real[:, None] - real, axis=2)
    sums = np.linalg.norm(real[:, None] + real, axis=2)
    for length in DISTANCES:
        off = np.where(sums < 1.0, np.abs(gaps - length), np.inf)
        i, j = np.unravel_index(off.argmin(), off.shape)
        made.append((f"distance {gaps[i, j]:.2g} between rows of data", real[i], real[j]))
    out, way = centre + ones, directions["a random direction"]
    made.append(("a bandwidth further out", out + way / 2, out - way / 2))
    names, *sides = zip(*made, strict=True)
    rows = bandwidth * np.vstack([real, *sides])
    left, right = np.split(rows[len(real) :], 2)
    return Pairs(names, left, right, rows)


@dataclass
class Measurement:
    """What was measured of one map.

    Attributes
    ----------
    kernel : Kernel
    M : int
        The number that the map was asked for; it has `columns`.
    pairs : Pairs
    estimates : array of shape (seeds, pairs)
    rate : float
        p of an error that falls as M^p; NaN where it was not measured.
    seconds : float
        Of CPU.
    exact, bias, spread, error, z, squared : arrays of shape (pairs,)
        The kernel; the mean over seeds less it; the error of one draw; the standard error of the
        bias; the bias in standard errors; the mean squared error.
    limit : float
        The score beyond which a map is refused.
    largest_z, biased : float, bool
        The largest score, and whether it lies beyond: then the mean over seeds is not the kernel.
    shown : int
        The number of the pair with the largest bias, among those beyond `CERTAIN_Z` if any is.
    """

    kernel: Kernel
    M: int
    columns: int
    pairs: Pairs
    estimates: Array
    rate: float = math.nan
    seconds: float = 0.0

    def __post_init__(self) -> None:
        """Compute what follows from the estimates."""
        self.seeds = len(self.estimates)
        self.exact = self.pairs.kernel(self.kernel)
        self.bias: Array = self.estimates.mean(axis=0) - self.exact
        largest = np.abs(self.exact).max()
        # What does not vary has a small number; a mean is rounded as float32 is.
        self.spread: Array = np.maximum(self.estimates.std(axis=0, ddof=1), 1e-9 * largest)
        self.error: Array = np.maximum(self.spread / math.sqrt(self.seeds), 1e-6 * largest)
        self.z: Array = self.bias / self.error
        self.squared: Array = ((self.estimates - self.exact) ** 2).mean(axis=0)
        self.limit = float(stats.t.isf(LEVEL / 2 / TESTS, self.seeds - 1))
        scores = np.abs(self.z[TESTED])
        self.largest_z = float(self.z[scores.argmax()])
        self.biased = abs(self.largest_z) > self.limit
        clear = scores >= min(CERTAIN_Z, scores.max())
        self.shown = int(np.where(clear, np.abs(self.bias[TESTED]), -1.0).argmax())

    @property
    def falls(self) -> bool:
        """Whether the error falls with M, at least about half as fast as 1 / sqrt(M)."""
        return not self.rate > -0.25

    @property
    def seen(self) -> float:
        """The bias, in errors of one draw, that these seeds find with probability `POWER`."""
        return (self.limit + float(stats.norm.ppf(POWER))) / math.sqrt(self.seeds)

    @cached_property
    def relative_error(self) -> float:
        """Mean squared error over that of independent draws of the same form and columns.

        NaN where independent draws are not known, or have no error either.
        """
        return float(self.squared[TESTED].sum() / compute_independent_error(self)[TESTED].sum())

    @property
    def further_out(self) -> float:
        """Root mean square error a bandwidth further out, over that of the same pair.

        NaN where the kernel depends on where rows lie.
        """
        if self.kernel.feature != "wave" or isinstance(self.kernel, Softmax):
            return math.nan
        near = self.pairs.names.index("distance 1 along a random direction")
        here, there = self.squared[[near, -1]]
        return math.sqrt(there / here) if here > 1e-18 else 1.0


def compute_independent_error(measured: Measurement) -> Array:
    """Return the mean squared error of independent draws at each pair; NaN if not known.

    Of waves these are pairs of cosine and sine where z(x)'z(x) does not vary, else cosines with an
    offset; of the softmax kernel, positive features.
    """
    kernel, pairs = measured.kernel, measured.pairs
    generator, d = np.random.default_rng(5), pairs.rows.shape[1]
    if isinstance(kernel, Softmax):
        W = kernel.frequencies(generator, d, 40_000)
        norms = ((pairs.left**2 + pairs.right**2).sum(axis=1) / kernel.bandwidth**2)[:, None]
        positive = np.exp((pairs.left + pairs.right) @ W.T - norms / 2)
        return np.asarray(positive.var(axis=1) / measured.columns)
    if kernel.feature != "wave" or kernel.name == "polynomial":
        return np.full(len(pairs.names), math.nan)
    W = kernel.frequencies(generator, d, 40_000)
    left, right = pairs.left @ W.T, pairs.right @ W.T
    if measured.estimates[:, pairs.names.index("a row with itself on an axis")].std() < 1e-6:
        return np.asarray(2 * np.cos(left - right).var(axis=1) / measured.columns)
    offsets = generator.uniform(0, 2 * np.pi, len(W))
    cosines = 2 * np.cos(left + offsets) * np.cos(right + offsets)
    return np.asarray(cosines.var(axis=1) / measured.columns)


def measure(
    claim: MapClaim, *, most: int | None = None, seconds: float = MAX_SECONDS
) -> Measurement:
    """Measure a map against the kernel that it claims.

    Parameters
    ----------
    claim : MapClaim
    most : int, optional
        Seeds at most, in place of those that the power asks for: the level stays, the power falls.
    seconds : float
        Of CPU, after which no further seed is drawn.
    """
    start = time.process_time()
    _, draw, kernel, sizes = claim
    pairs = choose_pairs(kernel.bandwidth)
    columns = 0

    def one(M: int, seed: int) -> Array:
        nonlocal columns
        drawn = draw(pairs.rows, M, seed)
        Z, constant = drawn if isinstance(drawn, tuple) else (drawn, 0.0)
        Z = np.asarray(Z, np.float64)
        if Z.ndim != 2 or len(Z) != len(pairs.rows) or not np.isfinite(Z).all():
            raise CheckFailed(
                f"M = {M}, seed {seed}: the features of {len(pairs.rows)} rows are no matrix of so "
                f"many finite rows, but of shape {Z.shape}"
            )
        columns, n = Z.shape[1], len(pairs.names)
        return np.asarray((Z[-2 * n : -n] * Z[-n:]).sum(axis=1) + constant)

    large = np.array([one(sizes[1], seed) for seed in range(FEW_SEEDS)])
    estimates: list[Array] = []
    needed = most or N_SEEDS
    for look in (min(FIRST_LOOK, needed), needed):
        while len(estimates) < look:
            if time.process_time() - start > seconds and len(estimates) > FEW_SEEDS:
                break
            estimates.append(one(sizes[0], len(estimates)))
        found = Measurement(kernel, sizes[0], columns, pairs, np.array(estimates))
        if abs(found.largest_z) > CERTAIN_Z:
            break
    few = math.sqrt(found.squared[TESTED].mean())
    many = math.sqrt(((large - found.exact) ** 2)[:, TESTED].mean())
    if few > 1e-9:
        found.rate = math.log(max(many, 1e-12) / few) / math.log(sizes[1] / sizes[0])
    found.seconds = time.process_time() - start
    return found
