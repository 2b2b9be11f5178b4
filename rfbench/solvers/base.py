"""The base class of all solvers.

A solver is a scikit-learn estimator. `fit` fits the model with every penalty of a grid and selects
one penalty. `fit` also accepts a fitted feature map (`features`), so that the features are computed
in blocks of rows. A subclass defines `_fits`, which fits every penalty of the grid on all rows, and
on all rows except each held-out fold.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from rfbench.arrays import Array, Rows
from rfbench.clock import Clock
from rfbench.compute.threads import limit_to_one_thread
from rfbench.errors import MethodError
from rfbench.parameters import (
    BOOLEAN,
    NONE,
    RANDOM_STATE,
    Checked,
    Rule,
    estimator,
    make_rule_metadata,
    number,
    one_of,
    parameter,
)
from rfbench.rows import RowSource, select_rows
from rfbench.samplers.base import RandomState, uses_target
from rfbench.solvers.coding import Targets
from rfbench.solvers.design import Design, make_design
from rfbench.solvers.fits import CERTAIN, Fits, Folds, LinearPath, RegularizationPath
from rfbench.solvers.fitted_model import FitReport, FittedModel
from rfbench.solvers.folds import NESTED, ONCE, FoldFit, assign_group_folds, make_fold_fit

# Share of the training rows that the selection 'validation' holds out. Five-fold cross-validation
# holds out the same share. With twice the share, the fits used for the selection would lack two
# fifths of the rows.
VALIDATION_SHARE = 0.2
LOO = "loo"
CHOOSE_WITHOUT_FOLDS = ("fixed", "test", LOO)
FLOATS = [np.float64, np.float32]
# Maximum number of decision values in memory (16 MiB) when the errors on held-out rows are
# computed. Measured: 300,000 rows with 100 classes need 71 MB with this limit and 1.8 GB without a
# limit. Twice the limit needs 16 MB more.
DECISIONS = 2**21
# A linear system with at most this number of rows or columns is solved with one thread. On such a
# small system, two threads are slower, because they wait for each other. Measured seconds with one
# and with two threads: .087 and .121 for 400 columns, .053 and .089 for 500 rows, .86 and .66 for
# 1,000 columns.
SMALL_SIDE = 500


def _is_folds(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"cv([2-9]|[1-9]\d)", value) is not None


FOLD_COUNTS = Rule("cvK with a number K of folds", _is_folds)
SELECTION = one_of("fixed", "test", "validation", "cv5", LOO) | FOLD_COUNTS | NONE


def _make_grid_rule(rule: Rule) -> Rule:
    """Return a rule that accepts a single value or a list of values.

    Each value has to satisfy `rule`.
    """

    def holds(values: Any) -> bool:
        listed = np.atleast_1d(np.asarray(values, dtype=object)).ravel()
        return len(listed) > 0 and all(map(rule.holds, listed))

    return Rule(f"{rule.words}, or a list of them", holds)


@dataclass(frozen=True, eq=False)
class PenaltyChoice:
    """The penalty that was selected from a grid, and its losses.

    Attributes
    ----------
    best : int
        Index of the selected penalty in the grid.
    loss : float or None
        Mean loss of the selected penalty over the held-out rows or evaluation rows.
    fold_losses : array of shape (K,) or None
        Mean loss of the selected penalty on each of the K held-out folds.
    decisions : array of shape (n, t) or None
        Decision values of the n evaluation rows, if the penalty was selected on these rows.
    """

    best: int
    loss: float | None = None
    fold_losses: Array | None = None
    decisions: Array | None = None


@estimator
class Solver(Checked, BaseEstimator, FittedModel):  # type: ignore[misc]
    """Base class of models that are fitted with a grid of penalties, one of which is selected.

    Parameters
    ----------
    alphas : float or sequence of float, default=1.0
        Penalties to select from (the grid). A single number is a grid with one value.
    alpha_convention : {'absolute', 'per-sample'}, default='absolute'
        'absolute': the penalty in the formula of the solver is alpha. 'per-sample': the penalty is
        n alpha for a fit on n rows. n is smaller in a fold and for a pair of classes.
    selection : {'fixed', 'test', 'validation', 'cv5', 'loo'}, default=None
        Method that selects one penalty of the grid.

        - 'fixed': no selection, because the grid has a single value.
        - 'test': smallest error on the evaluation rows that are passed to `fit`. This error is
          too small if these rows are the test set.
        - 'validation': smallest error on a random fifth of the training set.
        - 'cv5' (or 'cvK'): smallest error in five-fold (K-fold) cross-validation.
        - 'loo': smallest leave-one-out error in closed form (ridge and kernel ridge only).
        - None: 'fixed' for a single value, and 'cv5' otherwise.

        If several penalties have the same error, the largest is selected. After the selection, the
        model is fitted on all rows. Features that use the target are fitted again without the
        held-out rows (see `fit`).
    intercept : bool, default=True
        Fit an intercept.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator for the folds.

    Attributes
    ----------
    report_ : FitReport
        Facts about the fit. The attributes from `alpha_` on are read from the report.
    intercept_ : array of shape (t,)
        Intercepts of the t decision columns. t is 1 for a binary or a real target. Otherwise there
        is one column per class or per pair of classes.
    alpha_ : float
        The selected penalty, in the convention `alpha_convention`.
    alpha_absolute_ : float
        Penalty alpha in the solver's formula, for the fit on all rows.
    alpha_scale_free_ : float
        `alpha_absolute_` divided by the mean squared norm of a row of features, or by the root of
        this mean for a penalty of degree 1.
    notes_ : list of str
        Notes for readers of the results, for example on fall-backs or missing convergence.
    converged_ : bool or None
        True if the selected fit has reached its tolerance. None for closed-form solutions.
    gap_ : float or None
        Proven upper bound of the relative distance to the optimum, which is the objective of the
        selected fit minus its minimum, divided by the objective. With several decision columns, it
        is the largest of their bounds. None for closed-form solutions. If the bound is above 1e-4,
        `converged_` is False.
    gap_folds_ : float or None
        The largest `gap_` of the fits used for the selection, over all folds and all penalties.
    n_columns_ : int
        Number of coefficients per decision column.
    evaluation_decisions_ : array of shape (n, t)
        Decision values of the evaluation rows, if the penalty was selected on them.
    selection_loss_ : float or None
        Mean loss of the selected penalty on held-out rows: squared error, or misclassification (0
        to 1). None if no penalty was selected.
    fold_losses_ : array of shape (K,) or None
        The mean loss of the selected penalty in each fold.
    features_in_folds_ : {'nested', 'once'} or None
        How features that use the target were fitted for the folds (see `fit`). None for other
        features, or if no training rows were held out.
    """

    # Revision number of the solver. It is incremented when a change of the code changes the
    # results. The hash that identifies a trial contains this number, so results of old code are not
    # reused.
    revision: ClassVar[int] = 1
    # True if the solver computes leave-one-out errors in closed form.
    leaves_one_out: ClassVar[bool] = False

    # True if the solver does not accept the penalty 0.
    positive_alphas: ClassVar[bool] = False
    # Degree of the penalty in the coefficients: 2 for a sum of squares, 1 for a sum of absolute
    # values. If all features are multiplied by s, the penalty alpha * s^degree gives the same
    # predictions.
    penalty_degree: ClassVar[int] = 2

    alphas: float | Sequence[float] = field(
        default=1.0, kw_only=False, metadata=make_rule_metadata(_make_grid_rule(number(least=0)))
    )
    alpha_convention: str = parameter("absolute", one_of("absolute", "per-sample"))
    selection: str | None = parameter(None, SELECTION)
    intercept: bool = parameter(True, BOOLEAN)
    random_state: RandomState = parameter(None, RANDOM_STATE)

    # True if the target is numeric (one or several columns). False if the target contains class
    # labels.
    numeric_target: ClassVar[bool]

    def make_grid(self) -> Array:
        """Return the distinct values of the parameter `alphas` in decreasing order."""
        return np.unique(np.asarray(self.alphas, dtype=np.float64))[::-1]

    def _absolute(self, rows: float) -> Array:
        """Return the penalties that the formula of the solver contains for a fit on `rows` rows.

        With the convention 'per-sample', the penalties `alphas` are multiplied by `rows`.
        """
        return (
            self.make_grid() * rows if self.alpha_convention == "per-sample" else self.make_grid()
        )

    @abstractmethod
    def _targets(self, y: Any) -> Targets:
        """Convert the target y of `fit` to a `Targets` object (real values or coded labels)."""

    @abstractmethod
    def _truth(self, y: Any) -> NDArray[Any]:
        """Return the target y of evaluation rows as class codes, or as real values."""

    @abstractmethod
    def _losses(self, decisions: Array, truth: NDArray[Any]) -> Array:
        """Return the mean loss over the n rows for each of the a penalties, shape (a,).

        `decisions` contains the decision values, shape (a, n, t). `truth` contains the true
        targets.
        """

    def _summed_losses(self, decisions: Array, truth: NDArray[Any]) -> Array:
        """Return the sum of the losses over the n rows for each of the a penalties, shape (a,).

        The sum is infinite for a penalty whose decision values are not all finite.
        """
        # If a fit overflowed, its decision values contain NaN. The loss of such a fit is set to
        # infinity, because argmin would treat NaN as the smallest loss and select this fit.
        usable = np.asarray(np.isfinite(decisions).all(axis=(1, 2)))
        losses = self._losses(np.where(usable[:, None, None], decisions, 0.0), truth)
        return np.where(usable, losses * decisions.shape[1], np.inf)

    @abstractmethod
    def _fits(self, design: Design, targets: Targets, folds: Folds, clock: Clock) -> Fits:
        """Fit the model with every penalty, on all rows and on all rows except each held-out fold.

        `folds` contains the index of the fold that holds out each row, or -1 for rows never held
        out. If `folds` is None, the model is fitted on all rows only.
        """

    @abstractmethod
    def _keep(self, path: RegularizationPath, best: int) -> None:
        """Set the fitted attributes, such as `coef_`, from the fit with the selected penalty.

        `path` contains the fits with all penalties. `best` is the index of the selected penalty.
        """

    def check_parameters(self) -> None:
        """Raise MethodError if a parameter or a combination of parameters is not allowed."""
        super().check_parameters()
        if self.selection == "fixed" and len(self.make_grid()) > 1:
            raise MethodError(
                f"There are {len(self.make_grid())} alphas, but selection is 'fixed'.",
                "The selection 'fixed' requires a single value.",
                "Use a single value, or selection: cv5, validation or test.",
            )
        if self.selection == LOO and not self.leaves_one_out:
            raise MethodError(
                f"{type(self).__name__} does not have a leave-one-out error in closed form.",
                "Only ridge and kernel ridge have a closed form.",
                "Use selection: cv5.",
            )
        if self.positive_alphas and (self.make_grid() == 0).any():
            raise MethodError(
                f"{type(self).__name__} needs penalties above 0.",
                "Its fit is not defined without a penalty.",
                "Use a small penalty instead of 0.",
            )

    def resolve_selection(self) -> str:
        """Return the method that selects the penalty.

        If the parameter `selection` is None, the method is 'fixed' for one penalty and 'cv5'
        otherwise.
        """
        if self.selection is not None:
            return str(self.selection)
        return "fixed" if len(self.make_grid()) == 1 else "cv5"

    def fit(
        self,
        X: Rows,
        y: Any,
        *,
        features: Any = None,
        features_in_folds: str | FoldFit = NESTED,
        groups: NDArray[Any] | None = None,
        evaluation: tuple[Rows, Any] | None = None,
        clock: Clock | None = None,
    ) -> Self:
        """Fit the solver on the features of the rows X and the target y, and select a penalty.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
        y : array of shape (n,)
            Target. A real target may have several columns, shape (n, t).
        features : fitted transformer, optional
            Fitted feature map. By default, the rows are the features.
        features_in_folds : {'nested', 'once'} or function
            Fit of features that use the target (`rfbench.samplers.base.uses_target`). 'nested': for
            each fold, a copy of the features is fitted without the held-out rows. 'once': the given
            features are used in each fold, although they have used the targets of the held-out
            rows. A function fits the features of a fold (`rfbench.solvers.folds.FoldFit`).
        groups : array of shape (n,), optional
            The group (subject, patient) of each row. Complete groups are held out.
        evaluation : tuple of rows and targets, optional
            Evaluation rows, which the selection 'test' requires.
        clock : Clock, optional
            Clock that records the time of each part of the fit. Fits of features in folds count as
            training.
        """
        # Check the parameters before the data, so that a wrong parameter is reported without a
        # delay.
        self.check_parameters()
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=FLOATS,
            y_numeric=self.numeric_target,
            multi_output=self.numeric_target,
            skip_check_array=isinstance(X, RowSource),
        )
        selection = self.resolve_selection()
        notes: list[str] = []
        self.features_ = features if self.uses_features else None
        self._check_selection(selection, groups, evaluation)
        targets = self._targets(y)
        design = make_design(X, self.features_)
        design.clock = clock = clock or Clock()
        # Assign the rows to folds before any model is fitted. Some features use the target, and
        # such features must not use the targets of held-out rows. All samplers of a trial get the
        # same folds.
        folds = self._make_folds(selection, design.n, groups, targets.codes, notes)
        fit_fold = None if folds is None else make_fold_fit(features_in_folds, self.features_)
        # Fit all penalties in one call, so that a Gram matrix or an eigendecomposition is computed
        # only once. If the features are fitted separately for each fold, this call fits only the
        # model of all rows, and `_with_nested` fits the models of the folds.
        with limit_to_one_thread(self._is_small(design)):
            fits = self._fits(design, targets, None if fit_fold else folds, clock)
        if fit_fold is not None and folds is not None:
            fits = self._with_nested(fits, X, y, targets, folds, fit_fold, clock)
        # Select the penalty with the smallest loss on rows that were not used in the fit. If the
        # grid has a single penalty, only its loss is computed.
        if selection == "test":
            choice = self._choose_by_evaluation(fits, evaluation, clock)
        else:
            choice = self._choose_by_folds(fits, design, targets, folds, clock)
        # Keep the fit of all rows with the selected penalty, and discard the fits with all other
        # penalties to save memory.
        self._keep(fits.path, choice.best)
        # Report how the features were fitted for the folds. If the features were fitted once on all
        # rows, they have used the targets of held-out rows. The losses on held-out rows are then
        # too small, and so is the selected penalty.
        in_folds = None if folds is None or not uses_target(self.features_) else ONCE
        facts = self._facts(fits, choice.best, design.n, notes)
        self.report_ = FitReport(
            selection=selection,
            selection_loss=choice.loss,
            fold_losses=choice.fold_losses,
            evaluation_decisions=choice.decisions,
            features_in_folds=in_folds if fit_fold is None else NESTED,
            **facts,
        )
        return self

    def _check_selection(self, selection: str, groups: Any, evaluation: Any) -> None:
        """Raise MethodError if the other arguments of `fit` do not allow the method `selection`.

        The method 'test' needs evaluation rows. The method 'loo' allows neither groups of rows nor
        features that use the target.
        """
        if selection == "test" and evaluation is None:
            raise MethodError(
                "selection is 'test', but `fit` got no evaluation rows.",
                "",
                "Pass fit(..., evaluation=(X, y)), or use selection: cv5 or validation.",
            )
        if selection == LOO and groups is not None:
            raise MethodError(
                "selection is 'loo', but the rows have groups.",
                "If a single row is left out, other rows of its group stay in the training set.",
                "Use selection: cv5. Its folds are complete groups.",
            )
        if selection == LOO and self.features_ is not None and uses_target(self.features_):
            raise MethodError(
                "selection is 'loo', but the features use the target.",
                "The features were fitted with the target of each row that is left out.",
                "Use selection: cv5, which fits the features again in each fold.",
            )

    def _make_folds(
        self,
        selection: str,
        n: int,
        groups: NDArray[Any] | None = None,
        codes: NDArray[np.intp] | None = None,
        notes: list[str] | None = None,
    ) -> Folds:
        """Return the index of the fold that holds out each row, shape (n,).

        A row that is never held out has the index -1. Return None if the method `selection` uses no
        folds.
        """
        if selection in CHOOSE_WITHOUT_FOLDS:
            return None
        # The folds depend on `random_state`, the rows and their groups, but not on the random
        # features. All methods of a trial are therefore compared on the same folds.
        state: Any = self.random_state
        if isinstance(state, np.random.RandomState):
            state = int(state.randint(2**31 - 1))
        generator = np.random.default_rng(state)
        validation = selection == "validation"
        count = round(1 / VALIDATION_SHARE) if validation else int(selection.removeprefix("cv"))
        if groups is not None:
            # All rows of a group, such as a patient, are assigned to the same fold. Otherwise a
            # model could recognize the patient from the training rows, and the held-out error would
            # be too small.
            folds = assign_group_folds(groups, codes, count, int(generator.integers(2**31)))
            if notes is not None and (made := int(folds.max()) + 1) < count:
                notes.append(f"{made} folds, because the training rows have {made} groups")
            return np.where(folds == 0, 0, -1) if validation else folds
        # Shuffle the rows, because many files are sorted by the target. Without shuffling, the rows
        # outside a fold could lack a whole class.
        order = generator.permutation(n)
        if validation:
            folds = np.full(n, -1)
            folds[order[: max(1, round(VALIDATION_SHARE * n))]] = 0
            return folds
        if count > n:
            raise MethodError(
                f"The selection {selection} needs at least {count} rows, but there are {n}."
            )
        return np.asarray(order % count, dtype=np.intp)

    def _with_nested(
        self,
        fits: Fits,
        X: Rows,
        y: Any,
        targets: Targets,
        folds: NDArray[np.intp],
        fit_fold: FoldFit,
        clock: Clock,
    ) -> Fits:
        """Fit the features and the model again for each fold, without the held-out rows.

        Return a copy of `fits` with these models and with their losses on the held-out rows. All
        time spent on a fold counts as training time.
        """
        partial, sums, spent = [], [], Clock()
        for g in range(int(folds.max()) + 1):
            # For each fold, features that use the target are fitted without the held-out rows.
            # Features that had seen the held-out targets would fit them too well, and the selected
            # penalty would be too small.
            rest, held = np.flatnonzero(folds != g), np.flatnonzero(folds == g)
            rows = select_rows(X, rest)
            features = fit_fold(rows, y[rest], spent)
            part = make_design(rows, features)
            part.clock = spent
            with limit_to_one_thread(self._is_small(part)):
                fitted = self._fits(part, targets.select_rows(folds != g), None, spent).path
            with spent.time_part("train"):
                decisions = fitted.compute_decisions(make_design(select_rows(X, held), features))
                sums.append(self._summed_losses(decisions, targets.truth[held]))
            partial.append(fitted)
        # The fits of the folds have their own clock, and their time is added to the training time.
        # The recorded time of the features is the time for all rows.
        clock.add(spent, to="train")
        return replace(fits, partial=partial, held_loss=np.array(sums))

    def _choose_by_evaluation(self, fits: Fits, evaluation: Any, clock: Clock) -> PenaltyChoice:
        """Return the penalty with the smallest loss on the evaluation rows.

        The returned object also contains the decision values of these rows.
        """
        # Some papers select the penalty with the smallest test error, so the test errors that they
        # print are too small. This code repeats their selection. The column `selection` of the
        # result row is then 'test'.
        design = make_design(self._rows(evaluation[0]), self.features_)
        with clock.time_part("test"):
            decisions = fits.path.compute_decisions(design)
            losses = self._losses(decisions, self._truth(evaluation[1]))
            best = int(np.argmin(losses))
            return PenaltyChoice(best, float(losses[best]), decisions=decisions[best].copy())

    def _choose_by_folds(
        self, fits: Fits, design: Design, targets: Targets, folds: Folds, clock: Clock
    ) -> PenaltyChoice:
        """Return the penalty with the smallest mean loss over all held-out rows.

        If several penalties have the same loss, the largest penalty is selected. Without held-out
        rows, the first penalty of the grid is selected.
        """
        sums = fits.held_loss
        if folds is None and sums is None:
            return PenaltyChoice(0)
        if sums is None:
            # The time of the selection counts as training time. Otherwise, a large grid of
            # penalties would seem to have no cost.
            with clock.time_part("train"):
                sums = self._held_losses(fits, design, targets, folds)
        counts = np.array([design.n]) if folds is None else np.bincount(folds[folds >= 0])
        # The grid is in decreasing order, and argmin returns the first of equal losses. The largest
        # penalty is therefore selected among equal losses.
        # Sum the losses over all held-out rows, so that every row has the same weight. A mean of
        # the folds' means would give more weight to rows in small folds.
        losses = sums.sum(axis=0)
        best = int(np.argmin(losses))
        return PenaltyChoice(best, float(losses[best]) / int(counts.sum()), sums[:, best] / counts)

    def _held_losses(self, fits: Fits, design: Design, targets: Targets, folds: Folds) -> Array:
        """Return the sum of the losses on each held-out fold for every penalty.

        The result has shape (K, a) for K folds and a penalties.
        """
        sums = []
        for g, fitted in enumerate(fits.partial):
            rows = np.flatnonzero(folds == g)
            # Compute the decision values in blocks of rows. The decision values of all rows and
            # penalties together could need more memory than the features.
            at_once = max(1, DECISIONS // fitted.intercepts.size)
            loss = np.zeros(len(fitted.intercepts))
            for start in range(0, len(rows), at_once):
                few = rows[start : start + at_once]
                part = design.select_rows(few)
                part.clock = design.clock
                loss += self._summed_losses(fitted.compute_decisions(part), targets.truth[few])
            sums.append(loss)
        return np.array(sums)

    def _is_small(self, design: Design) -> bool:
        """Return True if one thread fits the design matrix faster than two threads."""
        return False

    def _facts(self, fits: Fits, best: int, n: int, notes: list[str]) -> dict[str, Any]:
        """Return the fields of `FitReport` that describe the selected penalty and its convergence.

        `best` is the index of the selected penalty, and `n` is the number of training rows.
        """
        path, notes = fits.path, [*notes, *fits.path.notes[best]]
        converged = None if path.converged is None else bool(path.converged[best])
        gap = None if path.gaps is None else float(path.gaps[best])
        # If the proven gap to the optimum is large, the fit is recorded as not converged, even if
        # the fit met its own stopping criterion. A gap that is NaN counts as large.
        if gap is not None and not gap <= CERTAIN and converged is not False:
            converged = False
            notes.append(f"the objective may exceed its minimum by {gap:.1e} of its value")
        folds = [float(part.gaps.max()) for part in fits.partial if part.gaps is not None]
        stopped = sum(int(np.count_nonzero(~part.has_converged)) for part in fits.partial)
        if stopped:
            notes.append(f"{stopped} of the fits that select the penalty did not converge")
        absolute = float(self._absolute(n)[best])
        return {
            "alpha": float(self.make_grid()[best]),
            "alpha_absolute": absolute,
            # If all features are multiplied by s, the penalty alpha * s^degree gives the same
            # predictions. The penalty is therefore divided by the mean squared norm of a feature
            # row (its root for degree 1), so that methods with different feature scales can be
            # compared.
            "alpha_scale_free": (
                absolute / fits.row_norm ** (self.penalty_degree / 2)
                if fits.row_norm > 0
                else float("nan")
            ),
            "converged": converged,
            "gap": gap,
            "gap_folds": max(folds, default=None),
            "notes": notes,
            "n_columns": path.n_columns,
        }

    def uses_held_out_rows(self, n: int) -> bool:
        """Return True if `fit` holds out training rows to select the penalty.

        The held-out rows are a validation set or the folds of cross-validation. The result is False
        for leave-one-out selection.
        """
        return self.resolve_selection() not in CHOOSE_WITHOUT_FOLDS

    def with_selected_settings(self) -> Solver:
        """Return an unfitted copy of the solver whose only penalty is the selected penalty."""
        chosen: Solver = clone(self).set_params(alphas=[self.report_.alpha], selection="fixed")
        return chosen

    def _rows(self, X: Rows) -> Rows:
        on_disk = isinstance(X, RowSource)
        return validate_data(
            self, X, accept_sparse="csr", dtype=FLOATS, reset=False, skip_check_array=on_disk
        )

    def __sklearn_tags__(self) -> Any:
        """Return the tags that describe the solver to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearModel(Solver):
    """Base class of the solvers whose decision values are linear in the features.

    The parameters are the same as for `Solver`.

    Attributes
    ----------
    coef_ : array of shape (t, p)
        Coefficients of the p features for each of the t decision columns.
    """

    features_: Any

    def _is_small(self, design: Design) -> bool:
        return min(design.n, design.n_columns) <= SMALL_SIDE

    def _keep(self, path: RegularizationPath, best: int) -> None:
        assert isinstance(path, LinearPath)
        self.coef_ = path.coefficients[best].T.copy()
        self.intercept_ = path.intercepts[best].copy()

    def compute_decisions(self, X: Rows) -> Array:
        """Return the decision values of the n rows X in the t decision columns, shape (n, t)."""
        check_is_fitted(self, "coef_")
        values = make_design(self._rows(X), self.features_).multiply(self.coef_.T)
        return np.asarray(values + self.intercept_)
