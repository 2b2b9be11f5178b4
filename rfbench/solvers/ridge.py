"""Ridge regression over a grid of penalties, from streamed normal equations."""

from __future__ import annotations

from typing import ClassVar

from rfbench.clock import Clock
from rfbench.compute import gram
from rfbench.parameters import NOTHING, estimator, one_of, parameter, whole
from rfbench.solvers.base import LinearModel, PenalisedSolver
from rfbench.solvers.coding import MULTICLASS, ONE_VS_REST, Targets
from rfbench.solvers.design import Design
from rfbench.solvers.estimators import Classifier, Regressor
from rfbench.solvers.grouped_fits import gram_fits, pairwise_gram_fits
from rfbench.solvers.regularization_path import Fits, Groups, LinearPath


@estimator
class _Ridge(LinearModel, PenalisedSolver):
    """Base of the two.

    Parameters
    ----------
    partitions : int, optional
        Parts of the rows, whose Gram matrices are added up in a tree: by the workers of a run. The
        sums depend on the number of parts in their last digits, on the workers not at all.
    """

    partitions: int | None = parameter(None, whole(1) | NOTHING)

    def _fits(self, design: Design, targets: Targets, groups: Groups, clock: Clock) -> Fits:
        by_pairs = targets.coding is not None and targets.coding.by_pairs
        fit = pairwise_gram_fits if by_pairs else gram_fits
        return fit(design, targets, groups, clock, self._solve, self.intercept)

    @property
    def streams(self) -> bool:
        """Whether the fit is from Gram matrices: it is."""
        return True

    def _solve(self, equations: gram.NormalEquations) -> LinearPath:
        alphas = self._absolute(equations.n)
        solved = gram.solve_ridge(equations, alphas, intercept=self.intercept)
        notes = [[text] if text else [] for text in solved.fallback]
        return LinearPath(solved.coef, solved.intercept, notes)


@estimator
class RidgeRegressor(Regressor, _Ridge):
    r"""Ridge regression: minimises :math:`|y - Z\theta - b|^2 + \alpha |\theta|^2`.

    All penalties and folds come from sums and differences of Gram matrices accumulated in one pass
    over the rows; the error of a fold comes from its Gram matrix too.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.solvers import RidgeRegressor
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> RidgeRegressor(1e-9).fit(X, X @ [1.0, -2.0] + 3.0).coef_.round(6)
    array([[ 1., -2.]])
    """


@estimator
class RidgeClassifier(Classifier, _Ridge):
    r"""Least squares on labels coded -1 and +1: :math:`|y - Z\theta - b|^2 + \alpha |\theta|^2`.

    Two classes: the sign. More: one column per class, the largest wins (one-vs-rest); or one column
    per pair of classes, fitted on the rows of the two, and a vote (one-vs-one), all from one Gram
    matrix per class and fold.

    Parameters
    ----------
    multiclass : {'one-vs-rest', 'one-vs-one'}
        See `rfbench.solvers.coding.Coding` for the vote and its ties. Under the per-sample
        convention n is the number of rows of the pair.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rfbench.solvers import RidgeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> rest, pairs = (RidgeClassifier(multiclass=m) for m in ("one-vs-rest", "one-vs-one"))
    >>> round(rest.fit(X, y).score(X, y), 2), round(pairs.fit(X, y).score(X, y), 2)
    (0.85, 0.98)
    """

    fits_coded_labels: ClassVar[bool] = True

    multiclass: str = parameter(ONE_VS_REST, one_of(*MULTICLASS))
