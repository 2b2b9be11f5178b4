"""What all solvers share: a grid of penalties is fitted, and one of them chosen.

A solver is a scikit-learn estimator; `fit` takes in addition a fitted feature map (`features`), so
that the rows are seen block by block. A subclass writes `_fits`: the fits for every value of the
grid, of all rows and of all but one group of rows.
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
from rfbench.compute.threads import one_thread
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
from rfbench.solvers.fits import CERTAIN, Fits, Groups, LinearPath, Path
from rfbench.solvers.fitted_model import FitReport, FittedModel
from rfbench.solvers.folds import NESTED, ONCE, Refit, assign_group_folds, make_refit

# A fifth, as of five folds. Doubled, the fits that choose lack two fifths of the rows.
VALIDATION_SHARE = 0.2
LOO = "loo"
CHOOSE_WITHOUT_FOLDS = ("fixed", "test", LOO)
FLOATS = [np.float64, np.float32]
# Decisions that are held at once where the rows of a fold choose, 16 MiB. Measured: 300,000 rows of
# 100 classes take 71 MB where all at once took 1.8 GB. Doubled, they take 16 MB more.
DECISIONS = 2**21
# The side of the systems up to which one thread fits faster than two, since these wait for each
# other between short pieces of work. Measured, seconds with one and two of them: .087 and .121 with
# 400 columns, .053 and .089 with 500 rows, .86 and .66 with 1,000 columns.
SMALL_SIDE = 500


def _is_folds(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"cv([2-9]|[1-9]\d)", value) is not None


FOLD_COUNTS = Rule("another cvK", _is_folds)
SELECTION = one_of("fixed", "test", "validation", "cv5", LOO) | FOLD_COUNTS | NONE


def make_grid_rule(rule: Rule) -> Rule:
    """Return the rule of one value, or a list of values, that each hold a rule."""

    def holds(values: Any) -> bool:
        listed = np.atleast_1d(np.asarray(values, dtype=object)).ravel()
        return len(listed) > 0 and all(map(rule.holds, listed))

    return Rule(f"{rule.words}, or a list of them", holds)


@dataclass(frozen=True, eq=False)
class PenaltyChoice:
    """The number of the chosen penalty in the grid, and by which losses it was chosen.

    Attributes
    ----------
    best : int
    loss : float or None
    fold_losses : array of shape (K,) or None
    decisions : array of shape (n, t) or None
        Of the evaluation rows, where these choose.
    """

    best: int
    loss: float | None = None
    fold_losses: Array | None = None
    decisions: Array | None = None


@estimator
class Solver(Checked, BaseEstimator, FittedModel):  # type: ignore[misc]
    """Base of the solvers.

    Parameters
    ----------
    alphas : float or sequence of float, default=1.0
        The grid of penalties; one number is a grid of one.
    alpha_convention : {'absolute', 'per-sample'}, default='absolute'
        The loss is a sum over rows. 'absolute': the penalty has the factor alpha, as in the
        solver's own formula: alpha |theta|^2 for ridge and kernel ridge, alpha |theta|^2 / 2 for
        the logistic loss and the support vector machines. 'per-sample': n alpha takes the place of
        alpha; n is the number of rows of the fit: fewer in a fold, and in a pair of classes.
    selection : {'fixed', 'test', 'validation', 'cv5', 'loo'}, default=None
        How one value is taken from the grid: there is only one; the smallest error on the
        evaluation rows given to `fit` (optimistic when they are the test rows); on a random fifth
        of the training rows; by five-fold (cvK: K-fold) cross-validation; by the error of each row
        left out by itself, in closed form (loo: ridge, kernel ridge). After the choice all rows are
        fitted. Of equally good values the strongest (the largest penalty) wins. Features that look
        at the target are fitted without the validation rows, see `fit`.
    intercept : bool, default=True
        Fit a constant.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Seed or generator of the folds.

    Attributes
    ----------
    report_ : FitReport
        The facts of the fit; the attributes from `alpha_` on read it.
    intercept_ : array of shape (t,)
        t decision columns: 1 for a binary or real target, else one per class or pair of classes.
    alpha_ : float
        The chosen penalty, in the convention asked for.
    alpha_absolute_ : float
        alpha in the solver's formula, for all training rows.
    alpha_scale_free_ : float
        alpha_absolute_ divided by the mean squared norm of a row of features.
    notes_ : list of str
        What a reader should know of the fit: fall-backs, no convergence.
    converged_ : bool or None
        Whether the chosen fit reached its tolerance; None of a closed form.
    gap_ : float or None
        How far the chosen fit is from its optimum at most, relative to the objective and proven by
        a bound; the worst decision column. None of a closed form. Above 1e-4 `converged_` is False.
    gap_folds_ : float or None
        The largest gap of the fits that chose: of every fold, for every value of the grid.
    n_columns_ : int
        Number of coefficients of a decision column.
    evaluation_decisions_ : array of shape (n, t)
        Decision values of the evaluation rows, if they chose the penalty.
    selection_loss_ : float or None
        Mean loss of the chosen value on its validation rows: squared error, or misclassification
        (0 to 1); None where nothing was chosen.
    fold_losses_ : array of shape (K,) or None
        The same in each fold.
    features_in_folds_ : {'nested', 'once'} or None
        How features that look at the target were fitted for the validation rows; None of other
        features, and where no training rows chose.
    """

    # One more when the solver measures something else: then its trials have new identities.
    revision: ClassVar[int] = 1
    # Has the leave-one-out error in closed form.
    leaves_one_out: ClassVar[bool] = False

    positive_alphas: ClassVar[bool] = False

    alphas: float | Sequence[float] = field(
        default=1.0, kw_only=False, metadata=make_rule_metadata(make_grid_rule(number(least=0)))
    )
    alpha_convention: str = parameter("absolute", one_of("absolute", "per-sample"))
    selection: str | None = parameter(None, SELECTION)
    intercept: bool = parameter(True, BOOLEAN)
    random_state: RandomState = parameter(None, RANDOM_STATE)

    # A real target, of one or several columns; otherwise labels.
    numeric_target: ClassVar[bool]

    def grid(self) -> Array:
        """Return the penalties in decreasing order, in the convention `alpha_convention`."""
        return np.unique(np.asarray(self.alphas, dtype=np.float64))[::-1]

    def _absolute(self, rows: float) -> Array:
        """Return the absolute penalties for a fit on this number of rows."""
        return self.grid() * rows if self.alpha_convention == "per-sample" else self.grid()

    @abstractmethod
    def _targets(self, y: Any) -> Targets:
        """Return what is fitted to the y of `fit`."""

    @abstractmethod
    def _truth(self, y: Any) -> NDArray[Any]:
        """Return the y of evaluation rows, as `Targets.truth` is."""

    @abstractmethod
    def _losses(self, decisions: Array, truth: NDArray[Any]) -> Array:
        """Return the mean loss of decision values, shape (a, n, t), for each value of the grid."""

    def _summed_losses(self, decisions: Array, truth: NDArray[Any]) -> Array:
        """Return `_losses` times the rows; infinite if a decision is not a number."""
        # A fit that overflowed has NaN decisions. argmin takes the first NaN for the smallest
        # value, so that such a fit would win: its loss is infinite.
        usable = np.asarray(np.isfinite(decisions).all(axis=(1, 2)))
        losses = self._losses(np.where(usable[:, None, None], decisions, 0.0), truth)
        return np.where(usable, losses * decisions.shape[1], np.inf)

    @abstractmethod
    def _fits(self, design: Design, targets: Targets, groups: Groups, clock: Clock) -> Fits:
        """Fit all rows, and all rows except group g for every g of the groups >= 0."""

    @abstractmethod
    def _keep(self, path: Path, best: int) -> None:
        """Set the attributes of the chosen fit."""

    def check_parameters(self) -> None:
        """Raise MethodError if the parameters cannot be used, without any data."""
        super().check_parameters()
        if self.selection == "fixed" and len(self.grid()) > 1:
            raise MethodError(
                f"There are {len(self.grid())} alphas and selection is 'fixed'.",
                "A fixed one is a single number.",
                "Give one, or selection: cv5, validation or test.",
            )
        if self.selection == LOO and not self.leaves_one_out:
            raise MethodError(
                f"{type(self).__name__} has no leave-one-out error in closed form.",
                "Ridge and kernel ridge have one.",
                "Take selection: cv5.",
            )
        if self.positive_alphas and (self.grid() == 0).any():
            raise MethodError(
                f"{type(self).__name__} needs penalties above 0.",
                "Its C is 1 / alpha.",
                "Take a small penalty instead of 0.",
            )

    def chosen_selection(self) -> str:
        """Return the selection; if it is None, 'fixed' or 'cv5'."""
        if self.selection is not None:
            return str(self.selection)
        return "fixed" if len(self.grid()) == 1 else "cv5"

    def fit(
        self,
        X: Rows,
        y: Any,
        *,
        features: Any = None,
        features_in_folds: str | Refit = NESTED,
        groups: NDArray[Any] | None = None,
        evaluation: tuple[Rows, Any] | None = None,
        clock: Clock | None = None,
    ) -> Self:
        """Fit on rows X, shape (n, d), seen through `features`, and y.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
        y : array of shape (n,)
            A real target may have several columns, (n, t).
        features : fitted transformer, optional
        features_in_folds : {'nested', 'once'} or function
            Features that look at the target (`rfbench.samplers.base.uses_target`) are copied
            and fitted anew without the rows of each fold, or taken as they are, though they have
            seen the targets of the rows that then choose. A function fits the features of a
            fold, see `rfbench.solvers.folds.Refit`.
        groups : array of shape (n,), optional
            The group (subject, patient) of each row: whole groups are held out.
        evaluation : tuple of rows and targets, optional
            For the selection 'test'.
        clock : Clock, optional
            It measures the parts of the work; fits of features in folds count as training.
        """
        # Parameters first: a wrong one is refused before rows are read.
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
        selection = self.chosen_selection()
        notes: list[str] = []
        self.features_ = features if self.uses_features else None
        self._check_selection(selection, groups, evaluation)
        targets = self._targets(y)
        design = make_design(X, self.features_)
        design.clock = clock = clock or Clock()
        # Make folds. Before anything is fitted: features that look at the target must not see the
        # validation rows, and all samplers of a trial get the same folds, whatever they draw.
        folds = self._groups(selection, design.n, groups, targets.codes, notes)
        refit = None if folds is None else make_refit(features_in_folds, self.features_)
        # Fit the whole grid at once: what the penalties have in common, a Gram matrix or an
        # eigendecomposition, is computed once. Folds with features of their own are fitted by
        # `_with_nested`; here only all rows are fitted then.
        with one_thread(self._is_small(design)):
            fits = self._fits(design, targets, None if refit else folds, clock)
        if refit is not None and folds is not None:
            fits = self._with_nested(fits, X, y, targets, folds, refit, clock)
        # Each row is judged by a fit that has not been given it. Of a grid of one the losses are
        # only reported.
        if selection == "test":
            choice = self._choose_by_evaluation(fits, evaluation, clock)
        else:
            choice = self._choose_by_folds(fits, design, targets, folds, clock)
        # Keep the fit of all rows at the chosen penalty. The others are dropped: a path takes as
        # many times the memory as there are penalties.
        self._keep(fits.path, choice.best)
        # Noted in the row: features that have seen the targets of the held-out rows make the losses
        # of the folds too small, and the penalty too weak.
        in_folds = None if folds is None or not uses_target(self.features_) else ONCE
        facts = self._facts(fits, choice.best, design.n, notes)
        self.report_ = FitReport(
            selection=selection,
            selection_loss=choice.loss,
            fold_losses=choice.fold_losses,
            evaluation_decisions=choice.decisions,
            features_in_folds=in_folds if refit is None else NESTED,
            **facts,
        )
        return self

    def _check_selection(self, selection: str, groups: Any, evaluation: Any) -> None:
        """Raise MethodError if a selection has no rows to choose by, or cuts through groups."""
        if selection == "test" and evaluation is None:
            raise MethodError(
                "selection is 'test', but fit was given no evaluation rows.",
                "",
                "Pass fit(..., evaluation=(X, y)), or select by cv5 or validation.",
            )
        if selection == LOO and groups is not None:
            raise MethodError(
                "selection is 'loo', and the rows have groups.",
                "A row that is left out alone leaves the others of its group in.",
                "Take selection: cv5, whose folds are whole groups.",
            )
        if selection == LOO and self.features_ is not None and uses_target(self.features_):
            raise MethodError(
                "selection is 'loo', and the features look at the target.",
                "They have seen the target of each row that is left out.",
                "Take selection: cv5, which fits the features again in each fold.",
            )

    def _groups(
        self,
        selection: str,
        n: int,
        groups: NDArray[Any] | None = None,
        codes: NDArray[np.intp] | None = None,
        notes: list[str] | None = None,
    ) -> Groups:
        """Return the number of the held-out fold of each row, -1 for rows never held out."""
        if selection in CHOOSE_WITHOUT_FOLDS:
            return None
        # Folds depend on random_state, the rows and their groups, and not on the draws of the
        # features: methods of one trial are compared on the same folds.
        state: Any = self.random_state
        if isinstance(state, np.random.RandomState):
            state = int(state.randint(2**31 - 1))
        generator = np.random.default_rng(state)
        validation = selection == "validation"
        count = round(1 / VALIDATION_SHARE) if validation else int(selection.removeprefix("cv"))
        if groups is not None:
            # A subject whose rows are on both sides would be recognised, and not predicted.
            folds = assign_group_folds(groups, codes, count, int(generator.integers(2**31)))
            if notes is not None and (made := int(folds.max()) + 1) < count:
                notes.append(f"{made} folds: the training rows are of {made} groups")
            return np.where(folds == 0, 0, -1) if validation else folds
        # Random, because files are often sorted by the target: folds of adjacent rows would lack a
        # class.
        order = generator.permutation(n)
        if validation:
            folds = np.full(n, -1)
            folds[order[: max(1, round(VALIDATION_SHARE * n))]] = 0
            return folds
        if count > n:
            raise MethodError(f"{selection} needs at least {count} rows, there are {n}.")
        return np.asarray(order % count, dtype=np.intp)

    def _with_nested(
        self,
        fits: Fits,
        X: Rows,
        y: Any,
        targets: Targets,
        folds: NDArray[np.intp],
        refit: Refit,
        clock: Clock,
    ) -> Fits:
        """Return the fits of all rows, and one per fold of the others, through its own features.

        All time of a fold counts as training.
        """
        partial, sums, spent = [], [], Clock()
        for g in range(int(folds.max()) + 1):
            # Features that look at the target are fitted without the fold. With the fold's targets
            # they would fit the fold too well, and the smallest penalty would win.
            rest, held = np.flatnonzero(folds != g), np.flatnonzero(folds == g)
            rows = select_rows(X, rest)
            features = refit(rows, y[rest], spent)
            part = make_design(rows, features)
            part.clock = spent
            with one_thread(self._is_small(part)):
                fitted = self._fits(part, targets.take(folds != g), None, spent).path
            with spent.part("train"):
                decisions = fitted.decisions(make_design(select_rows(X, held), features))
                sums.append(self._summed_losses(decisions, targets.truth[held]))
            partial.append(fitted)
        # On a clock of its own: the row's time of features is the time of the fit on all rows.
        clock.charge(spent, to="train")
        return replace(fits, partial=partial, held_loss=np.array(sums))

    def _choose_by_evaluation(self, fits: Fits, evaluation: Any, clock: Clock) -> PenaltyChoice:
        """Return the choice by the loss on the evaluation rows, with their decision values.

        The trial is scored by the same decision values, which are computed once.
        """
        # min over the grid of the loss on the evaluation rows: the papers' choice by test error,
        # which is optimistic. The column `selection` of the row says so.
        design = make_design(self._rows(evaluation[0]), self.features_)
        with clock.part("test"):
            decisions = fits.path.decisions(design)
            losses = self._losses(decisions, self._truth(evaluation[1]))
            best = int(np.argmin(losses))
            return PenaltyChoice(best, float(losses[best]), decisions=decisions[best].copy())

    def _choose_by_folds(
        self, fits: Fits, design: Design, targets: Targets, folds: Groups, clock: Clock
    ) -> PenaltyChoice:
        """Return the choice by the mean loss of all rows held out; the first without such rows.

        The grid decreases, and argmin takes the first of equal losses: the strongest penalty.
        """
        sums = fits.held_loss
        if folds is None and sums is None:
            return PenaltyChoice(0)
        if sums is None:
            # The time of choosing is time of training: without it a large grid would look free.
            with clock.part("train"):
                sums = self._held_losses(fits, design, targets, folds)
        counts = np.array([design.n]) if folds is None else np.bincount(folds[folds >= 0])
        # Sums over rows, and not means of folds: every row counts the same in folds of any size.
        losses = sums.sum(axis=0)
        best = int(np.argmin(losses))
        return PenaltyChoice(best, float(losses[best]) / int(counts.sum()), sums[:, best] / counts)

    def _held_losses(self, fits: Fits, design: Design, targets: Targets, folds: Groups) -> Array:
        """Return the summed loss of each fold by the fit without it, shape (K, a)."""
        sums = []
        for g, fitted in enumerate(fits.partial):
            rows = np.flatnonzero(folds == g)
            # All decisions at once would take more memory than the features.
            at_once = max(1, DECISIONS // fitted.intercepts.size)
            loss = np.zeros(len(fitted.intercepts))
            for start in range(0, len(rows), at_once):
                few = rows[start : start + at_once]
                part = design.take(few)
                part.clock = design.clock
                loss += self._summed_losses(fitted.decisions(part), targets.truth[few])
            sums.append(loss)
        return np.array(sums)

    def _is_small(self, design: Design) -> bool:
        """Tell whether one thread fits faster than two."""
        return False

    def _facts(self, fits: Fits, best: int, n: int, notes: list[str]) -> dict[str, Any]:
        """Return the part of the report that follows from the fits: penalty, convergence, gaps."""
        path, notes = fits.path, [*notes, *fits.path.notes[best]]
        converged = None if path.converged is None else bool(path.converged[best])
        gap = None if path.gaps is None else float(path.gaps[best])
        # A fit that met its own criterion is not taken for converged where the bound, which does
        # not depend on the criterion, leaves room for a better objective. NaN is no proof either.
        if gap is not None and not gap <= CERTAIN and converged is not False:
            converged = False
            notes.append(f"the objective may be {gap:.1e} of itself above its optimum")
        folds = [float(part.gaps.max()) for part in fits.partial if part.gaps is not None]
        stopped = sum(int(np.count_nonzero(~part.reached)) for part in fits.partial)
        if stopped:
            notes.append(f"no convergence in {stopped} of the fits that chose the penalty")
        absolute = float(self._absolute(n)[best])
        return {
            "alpha": float(self.grid()[best]),
            "alpha_absolute": absolute,
            # alpha / s^2 for features s z gives the fit of alpha for z: only the quotient compares.
            "alpha_scale_free": absolute / fits.row_norm if fits.row_norm > 0 else float("nan"),
            "converged": converged,
            "gap": gap,
            "gap_folds": max(folds, default=None),
            "notes": notes,
            "n_columns": path.n_columns,
        }

    def holds_out_rows(self, n: int) -> bool:
        """Return whether training rows choose by validation or in folds.

        Rows that are left out one by one do not: with them, features that look at the target are
        refused.
        """
        return self.chosen_selection() not in CHOOSE_WITHOUT_FOLDS

    def with_choice(self) -> Solver:
        """Return an unfitted copy with the penalty that was chosen alone."""
        chosen: Solver = clone(self).set_params(alphas=[self.report_.alpha], selection="fixed")
        return chosen

    def _rows(self, X: Rows) -> Rows:
        on_disk = isinstance(X, RowSource)
        return validate_data(
            self, X, accept_sparse="csr", dtype=FLOATS, reset=False, skip_check_array=on_disk
        )

    def __sklearn_tags__(self) -> Any:
        """Describe the solver to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearModel(Solver):
    """Base of the solvers whose decisions are linear in the features.

    Its parameters are those of `Solver`.

    Attributes
    ----------
    coef_ : array of shape (t, p)
    """

    features_: Any

    def _is_small(self, design: Design) -> bool:
        return min(design.n, design.n_columns) <= SMALL_SIDE

    def _keep(self, path: Path, best: int) -> None:
        assert isinstance(path, LinearPath)
        self.coef_ = path.coefficients[best].T.copy()
        self.intercept_ = path.intercepts[best].copy()

    def decisions(self, X: Rows) -> Array:
        """Return the decision values of the rows, shape (n, t)."""
        check_is_fitted(self, "coef_")
        values = make_design(self._rows(X), self.features_).multiply(self.coef_.T)
        return np.asarray(values + self.intercept_)
