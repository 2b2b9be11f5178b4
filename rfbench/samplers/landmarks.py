"""Landmarks for the Nystroem method: rows drawn by leverage, random pivots, k-means centroids."""

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
    """Return k(x, x) for each row x, shape (n,)."""
    starts = range(0, X.shape[0], DIAGONAL_ROWS)
    blocks = (X[start : start + DIAGONAL_ROWS] for start in starts)
    return np.concatenate([np.diag(kernel(block, block)) for block in blocks])


def compute_schur_diagonal(kernel: Kernel, X: Rows, sample: Rows, shifts: Any) -> Array:
    """Return the diagonal of a Schur complement for the rows X and a sample T, shape (n,).

    The elements are k_ii - k_iT (K_TT + diag(shifts))^-1 k_Ti.
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
    """Draw m < n rows by recursive ridge leverage. Return their indices and the scores of all rows.

    The scores are at most 1. This is algorithm 3 of Musco and Musco, Recursive Sampling for the
    Nystroem Method, NIPS 2017, as in the code of the authors. The algorithm processes nested halves
    of the rows, from the smallest to all rows. In each half, the leverage of its rows is estimated
    from the weighted landmarks of the previous half. The penalty is computed from the eigenvalues
    of the weighted kernel matrix of these landmarks. It is the sum of all eigenvalues except the k
    largest, divided by k = m / (4 log m).
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
    """Return at most m k-means centroids, shape (k, d), and the number of rows used.

    The method is k-means++ and at most 20 rounds of Lloyd's algorithm, on at most max(m, 20,000)
    rows. If there are at most m distinct rows, these rows are the centroids. Centroids are dense.
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
    """Return the number of rows among which m pivots are chosen.

    For this number of rows, the Cholesky factor needs at most 2 GiB. The number is at least 2 m,
    even if the factor then needs more memory.
    """
    return max(2 * m, FACTOR_BYTES // (8 * m))


def choose_pivots(
    kernel: Kernel, X: Rows, m: int, block_size: int, generator: np.random.Generator
) -> NDArray[np.intp]:
    r"""Return the indices of at most m pivot rows, in the order in which they were chosen.

    The next row is row s with the probability :math:`r_s / \sum_i r_i`, where :math:`r_i = k_{ii} -
    k_{iS} K_{SS}^{-1} k_{Si}` is the residual of row i given the set S of chosen rows (Chen,
    Epperly, Tropp and Webber, Randomly pivoted Cholesky, CPAM 2025, algorithm 2.1). Fewer than m
    rows are chosen if the sum of r falls to 1e-13 of its first value.

    Parameters
    ----------
    block_size : int
        Number of rows that are proposed at once, independently, with the current r. Proposed rows
        are then accepted or rejected in turn. The probability of accepting row s is its residual
        r_s at this time, divided by r_s when the rows were proposed. The distribution of the chosen
        rows is the same as with one proposal at a time (Epperly, Tropp and Webber, arXiv
        2410.03969, algorithm 2.2).

    Raises
    ------
    MemoryLimitError
        If the factor, which has 8 m n bytes, does not fit into memory.
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
    """Return the indices of the accepted proposals. Write their Cholesky factor into `left`.

    `left` contains the residual kernel matrix of the proposed rows, shape (b, b). `uniform` has one
    random number per proposal.
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
