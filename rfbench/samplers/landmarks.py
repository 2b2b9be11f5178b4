"""Functions that choose the landmarks of the Nystroem method.

The landmarks are rows drawn by their ridge leverage scores, randomly chosen pivots of a Cholesky
factorization, or centroids of k-means.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from rfbench.arrays import Array, Rows
from rfbench.kernels import Kernel, to_dense, to_float64
from rfbench.memory import check_memory_fits
from rfbench.rows import select_rows
from rfbench.samplers.projected import iterate_row_blocks

# Number of rows per block when only the diagonal of a kernel matrix is computed. Measured CPU time,
# as a multiple of the time with this value: 1.58 with half the value, and 0.91 with twice the value
# (`python -m scripts.bench.doubled`).
DIAGONAL_ROWS = 128
# Maximum number of rows that k-means uses, and maximum number of its iterations. The values were
# chosen without a measurement. The time of k-means is proportional to rows * landmarks *
# iterations, so it doubles if either limit is doubled. The landmarks of published results would
# then change.
KMEANS_ROWS, KMEANS_ROUNDS = 20_000, 20
# Lower bound of the sum of the omitted eigenvalues, divided by the trace of the kernel matrix.
# Because of rounding errors, the computed sum could be negative. With twice the value, results
# change only if the omitted eigenvalues are nearly 0.
MIN_RELATIVE_MEAN = 1e-12
# No more landmarks are drawn if the sum of the residuals, divided by the trace of the kernel
# matrix, is below this value, because such a sum is a rounding error. With twice the value, at most
# one landmark fewer is drawn.
LEAST_RESIDUAL = 1e-13
# Memory limit in bytes (2 GiB) of the Cholesky factor that selects pivot rows. The value was chosen
# without a measurement. With twice the memory, pivots are selected among twice as many rows, which
# needs twice the time.
FACTOR_BYTES = 2**31


def compute_kernel_diagonal(kernel: Kernel, X: Rows) -> Array:
    """Return the kernel value k(x, x) for each row x of `X`, shape (n,)."""
    starts = range(0, X.shape[0], DIAGONAL_ROWS)
    blocks = (X[start : start + DIAGONAL_ROWS] for start in starts)
    return np.concatenate([np.diag(kernel(block, block)) for block in blocks])


def compute_schur_diagonal(kernel: Kernel, X: Rows, sample: Rows, shifts: Any) -> Array:
    """Return the part of k(x, x) that a sample T of rows does not explain, for each row x of `X`.

    For row i, the result is k_ii - k_iT (K_TT + diag(shifts))^-1 k_Ti, with kernel values k. These
    numbers are the diagonal of a Schur complement, shape (n,).
    """
    n, size = X.shape[0], sample.shape[0]
    shifted = kernel(sample, sample)
    shifted[np.diag_indices_from(shifted)] += shifts
    factor = linalg.cho_factor(shifted, lower=True, overwrite_a=True)
    explained = np.empty(n)
    for block in iterate_row_blocks(n, size):
        seen = kernel(X[block], sample)
        explained[block] = np.einsum("ij,ji->i", seen, linalg.cho_solve(factor, seen.T))
    return compute_kernel_diagonal(kernel, X) - explained


def draw_by_recursive_leverage(
    kernel: Kernel, X: Rows, m: int, generator: Any
) -> tuple[NDArray[np.intp], Array]:
    """Draw m of the n rows with probabilities proportional to approximate ridge leverage scores.

    The result contains the indices of the m rows, and the scores of all n rows, which are at most
    1. The method is algorithm 3 of Musco and Musco, Recursive Sampling for the Nystroem Method,
    NIPS 2017, as in the code of the authors. Scores are first computed for a small random subset of
    the rows. The size of the subset is then doubled until it contains all rows. In each step,
    weighted landmarks of the previous subset approximate the kernel matrix. The ridge penalty is
    the sum of all eigenvalues except the k largest of the landmarks' weighted kernel matrix,
    divided by k = m / (4 log m).
    """
    n = X.shape[0]
    oversampling = np.log(max(m, 2))
    k = int(np.ceil(m / (4 * oversampling)))
    sizes = [n]
    for _ in range(int(np.ceil(np.log2(n / m)))):
        sizes.append(-(-sizes[-1] // 2))
    order = generator.permutation(n)
    sample, weights = order[: sizes[-1]], np.ones(sizes[-1])
    for level in range(len(sizes) - 2, -1, -1):
        rows = order[: sizes[level]]
        penalty = _penalty(kernel(X[sample], X[sample]) * np.outer(weights, weights), k)
        scores = (
            compute_schur_diagonal(kernel, select_rows(X, rows), X[sample], penalty / weights**2)
            / penalty
        )
        if level:
            chances = np.clip(oversampling * scores, 0.0, 1.0)
            kept = np.flatnonzero(generator.uniform(size=len(rows)) < chances)
            if len(kept) == 0:
                chances[:] = m / len(rows)
                kept = generator.choice(len(rows), size=m, replace=False)
            sample, weights = rows[kept], chances[kept] ** -0.5
    scores = np.clip(scores, np.finfo(float).eps, 1.0)
    chosen = order[generator.choice(n, size=m, replace=False, p=scores / scores.sum())]
    by_row = np.empty(n)
    by_row[order] = scores
    return chosen, by_row


def _penalty(weighted: Array, k: int) -> float:
    size = len(weighted)
    if k >= size:
        return 1e-5
    largest = linalg.eigvalsh(weighted, subset_by_index=[size - k, size - 1])
    trace = float(np.trace(weighted))
    return max(trace - float(largest.sum()), MIN_RELATIVE_MEAN * trace) / k


def compute_centroids(
    X: Rows, m: int, rows: np.random.Generator, selection: np.random.Generator
) -> tuple[Array, int]:
    """Return at most m centroids of k-means, and the number of rows from which they are computed.

    k-means++ and at most 20 iterations of Lloyd's algorithm are used, on a random sample of at most
    max(m, 20,000) rows of `X`. If the sample has at most m distinct rows, these rows are returned.
    The generator `rows` draws the sample, and `selection` draws the seed of k-means.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    n, count = X.shape[0], max(m, KMEANS_ROWS)
    taken = np.sort(rows.choice(n, size=count, replace=False)) if n > count else slice(None)
    points: Any = to_float64(X[taken])
    # `KMeans` of scikit-learn rejects sparse rows whose indices have 64 bits.
    if not isinstance(points, np.ndarray):
        parts = points.data, points.indices.astype(np.int32), points.indptr.astype(np.int32)
        points = sparse.csr_array(parts, shape=points.shape)
    if points.shape[0] <= m:
        return np.asarray(to_dense(points)), points.shape[0]
    seed = int(selection.integers(2**31 - 1))
    found = KMeans(m, n_init=1, max_iter=KMEANS_ROUNDS, random_state=seed)
    with warnings.catch_warnings():
        # `KMeans` warns if the data has fewer than m distinct rows. The warning is suppressed,
        # because the code below handles this case.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found.fit(points)
    labels, first = np.unique(found.labels_, return_index=True)
    # If there are fewer than m distinct rows, these rows are the landmarks. The centroids of
    # scikit-learn would differ from the rows by rounding errors.
    if len(labels) < m:
        return np.asarray(to_dense(points[first])), points.shape[0]
    return np.asarray(found.cluster_centers_), points.shape[0]


