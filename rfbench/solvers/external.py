"""An adapter that uses any scikit-learn estimator as a solver."""

from __future__ import annotations

import inspect
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.clock import Clock
from rfbench.errors import MethodError
from rfbench.memory import check_memory_fits
from rfbench.samplers.base import uses_target
from rfbench.samplers.feature_map import check_columns, check_real_values
from rfbench.solvers.design import make_design
from rfbench.solvers.fitted_model import FitOptions, FitReport, FittedModel
from rfbench.solvers.folds import ONCE, assign_group_folds

# Default values of scikit-learn. USUAL_FOLDS is the default number of folds of cross-validation.
# MOST_WITHOUT_STOPPING is the largest number of rows for which histogram gradient boosting with
# early_stopping='auto' does not stop early.
USUAL_FOLDS, MOST_WITHOUT_STOPPING = 5, 10_000


def uses_held_out_rows(estimator: Any, n: int) -> bool:
    """Return True if a fit of the estimator on n rows holds out some of these rows.

    Held-out rows are used to select settings by cross-validation, or to stop early.
    """
    return _has_folds(estimator) or _stops_early(estimator, n)


def _has_folds(estimator: Any) -> bool:
    """Return True if a scikit-learn estimator selects its settings by cross-validation.

    Such an estimator has a parameter `cv` that is None or a number of folds.
    """
    if not isinstance(estimator, BaseEstimator):
        return False
    cv = estimator.get_params(deep=False).get("cv", "none")
    return cv is None or isinstance(cv, int)


def _stops_early(estimator: Any, n: int) -> bool:
    """Return True if a fit of the estimator on n rows stops early and accepts validation rows.

    The validation rows are the argument `X_val` of the estimator's `fit`.
    """
    if "X_val" not in inspect.signature(estimator.fit).parameters:
        return False
    asked = getattr(estimator, "early_stopping", False)
    return n > MOST_WITHOUT_STOPPING if asked == "auto" else bool(asked)


