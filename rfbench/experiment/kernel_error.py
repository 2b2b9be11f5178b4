"""How well features approximate their kernel on a random subset of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

LANCZOS_FROM = 400
TOLERANCE = 1e-6


def kernel_errors(
    exact: NDArray[np.float64], features: NDArray[np.float64], exact_norm: float
) -> dict[str, float]:
    """Return |K - ZZ'| / |K| in the spectral and the Frobenius norm.

    Parameters
    ----------
    exact : array of shape (n, n)
        K on the rows.
    features : array of shape (n, p)
        Z.
    exact_norm : float
        The spectral norm of K, see `spectral_norm`.
    """
    difference = exact - features @ features.T
    return {
        "kernel_error_spectral": spectral_norm(difference) / exact_norm,
        "kernel_error_frobenius": float(np.linalg.norm(difference) / np.linalg.norm(exact)),
    }


def spectral_norm(symmetric: NDArray[np.float64]) -> float:
    """Return the largest absolute eigenvalue of a symmetric matrix, shape (n, n).

    By Lanczos iterations from a fixed start above a few hundred rows, to a relative tolerance of
    1e-6.
    """
    n = len(symmetric)
    if n < LANCZOS_FROM:
        return float(np.abs(np.linalg.eigvalsh(symmetric)).max())
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    start = np.random.default_rng(0).standard_normal(n)
    largest: NDArray[Any]
    try:
        largest = eigsh(
            symmetric, k=1, which="LM", v0=start, tol=TOLERANCE, return_eigenvectors=False
        )
    except ArpackNoConvergence:
        largest = np.linalg.eigvalsh(symmetric)
    return float(np.abs(largest).max())