def count_pivot_rows(m: int) -> int:
    """Return the maximum number of rows from which m pivot rows should be chosen.

    The limit keeps the memory of the Cholesky factor, 8 m bytes per row, at or below 2 GiB. The
    limit is at least 2 m, even if the factor then needs more memory.
    """
    return max(2 * m, FACTOR_BYTES // (8 * m))


def choose_pivots(
    kernel: Kernel, X: Rows, m: int, block_size: int, generator: np.random.Generator
) -> NDArray[np.intp]:
    r"""Return the indices of at most m rows that randomly pivoted Cholesky chooses, in this order.

    Rows are chosen one after another. The probability of row i is proportional to its residual
    :math:`r_i = k_{ii} - k_{iS} K_{SS}^{-1} k_{Si}`, the part of the kernel value :math:`k_{ii}`
    that the set S of already chosen rows does not explain (Chen, Epperly, Tropp and Webber,
    Randomly pivoted Cholesky, CPAM 2025, algorithm 2.1). Fewer than m rows are chosen if the sum of
    the residuals falls to 1e-13 of its first value.

    Parameters
    ----------
    block_size : int
        Number of rows that are proposed at once, with probabilities proportional to their current
        residuals. Each proposed row is then accepted or rejected. The probability of accepting it
        is its residual at this time, divided by its residual when it was proposed. The distribution
        of the chosen rows does not depend on the block size (Epperly, Tropp and Webber, arXiv
        2410.03969, algorithm 2.2).

    Raises
    ------
    MemoryLimitError
        If the Cholesky factor, which has 8 m n bytes, does not fit into memory.
    """
    n = X.shape[0]
    check_memory_fits(
        8.0 * m * n,
        f"The factor of {n} rows and {m} landmarks",
        "Use fewer landmarks, or landmarks that are selected in a different way.",
    )
    factor, chosen, count = np.empty((m, n)), np.zeros(m, dtype=np.intp), 0
    residual = compute_kernel_diagonal(kernel, X)
    least = LEAST_RESIDUAL * residual.sum()
    while count < m and (total := residual.sum()) > least:
        proposed = generator.choice(n, size=block_size, p=residual / total)
        rows, known = X[proposed], factor[:count, proposed]
        left = kernel(rows, rows) - known.T @ known
        accepted = _accept(left, generator.random(block_size))[: m - count]
        new = proposed[accepted]
        columns = kernel(X[new], X) - factor[:count, new].T @ factor[:count]
        lower = left[np.ix_(accepted, accepted)]
        stop = count + len(new)
        factor[count:stop] = linalg.solve_triangular(lower, columns, lower=True)
        residual -= np.einsum("ij,ij->j", factor[count:stop], factor[count:stop])
        np.maximum(residual, 0.0, out=residual)
        residual[new] = 0.0
        # The first proposed row is always accepted, unless its residual is only a rounding error.
        # The residual is set to 0 so that this row is not proposed again.
        residual[proposed[0]] = 0.0
        chosen[count:stop], count = new, stop
    return chosen[: max(count, 1)]


def _accept(left: Array, uniform: Array) -> list[int]:
    """Accept or reject each of b proposed rows at random, and return the indices of accepted rows.

    `left` is the residual kernel matrix of the proposed rows, shape (b, b), and is overwritten with
    the Cholesky factor of the accepted rows. `uniform` has a random number between 0 and 1 for each
    proposed row.
    """
    then = left.diagonal().copy()
    accepted = []
    for j in range(len(left)):
        if uniform[j] * then[j] < left[j, j]:
            accepted.append(j)
            column = left[j:, j] / np.sqrt(left[j, j])
            left[j:, j] = column
            left[j + 1 :, j + 1 :] -= np.outer(column[1:], column[1:])
    return accepted
