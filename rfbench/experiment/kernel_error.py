"""Errors of a kernel approximation on a random subset of rows."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from rfbench.compute.products import matmul, multiply_by_transpose, sum_squares

# From this number of rows on, eigenvalues are computed by Lanczos iterations instead of the dense
# solver. Measured by `python -m scripts.bench.doubled`: with twice the value, 600 rows would need 8
# times the CPU time. With half the value, 300 rows would need 40 % of the CPU time, but published
# values would change by up to 1e-6 of their size.
LANCZOS_FROM = 400
# Maximum number of restarts of the Lanczos iterations, after which the dense solver is used.
# Measured for 700 rows: 25 restarts cost as much as the dense solver. Without a limit, eigenvalues
# that are almost equal would need 10 * n restarts, which take minutes. With twice the value,
# iterations that do not converge need twice the time.
RESTARTS = 25
# Relative tolerance of the eigenvalues. The differences between kernel errors in tables are about a
# thousand times as large. Chosen without a measurement. With twice the value, published values
# would change in the sixth digit.
LANCZOS_TOLERANCE = 1e-6
# Smallest penalty lambda, divided by the norm of the kernel matrix K. With this lambda, K + lambda
# * I has a Cholesky factor, because lambda is a few thousand times the rounding error of the
# eigenvalues. Chosen without a measurement. With twice the value, delta1 would change for smaller
# penalties.
MIN_RELATIVE_PENALTY = 1e-10
# Maximum number of rows for which the kernel error delta1 is computed. Measured: the dense solver
# computes an eigenvalue of a matrix with 2,000 rows in 0.4 s, and with twice as many rows in 3 s.
DELTA_ROWS = 2000


@dataclass(frozen=True)
class ExactKernel:
    """The exact kernel matrix of a set of rows, with which kernel estimates are compared."""

    matrix: NDArray[np.float64]  # the kernel matrix K
    norm: float  # the spectral norm of K
    # Lower Cholesky factor of K + lambda * I. It is None for more than 2,000 rows, because
    # computing the kernel errors delta1 and delta2 would then need too much time.
    factor: NDArray[np.float64] | None

    @classmethod
    def from_matrix(cls, matrix: NDArray[np.float64], penalty: float) -> ExactKernel:
        """Return an object for the kernel matrix K and a penalty lambda.

        The errors delta1 and delta2 of `compute_errors` depend on the penalty, which is increased
        to at least 1e-10 |K|.
        """
        norm = abs(_largest(matrix))
        if len(matrix) > DELTA_ROWS:
            return cls(matrix, norm, None)
        shifted = matrix.copy()
        shifted[np.diag_indices_from(shifted)] += max(penalty, MIN_RELATIVE_PENALTY * norm)
        return cls(matrix, norm, linalg.cholesky(shifted, lower=True, overwrite_a=True))

    def compute_errors(
        self, features: NDArray[np.float64], constant: float = 0.0
    ) -> dict[str, float]:
        r"""Return the errors of the kernel estimate K~ = ZZ' + constant for features Z.

        Z has shape (n, p), and K is the exact kernel matrix. The spectral and the Frobenius error
        are |K - K~| / |K| in these norms. delta1 and delta2 are the smallest numbers with :math:`(1
        - \Delta_1)(K + \lambda I) \preceq \tilde K + \lambda I \preceq (1 + \Delta_2)(K + \lambda
        I)` (Zhang, May, Dao and Re, AISTATS 2019, definition 2). `FittedMap.kernel_constant`
        explains the constant.
        """
        difference: Any = multiply_by_transpose(features)
        difference += constant
        difference -= self.matrix
        frobenius = np.sqrt(sum_squares(difference) / sum_squares(self.matrix))
        errors = {
            "kernel_error_spectral": abs(_largest(difference)) / self.norm,
            "kernel_error_frobenius": float(frobenius),
        }
        if self.factor is None:
            return errors
        for _ in range(2):
            difference = linalg.solve_triangular(
                self.factor, difference.T, lower=True, overwrite_b=True, check_finite=False
            )
        # Compute the largest eigenvalue of I + difference instead of the difference. For a good
        # approximation this eigenvalue is near 1, so the solver's relative tolerance is an absolute
        # tolerance of the kernel error.
        diagonal = np.diag_indices_from(difference)
        difference[diagonal] += 1.0
        errors["kernel_error_delta2"] = max(0.0, _largest(difference, "LA") - 1.0)
        np.negative(difference, out=difference)
        difference[diagonal] += 2.0
        # delta1 is always computed by the dense solver. If there are fewer features than rows, many
        # eigenvalues are almost equal to the largest eigenvalue, and Lanczos iterations would
        # hardly converge.
        errors["kernel_error_delta1"] = max(0.0, _largest_dense(difference, "LA") - 1.0)
        return errors


@dataclass(frozen=True)
class CrossKernel:
    """The exact kernel matrix between two random samples of rows, which may overlap.

    Both samples have the same number of rows.
    """

    matrix: NDArray[np.float64]  # the kernel matrix K

    def compute_errors(
        self, features: NDArray[np.float64], constant: float = 0.0
    ) -> dict[str, float]:
        """Return the relative Frobenius error |K - XY' - constant| / |K| of a kernel estimate.

        K is the exact kernel matrix, and XY' + constant is the estimate. `features` contains the
        features X of the first sample of rows, followed by the features Y of the second sample.
        """
        first, second = np.split(features, 2)
        difference = matmul(first, second.T) + constant - self.matrix
        return {
            "kernel_error_frobenius": float(
                np.sqrt(sum_squares(difference) / sum_squares(self.matrix))
            )
        }


def _largest(symmetric: NDArray[np.float64], which: Literal["LM", "LA"] = "LM") -> float:
    """Return the eigenvalue of largest absolute value (LM), or the largest eigenvalue (LA).

    For 400 or more rows, Lanczos iterations compute the eigenvalue to a relative tolerance of 1e-6.
    If the iterations do not converge within 25 restarts, a dense solver is used, which is slower.
    """
    n = len(symmetric)
    if n >= LANCZOS_FROM:
        start = np.random.default_rng(0).standard_normal(n)
        with suppress(ArpackNoConvergence):
            extreme = eigsh(
                LinearOperator(symmetric.shape, partial(matmul, symmetric), dtype=symmetric.dtype),
                1,
                which=which,
                v0=start,
                tol=LANCZOS_TOLERANCE,
                maxiter=RESTARTS,
                return_eigenvectors=False,
            )
            return float(extreme[0])
    return _largest_dense(symmetric, which)


def _largest_dense(symmetric: NDArray[np.float64], which: Literal["LM", "LA"]) -> float:
    """Return the eigenvalue of largest absolute value (LM), or the largest eigenvalue (LA).

    The eigenvalue is computed by a dense solver.
    """
    n = len(symmetric)
    if which == "LA" and n >= LANCZOS_FROM:
        last = (n - 1, n - 1)
        return float(linalg.eigh(symmetric, eigvals_only=True, subset_by_index=last)[0])
    eigenvalues = linalg.eigvalsh(symmetric, driver="evd")
    return float(eigenvalues[-1] if which == "LA" else max(eigenvalues, key=abs))
