"""What all solvers share: a linear model on features, fitted for every penalty of a grid.

A solver is a scikit-learn estimator; `fit` takes in addition a fitted feature map (`features`), so
that the rows are seen block by block. A subclass writes `_paths`: coefficients for every penalty,
from all rows and from all but one group of rows.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from rfbench.clock import Clock
from rfbench.errors import MethodError, nearest
from rfbench.kernels import Rows
from rfbench.samplers.base import RandomState
from rfbench.solvers.design import Design, quiet_clock

CONVENTIONS = ("absolute", "per-sample")
SELECTIONS = ("fixed", "test", "validation", "cv5")
VALIDATION_SHARE = 0.2


@dataclass(frozen=True)
class Path:
    """The fits of one training set for every penalty.

    Attributes
    ----------
    coefficients : array of shape (a, p, t)
        One a penalty; t targets (1 for a binary or real target, one a class otherwise).
    intercepts : array of shape (a, t)
    notes : list of str
        What had to be done to get them (fall-backs, no convergence).
    """

    coefficients: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    notes: list[str] = field(default_factory=list)

    def decisions(self, design: Design) -> NDArray[np.float64]:
        """Return the decision values of the rows, shape (a, n, t)."""
        a, p, t = self.coefficients.shape
        flat = self.coefficients.transpose(1, 0, 2).reshape(p, a * t)
        values = design.multiply(flat).reshape(design.n, a, t)
        return np.asarray((values + self.intercepts).transpose(1, 0, 2))


Loss = Callable[[NDArray[np.float64], NDArray[np.intp] | None], NDArray[np.float64]]


class LinearModel(BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the linear solvers.

    Parameters
    ----------
    alphas : sequence of float
        The grid of penalties; one number is a grid of one.
    alpha_convention : {'absolute', 'per-sample'}
        The penalty is alpha |theta|^2, or n alpha |theta|^2 with the sum over n rows as the loss.
    selection : {'fixed', 'test', 'validation', 'cv5'}
        How one penalty is taken from the grid: there is only one; the smallest error on the
        evaluation rows given to `fit` (optimistic when they are the test rows); on a random fifth
        of the training rows; by five-fold (cvK: K-fold) cross-validation. After the choice all
        rows are fitted. Of equally good penalties the largest wins.
    intercept : bool
        Fit a constant that is not penalised.
    random_state : int, Generator, RandomState, SeedSequence or None
        For the folds.

    Attributes
    ----------
    coef_ : array of shape (t, p)
    intercept_ : array of shape (t,)
    alpha_ : float
        The chosen penalty, in the convention asked for.
    alpha_absolute_ : float
    alpha_scale_free_ : float
        alpha_absolute_ divided by the mean squared norm of a row of features.
    notes_ : list of str
    """

    def __init__(
        self,
        alphas: float | Sequence[float] = 1.0,
        *,
        alpha_convention: str = "absolute",
        selection: str | None = None,
        intercept: bool = True,
        random_state: RandomState = None,
    ) -> None:
        self.alphas = alphas
        self.alpha_convention = alpha_convention
        self.selection = selection
        self.intercept = intercept
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Raise MethodError where the parameters cannot be served, without any data."""
        grid = self.grid()
        if len(grid) == 0 or not np.isfinite(grid).all() or (grid < 0).any():
            raise MethodError(f"alphas is {self.alphas!r}.", "Penalties are numbers of at least 0.")
        if self.alpha_convention not in CONVENTIONS:
            raise MethodError(
                f"There is no alpha_convention '{self.alpha_convention}'."
                f"{nearest(str(self.alpha_convention), list(CONVENTIONS))}",
                f"It is one of {', '.join(CONVENTIONS)}.",
            )
        chosen = self.chosen_selection()
        if chosen not in SELECTIONS and not re.fullmatch(r"cv([2-9]|[1-9]\d)", chosen):
            raise MethodError(
                f"There is no selection '{chosen}'.{nearest(chosen, list(SELECTIONS))}",
                f"It is one of {', '.join(SELECTIONS)} (or another cvK).",
            )
        if chosen == "fixed" and len(grid) > 1:
            raise MethodError(
                f"There are {len(grid)} alphas and selection is 'fixed'.",
                "A fixed penalty is a single number.",
                "Give one alpha, or selection: cv5, validation or test.",
            )

    def grid(self) -> NDArray[np.float64]:
        """Return the penalties in decreasing order, in the convention asked for."""
        values = np.unique(np.atleast_1d(np.asarray(self.alphas, dtype=np.float64)))
        return values[::-1]

    def chosen_selection(self) -> str:
        """Return the selection, 'fixed' or 'cv5' where none was asked for."""
        if self.selection is not None:
            return str(self.selection)
        return "fixed" if len(self.grid()) == 1 else "cv5"

    @abstractmethod
    def _paths(
        self,
        design: Design,
        targets: NDArray[np.float64],
        alphas: NDArray[np.float64],
        groups: NDArray[np.intp] | None,
        clock: Clock,
    ) -> tuple[Path, list[Path], float]:
        """Fit all rows, and all rows but those of group g for every g of the groups >= 0.

        `alphas` are absolute, for `design.n` rows; a fit on fewer rows takes proportionally
        smaller ones under the per-sample convention (`_alphas_for`). Returns the path of all rows,
        a path a group, and the mean squared norm of a row of features.
        """

    def _alphas_for(self, alphas: NDArray[np.float64], part: float) -> NDArray[np.float64]:
        """Return the absolute penalties for a fit on a part (0 to 1) of the rows."""
        return alphas * part if self.alpha_convention == "per-sample" else alphas

    def _fit_columns(
        self,
        design: Design,
        targets: NDArray[np.float64],
        loss: Loss,
        evaluation: Design | None,
        clock: Clock | None,
    ) -> None:
        clock = quiet_clock(clock)
        grid = self.grid()
        alphas = grid * design.n if self.alpha_convention == "per-sample" else grid
        selection = self.chosen_selection()
        if selection == "test" and evaluation is None:
            raise MethodError(
                "selection is 'test', but fit was given no evaluation rows.",
                "",
                "Pass fit(..., evaluation=(X, y)), or select by cv5 or validation.",
            )
        groups = self._groups(selection, design.n)
        path, partial, row_norm = self._paths(design, targets, alphas, groups, clock)
        if selection == "fixed":
            best = 0
        elif evaluation is not None and selection == "test":
            with clock.part("test"):
                self.evaluation_decisions_ = path.decisions(evaluation)
            best = int(np.argmin(loss(self.evaluation_decisions_, None)))
        else:
            assert groups is not None
            with clock.part("train"):
                total = np.zeros(len(grid))
                for g, fitted in enumerate(partial):
                    rows = np.flatnonzero(groups == g)
                    total += loss(fitted.decisions(design.take(rows)), rows) * len(rows)
                best = int(np.argmin(total))
        self.chosen_ = best
        self.alpha_ = float(grid[best])
        self.alpha_absolute_ = float(alphas[best])
        self.alpha_scale_free_ = float(alphas[best] / row_norm) if row_norm > 0 else float("nan")
        self.coef_ = path.coefficients[best].T.copy()
        self.intercept_ = path.intercepts[best].copy()
        self.notes_ = path.notes

    def _groups(self, selection: str, n: int) -> NDArray[np.intp] | None:
        """Return the number of the held-out group of each row, -1 for rows never held out."""
        if selection in ("fixed", "test"):
            return None
        generator = np.random.default_rng(self.random_state)  # type: ignore[arg-type]
        if selection == "validation":
            groups = np.full(n, -1)
            groups[generator.permutation(n)[: max(1, round(VALIDATION_SHARE * n))]] = 0
            return groups
        folds = int(selection.removeprefix("cv"))
        if folds > n:
            raise MethodError(f"{selection} needs at least {folds} rows, there are {n}.")
        return np.asarray(generator.permutation(n) % folds, dtype=np.intp)

    def decisions(self, X: Rows) -> NDArray[np.float64]:
        """Return the decision values of the rows, shape (n, t)."""
        check_is_fitted(self, "coef_")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return Design(X, self.features_).multiply(self.coef_.T) + self.intercept_

    def _validated(self, X: Rows, y: Any, *, numeric: bool) -> tuple[Rows, Any]:
        self.check_parameters()
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            y_numeric=numeric,
            multi_output=numeric,
        )
        return X, y

    def __sklearn_tags__(self) -> Any:
        """Describe the solver to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearRegressor(RegressorMixin, LinearModel):  # type: ignore[misc]
    """A linear solver for real targets, one or several columns."""

    def fit(
        self,
        X: Rows,
        y: Any,
        *,
        features: Any = None,
        evaluation: tuple[Rows, Any] | None = None,
        clock: Clock | None = None,
    ) -> LinearRegressor:
        """Fit on rows X, shape (n, d), seen through `features`, and y, shape (n,) or (n, t)."""
        X, y = self._validated(X, y, numeric=True)
        y = np.asarray(y, dtype=np.float64)
        self.features_ = features
        self._flat = y.ndim == 1
        columns = y.reshape(len(y), -1)
        seen = (
            None if evaluation is None else np.asarray(evaluation[1]).reshape(-1, columns.shape[1])
        )

        def loss(
            decisions: NDArray[np.float64], rows: NDArray[np.intp] | None
        ) -> NDArray[np.float64]:
            truth = seen if rows is None else columns[rows]
            return np.asarray(np.mean((decisions - truth) ** 2, axis=(1, 2)))

        held = None if evaluation is None else Design(evaluation[0], features)
        self._fit_columns(Design(X, features), columns, loss, held, clock)
        return self

    def predict(self, X: Rows) -> NDArray[np.float64]:
        """Return the predictions, shaped as the y of `fit`."""
        values = self.decisions(X)
        return values[:, 0] if self._flat else values

    def __sklearn_tags__(self) -> Any:
        """Describe the solver to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class LinearClassifier(ClassifierMixin, LinearModel):  # type: ignore[misc]
    """A linear solver for class labels; one decision column for two classes, else one a class."""

    fits_coded_labels: ClassVar[bool] = False

    def fit(
        self,
        X: Rows,
        y: Any,
        *,
        features: Any = None,
        evaluation: tuple[Rows, Any] | None = None,
        clock: Clock | None = None,
    ) -> LinearClassifier:
        """Fit on rows X, shape (n, d), seen through `features`, and labels y, shape (n,)."""
        X, y = self._validated(X, y, numeric=False)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise MethodError(
                f"The training rows have one class only: {self.classes_[0]}.",
                "A classifier needs at least 2 classes; the number of classes has to be greater "
                "than one; got 1 class.",
            )
        self.features_ = features
        seen = None
        if evaluation is not None:
            seen = np.searchsorted(self.classes_, evaluation[1])

        def loss(
            decisions: NDArray[np.float64], rows: NDArray[np.intp] | None
        ) -> NDArray[np.float64]:
            truth = seen if rows is None else codes[rows]
            return np.asarray(np.mean(predicted_codes(decisions) != truth, axis=-1))

        held = None if evaluation is None else Design(evaluation[0], features)
        targets = signed_columns(codes, len(self.classes_))
        self._fit_columns(Design(X, features), targets, loss, held, clock)
        return self

    def decision_function(self, X: Rows) -> NDArray[np.float64]:
        """Return the decision values, shape (n,) for two classes, else (n, classes)."""
        values = self.decisions(X)
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Rows) -> NDArray[Any]:
        """Return the predicted labels, shape (n,)."""
        return np.asarray(self.classes_[predicted_codes(self.decisions(X))])


def signed_columns(codes: NDArray[np.intp], k: int) -> NDArray[np.float64]:
    """Return class codes as -1 and +1: one column for two classes, else one a class."""
    if k == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.where(codes[:, None] == np.arange(k), 1.0, -1.0)


def predicted_codes(decisions: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the class codes of decision values, shape (..., t), t = 1 for two classes."""
    if decisions.shape[-1] == 1:
        return np.asarray(decisions[..., 0] > 0, dtype=np.intp)
    return np.asarray(np.argmax(decisions, axis=-1), dtype=np.intp)
