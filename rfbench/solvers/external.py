"""An estimator from elsewhere in the place of a solver."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import PredefinedSplit

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.clock import Clock
from rfbench.errors import MethodError
from rfbench.memory import check_fits
from rfbench.samplers.base import looks_at_target
from rfbench.samplers.feature_map import check_columns, check_real
from rfbench.solvers.design import design_of
from rfbench.solvers.folds import ONCE, whole_groups

# What scikit-learn takes where nothing is said: folds; rows up to which boosting that stops early
# by itself does not.
USUAL_FOLDS, MOST_WITHOUT_STOPPING = 5, 10_000


def chooses(estimator: Any, n: int) -> bool:
    """Tell whether an estimator holds out rows of n to choose by: its folds, or to stop early."""
    return _has_folds(estimator) or _stops_early(estimator, n)


def _has_folds(estimator: Any) -> bool:
    """Tell whether an estimator of scikit-learn's has folds of its own, that rows can be put in."""
    if not isinstance(estimator, BaseEstimator):
        return False
    cv = estimator.get_params(deep=False).get("cv", "none")
    return cv is None or isinstance(cv, int)


def _stops_early(estimator: Any, n: int) -> bool:
    """Tell whether it stops by the loss on rows held out, and takes these from the caller."""
    if "X_val" not in inspect.signature(estimator.fit).parameters:
        return False
    asked = getattr(estimator, "early_stopping", False)
    return n > MOST_WITHOUT_STOPPING if asked == "auto" else bool(asked)


class ExternalSolver:
    """Fits any scikit-learn estimator on the features, all of them in memory at once.

    Parameters
    ----------
    estimator : estimator with fit and predict
    classification : bool
        Predictions are class codes; otherwise real values.
    random_state : int
        Of the folds of whole groups.
    """

    uses_features = True
    evaluation_decisions_: Array | None = None
    alpha_ = alpha_scale_free_ = float("nan")
    selection_loss_: float | None = None
    converged_: bool | None = None
    gap_: float | None = None
    gap_folds_: float | None = None
    features_in_folds_: str | None = None

    def __init__(self, estimator: Any, *, classification: bool, random_state: int = 0) -> None:
        self.estimator, self.classification = estimator, classification
        self.random_state = random_state
        self.notes_: list[str] = []
        self.arrays_: dict[str, Array] = {}
        self._shares: Array | None = None

    def fit(
        self,
        X: Rows,
        y: Any,
        *,
        features: Any = None,
        features_in_folds: Any = None,
        groups: NDArray[Any] | None = None,
        evaluation: Any = None,
        clock: Clock | None = None,
    ) -> ExternalSolver:
        """Fit on rows X, shape (n, d), seen through `features`, and y, shape (n,).

        An estimator that holds out rows to choose by holds out whole `groups`, shape (n,). One that
        says `chooses_by_evaluation` is given the rows of `evaluation` as `X_val` and `y_val`, as
        the solvers' selection 'test' is; its `evaluation_` is what it says of them. What
        features that look at the target have seen of these rows' targets cannot be taken back
        here, and is noted.
        """
        clock = clock or Clock()
        self.features_ = features
        design = design_of(X, features)
        check_fits(
            16.0 * design.n * design.n_columns,
            f"The matrix of {design.n_columns} features of {design.n} rows, with a copy,",
            "Take the solver ridge, which streams its rows, or fewer rows or features.",
        )
        if looks_at_target(features) and chooses(self.estimator, design.n):
            self.features_in_folds_ = ONCE
            name = type(self.estimator).__name__
            self.notes_.append(f"{name} chooses by rows whose targets the features have seen")
        with clock.part("features"):
            Z = design.matrix()
        self.n_columns_ = design.n_columns
        if getattr(self.estimator, "chooses_by_evaluation", False) and evaluation is not None:
            with clock.part("features"):
                held = design_of(evaluation[0], features).matrix()
            with clock.part("train"):
                self.estimator.fit(Z, np.asarray(y), X_val=held, y_val=np.asarray(evaluation[1]))
            said = self.estimator.evaluation_
            self._shares = said if self.classification else None
            self.evaluation_decisions_ = (
                said.argmax(axis=1)[:, None] if self.classification else said
            )
            self.selection_loss_ = self.estimator.evaluation_loss_
            self.arrays_ = self.estimator.arrays_
        else:
            with clock.part("train"):
                self._fit(Z, np.asarray(y), groups)
        return self

    def _fit(self, Z: FloatArray, y: NDArray[Any], groups: NDArray[Any] | None) -> None:
        """Fit the estimator; where it holds out rows and there are groups, whole ones."""
        if groups is None or not chooses(self.estimator, len(y)):
            self.estimator.fit(Z, y)
            return
        own = self.estimator.get_params(deep=False)
        count = own.get("cv") or USUAL_FOLDS
        if stops := _stops_early(self.estimator, len(y)):
            share = own.get("validation_fraction") or 1 / USUAL_FOLDS
            count = max(2, round(1 / share)) if share < 1 else max(2, round(len(y) / share))
        codes = y.astype(np.intp) if self.classification else None
        folds = whole_groups(groups, codes, count, self.random_state)
        if stops:
            first = folds == 0
            self.estimator.fit(Z[~first], y[~first], X_val=Z[first], y_val=y[first])
            return
        self.estimator.set_params(cv=list(PredefinedSplit(folds).split())).fit(Z, y)

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

    def probabilities(self, X: Rows) -> Array | None:
        """Return the probabilities of the classes, shape (n, K); None where it has none.

        Those of the evaluation rows where the estimator chose by them, and X is these.
        """
        if self._shares is not None:
            return self._shares
        if not hasattr(self.estimator, "predict_proba"):
            return None
        return np.asarray(self.estimator.predict_proba(design_of(X, self.features_).matrix()))

    def predict_codes(self, decisions: Array) -> NDArray[np.intp]:
        """Return the class codes of `decisions`."""
        return decisions[:, 0].astype(np.intp)

    def coded(self, labels: Any) -> Array | None:
        """Return None: the estimator's scores are not those of a coded target."""
        return None

    def chosen_selection(self) -> str:
        """Return 'fixed': what the estimator chooses, it chooses itself; or 'test'."""
        return "fixed" if self.evaluation_decisions_ is None else "test"
