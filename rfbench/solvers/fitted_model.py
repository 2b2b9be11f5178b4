"""The interface of everything that a trial fits, and the record of one fit."""

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
    """The facts of one fit, as `Solver` documents them; an adapter gives those that it knows.

    Attributes
    ----------
    selection : str
        How the penalty was chosen, 'fixed' where there was one only.
    chosen : mapping or None
        Parameters that an estimator's own search chose, by name; None without a search.
    chosen_at_edge : list of str
        Those of them that are at an edge of the values that were tried.
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
    """Return the property of a fitted model that reads a field of its report."""

    def read(model: FittedModel) -> Any:
        return getattr(model.report_, name)

    return property(read, doc=f"The field `{name}` of `report_`.")


class FitOptions(TypedDict, total=False):
    """What `fit` can be given besides rows and target; see `Solver.fit`."""

    features: Any
    features_in_folds: Any
    groups: NDArray[Any] | None
    evaluation: tuple[Rows, Any] | None
    clock: Clock | None


class FittedModel(ABC):
    """Base of everything that is fitted on features: solvers, adapted estimators, no solver.

    Attributes
    ----------
    report_ : FitReport
        Set by `fit`; the attributes of the same names, with an underscore, read it.
    """

    # Whether it is fitted on features; otherwise it is fitted on the rows themselves.
    uses_features: ClassVar[bool] = True
    # Whether it has decisions that can be scored.
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
        """Fit on rows X, shape (n, d), seen through `features`; see `Solver.fit`."""

    def chosen_selection(self) -> str:
        """Return how the penalty is chosen, 'fixed' where there is one only, or none."""
        return "fixed"

    def holds_out_rows(self, n: int) -> bool:
        """Tell whether `fit` chooses by training rows that it holds out of n."""
        return False

    @abstractmethod
    def with_choice(self) -> FittedModel:
        """Return an unfitted copy whose settings are those that this fit has chosen."""

    @abstractmethod
    def decisions(self, X: Rows) -> Array:
        """Return the decision values of the rows, shape (n, t)."""

    def predict_codes(self, decisions: Array) -> NDArray[np.intp]:
        """Return the class codes of decision values; MethodError if there are no classes."""
        raise MethodError(f"{type(self).__name__} is not fitted on classes.")

    def coded(self, labels: Any) -> Array | None:
        """Return labels as the columns that least squares fitted; None where it fitted others."""
        return None

    def probabilities(self, X: Rows, codes: NDArray[Any], decisions: Array) -> Array | None:
        """Return the probabilities of the classes of rows that were not fitted, shape (n, K).

        None of a model that tells classes alone.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
        codes : array of shape (n,)
            Their class codes, by which scores that are no probabilities are calibrated.
        decisions : array of shape (n, t)
            Their decision values.
        """
        raise MethodError(f"{type(self).__name__} is not fitted on classes.")

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a saved model; one of an earlier version has attributes in place of a report."""
        state = dict(state)
        names = [each.name for each in fields(FitReport)]
        saved = {name: state.pop(f"{name}_") for name in names if f"{name}_" in state}
        self.__dict__.update(state)
        if saved:
            self.report_ = FitReport(selection=self.chosen_selection(), **saved)


class NoSolver(FittedModel):
    """The solver 'none': the features of the training rows are computed, and nothing is fitted."""

    predicts: ClassVar[bool] = False

    def fit(self, X: Rows, y: Any, **given: Unpack[FitOptions]) -> Self:
        """Compute the features of rows X, shape (n, d): their time is that of the features."""
        design = make_design(X, given.get("features"))
        with (given.get("clock") or Clock()).part("features"):
            design.matrix()
        self.report_ = FitReport(n_columns=design.n_columns)
        return self

    def with_choice(self) -> FittedModel:
        """Return another one."""
        return NoSolver()

    def decisions(self, X: Rows) -> Array:
        """Raise MethodError: nothing is fitted."""
        raise MethodError("There is no solver, and so there are no decisions.")
