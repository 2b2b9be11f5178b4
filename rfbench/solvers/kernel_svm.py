"""The exact kernel support vector machine over a grid of penalties."""

from __future__ import annotations

from itertools import combinations
from typing import ClassVar

import numpy as np
from sklearn.svm import SVC

from rfbench.arrays import Array, Rows
from rfbench.errors import MethodError
from rfbench.parameters import estimator, number, parameter
from rfbench.solvers.coding import ONE_VS_ONE, Targets
from rfbench.solvers.estimators import Classifier
from rfbench.solvers.kernel import KernelModel
from rfbench.solvers.regularization_path import KernelPath


@estimator
class KernelSVMClassifier(Classifier, KernelModel):
    r"""Kernel SVM: minimises :math:`\sum_i \max(0, 1 - y_i (f(x_i) + b)) + \alpha |f|_k^2 / 2`.

    f is in the RKHS, b is not penalised. It is scikit-learn's SVC, whose C is 1/alpha, on the
    precomputed kernel matrix; of several classes one column per pair, and a vote (one-vs-one), see
    `rfbench.solvers.coding.Coding`. Memory 8 * 3 n^2 bytes.

    Parameters
    ----------
    alpha_convention : {'absolute', 'per-sample'}
        Under per-sample n is the number of rows of all classes.
    tol : float
        libsvm's tolerance, of a row's margin.
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

    revision: ClassVar[int] = 2
    positive_alphas: ClassVar[bool] = True
    multiclass: ClassVar[str] = ONE_VS_ONE

    tol: float = parameter(1e-6, number(above=0))

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
        codes, coding = targets.codes, targets.coding
        assert codes is not None
        assert coding is not None
        alphas, t = self._absolute(len(K)), targets.columns.shape[1]
        notes: list[list[str]] = [[] for _ in alphas]
        duals, constants = np.zeros((len(alphas), len(K), t)), np.zeros((len(alphas), t))
        converged = np.ones(len(alphas), dtype=bool)
        path = KernelPath(duals, constants, rows, self.kernel_, notes, converged)
        # A pair of which only one class has rows (in a fold) decides for that class.
        constants[:] = np.sign(targets.columns.max(axis=0) + targets.columns.min(axis=0))
        present = np.unique(codes)
        if len(present) < 2:
            return path
        # libsvm's pairs decide for the first class where they are positive, but a single one.
        sign = 1.0 if len(present) == 2 else -1.0
        columns = {pair: column for column, pair in enumerate(coding.pairs)}
        for i, alpha in enumerate(alphas):
            model = SVC(C=1.0 / alpha, kernel="precomputed", tol=self.tol).fit(K, codes)
            own = codes[model.support_]
            for pair, (a, b) in enumerate(combinations(range(len(present)), 2)):
                first, second = present[a], present[b]
                column = columns[first, second]
                constants[i, column] = sign * model.intercept_[pair]
                # A row has one coefficient per other class, in the order of these.
                for code, place in ((first, b - 1), (second, a)):
                    chosen = own == code
                    duals[i, model.support_[chosen], column] = (
                        sign * model.dual_coef_[place, chosen]
                    )
        return path
