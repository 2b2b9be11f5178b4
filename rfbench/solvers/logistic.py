"""Logistic regression over a grid of penalties."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from rfbench.clock import Clock
from rfbench.errors import MethodError
from rfbench.samplers.base import RandomState
from rfbench.solvers.base import LinearModel, PenalisedSolver
from rfbench.solvers.coding import Targets
from rfbench.solvers.design import Design
from rfbench.solvers.fits import matrix_fits
from rfbench.solvers.path import Array, Fits, LinearPath
from rfbench.solvers.tasks import Classifier

NEWTON_LIMIT = 1500


class LogisticClassifier(Classifier, LinearModel, PenalisedSolver):
    r"""Logistic regression: :math:`\sum_i \ell(y_i, z_i^\top\theta + b) + \alpha|\theta|^2/2`.

    Two classes: the logistic loss; more: the multinomial loss. Fitted by scikit-learn (its C is
    1/alpha), with Newton steps where the Hessian is small and L-BFGS otherwise, from the strongest
    penalty to the weakest. It needs the whole matrix of features in memory.

    Parameters
    ----------
    max_iter : int
        Iterations a penalty; a fit that stops there is noted.
    tol : float
        Largest entry of the gradient (L-BFGS), as scikit-learn's.
    alphas, alpha_convention, selection, intercept, random_state
        See `rfbench.solvers.base.PenalisedSolver` and `rfbench.solvers.base.Solver`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rfbench.solvers import LogisticClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> solver = LogisticClassifier([0.1, 1.0], selection="cv5", random_state=0)
    >>> round(solver.fit(X, y).score(X, y), 2)
    0.98
    """

    positive_alphas: ClassVar[bool] = True
    matrix_copies: ClassVar[float] = 2.0

    def __init__(
        self,
        alphas: float | Sequence[float] = 1.0,
        *,
        alpha_convention: str = "absolute",
        selection: str | None = None,
        intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        random_state: RandomState = None,
    ) -> None:
        self.alphas = alphas
        self.alpha_convention = alpha_convention
        self.selection = selection
        self.intercept = intercept
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fits(
        self, design: Design, targets: Targets, groups: NDArray[np.intp] | None, clock: Clock
    ) -> Fits:
        return matrix_fits(design, targets, groups, clock, self._fit_path, self.matrix_copies)

    def _fit_path(self, Z: Array, targets: Targets) -> LinearPath:
        codes, coding = targets.codes, targets.coding
        assert codes is not None
        assert coding is not None
        missing = coding.k - len(np.unique(codes))
        if missing:
            raise MethodError(
                f"A part of the training rows has no row of {missing} of the classes.",
                "It came out of the folds of the penalty's selection.",
                "Take fewer folds, or more rows.",
            )
        t = targets.columns.shape[1]
        small = Z.shape[1] * t <= min(NEWTON_LIMIT, len(Z))
        model = LogisticRegression(
            solver="newton-cholesky" if small else "lbfgs",
            fit_intercept=self.intercept,
            max_iter=self.max_iter,
            tol=self.tol,
            warm_start=True,
        )
        coefficients, intercepts, notes = [], [], []
        for alpha in self._absolute(len(Z)):
            model.set_params(C=1.0 / alpha)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.fit(Z, codes)
            stopped = any(issubclass(w.category, ConvergenceWarning) for w in caught)
            notes.append([f"no convergence in {self.max_iter} iterations"] if stopped else [])
            coefficients.append(model.coef_.T.astype(np.float64))
            intercepts.append(np.broadcast_to(model.intercept_, (t,)).astype(np.float64))
        return LinearPath(np.stack(coefficients), np.stack(intercepts), notes)
