"""Estimates of the number of features that is needed for a given kernel error.

The kernel error is the difference between a kernel matrix and its estimate. `rfbench test --within`
measures the error over seeds, with the exact kernel. If the kernel is not known, the bootstrap
estimates the error from a matrix Z of features:

    from rfbench.checking.enough import count_enough_features, estimate_kernel_error

    count_enough_features(estimate_kernel_error(Z), M=Z.shape[1], within=0.05)

The bootstrap draws frequencies from the frequencies of Z, with replacement. It needs independent
features, and is not valid for orthogonal, quasi-random or fixed features.
"""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from rfbench.arrays import Array
from rfbench.checking.bias import MAX_SECONDS, KernelClaim, Measurement, choose_row_pairs
from rfbench.errors import MethodError

Index = NDArray[np.intp]
# With the probability PROBABILITY, the kernel error of one draw is at most the estimated error. The
# estimate uses N_ERRORS errors, each from a resample or a seed. Both values were chosen without a
# measurement. By definition of the quantile, the estimate is the 180th of 199 sorted errors.
PROBABILITY, N_ERRORS = 0.9, 199
# Largest number of features that is recommended, chosen without a measurement. If the value is
# doubled, a number is also recommended for errors that are smaller by a factor of 0.7.
MOST_FEATURES = 10**7
# Number of rows of real data, by definition of `choose_row_pairs`.
REAL_ROWS = 60


def compute_resampled_errors(Z: Array, frequency: Index, seed: int = 0) -> dict[str, Array]:
    """Return bootstrap estimates of the kernel error, in two norms.

    The frequencies of the features Z are resampled. An error is the difference between the kernel
    estimate of resampled features and the estimate Z Z'.

    Parameters
    ----------
    Z : array of shape (n, columns)
        Features. Z Z' estimates the kernel.
    frequency : array of int, shape (columns,)
        Index of the frequency of each column, starting at 0. The cosine and the sine of a frequency
        have the same index. All frequencies must have the same number of columns.
    seed : int
        Seed of the resampling.

    Returns
    -------
    dict
        The keys are "frobenius" (Frobenius norm of the error) and "largest" (largest absolute entry
        of the error). Each value is an array of shape (N_ERRORS,).

    Raises
    ------
    MethodError
        If frequencies have different numbers of columns.
    """
    if len(frequency) != Z.shape[1] or len(set(np.bincount(frequency))) != 1:
        raise MethodError(
            f"`frequency` needs an index for each of {Z.shape[1]} columns, from 0.",
            "All frequencies must have the same number of columns.",
        )
    m = int(frequency.max()) + 1
    grouped = Z[:, np.argsort(frequency, kind="stable")].reshape(len(Z), m, -1)
    counts = np.random.default_rng(seed).multinomial(m, np.full(m, 1 / m), N_ERRORS)
    squares, largest = np.zeros(N_ERRORS), np.zeros(N_ERRORS)
    for i in range(len(Z)):
        # Resampling the features changes the estimate Z Z'. `change` contains the changes of its
        # entries (i, i), (i, i + 1), ... in row i.
        change = np.einsum("mk,nmk->nm", grouped[i], grouped[i:]) @ (counts.T - 1.0)
        squares += 2 * (change**2).sum(axis=0) - change[0] ** 2
        largest = np.maximum(largest, np.abs(change).max(axis=0))
    return {"frobenius": np.sqrt(squares), "largest": largest}


def find_quantile(errors: Array) -> float:
    """Return an estimate of the 90 % quantile of the distribution of `errors`.

    A further error does not exceed this value with the probability `PROBABILITY` (0.9).
    """
    return float(np.quantile(errors, PROBABILITY, method="weibull"))


