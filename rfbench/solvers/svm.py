"""The linear support vector machine for a grid of penalties."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy import linalg

from rfbench.arrays import Array
from rfbench.clock import Clock
from rfbench.parameters import estimator, number, one_of, parameter, whole
from rfbench.solvers.base import LinearModel
from rfbench.solvers.coding import MULTICLASS, ONE_VS_REST, Targets
from rfbench.solvers.design import Design
from rfbench.solvers.estimators import Classifier
from rfbench.solvers.fits import Fits, Folds, LinearPath, fit_from_matrix, join_paths
from rfbench.solvers.newton import Newton, SquaredHinge

SQUARED_HINGE = "squared-hinge"


@estimator
class SVMClassifier(Classifier, LinearModel):
    r"""Linear SVM: :math:`\sum_i \ell(y_i (z_i^\top\theta + b)) + \alpha (|\theta|^2 + b^2)/2`.

    z_i are the features of row i, and y_i = -1 or +1 is its label. The loss is
    :math:`\ell(m) = \max(0, 1 - m)^2`. liblinear and scikit-learn's LinearSVC minimize the same
    objective with C = 1/alpha, which also penalizes the intercept b. Newton's method
    (`rfbench.solvers.newton`) fits the model until the distance to the optimum is proven to be
    small. The complete feature matrix has to fit into memory.

    Parameters
    ----------
    alphas : float or sequence of float, default=1.0
        Penalties to select from (the grid). A single number is a grid with one value.
    alpha_convention : {'absolute', 'per-sample'}, default='absolute'
        'absolute': the penalty in the formula of the solver is alpha. 'per-sample': the penalty is
        n alpha for the n rows of a decision column. For one-vs-one, these are the rows of a pair
        of classes.
    selection : {'fixed', 'test', 'validation', 'cv5', 'loo'}, default=None
        Method that selects one penalty of the grid.

        - 'fixed': no selection, because the grid has a single value.
        - 'test': smallest error on the evaluation rows that are passed to `fit`. This error is
          too small if these rows are the test set.
        - 'validation': smallest error on a random fifth of the training set.
        - 'cv5' (or 'cvK'): smallest error in five-fold (K-fold) cross-validation.
        - 'loo': smallest leave-one-out error in closed form (ridge and kernel ridge only).
        - None: 'fixed' for a single value, and 'cv5' otherwise.

        If several penalties have the same error, the largest is selected. After the selection, the
        model is fitted on all rows. Features that use the target are fitted again without the
        held-out rows (see `fit`).
    intercept : bool, default=True
        Fit an intercept.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator for the folds.
    loss : {'squared-hinge'}, default='squared-hinge'
        Loss function. For the hinge loss without the square, use scikit-learn's LinearSVC or the
        solver kernel-svm.
    multiclass : {'one-vs-rest', 'one-vs-one'}, default='one-vs-rest'
        Coding of more than two classes (see `rfbench.solvers.coding.Coding`). If the rows outside a
        fold have only one of the labels -1 and +1 of a column, the column always predicts it.
    max_iter : int, default=200
        Maximum number of steps per penalty. A note reports fits that need more steps.
    tol : float, default=1e-06
        Distance to the optimum, relative to the objective, at which the steps stop.

    References
    ----------
    Fan et al., LIBLINEAR: A Library for Large Linear Classification, JMLR 2008. Keerthi and
    DeCoste, A modified finite Newton method for fast solution of large scale linear SVMs, JMLR
    2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rfbench.solvers import SVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(SVMClassifier(0.1, multiclass="one-vs-one").fit(X, y).score(X, y), 2)
    0.98
    """

    positive_alphas: ClassVar[bool] = True
    revision: ClassVar[int] = 2

    loss: str = parameter(SQUARED_HINGE, one_of(SQUARED_HINGE))
    multiclass: str = parameter(ONE_VS_REST, one_of(*MULTICLASS))
    max_iter: int = parameter(200, whole(1))
    tol: float = parameter(1e-6, number(above=0))

    def _fits(self, design: Design, targets: Targets, folds: Folds, clock: Clock) -> Fits:
        return fit_from_matrix(design, targets, folds, clock, self._path, matrices=3.0)

    def _path(self, Z: Array, targets: Targets) -> LinearPath:
        columns: list[LinearPath | None] = []
        for signs in targets.columns.T:
            rows = signs != 0
            inside = Z if rows.all() else Z[rows]
            columns.append(self._fit_column(inside, signs[rows]) if rows.any() else None)
        return join_paths(columns)

    def _fit_column(self, Z: Array, signs: Array) -> LinearPath:
        alphas, p = self._absolute(len(Z)), Z.shape[1]
        path = LinearPath.make_zero_path(len(alphas), p, 1)
        if len(np.unique(signs)) == 1:
            path.intercepts[:] = signs[0]
            return path
        # Append a column of ones, whose coefficient is the intercept b. The intercept is therefore
        # penalized like all other coefficients.
        if self.intercept:
            Z = np.column_stack([Z, np.ones(len(Z))])
        back = None
        if Z.shape[1] > len(Z):  # the coefficients are linear combinations of the n rows
            back, r = linalg.qr(Z.T, mode="economic", check_finite=False)
            # Replace Z by the coordinates of its rows in an orthonormal basis of the row space.
            # This reduces the number of columns of Z to its number of rows.
            Z = np.ascontiguousarray(r.T)
        loss = SquaredHinge(signs[:, None])
        newton = Newton(Z, loss, intercept=False)
        start = np.zeros((Z.shape[1], 1))
        for i, alpha in enumerate(alphas):
            fit = newton.minimize(alpha, start, tol=np.inf, gap=self.tol, max_iter=self.max_iter)
            start = fit.theta
            theta = start[:, 0] if back is None else back @ start[:, 0]
            path.record_gap(i, fit.gap)
            if not fit.converged:
                path.mark_unconverged(i, f"no convergence in {self.max_iter} iterations")
            path.coefficients[i, :, 0] = theta[:p]
            path.intercepts[i, 0] = theta[p:].sum()
        return path