class ExternalSolver(FittedModel):
    """Adapter that fits a scikit-learn estimator on the complete matrix of features.

    Parameters
    ----------
    estimator : estimator with fit and predict
    classification : bool
        True if predictions are class codes, False if they are real values.
    random_state : int
        Random seed for the assignment of groups of rows to folds.
    """

    def __init__(self, estimator: Any, *, classification: bool, random_state: int = 0) -> None:
        self.estimator, self.classification = estimator, classification
        self.random_state = random_state
        self._shares: Array | None = None

    def fit(self, X: Rows, y: Any, **given: Unpack[FitOptions]) -> Self:
        """Fit the estimator on the features of the rows X, shape (n, d), and the target y.

        If the estimator holds out rows by itself and `groups` are given, all rows of a group are
        held out together. If the features have used the targets of held-out rows, the report has a
        note.

        If the estimator has the attribute `chooses_by_evaluation`, its `fit` selects the settings
        on the rows and targets of `evaluation`, which are passed as `X_val` and `y_val`. The
        attribute `evaluation_` of the estimator then contains its predictions for these rows.
        """
        clock, evaluation = given.get("clock") or Clock(), given.get("evaluation")
        self.features_ = features = given.get("features")
        design = make_design(X, features)
        check_memory_fits(
            16.0 * design.n * design.n_columns,
            f"The matrix of {design.n_columns} features of {design.n} rows, with a copy,",
            "Use the solver ridge, which processes rows in blocks, or fewer rows or features.",
        )
        notes, in_folds = [], None
        if uses_target(features) and uses_held_out_rows(self.estimator, design.n):
            in_folds = ONCE
            name = type(self.estimator).__name__
            notes.append(f"{name} holds out rows, but the features have used their targets")
        with clock.time_part("features"):
            Z = design.compute_matrix()
        choice: dict[str, Any] = {}
        if evaluation is not None and getattr(self.estimator, "chooses_by_evaluation", False):
            with clock.time_part("features"):
                held = make_design(evaluation[0], features).compute_matrix()
            choice = self._choose_by_evaluation(Z, np.asarray(y), held, evaluation[1], clock)
        else:
            with clock.time_part("train"):
                self._fit(Z, np.asarray(y), given.get("groups"))
        self.report_ = FitReport(
            features_in_folds=in_folds,
            notes=notes,
            n_columns=design.n_columns,
            chosen=getattr(self.estimator, "best_params_", None),
            chosen_at_edge=list(getattr(self.estimator, "at_edge_", ())),
            **choice,
        )
        return self

    def _choose_by_evaluation(
        self, Z: FloatArray, y: NDArray[Any], held: FloatArray, y_held: Any, clock: Clock
    ) -> dict[str, Any]:
        """Fit the estimator on Z and y. The estimator selects its settings on `held` and `y_held`.

        Return the fields of `FitReport` that describe the selection.
        """
        with clock.time_part("train"):
            self.estimator.fit(Z, y, X_val=held, y_val=np.asarray(y_held))
        said = self.estimator.evaluation_
        self._shares = said if self.classification else None
        return {
            "selection": "test",
            "selection_loss": self.estimator.evaluation_loss_,
            "evaluation_decisions": said.argmax(axis=1)[:, None] if self.classification else said,
            "arrays": self.estimator.arrays_,
        }

    def _fit(self, Z: FloatArray, y: NDArray[Any], groups: NDArray[Any] | None) -> None:
        """Fit the estimator on the features Z and the target y.

        If the estimator holds out rows and `groups` are given, all rows of a group are held out
        together.
        """
        if groups is None or not uses_held_out_rows(self.estimator, len(y)):
            self.estimator.fit(Z, y)
            return
        own = self.estimator.get_params(deep=False)
        count = own.get("cv") or USUAL_FOLDS
        if stops := _stops_early(self.estimator, len(y)):
            share = own.get("validation_fraction") or 1 / USUAL_FOLDS
            count = max(2, round(1 / share)) if share < 1 else max(2, round(len(y) / share))
        codes = y.astype(np.intp) if self.classification else None
        folds = assign_group_folds(groups, codes, count, self.random_state)
        if stops:
            first = folds == 0
            self.estimator.fit(Z[~first], y[~first], X_val=Z[first], y_val=y[first])
            return
        from sklearn.model_selection import PredefinedSplit

        self.estimator.set_params(cv=list(PredefinedSplit(folds).split())).fit(Z, y)

    def compute_decisions(self, X: Rows) -> Array:
        """Return the predictions of the estimator for the n rows X as an array of shape (n, t)."""
        design = make_design(X, self.features_)
        check_columns(design.n_columns, self.n_columns_)
        values = np.asarray(self.estimator.predict(design.compute_matrix()))
        if len(values) != X.shape[0] or values.ndim > 2:
            raise MethodError(
                f"{type(self.estimator).__name__} predicted an array of shape {values.shape} "
                f"for {X.shape[0]} rows."
            )
        check_real_values(values, f"{type(self.estimator).__name__} predicted values")
        return values.astype(np.float64).reshape(len(values), -1)

    def compute_probabilities(self, X: Rows, codes: NDArray[Any], decisions: Array) -> Array | None:
        """Return the class probabilities of the n rows X, shape (n, K).

        Return None if the estimator does not predict probabilities. If the estimator has selected
        its settings on evaluation rows, X has to be these rows, and their stored probabilities are
        returned.
        """
        if self._shares is not None:
            return self._shares
        if not hasattr(self.estimator, "predict_proba"):
            return None
        return np.asarray(
            self.estimator.predict_proba(make_design(X, self.features_).compute_matrix())
        )

    def predict_codes(self, decisions: Array) -> NDArray[np.intp]:
        """Convert predictions of class codes, shape (n, 1), to integers, shape (n,)."""
        return decisions[:, 0].astype(np.intp)

    def uses_held_out_rows(self, n: int) -> bool:
        """Return True if a fit on n rows holds out some of these rows.

        Held-out rows are used to select settings by cross-validation, or to stop early.
        """
        return uses_held_out_rows(self.estimator, n)

    def with_selected_settings(self) -> ExternalSolver:
        """Return an unfitted copy with the settings that the estimator has selected.

        If the estimator is a search over settings, the copy contains the best estimator found.
        """
        best = clone(getattr(self.estimator, "best_estimator_", self.estimator))
        return ExternalSolver(
            best, classification=self.classification, random_state=self.random_state
        )
