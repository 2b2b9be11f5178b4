"""Bias and error of the kernel estimates of a feature map, measured over many seeds.

The bias at a pair of rows is the mean of the estimates over seeds, minus the kernel. The bias is
compared with the standard deviation of an estimate over seeds. The number of seeds is fixed before
the test. A bias of a tenth of the standard deviation is detected with the probability `POWER`. An
unbiased map is rejected with a probability of at most `LEVEL` (t tests, Bonferroni over the pairs).
An interim test with fewer seeds rejects a map only if the bias exceeds `CERTAIN_Z` standard errors.

Two kinds of maps are not tested for a bias. Maps with the same features for every seed have only
one estimate, which cannot show a bias. Maps such as Nystroem features always estimate the kernel
from below: the kernel minus the estimate is itself a kernel.
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
from rfbench.kernels import Kernel, Softmax

Draw = Callable[[Array, int, int], Any]
"""A function of rows, M and a seed that returns features.

It may also return features and a constant that is added to the products of features.
"""


class CheckFailedError(AssertionError):
    """Error that is raised if a feature map fails a check. The message has the actual result."""


class KernelClaim(NamedTuple):
    """A feature map, the kernel that the map claims to approximate, and two numbers of features.

    Kernel estimates are measured with both numbers of features, `sizes`.
    """

    name: str
    draw: Draw
    kernel: Kernel
    sizes: tuple[int, int] = (16, 256)


# Properties of the test for a biased kernel estimate. LEVEL is the probability that an unbiased map
# is rejected. A bias of SEEN standard deviations of one draw is detected with the probability
# POWER. If SEEN is halved, four times as many seeds are needed. If LEVEL is halved, a tenth more
# seeds are needed.
LEVEL, POWER, SEEN = 0.001, 0.9, 0.1
# Number of row pairs at which the bias is tested, by definition of `choose_row_pairs`: pairs in
# four directions and pairs of rows of data, each at three distances, and two rows that are paired
# with themselves.
TESTS = 17
# Number of seeds of the test, 2,808. By definition of the normal test, a bias of SEEN standard
# deviations at one pair of rows is then detected with the probability POWER.
N_SEEDS = math.ceil(((stats.norm.isf(LEVEL / 2 / TESTS) + stats.norm.ppf(POWER)) / SEEN) ** 2)
# In the interim test after FIRST_LOOK seeds, a map is rejected if its mean kernel estimate is at
# least this many standard errors from the kernel. For an unbiased map, this number of standard
# errors follows a t distribution with 199 degrees of freedom, and exceeds 8 with a probability of
# 6e-14. If the limit is halved, an unbiased map is rejected with a probability of 1.5e-3 over all
# pairs, which is more than LEVEL.
CERTAIN_Z = 8.0
# Limit in seconds of the CPU time of a test, chosen without a measurement. If this value is halved,
# slow maps are tested with fewer seeds, and a small bias may be missed. The output states the
# smallest bias that can be detected.
MAX_SECONDS = 60.0
# FIRST_LOOK is the number of seeds before the interim test, with which the test of a strongly
# biased map stops early. It is a fourteenth of all seeds. FEW_SEEDS is the number of seeds with
# which the error at a larger M is measured. A root mean square over 20 seeds and 17 pairs has a
# relative standard error of about 4 %. The values were chosen without a measurement. With twice
# FEW_SEEDS, the measurement at the larger M needs twice the time.
FIRST_LOOK, FEW_SEEDS = 200, 20
# Default bandwidth of the kernel with which maps are tested. Its square 9 and its inverse 1/3 are
# different from 3, so a map that uses the square or the inverse by mistake is detected. With a
# bandwidth of 1, such a map would pass the test. With twice this value, the features would hardly
# vary.
BANDWIDTH = 3.0
# Distances between the two rows of a pair, in bandwidths. The values of a Gaussian kernel at these
# distances are 0.88, 0.61 and 0.14. With twice these distances, the last value would be 3e-4, and
# an error of the map could not be detected at this pair.
DISTANCES = (0.5, 1.0, 2.0)
# A map with the same features for every seed is rejected if its mean squared error is more than
# this number of times the error that is expected of independent draws. Fewer than 1 in 1,000 draws
# of a correct map have a larger error. If this value is halved, 1 in 50 draws of a correct map is
# rejected.
FAR_FROM_KERNEL = 8.0
# The difference between the kernel matrix and its estimate counts as positive semidefinite if its
# smallest eigenvalue, divided by the largest kernel value, is above minus this value. The tolerance
# is needed because features in float32 have errors of 1e-5. The value was chosen without a
# measurement. If it is halved, the verdicts on the known maps are the same.
BELOW_TOLERANCE = 1e-4
# Number of columns of the rows on which maps are tested. With twice as many columns, maps that
# compute d x d matrices are slower. With one or two columns, orthogonal frequencies would hardly
# differ from independent frequencies.
N_INPUTS = 5
# Indices of the row pairs that are tested for a bias, by definition all except the last pair. The
# last pair is used only for the error.
TESTED = slice(0, TESTS)


class Pairs(NamedTuple):
    """Pairs of rows at which the kernel estimates of a feature map are measured.

    The map is fitted to `rows`, which contains rows of real data, followed by `left` and `right`.
    The rows of a pair are in `left` and `right`, with the shape (n_pairs, d). `names` describes
    each pair.
    """

    names: Sequence[str]
    left: Array
    right: Array
    rows: Array

    def compute_kernel(self, kernel: Kernel) -> Array:
        """Return the kernel value k(x, y) of each pair of rows x and y, shape (n_pairs,)."""
        return np.diag(kernel(self.left, self.right)).copy()


def choose_row_pairs(bandwidth: float) -> Pairs:
    """Return the pairs of rows at which the kernel estimates of a feature map are measured.

    Distances between rows are multiples of `bandwidth`. Most pairs are centered at a point near the
    origin. The last pair is farther from the origin by one bandwidth.
    """
    # The center is 0.3 bandwidths from the origin in the all-ones direction. A fault that depends
    # on x + y, such as a missing offset, would not be visible around the origin.
    generator = np.random.default_rng(17)
    real = np.asarray(load_wine().data[:, :N_INPUTS])
    real = (real - real.mean(axis=0)) / real.std(axis=0)
    real = 0.35 * real[generator.permutation(len(real))[:60]]
    ones = np.full(N_INPUTS, N_INPUTS**-0.5)
    directions = {"an axis": np.eye(N_INPUTS)[0], "all-ones": ones}
    for name in ("a random direction", "another direction"):
        drawn = generator.standard_normal(N_INPUTS)
        directions[name] = drawn / np.linalg.norm(drawn)
    center = 0.3 * ones
    made = [
        (f"distance {length:g} along {name}", center + way * length / 2, center - way * length / 2)
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
    out, way = center + ones, directions["a random direction"]
    made.append(("a bandwidth further out", out + way / 2, out - way / 2))
    names, *sides = zip(*made, strict=True)
    rows = bandwidth * np.vstack([real, *sides])
    left, right = np.split(rows[len(real) :], 2)
    return Pairs(names, left, right, rows)


@dataclass
class Measurement:
    """Kernel estimates of a feature map over many seeds, and statistics of the estimates.

    Attributes
    ----------
    kernel : Kernel
        Kernel that the map claims to approximate.
    M : int
        Number of features that was requested.
    columns : int
        Number of columns that the map returned.
    pairs : Pairs
        Pairs of rows at which the kernel was estimated.
    estimates : array of shape (seeds, pairs)
        Kernel estimates for each seed and pair.
    rate : float
        Exponent p in an error proportional to M^p; NaN if it was not measured.
    seconds : float
        CPU time of the measurement.
    below : bool
        True if the kernel minus z(x)'z(y) is positive semidefinite for every seed, as for Nystroem
        features. Here z(x) are the features of a row x.
    share_at_large : float
        `relative_error` at the larger M; NaN if it was not measured.
    exact : array of shape (pairs,)
        Exact kernel value of each pair.
    bias : array of shape (pairs,)
        Mean estimate minus the exact kernel value.
    spread : array of shape (pairs,)
        Standard deviation of an estimate over seeds.
    error : array of shape (pairs,)
        Standard error of the bias.
    z : array of shape (pairs,)
        Bias divided by its standard error.
    squared : array of shape (pairs,)
        Mean squared error of an estimate.
    limit : float
        Largest absolute value of `z` with which a map counts as unbiased.
    largest_z : float
        The value of `z` with the largest absolute value.
    biased : bool
        True if `largest_z` is beyond the limit, so that the mean estimate is not the kernel.
    varies : bool
        False if the features are the same for every seed.
    shown : int
        Index of the pair with the largest bias. If `z` is beyond `CERTAIN_Z` for some pairs, only
        these pairs are considered.
    """

    kernel: Kernel
    M: int
    columns: int
    pairs: Pairs
    estimates: Array
    rate: float = math.nan
    seconds: float = 0.0
    below: bool = False
    share_at_large: float = math.nan

    def __post_init__(self) -> None:
        """Compute the statistics of the kernel estimates."""
        self.seeds = len(self.estimates)
        self.exact = self.pairs.compute_kernel(self.kernel)
        self.bias: Array = self.estimates.mean(axis=0) - self.exact
        largest = np.abs(self.exact).max()
        # The standard deviation and the standard error are at least a small positive number, so
        # that no division by 0 is possible. The bound of the standard error is larger, because the
        # mean of float32 estimates has the rounding error of float32.
        self.spread: Array = np.maximum(self.estimates.std(axis=0, ddof=1), 1e-9 * largest)
        self.error: Array = np.maximum(self.spread / math.sqrt(self.seeds), 1e-6 * largest)
        self.z: Array = self.bias / self.error
        self.squared: Array = ((self.estimates - self.exact) ** 2).mean(axis=0)
        self.limit = float(stats.t.isf(LEVEL / 2 / TESTS, self.seeds - 1))
        scores = np.abs(self.z[TESTED])
        self.largest_z = float(self.z[scores.argmax()])
        self.varies = not (self.estimates.std(axis=0) < 1e-7 * largest).all()
        self.biased = self.varies and not self.below and abs(self.largest_z) > self.limit
        clear = scores >= min(CERTAIN_Z, scores.max())
        self.shown = int(np.where(clear, np.abs(self.bias[TESTED]), -1.0).argmax())

    @property
    def is_error_decreasing(self) -> bool:
        """True if the error falls with M, at least like M^-0.25, or if the rate is unknown."""
        return not self.rate > -0.25

    @property
    def wrong(self) -> bool:
        """True if the measurement shows that the map does not have the kernel that it claims.

        The map is wrong if its estimates are biased, or if its error does not decrease with M. If
        the features are the same for every seed, a bias cannot be tested. Such a map is wrong only
        if its error is much larger than the error of independent features. If the latter error is
        not known, such a map is wrong if its error does not decrease with M.
        """
        if self.varies or self.below:
            return self.biased or not self.is_error_decreasing
        shares = np.array([self.relative_error, self.share_at_large])
        return bool((shares > FAR_FROM_KERNEL).any()) or (
            bool(np.isnan(shares).all()) and not self.is_error_decreasing
        )

    @property
    def detectable_bias(self) -> float:
        """Smallest bias that the test detects with the probability `POWER`.

        The unit is the standard deviation of an estimate over seeds.
        """
        return (self.limit + float(stats.norm.ppf(POWER))) / math.sqrt(self.seeds)

    @cached_property
    def relative_error(self) -> float:
        """Mean squared error divided by the mean squared error of independent features.

        Independent features have the same form, such as pairs of cosine and sine, but frequencies
        that are drawn independently. The quotient is NaN if the error of independent features is
        not known, or if both errors are 0.
        """
        return float(
            self.squared[TESTED].sum() / compute_error_of_independent_draws(self)[TESTED].sum()
        )

    @property
    def relative_error_at_distant_pair(self) -> float:
        """RMSE at a pair of rows far from the origin, divided by the RMSE at a near pair.

        The rows of both pairs have the same difference. The quotient is NaN if the kernel depends
        on more than the difference.
        """
        if self.kernel.feature != "wave" or isinstance(self.kernel, Softmax):
            return math.nan
        near = self.pairs.names.index("distance 1 along a random direction")
        here, there = self.squared[[near, -1]]
        return math.sqrt(there / here) if here > 1e-18 else 1.0


def compute_error_of_independent_draws(measurement: Measurement) -> Array:
    """Return the mean squared error of features with independent frequencies, for each row pair.

    The features are positive features for the softmax kernel. For kernels with Fourier features,
    the form of the measured features is used. The form is pairs of cosine and sine if the squared
    norm of the features of x is k(x, x), and cosines with an offset otherwise. The result is NaN
    for all other kernels.
    """
    kernel, pairs = measurement.kernel, measurement.pairs
    generator, d = np.random.default_rng(5), pairs.rows.shape[1]
    if isinstance(kernel, Softmax):
        W = kernel.frequencies(generator, d, 40_000)
        norms = ((pairs.left**2 + pairs.right**2).sum(axis=1) / kernel.bandwidth**2)[:, None]
        positive = np.exp((pairs.left + pairs.right) @ W.T - norms / 2)
        return np.asarray(positive.var(axis=1) / measurement.columns)
    if kernel.feature != "wave":
        return np.full(len(pairs.names), math.nan)
    W = kernel.frequencies(generator, d, 40_000)
    left, right = pairs.left @ W.T, pairs.right @ W.T
    own = pairs.names.index("a row with itself on an axis")
    if np.abs(measurement.estimates[:, own] - measurement.exact[own]).max() < 1e-5:
        return np.asarray(2 * np.cos(left - right).var(axis=1) / measurement.columns)
    offsets = generator.uniform(0, 2 * np.pi, len(W))
    cosines = 2 * np.cos(left + offsets) * np.cos(right + offsets)
    return np.asarray(cosines.var(axis=1) / measurement.columns)


def measure_bias(
    claim: KernelClaim, *, most: int | None = None, seconds: float = MAX_SECONDS
) -> Measurement:
    """Measure the bias and the error of the kernel estimates of a feature map.

    Parameters
    ----------
    claim : KernelClaim
        The map, the kernel that it claims to approximate, and two numbers of features.
    most : int, optional
        Largest number of seeds, by default `N_SEEDS`. With fewer seeds, a small bias is detected
        less often, but a wrong rejection is not more likely.
    seconds : float
        CPU time in seconds after which no further seed is measured.

    Returns
    -------
    Measurement
        Kernel estimates over the seeds, and their statistics.

    Raises
    ------
    CheckFailedError
        If the features are not a finite matrix with one line per row.
    """
    start = time.process_time()
    _, draw, kernel, sizes = claim
    pairs = choose_row_pairs(kernel.bandwidth)
    columns, below = 0, True
    n = len(pairs.names)
    gram = kernel(pairs.rows[-2 * n :], pairs.rows[-2 * n :])

    def one(M: int, seed: int) -> Array:
        nonlocal columns, below
        drawn = draw(pairs.rows, M, seed)
        Z, constant = drawn if isinstance(drawn, tuple) else (drawn, 0.0)
        Z = np.asarray(Z, np.float64)
        if Z.ndim != 2 or len(Z) != len(pairs.rows) or not np.isfinite(Z).all():
            raise CheckFailedError(
                f"M = {M}, seed {seed}: the features of {len(pairs.rows)} rows are not a "
                f"finite matrix with one line per row. Their shape is {Z.shape}"
            )
        columns, Z = Z.shape[1], Z[-2 * n :]
        if below:
            least = np.linalg.eigvalsh(gram - Z @ Z.T - constant)[0]
            below = least > -BELOW_TOLERANCE * np.abs(gram).max()
        return np.asarray((Z[:n] * Z[n:]).sum(axis=1) + constant)

    large = np.array([one(sizes[1], seed) for seed in range(FEW_SEEDS)])
    of_large = Measurement(kernel, sizes[1], columns, pairs, large)
    estimates: list[Array] = []
    needed = most or N_SEEDS
    for look in (min(FIRST_LOOK, needed), needed):
        while len(estimates) < look:
            if time.process_time() - start > seconds and len(estimates) > FEW_SEEDS:
                break
            estimates.append(one(sizes[0], len(estimates)))
        found = Measurement(
            kernel, sizes[0], columns, pairs, np.array(estimates), below=bool(below)
        )
        if abs(found.largest_z) > CERTAIN_Z or not found.varies:
            break
    if not found.varies:
        found.share_at_large = of_large.relative_error
    few = math.sqrt(found.squared[TESTED].mean())
    many = math.sqrt(of_large.squared[TESTED].mean())
    if few > 1e-9:
        found.rate = math.log(max(many, 1e-12) / few) / math.log(sizes[1] / sizes[0])
    found.seconds = time.process_time() - start
    return found
