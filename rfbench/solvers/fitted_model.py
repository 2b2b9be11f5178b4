"""The interface of every object that a trial fits, and the record of one fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, Rows
from rfbench.clock import Clock
from rfbench.errors import MethodError
from rfbench.solvers.design import make_design


@dataclass(frozen=True, eq=False, kw_only=True)
class FitReport:
    """Facts about one fit, documented in `Solver`; adapters set only some of them.

    Attributes
    ----------
    selection : str
        How the penalty was selected; 'fixed' for a single value.
    chosen : mapping or None
        Parameters selected by an estimator's own search, by name; None without a search.
    chosen_at_edge : list of str
        Names of selected parameters that are at an edge of the values tried.
    arrays : mapping of str to array
        Arrays of the fit that are stored with the predictions.
    """

    alpha: float = float("nan")
    alpha_absolute: float = float("nan")
    alpha_scale_free: float = float("nan")
    selection: str = "fixed"
    selection_loss: float | None = None
    fold_losses: Array | None = None
    features_in_folds: str | None = None
    converged: bool | None = None
    gap: float | None = None
    gap_folds: float | None = None
    notes: list[str] = field(default_factory=list)
    n_columns: int = 0
    evaluation_decisions: Array | None = None
    chosen: Mapping[str, Any] | None = None
    chosen_at_edge: list[str] = field(default_factory=list)
    arrays: Mapping[str, Array] = field(default_factory=dict)


def reported(name: str) -> Any:
    """Return a property for models; it reads this field of the report of the fit."""

    def read(model: FittedModel) -> Any:
        return getattr(model.report_, name)

    return property(read, doc=f"The field `{name}` of `report_`.")


class FitOptions(TypedDict, total=False):
    """Optional arguments of `fit` in addition to rows and target. See `Solver.fit`."""

    features: Any
    features_in_folds: Any
    groups: NDArray[Any] | None
    evaluation: tuple[Rows, Any] | None
    clock: Clock | None


class FittedModel(ABC):
    """Base class of `Solver`, of `ExternalSolver` for adapted estimators, and of `NoSolver`.

    Attributes
    ----------
    report_ : FitReport
        Set by `fit`. The attributes of the same names, with an underscore, read it.
    """

    # True if the model is fitted on features, and False if it is fitted on the rows themselves.
    uses_features: ClassVar[bool] = True
    # True: the model has decisions that can be scored.
    predicts: ClassVar[bool] = True

    report_: FitReport

    alpha_ = reported("alpha")
    alpha_absolute_ = reported("alpha_absolute")
    alpha_scale_free_ = reported("alpha_scale_free")
    selection_loss_ = reported("selection_loss")
    fold_losses_ = reported("fold_losses")
    features_in_folds_ = reported("features_in_folds")
    converged_ = reported("converged")
    gap_ = reported("gap")
    gap_folds_ = reported("gap_folds")
    notes_ = reported("notes")
    n_columns_ = reported("n_columns")
    evaluation_decisions_ = reported("evaluation_decisions")

    @abstractmethod
    def fit(self, X: Rows, y: Any, **given: Unpack[FitOptions]) -> Self:
        """Fit on the features of the rows X, shape (n, d). See `Solver.fit`."""

    def chosen_selection(self) -> str:
        """Return the method that selects the penalty; 'fixed' for at most one penalty."""
        return "fixed"

    def holds_out_rows(self, n: int) -> bool:
        """Return True if `fit` holds out some of the n rows for the selection."""
        return False

    @abstractmethod
    def with_choice(self) -> FittedModel:
        """Return an unfitted copy with the settings that this fit has selected."""

    @abstractmethod
    def decisions(self, X: Rows) -> Array:
        """Return the decision values of the rows, shape (n, t)."""

    def predict_codes(self, decisions: Array) -> NDArray[np.intp]:
        """Return the class codes of decision values; MethodError if there are no classes."""
        raise MethodError(f"{type(self).__name__} is not fitted on classes.")

    def coded(self, labels: Any) -> Array | None:
        """Return labels as the columns of a least-squares fit; None if it fitted other columns."""
        return None

    def probabilities(self, X: Rows, codes: NDArray[Any], decisions: Array) -> Array | None:
        """Return the probabilities of the classes for rows that were not fitted, shape (n, K).

        Return None if the model predicts only classes.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
        codes : array of shape (n,)
            Their class codes, used to calibrate scores that are not probabilities.
        decisions : array of shape (n, t)
            Their decision values.
        """
        raise MethodError(f"{type(self).__name__} is not fitted on classes.")

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a saved model; models of earlier versions have attributes instead of a report."""
        state = dict(state)
        names = [each.name for each in fields(FitReport)]
        saved = {name: state.pop(f"{name}_") for name in names if f"{name}_" in state}
        self.__dict__.update(state)
        if saved:
            self.report_ = FitReport(selection=self.chosen_selection(), **saved)


class NoSolver(FittedModel):
    """The solver 'none': the features of the training set are computed, but nothing is fitted."""

    predicts: ClassVar[bool] = False

    def fit(self, X: Rows, y: Any, **given: Unpack[FitOptions]) -> Self:
        """Compute the features of rows X, shape (n, d); the time counts as time of features."""
        design = make_design(X, given.get("features"))
        with (given.get("clock") or Clock()).part("features"):
            design.matrix()
        self.report_ = FitReport(n_columns=design.n_columns)
        return self

    def with_choice(self) -> FittedModel:
        """Return a new `NoSolver`."""
        return NoSolver()

    def decisions(self, X: Rows) -> Array:
        """Raise MethodError: nothing is fitted."""
        raise MethodError("The solver 'none' has no decisions.")