def estimate_kernel_error(Z: Array, frequency: Index | None = None, seed: int = 0) -> float:
    """Return a bootstrap estimate of the relative kernel error of a matrix Z of features.

    The error is the Frobenius norm of the error of Z Z', divided by the norm of Z Z'. The true
    error does not exceed the estimate with the probability 0.9. `frequency` has the index of the
    frequency of each column. By default, each column has its own frequency.
    """
    frequency = np.arange(Z.shape[1]) if frequency is None else frequency
    errors = compute_resampled_errors(Z, frequency, seed)["frobenius"]
    return find_quantile(errors) / float(np.linalg.norm(Z @ Z.T))


def count_enough_features(error: float, M: int, within: float) -> int:
    """Return the smallest number of features with a kernel error of at most `within`.

    `error` is the kernel error of M features. The error is assumed to be proportional to M^-0.5.

    Raises MethodError if more than `MOST_FEATURES` features would be needed.
    """
    needed = M * (error / within) ** 2 if within > 0 else math.inf
    if needed > MOST_FEATURES:
        raise MethodError(
            f"A kernel error of {within:g} needs more than {MOST_FEATURES:,} features.",
            f"The error of {M} features is {error:.2g}.",
            f"Use an error of at least {error * math.sqrt(M / MOST_FEATURES):.1g}.",
        )
    # If `needed` is a whole number plus a rounding error, `ceil` would add one feature. The factor
    # removes the rounding error.
    return max(1, math.ceil(needed * (1 - 1e-12)))


def measure_kernel_errors(claim: KernelClaim, seconds: float = MAX_SECONDS) -> Array:
    """Return the relative kernel errors of a feature map, one for each of up to N_ERRORS seeds.

    An error is the Frobenius norm of the estimated kernel matrix minus the exact matrix, divided by
    the norm of the exact matrix. The matrices have 60 rows of real data. `seconds` limits the CPU
    time.
    """
    start = time.process_time()
    rows = choose_row_pairs(claim.kernel.bandwidth).rows
    K = claim.kernel(rows[:REAL_ROWS], rows[:REAL_ROWS])
    errors: list[float] = []
    while len(errors) < N_ERRORS and (not errors or time.process_time() - start < seconds):
        drawn = claim.draw(rows, claim.sizes[1], len(errors))
        Z, constant = drawn if isinstance(drawn, tuple) else (drawn, 0.0)
        Z = np.asarray(Z, np.float64)[:REAL_ROWS]
        errors.append(float(np.linalg.norm(Z @ Z.T + constant - K)))
    return np.array(errors) / float(np.linalg.norm(K))


def find_quantile_interval(errors: Array) -> tuple[float, float]:
    """Return a 95 % confidence interval of the 90 % quantile of `errors`.

    Both ends of the interval are observed errors.
    """
    ordered = np.sort(errors)
    low, high = (int(stats.binom.ppf(p, len(ordered), PROBABILITY)) for p in (0.025, 0.975))
    return float(ordered[max(low - 1, 0)]), float(ordered[min(high, len(ordered) - 1)])


def describe_enough(claim: KernelClaim, found: Measurement, within: float) -> list[str]:
    """Return sentences about the number of features that is needed for a kernel error `within`.

    If the number cannot be estimated, the text contains the reason.
    """
    unknown = "enough features: not estimated, because "
    if not found.varies:
        return [f"{unknown}the features are the same for every seed"]
    if found.wrong or found.below:
        return [f"{unknown}the mean of the estimates is not the kernel"]
    M, errors = claim.sizes[1], measure_kernel_errors(claim)
    values = (find_quantile(errors), *find_quantile_interval(errors))
    measured, least, most = (f"{each:.3g}" for each in values)
    try:
        enough, low, high = (f"{count_enough_features(each, M, within):,}" for each in values)
        answer = (
            f"M = {enough} ({low} to {high}) for an error of {within:g} in 90 % of draws, "
            "if the error falls as M^-0.5"
        )
    except MethodError as error:
        answer = str(error)
    return [
        f"enough features: {answer}",
        f"measured with M = {M}: the relative kernel error of 90 % of {len(errors)} seeds is at "
        f"most {measured} ({least} to {most})",
    ]
