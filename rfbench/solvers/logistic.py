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
from rfbench.solvers.fits import CERTAIN, Fits, Groups, LinearPath, fit_from_matrix
from rfbench.solvers.newton import PROMISED, Loss, Multinomial, Newton, TwoClasses


@estimator
class LogisticClassifier(Classifier, LinearModel):
    r"""Logistic regression: :math:`\sum_i \ell(y_i, z_i^\top\theta + b) + \alpha|\theta|^2/2`.

    Two classes: :math:`\ell = \log(1 + \exp(-y_i f_i))`, y = -1 or +1. More: the multinomial loss
    :math:`\log \sum_c \exp f_{ic} - f_{i y_i}`, one column of coefficients per class, all of them
    penalised. b is not penalised. Fitted by Newton's method, see `rfbench.solvers.newton`, from the
    strongest penalty to the weakest, each from the solution of the one before. It needs the whole
    matrix of features in memory.

    Parameters
    ----------
    alphas : float or sequence of float, default=1.0
        The grid of penalties; one number is a grid of one.
    alpha_convention : {'absolute', 'per-sample'}, default='absolute'
        The loss is a sum over rows. 'absolute': the penalty beside it has the factor alpha, as the
        solver's own formula says: alpha |theta|^2 for ridge and kernel ridge, alpha |theta|^2 / 2
        for the logistic loss and the support vector machines. 'per-sample': n alpha takes the
        place of alpha; n is the number of rows of the fit: fewer in a fold, and in a pair of
        classes.
    selection : {'fixed', 'test', 'validation', 'cv5', 'loo'}, default=None
        How one value is taken from the grid: there is only one; the smallest error on the
        evaluation rows given to `fit` (optimistic when they are the test rows); on a random fifth
        of the training rows; by five-fold (cvK: K-fold) cross-validation; by the error of each row
        left out by itself, in closed form (loo: ridge, kernel ridge). After the choice all rows are
        fitted. Of equally good values the strongest (the largest penalty) wins. Features that look
        at the target are fitted without the validation rows, see `fit`.
    intercept : bool, default=True
        Fit a constant.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Seed or generator of the folds.
    max_iter : int, default=200
        Newton steps per penalty; a fit that stops there is noted.
    tol : float, default=1e-08
        Largest entry of the gradient, relative to that of the gradient at zero, at which the steps
        stop. Up to 1e-5 they go on until the proven distance to the optimum is at most 1e-5 of
        the objective; above, `gap_` reports the distance that was reached.

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

    def _fits(self, design: Design, targets: Targets, groups: Groups, clock: Clock) -> Fits:
        first: tuple[LinearPath, Array | None] | None = None

        def fit(Z: Array, targets: Targets) -> LinearPath:
            nonlocal first
            path, hessian = self._newton_path(Z, targets, first)
            first = first or (path, hessian)
            return path

        return fit_from_matrix(design, targets, groups, clock, fit, matrices=2.0)

    def _newton_path(
        self, Z: Array, targets: Targets, first: tuple[LinearPath, Array | None] | None
    ) -> tuple[LinearPath, Array | None]:
        """Fit every penalty; begin with the path and the Hessian of all rows where they are known.

        The optimum is the only one: where a fit begins changes its time, not its end.
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
        path = LinearPath.blank(len(alphas), p, t)
        # With a looser tolerance the gradient alone ends the steps, and the gap is reported.
        loose = self.tol > CERTAIN / 10
        gap = np.inf if loose else CERTAIN / 10
        for i, alpha in enumerate(alphas):
            if first is not None:
                theta[:p] = first[0].coefficients[i]
                theta[p:] = first[0].intercepts[i]
            result = newton.minimise(
                alpha,
                theta,
                tol=self.tol,
                gap=gap,
                max_iter=self.max_iter,
                promise=np.inf if loose else PROMISED,
                sample=loose,
            )
            theta = result.theta
            path.certify(i, result.gap)
            if not result.converged:
                text = f"no convergence in {self.max_iter} iterations"
                path.stopped(i, f"{text}: the gradient is {result.gradient:.1e} of that at zero")
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
                f"A part of the training rows has no row of {missing} of the classes.",
                "It is from the folds of the penalty's selection.",
                "Take fewer folds, or more rows.",
            )
        return TwoClasses(targets.columns) if coding.k == 2 else Multinomial(codes)
