"""Exact kernel ridge regression over a grid of penalties."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rfbench.arrays import Array, Rows
from rfbench.compute.ridge import solve_shifted
from rfbench.parameters import estimator
from rfbench.solvers.coding import Targets
from rfbench.solvers.estimators import Classifier, Regressor
from rfbench.solvers.kernel import KernelModel
from rfbench.solvers.regularization_path import KernelPath


class _KernelRidge(KernelModel):
    def _path(self, K: Array, rows: Rows, targets: Targets) -> KernelPath:
        alphas = self._absolute(len(K))
        Y = targets.columns
        means = np.zeros(Y.shape[1])
        column_means, mean = np.zeros(len(K)), 0.0
        if self.intercept:
            means, column_means, mean = Y.mean(axis=0), K.mean(axis=0), float(K.mean())

        def load(work: Array) -> None:
            np.subtract(K.T, column_means, out=work)
            np.subtract(work, (column_means - mean)[:, None], out=work)

        # K is made in float64 also of rows in float32, so that eps is that of float64.
        noise = len(K) * float(np.finfo(np.float64).eps)
        largest = float(np.abs(K.diagonal()).max())
        duals, fallback = solve_shifted(load, Y - means, alphas, noise, largest)
        if self.intercept:
            duals -= duals.mean(axis=1, keepdims=True)
        intercepts = means - column_means @ duals
        return KernelPath(
            duals, intercepts, rows, self.kernel_, [[text] if text else [] for text in fallback]
        )


@estimator
class KernelRidgeRegressor(Regressor, _KernelRidge):
    r"""Kernel ridge regression: :math:`|y - f - b|^2 + \alpha |f|_k^2` over f in the RKHS.

    What ridge regression on features of the kernel approximates. One Cholesky factorisation a
    penalty of the (centred) kernel matrix; memory 8 * 3 n^2 bytes.

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

    Parameters
    ----------
    """

    fits_coded_labels: ClassVar[bool] = True
