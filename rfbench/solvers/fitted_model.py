"""The common base class of fitted models, and the report of a fit."""

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
    """Facts about a fit, such as the selected penalty and the convergence.

    The fields that are not listed here are described in the attributes of `Solver`.

    Attributes
    ----------
    selection : str
        Method that selected the penalty. 'fixed' for a single value.
    chosen : mapping or None
        Parameters that an estimator's own search has selected, by name. None without a search.
    chosen_at_edge : list of str
        Names of the parameters for which the smallest or the largest value tried was selected.
    arrays : mapping of str to array
        Arrays of the fit to be stored with the predictions.
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


def _make_report_property(name: str) -> Any:
    """Return a property whose value is the field `name` of the report of the fit."""

    def read(model: FittedModel) -> Any:
        return getattr(model.report_, name)

    return property(read, doc=f"The field `{name}` of `report_`.")


class FitOptions(TypedDict, total=False):
    """Optional arguments of the `fit` of a model, which `Solver.fit` describes."""

    features: Any
    features_in_folds: Any
    groups: NDArray[Any] | None
    evaluation: tuple[Rows, Any] | None
    clock: Clock | None


class FittedModel(ABC):
    """Base class of models that are fitted on the features or the rows of a training set.

    Attributes
    ----------
    report_ : FitReport
        The report of the fit. An attribute such as `alpha_` has the value of the field `alpha` of
        this report.
    """

    # True if the model is fitted on random features. False if the model is fitted on the rows of
    # the data.
    uses_features: ClassVar[bool] = True
    # True if the model computes decision values, which have a test error.
    predicts: ClassVar[bool] = True

    report_: FitReport

    alpha_ = _make_report_property("alpha")
    alpha_absolute_ = _make_report_property("alpha_absolute")
    alpha_scale_free_ = _make_report_property("alpha_scale_free")
    selection_loss_ = _make_report_property("selection_loss")
    fold_losses_ = _make_report_property("fold_losses")
    features_in_folds_ = _make_report_property("features_in_folds")
    converged_ = _make_report_property("converged")
    gap_ = _make_report_property("gap")
    gap_folds_ = _make_report_property("gap_folds")
    notes_ = _make_report_property("notes")
    n_columns_ = _make_report_property("n_columns")
    evaluation_decisions_ = _make_report_property("evaluation_decisions")

    @abstractmethod
    def fit(self, X: Rows, y: Any, **given: Unpack[FitOptions]) -> Self:
        """Fit the model on the features of the rows X, shape (n, d), and the target y.

        The optional arguments are the same as for `Solver.fit`.
        """

    def resolve_selection(self) -> str:
        """Return the name of the method that selects the penalty.

        The method is 'fixed' for a model without a penalty or with a single penalty.
        """
        return "fixed"

    def uses_held_out_rows(self, n: int) -> bool:
        """Return True if a fit on n rows holds out some of these rows.

        Held-out rows are used to select settings, or to stop early.
        """
        return False

    @abstractmethod
    def with_selected_settings(self) -> FittedModel:
        """Return an unfitted copy of the model with the settings that `fit` has selected."""

    @abstractmethod
    def compute_decisions(self, X: Rows) -> Array:
        """Return the decision values of the n rows X in the t decision columns, shape (n, t)."""

    def predict_codes(self, decisions: Array) -> NDArray[np.intp]:
        """Return the class codes that are predicted from decision values, shape (n,).

        Raise MethodError if the model does not predict classes.
        """
        raise MethodError(f"{type(self).__name__} does not predict classes.")

    def encode_labels(self, labels: Any) -> Array | None:
        """Return `labels` coded as columns of -1 and +1.

        Return None if the model is not fitted on such columns.
        """
        return None

    def compute_probabilities(self, X: Rows, codes: NDArray[Any], decisions: Array) -> Array | None:
        """Return the class probabilities of rows that were not used in the fit, shape (n, K).

        Return None if the model predicts classes without probabilities.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
        codes : array of shape (n,)
            True class codes of the rows X, with which the probabilities are calibrated.
        decisions : array of shape (n, t)
            Decision values of the rows X.
        """
        raise MethodError(f"{type(self).__name__} does not predict classes.")

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a saved model from its state.

        If an earlier version saved the model, its attributes are converted to a report of the fit.
        """
        state = dict(state)
        names = [each.name for each in fields(FitReport)]
        saved = {name: state.pop(f"{name}_") for name in names if f"{name}_" in state}
        self.__dict__.update(state)
        if saved:
            self.report_ = FitReport(selection=self.resolve_selection(), **saved)


class NoSolver(FittedModel):
    """The solver 'none', which computes the features of the training set without a model."""

    predicts: ClassVar[bool] = False

    def fit(self, X: Rows, y: Any, **given: Unpack[FitOptions]) -> Self:
        """Compute the features of the rows X, shape (n, d), and record the time. Fit no model."""
        design = make_design(X, given.get("features"))
        with (given.get("clock") or Clock()).time_part("features"):
            design.compute_matrix()
        self.report_ = FitReport(n_columns=design.n_columns)
        return self

    def with_selected_settings(self) -> FittedModel:
        """Return a new `NoSolver`, which has no settings."""
        return NoSolver()

    def compute_decisions(self, X: Rows) -> Array:
        """Raise MethodError, because no model is fitted."""
        raise MethodError("The solver 'none' does not fit a model, so there are no predictions.")
