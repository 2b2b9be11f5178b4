"""Landmarks by randomly pivoted Cholesky factorisation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from rfbench.arrays import Array, Rows
from rfbench.kernels import Kernel
from rfbench.memory import check_fits
from rfbench.samplers.landmarks import diagonal

# Of the trace: what is left then is rounding.
LEAST_RESIDUAL = 1e-13
FACTOR_BYTES = 2**31


def most_rows(m: int) -> int:
    """Return among how many rows m pivots are sought: the factor takes 2 GiB, or 16 m^2 bytes."""
    return max(2 * m, FACTOR_BYTES // (8 * m))


def pivots(
    kernel: Kernel, X: Rows, m: int, block_size: int, generator: np.random.Generator
) -> NDArray[np.intp]:
    r"""Return numbers of at most m rows, in the order of their choice.

    The next row is s with the probability :math:`r_s / \sum_i r_i`, where
    :math:`r_i = k_{ii} - k_{iS} K_{SS}^{-1} k_{Si}` is what the rows S so far leave of row i
    (Chen, Epperly, Tropp and Webber, Randomly pivoted Cholesky, CPAM 2025, algorithm 2.1). Fewer
    than m where the sum of r is 1e-13 of what it was.

    Parameters
    ----------
    block_size : int
        Rows that are proposed at a time, independently with the present r; of these each is
        accepted with the probability r_s now / r_s then. The law is that of one by one
        (Epperly, Tropp and Webber, arXiv 2410.03969, algorithm 2.2).

    Raises
    ------
    MemoryLimit
        The factor, 8 m n bytes, does not fit.
    """
    n = X.shape[0]
    check_fits(
        8.0 * m * n,
        f"The factor of {n} rows and {m} landmarks",
        "Take fewer landmarks, or another kind.",
    )
    factor, chosen, count = np.empty((m, n)), np.zeros(m, dtype=np.intp), 0
    residual = diagonal(kernel, X)
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
        residual[proposed[0]] = 0.0  # where rounding alone was left of it, it was not accepted
        chosen[count:stop], count = new, stop
    return chosen[: max(count, 1)]


def _accept(left: Array, uniform: Array) -> list[int]:
    """Return which proposals are accepted; their Cholesky factor is left below the diagonal."""
    then = left.diagonal().copy()
    accepted = []
    for j in range(len(left)):
        if uniform[j] * then[j] < left[j, j]:
            accepted.append(j)
            column = left[j:, j] / np.sqrt(left[j, j])
            left[j:, j] = column
            left[j + 1 :, j + 1 :] -= np.outer(column[1:], column[1:])
    return accepted
