"""Logistic regression over a grid of penalties."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rfbench.arrays import Array
from rfbench.clock import Clock
from rfbench.errors import MethodError
from rfbench.parameters import estimator, number, parameter, whole
from rfbench.solvers.base import LinearModel
from rfbench.solvers.coding import Targets
from rfbench.solvers.design import Design
from rfbench.solvers.estimators import Classifier
from rfbench.solvers.fits import CERTAIN, Fits, Folds, LinearPath, fit_from_matrix
from rfbench.solvers.newton import PROMISED, Loss, Multinomial, Newton, TwoClasses


@estimator
class LogisticClassifier(Classifier, LinearModel):
    r"""Logistic regression: :math:`\sum_i \ell(y_i, z_i^\top\theta + b) + \alpha|\theta|^2/2`.

    Row i with the features z_i has the decision value :math:`f_i = z_i^\top\theta + b`. The
    intercept b is not penalized. Two classes have the loss :math:`\ell = \log(1 + \exp(-y_i f_i))`
    with y = -1 or +1. More classes have one column of coefficients per class and the multinomial
    loss :math:`\log \sum_c \exp f_{ic} - f_{i y_i}`. Newton's method (`rfbench.solvers.newton`)
    fits the model with each penalty, from the largest to the smallest, and starts at the previous
    solution. The complete feature matrix has to fit into memory.

    Parameters
    ----------
    alphas : float or sequence of float, default=1.0
        Penalties to select from (the grid). A single number is a grid with one value.
    alpha_convention : {'absolute', 'per-sample'}, default='absolute'
        'absolute': the penalty in the formula of the solver is alpha. 'per-sample': the penalty is
        n alpha for a fit on n rows. n is smaller in a fold and for a pair of classes.
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
    max_iter : int, default=200
        Maximum number of Newton steps per penalty. A note reports fits that need more steps.
    tol : float, default=1e-08
        The steps stop when the largest entry of the gradient, relative to the gradient at zero, is
        at most this value. If `tol` is at most 1e-5, the steps also continue until the proven
        distance to the optimum is at most 1e-5 of the objective. Otherwise `gap_` reports the
        distance.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rfbench.solvers import LogisticClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> solver = LogisticClassifier([0.1, 1.0], selection="cv5", random_state=0)
    >>> round(solver.fit(X, y).score(X, y), 2)
    0.98
    """

    revision: ClassVar[int] = 2
    positive_alphas: ClassVar[bool] = True

    max_iter: int = parameter(200, whole(1))
    tol: float = parameter(1e-8, number(above=0))

    def _fits(self, design: Design, targets: Targets, folds: Folds, clock: Clock) -> Fits:
        first: tuple[LinearPath, Array | None] | None = None

        def fit(Z: Array, targets: Targets) -> LinearPath:
            nonlocal first
            path, hessian = self._newton_path(Z, targets, first)
            first = first or (path, hessian)
            return path

        # Number of matrices of the size of the features that a fit needs. With a loose tolerance,
        # the fit also uses a copy of the features in float32, which is half a matrix in float64.
        matrices = 2.5 if self._is_loose() else 2.0
        return fit_from_matrix(design, targets, folds, clock, fit, matrices=matrices)

    def _is_loose(self) -> bool:
        """Return True if `tol` is so large that only the gradient decides on convergence."""
        return self.tol > CERTAIN / 10

    def _newton_path(
        self, Z: Array, targets: Targets, first: tuple[LinearPath, Array | None] | None
    ) -> tuple[LinearPath, Array | None]:
        """Fit the model with every penalty by Newton's method, and return the last Hessian, too.

        `first` contains the models of all rows, at which the fits of a fold start, or is None. The
        start affects the time but not the result, because the optimum is unique.
        """
        newton = Newton(
            Z,
            self._loss(targets),
            intercept=self.intercept,
            hessian=None if first is None else first[1],
        )
        p, t = Z.shape[1], targets.columns.shape[1]
        theta = np.zeros((p + self.intercept, t))
        alphas = self._absolute(len(Z))
        path = LinearPath.make_zero_path(len(alphas), p, t)
        loose = self._is_loose()
        gap = np.inf if loose else CERTAIN / 10
        for i, alpha in enumerate(alphas):
            if first is not None:
                theta[:p] = first[0].coefficients[i]
                theta[p:] = first[0].intercepts[i]
            result = newton.minimize(
                alpha,
                theta,
                tol=self.tol,
                gap=gap,
                max_iter=self.max_iter,
                promise=np.inf if loose else PROMISED,
                sample=loose,
            )
            theta = result.theta
            path.record_gap(i, result.gap)
            if not result.converged:
                text = f"no convergence in {self.max_iter} iterations"
                path.mark_unconverged(
                    i, f"{text}: the gradient is {result.gradient:.1e} times the gradient at zero"
                )
            path.coefficients[i], path.intercepts[i] = theta[:p], theta[p:].sum(axis=0)
        return path, newton.hessian

    @staticmethod
    def _loss(targets: Targets) -> Loss:
        codes, coding = targets.codes, targets.coding
        assert codes is not None
        assert coding is not None
        missing = coding.k - len(np.unique(codes))
        if missing:
            raise MethodError(
                f"In cross-validation, training rows of a fold lack {missing} of the classes.",
                "The penalty is selected with fits that leave out one fold.",
                "Use fewer folds, or more rows.",
            )
        return TwoClasses(targets.columns) if coding.k == 2 else Multinomial(codes)
