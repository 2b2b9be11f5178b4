"""Fits with bounded coefficients, as Rahimi and Recht constrain them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from rfbench.arrays import Array
from rfbench.clock import Clock
from rfbench.compute import gram
from rfbench.parameters import TRUTH, estimator, number, one_of, parameter, ruled, whole
from rfbench.solvers.base import LinearModel, grid_of
from rfbench.solvers.box import BoxProblem, Logistic, Quadratic, minimise_in_box
from rfbench.solvers.coding import Targets
from rfbench.solvers.declaration import solver
from rfbench.solvers.design import Design
from rfbench.solvers.estimators import Classifier, Regressor
from rfbench.solvers.grouped_fits import gram_fits, join_columns
from rfbench.solvers.regularization_path import CERTAIN, Fits, Groups, LinearPath

SQUARED, LOGISTIC = "squared", "logistic"


@estimator
class _Constrained(LinearModel):
    revision: ClassVar[int] = 2
    matrix_copies: ClassVar[float] = 3.0
    grid_name: ClassVar[str] = "bounds"

    bounds: float | Sequence[float] = field(
        default=1.0, kw_only=False, metadata=ruled(grid_of(number(above=0)))
    )
    loss: str = parameter(SQUARED, one_of(SQUARED))
    normalised: bool = parameter(True, TRUTH)
    max_iter: int = parameter(200, whole(1))
    tol: float = parameter(1e-6, number(above=0))

    def grid(self) -> Array:
        """Return the bounds C in increasing order."""
        return np.unique(np.asarray(self.bounds, dtype=np.float64))

    def _record(self, value: float, n: int, row_norm: float) -> None:
        self.bound_ = value
        self.alpha_ = self.alpha_scale_free_ = float("nan")
        self.notes_ = [f"bound C = {value:g}", *self.notes_]

    def _fits(self, design: Design, targets: Targets, groups: Groups, clock: Clock) -> Fits:
        if self.streams:
            return gram_fits(design, targets, groups, clock, self._squared, self.intercept)
        return super()._fits(design, targets, groups, clock)

    @property
    def streams(self) -> bool:
        """Whether the fit is from Gram matrices; the logistic loss needs all features."""
        return self.loss == SQUARED

    def _largest(self, p: int) -> Array:
        """Return the bound of a coefficient for every C."""
        return self.grid() / (np.sqrt(p) if self.normalised else p)

    def _squared(self, equations: gram.NormalEquations) -> LinearPath:
        square, moments = equations.gram, equations.moment
        squares = equations.target_squares
        if self.intercept:
            square, moments = equations.centred()
            squares = squares - equations.target_sums**2 / equations.n
        p, t = moments.shape
        largest = self._largest(p)
        path = LinearPath.blank(len(largest), p, t)
        for column in range(t):
            problem = Quadratic(square, moments[:, column], float(squares[column]))
            for i, bound in enumerate(largest):
                path.coefficients[i, :, column] = self._in_box(problem, np.full(p, bound), path, i)
        if self.intercept:
            path.intercepts[:] = equations.intercepts(path.coefficients)
        return path

    def _path(self, Z: Array, targets: Targets) -> LinearPath:
        return join_columns([self._logistic_column(Z, signs) for signs in targets.columns.T])

    def _logistic_column(self, Z: Array, signs: Array) -> LinearPath:
        p = Z.shape[1]
        largest = self._largest(p)
        path = LinearPath.blank(len(largest), p, 1)
        if len(np.unique(signs)) == 1:
            path.intercepts[:] = signs[0]
            return path
        problem = Logistic(Z, signs, intercept=self.intercept)
        for i, bound in enumerate(largest):
            x = self._in_box(problem, np.full(p, bound), path, i)
            path.coefficients[i, :, 0], path.intercepts[i] = x, problem.constant(x)
        return path

    def _in_box(self, problem: BoxProblem, limits: Array, path: LinearPath, i: int) -> Array:
        fit = minimise_in_box(problem, -limits, limits, tol=self.tol, max_iter=self.max_iter)
        path.certify(i, fit.gap)
        if fit.gap > self.tol and (fit.steps >= self.max_iter or fit.gap > CERTAIN):
            path.stopped(i, f"no convergence in {self.max_iter} iterations")
        return fit.x


@solver("constrained", position=4)
class ConstrainedRegressor(Regressor, _Constrained):
    r"""Least squares, :math:`|y - Z\theta - b|^2`, subject to :math:`|\theta|_\infty \le C/M`.

    Fitted from the normal equations by an interior-point method. b is not bounded.

    Parameters
    ----------
    bounds : float or sequence of float
        The grid of C, in place of a grid of penalties; of equally good ones the smallest wins.
    loss : {'squared'}
    normalised : bool
        The features z carry a factor 1/sqrt(M), as those of the samplers do, and the bound is for
        the coefficients of sqrt(M) z, as in the paper, whose features are plain cosines. False:
        the bound is for the coefficients of z as they come. M is the number of columns.
    max_iter, tol : int, float
        Steps for a bound, and the relative distance to the optimum, proven, at which they stop.

    Attributes
    ----------
    bound_ : float
        The chosen C; `alpha_` is NaN.

    References
    ----------
    Rahimi and Recht, Weighted Sums of Random Kitchen Sinks, NIPS 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.solvers import ConstrainedRegressor
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> solver = ConstrainedRegressor(bounds=1.0, normalised=False)
    >>> solver.fit(X, X @ [0.25, -2.0] + 3.0).coef_[0, 1].round(6)
    np.float64(-0.5)
    """


@solver("constrained", position=4)
class ConstrainedClassifier(Classifier, _Constrained):
    r"""Squared or logistic loss on -1 and +1, subject to :math:`|\theta|_\infty \le C/M`.

    With several classes one column per class, the largest wins. The squared loss takes the streamed
    normal equations, the logistic loss the whole matrix of features; both are solved by an
    interior-point method. Parameters as in `ConstrainedRegressor`.

    Parameters
    ----------
    loss : {'squared', 'logistic'}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rfbench.solvers import ConstrainedClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> solver = ConstrainedClassifier([0.1, 1.0, 10.0], loss="logistic", random_state=0)
    >>> round(solver.fit(X, y).score(X, y), 2)
    0.97
    """

    loss: str = parameter(SQUARED, one_of(SQUARED, LOGISTIC))

    def coded(self, labels: Any) -> Array | None:
        """Return labels as the columns that the squared loss fitted; None for the logistic loss."""
        return self.coding_.columns(self._codes(labels)) if self.loss == SQUARED else None
