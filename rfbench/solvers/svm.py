"""The linear support vector machine over a grid of penalties."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.svm import LinearSVC

from rfbench.arrays import Array
from rfbench.parameters import number, one_of, parameter, whole
from rfbench.solvers.base import LinearModel, PenalisedSolver
from rfbench.solvers.coding import MULTICLASS, ONE_VS_REST, Targets
from rfbench.solvers.declaration import solver
from rfbench.solvers.estimators import Classifier
from rfbench.solvers.external import converges
from rfbench.solvers.grouped_fits import join_columns
from rfbench.solvers.regularization_path import LinearPath

LOSSES = {"hinge": "hinge", "squared-hinge": "squared_hinge"}


@solver("svm", position=3)
class SVMClassifier(Classifier, LinearModel, PenalisedSolver):
    r"""Linear SVM: :math:`\sum_i \ell(y_i (z_i^\top\theta + b)) + \alpha (|\theta|^2 + b^2/s^2)/2`.

    :math:`\ell(m) = \max(0, 1 - m)` or its square. Fitted by liblinear through scikit-learn's
    LinearSVC, whose C is 1/alpha, and which penalises the constant b as well: s is
    `intercept_scaling`. The hinge is solved in the dual; the squared hinge in the primal where
    there are at least as many rows as features, else in the dual. It needs the whole matrix of
    features in memory.

    Parameters
    ----------
    loss : {'hinge', 'squared-hinge'}
    multiclass : {'one-vs-rest', 'one-vs-one'}
        See `rfbench.solvers.coding.Coding`. A column of which only one side has rows (in a fold)
        decides for that side.
    intercept_scaling : float
        s; a larger one penalises the constant less and takes more iterations in the dual.
    max_iter : int
        Iterations of liblinear a penalty; a fit that stops there is noted.
    tol : float
        liblinear's tolerance.
    alpha_convention : {'absolute', 'per-sample'}
        Under per-sample n is the number of rows of the column: those of a pair.

    References
    ----------
    Fan et al., LIBLINEAR: A Library for Large Linear Classification, JMLR 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rfbench.solvers import SVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(SVMClassifier(0.1, multiclass="one-vs-one").fit(X, y).score(X, y), 2)
    0.98
    """

    positive_alphas: ClassVar[bool] = True
    # liblinear takes an index and a value for every entry.
    matrix_copies: ClassVar[float] = 2.0

    loss: str = parameter("squared-hinge", one_of(*LOSSES))
    multiclass: str = parameter(ONE_VS_REST, one_of(*MULTICLASS))
    intercept_scaling: float = parameter(1.0, number(above=0))
    max_iter: int = parameter(1000, whole(1))
    tol: float = parameter(1e-4, number(above=0))

    def _path(self, Z: Array, targets: Targets) -> LinearPath:
        columns: list[LinearPath | None] = []
        for signs in targets.columns.T:
            rows = signs != 0
            inside = Z if rows.all() else Z[rows]
            columns.append(self._fit_column(inside, signs[rows]) if rows.any() else None)
        return join_columns(columns)

    def _fit_column(self, Z: Array, signs: Array) -> LinearPath:
        alphas = self._absolute(len(Z))
        path = LinearPath.blank(len(alphas), Z.shape[1], 1)
        if len(np.unique(signs)) == 1:
            path.intercepts[:] = signs[0]
            return path
        model = LinearSVC(
            loss=LOSSES[self.loss],
            dual=self.loss == "hinge" or len(Z) < Z.shape[1],
            fit_intercept=self.intercept,
            intercept_scaling=self.intercept_scaling,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=0,
        )
        for i, alpha in enumerate(alphas):
            model.set_params(C=1.0 / alpha)
            if not converges(model, Z, signs):
                path.stopped(i, f"no convergence in {self.max_iter} iterations")
            path.coefficients[i, :, 0] = model.coef_[0]
            path.intercepts[i, 0] = np.ravel(model.intercept_)[0]
        return path
