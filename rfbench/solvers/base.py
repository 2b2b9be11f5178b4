"""The base class of all solvers: it fits a grid of penalties and selects one of them.

A solver is a scikit-learn estimator. `fit` also accepts a fitted feature map (`features`), so that
rows are processed in blocks. A subclass writes `_fits`, which fits every value of the grid on all
rows and on all rows except one group.
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

# A fifth, as in five-fold cross-validation. With twice the share, the fits used for the selection
# lack two fifths of the rows.
VALIDATION_SHARE = 0.2
LOO = "loo"
CHOOSE_WITHOUT_FOLDS = ("fixed", "test", LOO)
FLOATS = [np.float64, np.float32]
# Number of decision values in memory at once when folds are evaluated, 16 MiB. Measured: 300,000
# rows of 100 classes need 71 MB, and 1.8 GB with all values at once. Twice as many values need 16
# MB more.
DECISIONS = 2**21
# Up to this size of the systems, one thread fits faster than two threads, which wait for each other
# between short pieces of work. Measured, seconds with one thread and with two threads: .087 and
# .121 with 400 columns, .053 and .089 with 500 rows, .86 and .66 with 1,000 columns.
SMALL_SIDE = 500


def _is_folds(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"cv([2-9]|[1-9]\d)", value) is not None


FOLD_COUNTS = Rule("another cvK", _is_folds)
SELECTION = one_of("fixed", "test", "validation", "cv5", LOO) | FOLD_COUNTS | NONE


def make_grid_rule(rule: Rule) -> Rule:
    """Return the rule that one value, or each value of a list, has to satisfy."""

    def holds(values: Any) -> bool:
        listed = np.atleast_1d(np.asarray(values, dtype=object)).ravel()
        return len(listed) > 0 and all(map(rule.holds, listed))

    return Rule(f"{rule.words}, or a list of them", holds)


@dataclass(frozen=True, eq=False)
class PenaltyChoice:
    """The index of the selected penalty in the grid, and the losses used for the selection.

    Attributes
    ----------
    best : int
    loss : float or None
    fold_losses : array of shape (K,) or None
    decisions : array of shape (n, t) or None
        Decision values of the evaluation rows, if these were used for the selection.
    """

    best: int
    loss: float | None = None
    fold_losses: Array | None = None
    decisions: Array | None = None


@estimator
class Solver(Checked, BaseEstimator, FittedModel):  # type: ignore[misc]
    """Base class of the solvers.

    Parameters
    ----------
    alphas : float or sequence of float, default=1.0
        The grid of penalties; a single number is a grid with one value.
    alpha_convention : {'absolute', 'per-sample'}, default='absolute'
        The loss is a sum over rows. 'absolute': the penalty has the factor alpha of the solver's
        formula, which is alpha |theta|^2 for ridge and kernel ridge and alpha |theta|^2 / 2 for the
        logistic loss and the support vector machines. 'per-sample': alpha is replaced by n alpha,
        where n is the number of rows of the fit. n is smaller in a fold and in a pair of classes.
    selection : {'fixed', 'test', 'validation', 'cv5', 'loo'}, default=None
        How one value of the grid is selected.
        'fixed': the grid has a single value.
        'test': smallest error on the evaluation rows given to `fit`, which is optimistic if they
        are the test set.
        'validation': smallest error on a random fifth of the training set.
        'cv5' (or 'cvK'): five-fold (K-fold) cross-validation.
        'loo': leave-one-out error in closed form (ridge and kernel ridge only).
        None: 'fixed' for a single value, else 'cv5'.
        After the selection all rows are fitted. If several values are equally good, the strongest
        (the largest penalty) is selected. Features that use the target are fitted without the
        validation set (see `fit`).
    intercept : bool, default=True
        Fit a constant.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Seed or generator for the folds.

    Attributes
    ----------
    report_ : FitReport
        The facts of the fit; the attributes from `alpha_` on are read from it.
    intercept_ : array of shape (t,)
        t decision columns: 1 for a binary or real target, else one per class or pair of classes.
    alpha_ : float
        The selected penalty, in the convention `alpha_convention`.
    alpha_absolute_ : float
        alpha in the solver's formula, for the fit on all rows.
    alpha_scale_free_ : float
        alpha_absolute_ divided by the mean squared norm of a row of features, or by the root of
        this mean for a penalty of degree 1.
    notes_ : list of str
        Notes for readers of the results: fall-backs, missing convergence.
        converged_ : bool or None
            True if the selected fit reached its tolerance; None for closed-form solutions.
        gap_ : float or None
            Proven upper bound of the distance of the selected fit from its optimum, relative to the
            objective, for the worst decision column. None for closed-form solutions. If it is above
            1e-4, `converged_` is False.
        gap_folds_ : float or None
            The largest gap of the fits used for the selection, over all folds and all values of the
            grid.
    n_columns_ : int
        Number of coefficients per decision column.
    evaluation_decisions_ : array of shape (n, t)
        Decision values of the evaluation rows, if the penalty was selected on them.
    selection_loss_ : float or None
        Mean loss of the selected value on its validation rows: squared error, or misclassification
        (0 to 1). None if nothing was selected.
        fold_losses_ : array of shape (K,) or None
            The same loss in each fold.
        features_in_folds_ : {'nested', 'once'} or None
            How features that use the target were fitted for the validation rows. None for other
            features, or if no training rows were held out.
    """

    # Incremented when the solver computes something different; its trials then get new identities.
    revision: ClassVar[int] = 1
    # True if the solver has the leave-one-out error in closed form.
    leaves_one_out: ClassVar[bool] = False

    # True if the solver rejects the penalty 0.
    positive_alphas: ClassVar[bool] = False
    # Degree of the penalty in the coefficients: 2 for a sum of squares, 1 for a sum of absolute
    # values. Features s z with alpha give the same fit as z with alpha / s^degree.
    penalty_degree: ClassVar[int] = 2

    alphas: float | Sequence[float] = field(
        default=1.0, kw_only=False, metadata=make_rule_metadata(make_grid_rule(number(least=0)))
    )
    alpha_convention: str = parameter("absolute", one_of("absolute", "per-sample"))
    selection: str | None = parameter(None, SELECTION)
    intercept: bool = parameter(True, BOOLEAN)
    random_state: RandomState = parameter(None, RANDOM_STATE)

    # True for a real target with one or several columns, False for labels.
    numeric_target: ClassVar[bool]

    def grid(self) -> Array:
        """Return the penalties in decreasing order, in the convention `alpha_convention`."""
        return np.unique(np.asarray(self.alphas, dtype=np.float64))[::-1]

    def _absolute(self, rows: float) -> Array:
        """Return the absolute penalties for a fit on `rows` rows."""
        return self.grid() * rows if self.alpha_convention == "per-sample" else self.grid()

    @abstractmethod
    def _targets(self, y: Any) -> Targets:
        """Return the `Targets` for the y of `fit`."""

    @abstractmethod
    def _truth(self, y: Any) -> NDArray[Any]:
        """Return the y of evaluation rows in the form of `Targets.truth`."""

    @abstractmethod
    def _losses(self, decisions: Array, truth: NDArray[Any]) -> Array:
        """Return the mean loss of decision values, shape (a, n, t), for each value of the grid."""

    def _summed_losses(self, decisions: Array, truth: NDArray[Any]) -> Array:
        """Return `_losses` times the number of rows; infinite if a decision is not a number."""
        # A fit that overflowed has NaN decisions. argmin would select the first NaN as the smallest
        # value, so the loss of such a fit is set to infinity.
        usable = np.asarray(np.isfinite(decisions).all(axis=(1, 2)))
        losses = self._losses(np.where(usable[:, None, None], decisions, 0.0), truth)
        return np.where(usable, losses * decisions.shape[1], np.inf)

    @abstractmethod
    def _fits(self, design: Design, targets: Targets, groups: Groups, clock: Clock) -> Fits:
        """Fit all rows, and all rows except group g for every group g >= 0."""

    @abstractmethod
    def _keep(self, path: Path, best: int) -> None:
        """Set the attributes of the fit with the selected penalty."""

    def check_parameters(self) -> None:
        """Raise MethodError if the parameters are not allowed; no data are needed."""
        super().check_parameters()
        if self.selection == "fixed" and len(self.grid()) > 1:
            raise MethodError(
                f"There are {len(self.grid())} alphas and selection is 'fixed'.",
                "'fixed' requires a single value.",
                "Give one value, or selection: cv5, validation or test.",
            )
        if self.selection == LOO and not self.leaves_one_out:
            raise MethodError(
                f"{type(self).__name__} has no leave-one-out error in closed form.",
                "Ridge and kernel ridge have one.",
                "Use selection: cv5.",
            )
        if self.positive_alphas and (self.grid() == 0).any():
            raise MethodError(
                f"{type(self).__name__} needs penalties above 0.",
                "Its fit is not defined without a penalty.",
                "Use a small penalty instead of 0.",
            )

    def chosen_selection(self) -> str:
        """Return the selection; None becomes 'fixed' for a single value and 'cv5' otherwise."""
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
        """Fit on the features of the rows X, shape (n, d), and on y.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
        y : array of shape (n,)
            A real target may have several columns, (n, t).
        features : fitted transformer, optional
        features_in_folds : {'nested', 'once'} or function
            'nested': for each fold, a copy of features that use the target
            (`rfbench.samplers.base.uses_target`) is fitted without the rows of the fold. 'once':
            the features are used unchanged, although they have seen the targets of the held-out
            rows. A function fits the features of a fold (`rfbench.solvers.folds.Refit`).
        groups : array of shape (n,), optional
            The group (subject, patient) of each row; complete groups are held out.
        evaluation : tuple of rows and targets, optional
            Required by the selection 'test'.
        clock : Clock, optional
            It measures the parts of the work. Fits of features in folds count as training.
        """
        # Check parameters first, so that a wrong one is rejected before rows are read.
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
        # Make the folds before anything is fitted: features that use the target must not see the
        # validation rows, and all samplers of a trial get the same folds, independent of their
        # draws.
        folds = self._groups(selection, design.n, groups, targets.codes, notes)
        refit = None if folds is None else make_refit(features_in_folds, self.features_)
        # Fit the complete grid at once: a Gram matrix or an eigendecomposition that all penalties
        # share is computed once. Folds that need their own features are fitted by `_with_nested`;
        # here only all rows are fitted then.
        with one_thread(self._is_small(design)):
            fits = self._fits(design, targets, None if refit else folds, clock)
        if refit is not None and folds is not None:
            fits = self._with_nested(fits, X, y, targets, folds, refit, clock)
        # Each row is evaluated by a fit that has not seen it. For a grid with one value the losses
        # are only reported.
        if selection == "test":
            choice = self._choose_by_evaluation(fits, evaluation, clock)
        else:
            choice = self._choose_by_folds(fits, design, targets, folds, clock)
        # Keep the fit of all rows at the selected penalty. The other fits are dropped, because the
        # memory of a path is proportional to the number of penalties.
        self._keep(fits.path, choice.best)
        # This is reported in the row: if features have seen the targets of the held-out rows, the
        # losses of the folds are too small and the penalty too weak.
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
        """Raise MethodError if a selection has no rows to use, or would split groups."""
        if selection == "test" and evaluation is None:
            raise MethodError(
                "selection is 'test', but fit was given no evaluation rows.",
                "",
                "Pass fit(..., evaluation=(X, y)), or select by cv5 or validation.",
            )
        if selection == LOO and groups is not None:
            raise MethodError(
                "selection is 'loo', and the rows have groups.",
                "Leaving out a single row keeps the other rows of its group.",
                "Use selection: cv5. Its folds are complete groups.",
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
        """Return the index of the held-out fold of each row, -1 for rows never held out."""
        if selection in CHOOSE_WITHOUT_FOLDS:
            return None
        # Folds depend on random_state, the rows and their groups, but not on the draws of the
        # features. Therefore all methods of a trial are compared on the same folds.
        state: Any = self.random_state
        if isinstance(state, np.random.RandomState):
            state = int(state.randint(2**31 - 1))
        generator = np.random.default_rng(state)
        validation = selection == "validation"
        count = round(1 / VALIDATION_SHARE) if validation else int(selection.removeprefix("cv"))
        if groups is not None:
            # With rows of one subject on both sides, the subject would be recognized instead of
            # predicted.
            folds = assign_group_folds(groups, codes, count, int(generator.integers(2**31)))
            if notes is not None and (made := int(folds.max()) + 1) < count:
                notes.append(f"{made} folds: the training rows are of {made} groups")
            return np.where(folds == 0, 0, -1) if validation else folds
        # The order is random, because files are often sorted by the target; folds of adjacent rows
        # would then lack a class.
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
        """Return the fits of all rows, and one fit without each fold that uses its own features.

        All time spent on a fold counts as training.
        """
        partial, sums, spent = [], [], Clock()
        for g in range(int(folds.max()) + 1):
            # Features that use the target are fitted without the fold. Features that have seen its
            # targets would fit the fold too well, and the smallest penalty would be selected.
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
        # Folds use a separate clock: the time of features in the row refers to the fit on all rows.
        clock.charge(spent, to="train")
        return replace(fits, partial=partial, held_loss=np.array(sums))

    def _choose_by_evaluation(self, fits: Fits, evaluation: Any, clock: Clock) -> PenaltyChoice:
        """Return the selection with the smallest loss on the evaluation rows, and their decisions.

        The trial is scored with the same decision values, so they are computed once.
        """
        # The papers select by test error, that is, by the minimum over the grid of the loss on the
        # evaluation rows. This is optimistic. The column `selection` of the row records it.
        design = make_design(self._rows(evaluation[0]), self.features_)
        with clock.part("test"):
            decisions = fits.path.decisions(design)
            losses = self._losses(decisions, self._truth(evaluation[1]))
            best = int(np.argmin(losses))
            return PenaltyChoice(best, float(losses[best]), decisions=decisions[best].copy())

    def _choose_by_folds(
        self, fits: Fits, design: Design, targets: Targets, folds: Groups, clock: Clock
    ) -> PenaltyChoice:
        """Return the selection with the smallest mean loss over all held-out rows.

        Without held-out rows the first value is selected. The grid is decreasing and argmin returns
        the first of equal losses, so ties select the strongest penalty.
        """
        sums = fits.held_loss
        if folds is None and sums is None:
            return PenaltyChoice(0)
        if sums is None:
            # The time of the selection counts as training; otherwise a large grid would seem to
            # cost nothing.
            with clock.part("train"):
                sums = self._held_losses(fits, design, targets, folds)
        counts = np.array([design.n]) if folds is None else np.bincount(folds[folds >= 0])
        # Losses are summed over rows, not averaged over folds: every row has the same weight in
        # folds of any size.
        losses = sums.sum(axis=0)
        best = int(np.argmin(losses))
        return PenaltyChoice(best, float(losses[best]) / int(counts.sum()), sums[:, best] / counts)

    def _held_losses(self, fits: Fits, design: Design, targets: Targets, folds: Groups) -> Array:
        """Return the summed loss of each fold under the fit without it, shape (K, a)."""
        sums = []
        for g, fitted in enumerate(fits.partial):
            rows = np.flatnonzero(folds == g)
            # The decisions of all rows at once would need more memory than the features.
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
        """Return True if one thread fits faster than two threads."""
        return False

    def _facts(self, fits: Fits, best: int, n: int, notes: list[str]) -> dict[str, Any]:
        """Return the part of the report that follows from the fits: penalty, convergence, gaps."""
        path, notes = fits.path, [*notes, *fits.path.notes[best]]
        converged = None if path.converged is None else bool(path.converged[best])
        gap = None if path.gaps is None else float(path.gaps[best])
        # A fit that met its own criterion does not count as converged if the bound, which is
        # independent of the criterion, allows a better objective. A NaN bound proves nothing.
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
            # Features s z with alpha give the same fit as z with alpha / s^2 (`penalty_degree`):
            # only the ratio is comparable.
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

    def holds_out_rows(self, n: int) -> bool:
        """Return True if the penalty is selected on a held-out part or in folds of the rows.

        Leave-one-out does not hold out rows in this sense; with it, features that use the target
        are rejected.
        """
        return self.chosen_selection() not in CHOOSE_WITHOUT_FOLDS

    def with_choice(self) -> Solver:
        """Return an unfitted copy whose grid is only the selected penalty."""
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
    """Base class of the solvers with decisions that are linear in the features.

    The parameters are the parameters of `Solver`.

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
