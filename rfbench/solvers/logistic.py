"""Logistic regression over a grid of penalties."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from rfbench.clock import Clock
from rfbench.errors import MethodError
from rfbench.solvers.base import LinearClassifier, Path
from rfbench.solvers.design import Design

NEWTON_LIMIT = 1500


class LogisticClassifier(LinearClassifier):
    r"""Logistic regression: minimises :math:`\sum_i \ell(y_i, z_i^\top\theta + b) + \alpha|\theta|^2/2`.

    Two classes: the logistic loss; more: the multinomial loss. Fitted by scikit-learn (its C is
    1/alpha), with Newton steps where the Hessian is small and L-BFGS otherwise, from the strongest
    penalty to the weakest. It needs the whole matrix of features in memory.

    Parameters
    ----------
    max_iter : int
        Iterations a penalty; a fit that stops there is noted.
    alphas, alpha_convention, selection, intercept, random_state
        See `rfbench.solvers.base.LinearModel`.
    """

    def __init__(
        self,
        alphas: float | list[float] = 1.0,
        *,
        alpha_convention: str = "absolute",
        selection: str | None = None,
        intercept: bool = True,
        max_iter: int = 1000,
        random_state: object = None,
    ) -> None:
        super().__init__(
            alphas,
            alpha_convention=alpha_convention,
            selection=selection,
            intercept=intercept,
            random_state=random_state,  # type: ignore[arg-type]
        )
        self.max_iter = max_iter

    def check_parameters(self) -> None:
        """Check that every penalty is positive."""
        super().check_parameters()
        if (self.grid() <= 0).any():
            raise MethodError(
                "Logistic regression needs penalties above 0.",
                "On separable data the fit without a penalty does not exist.",
            )

    def _paths(
        self,
        design: Design,
        targets: NDArray[np.float64],
        alphas: NDArray[np.float64],
        groups: NDArray[np.intp] | None,
        clock: Clock,
    ) -> tuple[Path, list[Path], float]:
        with clock.part("features"):
            Z = design.matrix()
        codes = (targets[:, 0] > 0).astype(np.intp) if targets.shape[1] == 1 else targets.argmax(1)
        with clock.part("train"):
            path = self._fit_path(Z, codes, targets.shape[1], alphas)
            partial = []
            if groups is not None:
                for g in range(int(groups.max()) + 1):
                    rest = groups != g
                    part = self._alphas_for(alphas, float(rest.mean()))
                    partial.append(self._fit_path(Z[rest], codes[rest], targets.shape[1], part))
            norm = float(np.einsum("ij,ij->", Z, Z) / len(Z))
        return path, partial, norm

    def _fit_path(
        self, Z: NDArray[np.float64], codes: NDArray[np.intp], t: int, alphas: NDArray[np.float64]
    ) -> Path:
        missing = set(range(max(t, 2))) - set(codes.tolist())
        if missing:
            raise MethodError(
                f"A part of the training rows has no row of {len(missing)} of the classes.",
                "It came out of the folds of the penalty's selection.",
                "Take fewer folds, or more rows.",
            )
        small = Z.shape[1] * t <= min(NEWTON_LIMIT, len(Z))
        model = LogisticRegression(
            solver="newton-cholesky" if small else "lbfgs",
            fit_intercept=self.intercept,
            max_iter=self.max_iter,
            warm_start=True,
        )
        coefficients, intercepts, notes = [], [], []
        for alpha in alphas:
            model.set_params(C=1.0 / alpha)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.fit(Z, codes)
            if any(issubclass(w.category, ConvergenceWarning) for w in caught):
                notes.append(f"alpha {alpha:g}: no convergence in {self.max_iter} iterations")
            coefficients.append(model.coef_.T.astype(np.float64))
            intercepts.append(np.broadcast_to(model.intercept_, (t,)).astype(np.float64))
        return Path(np.stack(coefficients), np.stack(intercepts), notes)
