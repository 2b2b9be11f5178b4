"""Number of features that is enough for a kernel error, estimated from one draw of the features.

    from rfbench.checking.enough import count_enough_features, estimate_kernel_error

    count_enough_features(estimate_kernel_error(Z), M=Z.shape[1], within=0.05)

The bootstrap resamples the frequencies of a draw with replacement, without the kernel. The features
of a draw have to be independent: it does not apply to orthogonal, quasi-random or fixed features.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array
from rfbench.checking.bias import MAX_SECONDS, KernelClaim, Measurement, choose_row_pairs
from rfbench.errors import MethodError

Index = NDArray[np.intp]
# Probability with which the error is at most the estimate, and number of resamples, both chosen
# without a measurement. By definition of the quantile, the estimate is the 180th of 199 errors.
PROBABILITY, RESAMPLES = 0.9, 199
# Number of seeds that the variance of the bootstrap is compared with, and largest distance of the
# two variances in standard errors. Measured with Fastfood features with offsets, whose dependence
# is weak: 2,000 seeds have a distance of 5.5, and 1,000 seeds of 3.5. By chance, 1 in 16,000
# independent maps is beyond 4. With less than FEWEST_DRAWS, chosen without a measurement, the two
# are not compared.
DRAWS, FEWEST_DRAWS, LARGEST_SCORE = 2000, 100, 4.0
# Largest number of features that is stated, chosen without a measurement. If it is doubled, errors
# that are smaller by a factor of 0.7 get a number, too.
MOST_FEATURES = 10**7
# Number of rows of real data, by definition of `choose_row_pairs`.
REAL_ROWS = 60


def compute_resampled_errors(Z: Array, frequency: Index, seed: int = 0) -> dict[str, Array]:
    """Return the kernel errors of resampled frequencies, in two norms of shape (RESAMPLES,).

    Z has the shape (n, columns), and Z Z' estimates the kernel. `frequency` numbers the frequency
    of each column from 0: the columns of a pair of cosine and sine have the same number.
    """
    grouped = _group_columns(Z, frequency)
    m = grouped.shape[1]
    counts = np.random.default_rng(seed).multinomial(m, np.full(m, 1 / m), RESAMPLES)
    squares, largest = np.zeros(RESAMPLES), np.zeros(RESAMPLES)
    for i in range(len(Z)):
        # changes of the entries (i, i), (i, i + 1), ...
        change = np.einsum("mk,nmk->nm", grouped[i], grouped[i:]) @ (counts.T - 1.0)
        squares += 2 * (change**2).sum(axis=0) - change[0] ** 2
        largest = np.maximum(largest, np.abs(change).max(axis=0))
    return {"frobenius": np.sqrt(squares), "largest": largest}


def _group_columns(Z: Array, frequency: Index) -> Array:
    """Return the columns of each frequency, shape (n, frequencies, columns of a frequency)."""
    ordered = Z[:, np.argsort(frequency, kind="stable")]
    return ordered.reshape(len(Z), int(frequency.max()) + 1, -1)


def find_quantile(errors: Array) -> float:
    """Return the value that one more error does not exceed with the probability PROBABILITY."""
    return float(np.quantile(errors, PROBABILITY, method="weibull"))


def estimate_kernel_error(Z: Array, frequency: Index | None = None, seed: int = 0) -> float:
    """Return the relative kernel error (Frobenius) that is not exceeded with probability 0.9.

    By default each column has its own frequency (see `compute_resampled_errors`).
    """
    frequency = np.arange(Z.shape[1]) if frequency is None else frequency
    errors = compute_resampled_errors(Z, frequency, seed)["frobenius"]
    return find_quantile(errors) / float(np.linalg.norm(Z @ Z.T))


def count_enough_features(error: float, M: int, within: float) -> int:
    """Return the smallest number of features with an error of at most `within`.

    `error` is the estimate for M features. By assumption it is proportional to M^-0.5.
    """
    needed = M * (error / within) ** 2 if within > 0 else math.inf
    if needed > MOST_FEATURES:
        raise MethodError(
            f"A kernel error of {within:g} needs more than {MOST_FEATURES:,} features.",
            f"The error of {M} features is {error:.2g}.",
            f"Write at least {error * math.sqrt(M / MOST_FEATURES):.1g}.",
        )
    return max(1, math.ceil(needed * (1 - 1e-12)))  # without the rounding error of a whole number


def compute_bootstrap_variance(Z: Array, frequency: Index) -> float:
    """Return the sum over all entries of the unbiased variance of a resampled estimate."""
    grouped = _group_columns(Z, frequency)
    m = grouped.shape[1]
    products = np.einsum("nmj,nmk->mjk", grouped, grouped)
    squares, total = float(np.sum(products**2)), float(np.sum((Z @ Z.T) ** 2))
    return float((squares - total / m) * m / (m - 1))


def list_layouts(columns: int) -> list[Index]:
    """Return the usual layouts of frequencies: each column, halves, neighboring columns."""
    each = np.arange(columns)
    return [each, *((each % (columns // 2), each // 2) if columns % 2 == 0 else ())]


class Resampling(NamedTuple):
    """Bootstrap compared with seeds: ratio of the variances, and distance in standard errors.

    `estimate` is the error that the bootstrap of the first draw states. `measured` is the same
    quantile of the errors of all draws.
    """

    M: int
    seeds: int
    ratio: float
    score: float
    estimate: float
    measured: float


def measure_resampling(claim: KernelClaim, seconds: float = MAX_SECONDS) -> Resampling:
    """Compare the bootstrap of a map with its seeds, on 60 rows of real data."""
    start, M = time.process_time(), claim.sizes[1]
    rows = choose_row_pairs(claim.kernel.bandwidth).rows
    K = claim.kernel(rows[:REAL_ROWS], rows[:REAL_ROWS])
    draws: list[Array] = []
    errors: list[Array] = []
    variances: list[list[float]] = []
    while len(errors) < DRAWS and (not errors or time.process_time() - start < seconds):
        drawn = claim.draw(rows, M, len(errors))
        Z, constant = drawn if isinstance(drawn, tuple) else (drawn, 0.0)
        Z = np.asarray(Z, np.float64)[:REAL_ROWS]
        draws = draws or [Z]
        errors.append(Z @ Z.T + constant - K)
        layouts = list_layouts(Z.shape[1])
        variances.append([compute_bootstrap_variance(Z, each) for each in layouts])
    n, off = len(errors), np.array(errors)
    squares = ((off - off.mean(axis=0)) ** 2).sum(axis=(1, 2)) * n / max(n - 1, 1)
    above = np.array(variances) - squares[:, None]
    scores = above.mean(axis=0) / np.maximum(above.std(axis=0), 1e-99) * math.sqrt(n)
    # the first layout that fits, else the one with the smallest distance
    i = int(np.maximum(np.abs(scores), LARGEST_SCORE).argmin())
    return Resampling(
        M,
        n,
        1 + float(above[:, i].mean() / max(squares.mean(), 1e-99)),
        float(scores[i]),
        estimate_kernel_error(draws[0], layouts[i]),
        find_quantile(np.linalg.norm(off, axis=(1, 2))) / float(np.linalg.norm(K)),
    )


def describe_enough(claim: KernelClaim, found: Measurement, within: float) -> list[str]:
    """Return the number of features that is enough, or the reason why it is not estimated."""
    not_applied = "enough features: the bootstrap does not apply, because "
    if not found.varies:
        return [f"{not_applied}the features are the same for every seed"]
    if found.wrong or found.below:
        return [f"{not_applied}resampling does not show the error of a mean that is not the kernel"]
    M, seeds, ratio, score, estimate, quantile = measure_resampling(claim)
    lines = [
        f"M = {M}, {seeds} seeds: the kernel error (Frobenius, 60 rows) is at most {quantile:.3g} "
        f"in 90 %, the variance of the bootstrap is {ratio:.2f} times the variance over seeds"
    ]
    if seeds < FEWEST_DRAWS:
        return [*lines, f"enough features: not estimated with fewer than {FEWEST_DRAWS} seeds"]
    if abs(score) > LARGEST_SCORE:
        return [*lines, f"{not_applied}columns depend on each other in no usual layout of pairs"]
    try:
        enough = f"M = {count_enough_features(estimate, M, within):,}"
    except MethodError as error:
        enough = str(error)
    return [
        *lines,
        f"bootstrap of one draw: at most {estimate:.3g} with probability .9",
        f"enough features for {within:g}: {enough}, if features are independent and the error "
        "falls as M^-0.5",
    ]
