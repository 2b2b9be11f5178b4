"""The exact kernel support vector machine over a grid of penalties."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.svm import SVC

from rfbench.arrays import Array, Rows
from rfbench.errors import MethodError
from rfbench.parameters import number, one_of, parameter, whole
from rfbench.solvers.coding import MULTICLASS, ONE_VS_ONE, Targets
from rfbench.solvers.declaration import solver
from rfbench.solvers.estimators import Classifier
from rfbench.solvers.external import converges
from rfbench.solvers.kernel import KernelModel
from rfbench.solvers.regularization_path import KernelPath


@solver("kernel-svm", position=6)
class KernelSVMClassifier(Classifier, KernelModel):
    r"""Kernel SVM: minimises :math:`\sum_i \max(0, 1 - y_i (f(x_i) + b)) + \alpha |f|_k^2 / 2`.

    f is in the RKHS, b is not penalised. Fitted by libsvm through scikit-learn's SVC, whose C is
    1/alpha, on the precomputed kernel matrix; memory 8 * 3 n^2 bytes.

    Parameters
    ----------
    multiclass : {'one-vs-rest', 'one-vs-one'}
        See `rfbench.solvers.coding.Coding`. A column of which only one side has rows (in a fold)
        decides for that side.
    cache_mb : float
        libsvm's cache.
    max_iter : int
        Iterations of libsvm a penalty, -1 for no limit; a fit that stops there is noted.
    tol : float
        libsvm's tolerance.
    intercept : bool
        True: libsvm always fits the constant.

    References
    ----------
    Chang and Lin, LIBSVM: A Library for Support Vector Machines, 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rfbench.solvers import KernelSVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(KernelSVMClassifier(1.0, random_state=0).fit(X, y).score(X, y), 2)
    0.97
    """

    positive_alphas: ClassVar[bool] = True

    multiclass: str = parameter(ONE_VS_ONE, one_of(*MULTICLASS))
    cache_mb: float = parameter(200.0, number(above=0))
    max_iter: int = parameter(-1, whole(1) | one_of(-1))
    tol: float = parameter(1e-3, number(above=0))

    def check_parameters(self) -> None:
        """Check that a constant is asked for as well."""
        super().check_parameters()
        if not self.intercept:
            raise MethodError(
                "kernel-svm cannot leave the constant out.",
                "libsvm always fits it.",
                "Write intercept: true, or take the solver svm on features.",
            )

    def _path(self, K: Array, rows: Rows, targets: Targets) -> KernelPath:
        t, a = targets.columns.shape[1], len(self.grid())
        notes: list[list[str]] = [[] for _ in range(a)]
        duals, converged = np.zeros((a, len(K), t)), np.ones(a, dtype=bool)
        path = KernelPath(duals, np.zeros((a, t)), rows, self.kernel_, notes, converged)
        for column, signs in enumerate(targets.columns.T):
            inside = np.flatnonzero(signs)
            sides = np.unique(signs[inside])
            if len(sides) < 2:
                path.intercepts[:, column] = sides.sum()
                continue
            block = K if len(inside) == len(K) else K[np.ix_(inside, inside)]
            for i, alpha in enumerate(self._absolute(len(inside))):
                model = SVC(
                    C=1.0 / alpha,
                    kernel="precomputed",
                    cache_size=self.cache_mb,
                    max_iter=self.max_iter,
                    tol=self.tol,
                )
                if not converges(model, block, signs[inside]):
                    path.stopped(i, f"no convergence in {self.max_iter} iterations")
                path.duals[i, inside[model.support_], column] = model.dual_coef_[0]
                path.intercepts[i, column] = model.intercept_[0]
        return path
