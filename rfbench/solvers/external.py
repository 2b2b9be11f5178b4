"""An estimator from elsewhere in the place of a solver."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from rfbench.arrays import Array, Rows
from rfbench.clock import Clock
from rfbench.errors import MethodError
from rfbench.memory import check_fits
from rfbench.solvers.design import check_columns, check_real, design_of
from rfbench.solvers.grouped_fits import matrix_bytes


def converges(model: Any, Z: Array, y: Array) -> bool:
    """Fit an estimator of scikit-learn's; return False where it warns that it did not converge."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(Z, y)
    return not any(issubclass(w.category, ConvergenceWarning) for w in caught)


class ExternalSolver:
    """Fits any scikit-learn estimator on the features, all of them in memory at once.

    Parameters
    ----------
    estimator : estimator with fit and predict
    classification : bool
        Predictions are class codes; otherwise real values.
    """

    uses_features = True
    evaluation_decisions_: Array | None = None
    alpha_ = alpha_scale_free_ = float("nan")
    selection_loss_: float | None = None
    converged_: bool | None = None
    gap_: float | None = None
    gap_folds_: float | None = None

    def __init__(self, estimator: Any, *, classification: bool) -> None:
        self.estimator, self.classification = estimator, classification
        self.notes_: list[str] = []

    def fit(
        self,
        X: Rows,
        y: Any,
        *,
        features: Any = None,
        evaluation: Any = None,
        clock: Clock | None = None,
    ) -> ExternalSolver:
        """Fit on rows X, shape (n, d), seen through `features`, and y, shape (n,)."""
        clock = clock or Clock()
        self.features_ = features
        design = design_of(X, features)
        check_fits(
            matrix_bytes(design.n, design.n_columns, 0, 1.0),
            f"The matrix of {design.n_columns} features of {design.n} rows, with a copy,",
            "Take the solver ridge, which streams its rows, or fewer rows or features.",
        )
        with clock.part("features"):
            Z = design.matrix()
        with clock.part("train"):
            self.estimator.fit(Z, y)
        self.n_columns_ = design.n_columns
        return self

    def decisions(self, X: Rows) -> Array:
        """Return the predictions, shape (n, 1)."""
        design = design_of(X, self.features_)
        check_columns(design.n_columns, self.n_columns_)
        values = np.asarray(self.estimator.predict(design.matrix()))
        if len(values) != X.shape[0] or values.ndim > 2:
            raise MethodError(
                f"{type(self.estimator).__name__} predicted an array of shape {values.shape} "
                f"for {X.shape[0]} rows."
            )
        check_real(values, f"{type(self.estimator).__name__} predicted values")
        return values.astype(np.float64).reshape(len(values), -1)

    def predict_codes(self, decisions: Array) -> NDArray[np.intp]:
        """Return the class codes of `decisions`."""
        return decisions[:, 0].astype(np.intp)

    def coded(self, labels: Any) -> Array | None:
        """Return None: the estimator's scores are not those of a coded target."""
        return None

    def chosen_selection(self) -> str:
        """Return 'fixed': what the estimator chooses, it chooses itself."""
        return "fixed"
