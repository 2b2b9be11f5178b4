"""Ridge regression over a grid of penalties, from streamed normal equations."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rfbench.clock import Clock
from rfbench.compute import gram
from rfbench.solvers.base import LinearClassifier, LinearModel, LinearRegressor, Path
from rfbench.solvers.design import Design


class _Ridge(LinearModel):
    def _paths(
        self,
        design: Design,
        targets: NDArray[np.float64],
        alphas: NDArray[np.float64],
        groups: NDArray[np.intp] | None,
        clock: Clock,
    ) -> tuple[Path, list[Path], float]:
        codes = None if groups is None else groups - groups.min()
        parts = gram.accumulate(
            design.transform_into,
            design.X,
            targets,
            design.n_columns,
            groups=codes,
            clock=clock,
        )
        with clock.part("train"):
            if groups is None:
                total, held = parts, []
            else:
                total = sum(parts[1:], start=parts[0])
                held = parts[-groups.min() :]
            path = self._solve(total, alphas)
            partial = [
                self._solve(total - part, self._alphas_for(alphas, 1.0 - part.n / total.n))
                for part in held
            ]
            norm = float(np.trace(total.gram) / total.n)
        return path, partial, norm

    def _solve(self, equations: gram.NormalEquations, alphas: NDArray[np.float64]) -> Path:
        solved = gram.solve_ridge(equations, alphas, intercept=self.intercept)
        notes = sorted({text for text in solved.fallback if text})
        return Path(solved.coef, solved.intercept, notes)


class RidgeRegressor(_Ridge, LinearRegressor):
    r"""Ridge regression: minimises :math:`|y - Z\theta - b|^2 + \alpha |\theta|^2`.

    All penalties and folds come from sums and differences of Gram matrices accumulated in one pass
    over the rows. Parameters and attributes as in `rfbench.solvers.base.LinearModel`.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.solvers import RidgeRegressor
    >>> X = np.random.default_rng(0).standard_normal((50, 2))
    >>> RidgeRegressor(1e-9).fit(X, X @ [1.0, -2.0] + 3.0).coef_.round(6)
    array([[ 1., -2.]])
    """


class RidgeClassifier(_Ridge, LinearClassifier):
    r"""Least squares on labels coded -1 and +1: :math:`|y - Z\theta - b|^2 + \alpha |\theta|^2`.

    Two classes: the sign. More: one column a class (one-vs-rest), the largest wins. Parameters and
    attributes as in `rfbench.solvers.base.LinearModel`.
    """

    fits_coded_labels: ClassVar[bool] = True
