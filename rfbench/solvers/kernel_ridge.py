"""Exact kernel ridge regression over a grid of penalties."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rfbench.arrays import Array, Rows
from rfbench.compute.row_side import DualPath, RowSpectrum, solve_dual
from rfbench.parameters import estimator
from rfbench.solvers.coding import Targets
from rfbench.solvers.estimators import Classifier, Regressor
from rfbench.solvers.kernel import KernelModel
from rfbench.solvers.regularization_path import KernelPath


class _KernelRidge(KernelModel):
    leaves_one_out: ClassVar[bool] = True
    matrices: ClassVar[float] = 4.0

    def _path(self, K: Array, rows: Rows, targets: Targets) -> KernelPath:
        alphas, Y = self._absolute(len(K)), targets.columns
        solved = solve_dual(K, Y, alphas, intercept=self.intercept, noise=_noise(K))
        return self._of_rows(solved, rows)

    def _left_out(self, K: Array, rows: Rows, targets: Targets) -> tuple[KernelPath, Array]:
        spectrum = RowSpectrum(K, targets.columns, intercept=self.intercept, noise=_noise(K))
        decisions = spectrum.left_out(self._absolute(len(K) - 1))
        path = self._of_rows(spectrum.path(self._absolute(len(K))), rows)
        return path, self._summed_losses(decisions, targets.truth)

    def _of_rows(self, solved: DualPath, rows: Rows) -> KernelPath:
        notes = [[text] if text else [] for text in solved.fallback]
        return KernelPath(solved.duals, solved.intercepts, rows, self.kernel_, notes)


def _noise(K: Array) -> float:
    """Return the rounding error: K is made in float64 also of rows in float32."""
    return len(K) * float(np.finfo(np.float64).eps)


@estimator
class KernelRidgeRegressor(Regressor, _KernelRidge):
    r"""Kernel ridge regression: :math:`|y - f - b|^2 + \alpha |f|_k^2` over f in the RKHS.

    What ridge regression on features of the kernel approximates. The penalties are solved as
    `rfbench.compute.ridge.solve_shifted` says; with the selection 'loo' by one eigendecomposition.
    Memory 8 * 4 n^2 bytes.

    Its parameters are those of `KernelModel`.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.solvers import KernelRidgeRegressor
    >>> X = np.linspace(0.0, 6.0, 100)[:, None]
    >>> solver = KernelRidgeRegressor(1e-3, bandwidth=1.0).fit(X, np.sin(X[:, 0]))
    >>> abs(solver.predict([[1.5]])[0] - np.sin(1.5)) < 1e-3
    np.True_
    """


@estimator
class KernelRidgeClassifier(Classifier, _KernelRidge):
    r"""Kernel ridge regression on labels coded -1 and +1: :math:`|y - f - b|^2 + \alpha |f|_k^2`.

    Two classes: the sign. More: one column per class, the largest wins.

    Its parameters are those of `KernelModel`.
    """

    fits_coded_labels: ClassVar[bool] = True
