"""What every solver promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import is_classifier

from rfbench.checking.samplers import expect_equal, expect_true
from rfbench.clock import Clock
from rfbench.errors import MethodError
from rfbench.samplers import RKS
from rfbench.solvers import Solver
from tests.support.contracts import Contract, failed_of_scikit_learn

FEWEST_CHECKS = 53


def _rows(n: int) -> tuple[Any, Any]:
    """Return rows of 4 columns, not centred, and a number that they nearly decide."""
    generator = np.random.default_rng(11)
    X = generator.standard_normal((n, 4)) + 0.5
    return X, X @ [1.0, -2.0, 0.5, 0.0] + 0.3 * generator.standard_normal(n)


ROWS, REAL = _rows(90)
NEW_ROWS = np.random.default_rng(12).standard_normal((20, 4)) + 0.5
TWO = np.where(np.median(REAL) < REAL, "yes", "no")
THREE = np.searchsorted(np.quantile(REAL, [1 / 3, 2 / 3]), REAL) * 10
FEATURES = RKS(30, bandwidth=3.0, random_state=0).fit(ROWS)


class Spoilt:
    """A transformer that passes the rows on, with a hole in those that begin above 100."""

    def __init__(self, value: float) -> None:
        self.value = value

    def transform(self, X: Any) -> Any:
        """Return the rows with the hole."""
        Z = X.copy()
        Z[X[:, 0] > 100, 1] = self.value
        return Z


@dataclass(frozen=True)
class SolverSubject:
    """A solver, how it is built, and in what it differs from others.

    Attributes
    ----------
    thing : the class
    options : parameters that make its fits exact enough to be compared
    value : of its grid, at which it learns the targets of this file
    exceptions : names of the checks of scikit-learn that it cannot pass, and why
    tolerance : relative to the largest decision value, of two ways to the same fit
    float32_tolerance : the same, of rows in float32
    """

    thing: type[Solver]
    options: Mapping[str, Any] = field(default_factory=dict)
    value: float = 0.5
    exceptions: Mapping[str, str] = field(default_factory=dict)
    tolerance: float = 1e-6
    float32_tolerance: float = 1e-3

    def make(self, values: Any = None, **kwargs: Any) -> Any:
        """Build the solver with one value, or a grid of them."""
        values = self.value if values is None else values
        return self.thing(**{"random_state": 0, **self.options, "alphas": values, **kwargs})

    @property
    def targets(self) -> list[Any]:
        """Targets that it can learn, with two classes first."""
        if not is_classifier(self.thing()):
            return [REAL, np.column_stack([REAL, -REAL])]
        return [TWO, THREE] if self.thing.multi_class else [TWO]

    def expect_same(
        self, result: Any, expected: Any, what: str, tolerance: float | None = None
    ) -> None:
        """Compare two ways to the same decision values."""
        scale = np.abs(expected).max()
        expect_equal(result, expected, what, (tolerance or self.tolerance) * scale)

    def fitted(self, X: Any = ROWS, y: Any = None, *, values: Any = None, **kwargs: Any) -> Any:
        """Build the solver and fit it."""
        y = self.targets[0] if y is None else y
        return self.make(values).fit(X, y, **kwargs)

    def spoil(self, X: Any, value: float) -> tuple[Any, Any]:
        """Return rows and the map that gives a value; exact kernels see the rows themselves."""
        if self.thing.uses_features:
            return X, Spoilt(value)
        return np.where(X > 100, value, X), None


def one_plain_fit(subject: SolverSubject) -> None:
    """It can be built and fitted on 90 rows: correct this first.

    `_fits` returns `Fits`, and every parameter has a default. The form in `FORMS` may set others.
    """
    subject.fitted()


def passes_the_checks_of_scikit_learn(subject: SolverSubject) -> None:
    """It passes scikit-learn's `check_estimator`.

    Use the decorator `estimator`, and inherit `Regressor` or `Classifier`, then `LinearModel`. List
    a check that cannot pass in the fourth field of `FORMS`, with the reason (`MANY_FITS` for
    `max_iter`).
    """
    failed = failed_of_scikit_learn(subject.thing(), FEWEST_CHECKS, subject.exceptions)
    for name, why in failed.items():
        expect_true(False, f"{name}: {why}")


def predictions_look_like_the_target_and_follow_it(subject: SolverSubject) -> None:
    """Predictions have the shape and the labels of the target, and learn an easy problem.

    Fit the columns of `targets.columns`: -1 and +1 for classes. If the penalty is too strong for
    the problem, change the value in the third field of `FORMS`.
    """
    for y in subject.targets:
        solver = subject.fitted(y=y, features=FEATURES)
        predicted, decisions = solver.predict(ROWS), solver.compute_decisions(ROWS)
        columns = (1 if y is TWO else 3) if is_classifier(solver) else y.size // len(y)
        for what, shape, expected in (
            ("predictions", predicted.shape, y.shape),
            ("decisions", decisions.shape, (len(ROWS), columns)),
            ("predictions", solver.predict(NEW_ROWS).shape, (len(NEW_ROWS), *y.shape[1:])),
        ):
            expect_true(shape == expected, f"the shape of the {what} is {shape}, not {expected}")
        seen = 30 if subject.thing.uses_features else len(ROWS)
        expect_true(solver.n_columns_ == seen, f"n_columns_ is {solver.n_columns_}, not {seen}")
        notes = all(isinstance(note, str) for note in solver.notes_)
        expect_true(notes, f"notes_ has what is no text: {solver.notes_}")
        if is_classifier(solver):
            strange = sorted(set(predicted.tolist()) - set(y.tolist()))
            expect_true(
                not strange, f"labels that the target does not have are predicted: {strange}"
            )
            labels = solver.classes_[solver.predict_codes(decisions)]
            expect_equal(labels, predicted, "classes_ at predict_codes, and what is predicted")
            right = np.mean(predicted == y)
            expect_true(right > 0.7, f"of an easy problem's training rows {right:.0%} are right")
        else:
            error = np.mean((predicted - y) ** 2) / np.mean((y - y.mean(axis=0)) ** 2)
            expect_true(
                error < 0.5, f"of an easy problem {error:.0%} of the variance is not learnt"
            )
            if y.ndim == 2:
                first, second = predicted.T
                subject.expect_same(second, -first, "predictions of a target and its negative")


def a_second_fit_forgets_the_first(subject: SolverSubject) -> None:
    """A second fit gives what a first one would.

    Keep no state in attributes: `_fits` returns all of its results.
    """
    first, last = subject.targets[0], subject.targets[-1]
    solver = subject.fitted(y=first, features=FEATURES)
    again = solver.fit(ROWS[:, :3], last).compute_decisions(NEW_ROWS[:, :3])
    only = subject.fitted(ROWS[:, :3], last).compute_decisions(NEW_ROWS[:, :3])
    expect_equal(again, only, "the decisions of a second fit and of a first one")


def rows_in_float32(subject: SolverSubject) -> None:
    """Rows in float32 give nearly the decisions of float64.

    Accumulate in float64, as `fit_from_gram` and `fit_from_matrix` do, or set `float32_tolerance`.
    """
    narrow = RKS(30, bandwidth=3.0, random_state=0).fit(ROWS.astype(np.float32))
    single = subject.fitted(ROWS.astype(np.float32), features=narrow)
    double = subject.fitted(features=FEATURES).compute_decisions(NEW_ROWS)
    decisions = single.compute_decisions(NEW_ROWS.astype(np.float32))
    subject.expect_same(decisions, double, "the decisions", subject.float32_tolerance)


def sparse_rows_give_the_fit_of_dense_ones(subject: SolverSubject) -> None:
    """CSR rows give the fit of the same dense rows.

    Read rows through `design`, whose blocks are dense.
    """
    X, new = (np.where(np.abs(rows) > 0.8, rows, 0.0) for rows in (ROWS, NEW_ROWS))
    for features in (None, FEATURES):
        dense = subject.fitted(X, features=features).compute_decisions(new)
        for of in (sparse.csr_array, sparse.csr_matrix):
            decisions = subject.fitted(of(X), features=features).compute_decisions(of(new))
            what = "rows" if features is None else "features of rows"
            subject.expect_same(decisions, dense, f"the decisions on {what} in {of.__name__}")


def rows_and_target_are_left_alone(subject: SolverSubject) -> None:
    """`fit` writes neither into X nor into y.

    Copy the matrix before you change it in place: `design.compute_matrix()` without `copy=False`.
    """
    for y in subject.targets:
        X, y = ROWS.copy(), y.copy()
        X.flags.writeable = y.flags.writeable = False
        subject.fitted(X, y).predict(X)
        subject.fitted(X, y, values=[0.1, 1.0], features=FEATURES).predict(X)


def features_that_are_streamed_are_the_matrix_of_them(subject: SolverSubject) -> None:
    """Features streamed in blocks give the fit on their whole matrix.

    Use `design.iterate_blocks` or `design.compute_matrix`, and lower `tol` in `FORMS`.
    """
    with mock.patch("rfbench.solvers.design.DESIGN_BLOCK_BYTES", 1):
        for y in subject.targets:
            streamed = subject.fitted(y=y, values=[0.1, 1.0], features=FEATURES)
            if subject.thing.uses_features:
                total = subject.fitted(FEATURES.transform(ROWS), y, values=[0.1, 1.0])
                expected = total.compute_decisions(FEATURES.transform(NEW_ROWS))
            else:
                expected = subject.fitted(y=y, values=[0.1, 1.0]).compute_decisions(NEW_ROWS)
            subject.expect_same(streamed.compute_decisions(NEW_ROWS), expected, "the decisions")


def a_grid_ends_in_the_fit_of_the_chosen_value(subject: SolverSubject, selection: str) -> None:
    """A grid of penalties ends in the fit of the chosen one alone.

    The penalties are `self._absolute(n)` for n fitted rows, in this order. Charge the times to
    `clock`. A start from the previous penalty needs a small `tol` in `FORMS`.
    """
    grid = [0.01, 0.1, 1.0]
    clock, solver = Clock(), subject.make(grid, selection=selection)
    expect_true(sorted(solver.make_grid()) == grid, f"grid() is {solver.make_grid()}, not {grid}")
    y = subject.targets[-1]
    held = (ROWS[:9], y[:9]) if selection == "test" else None
    solver.fit(ROWS, y, features=FEATURES, evaluation=held, clock=clock)
    value = solver.alpha_
    expect_true(value in grid, "alpha_ is no value of the grid")
    alone = subject.fitted(y=y, values=value, features=FEATURES)
    # Two fits that have not converged differ; the notes say so.
    what = f"the decisions for {value} (notes_: {solver.notes_}, and alone {alone.notes_})"
    subject.expect_same(solver.compute_decisions(NEW_ROWS), alone.compute_decisions(NEW_ROWS), what)
    for part in ("features", "train"):
        expect_true(clock.wall[part] > 0, f"no time is counted to {part}")
    counted = clock.wall["test"] > 0
    expect_true(counted == (selection == "test"), f"time is counted to test: {counted}")
    if held is not None:
        decisions = solver.compute_decisions(ROWS[:9])
        subject.expect_same(solver.evaluation_decisions_, decisions, "evaluation_decisions_")


def scaled_features_need_a_scaled_penalty(subject: SolverSubject) -> None:
    """Features times 3 give the fit of alpha / 3^degree, and the same alpha_scale_free_.

    Set `penalty_degree` of the class to the degree of its penalty in the coefficients.
    """
    if not subject.thing.uses_features:
        return
    y, times = subject.targets[0], 3.0
    # Without an intercept, because svm penalizes it.
    plain = subject.make(intercept=False).fit(ROWS, y)
    alpha = subject.value * times**subject.thing.penalty_degree
    scaled = subject.make(alpha, intercept=False).fit(times * ROWS, y)
    decisions = scaled.compute_decisions(times * NEW_ROWS)
    what = "the decisions of scaled features"
    subject.expect_same(decisions, plain.compute_decisions(NEW_ROWS), what, 1e-4)
    expect_equal(scaled.alpha_scale_free_, plain.alpha_scale_free_, "alpha_scale_free_", 1e-12)


def a_choice_needs_something_to_choose_by(subject: SolverSubject) -> None:
    """Several penalties without a way to choose are refused.

    Do not override `check_parameters` or `fit` of `Solver`.
    """
    words = "2 alphas, .*'fixed'"
    with pytest.raises(MethodError, match=words):
        subject.make([0.1, 1.0], selection="fixed").check_parameters()
    with pytest.raises(MethodError, match="no evaluation rows"):
        subject.make([0.1, 1.0], selection="test").fit(ROWS, subject.targets[0])


def more_columns_than_rows(subject: SolverSubject) -> None:
    """More columns than rows give finite decisions.

    Solve singular systems with an eigendecomposition or `lstsq`, and not with an inverse.
    """
    X, y = FEATURES.transform(ROWS)[::8], subject.targets[0][::8]
    decisions = subject.fitted(X, y).compute_decisions(X)
    expect_true(np.isfinite(decisions).all(), "decisions are NaN or infinite")


def a_single_class_is_refused(subject: SolverSubject) -> None:
    """One class only is refused, by name.

    Inherit `Classifier`, whose `_targets` raises the error.
    """
    if not is_classifier(subject.thing()):
        return
    with pytest.raises(MethodError, match="only one class: 7"):
        subject.fitted(y=np.full(len(ROWS), 7))


def features_that_are_not_finite_are_refused(subject: SolverSubject, value: float) -> None:
    """Features with NaN or infinity are refused, in `fit` and in `decisions`.

    Get features from `design`, which checks them. A matrix of your own needs
    `rfbench.solvers.design.check_finite`.
    """
    rows = ROWS.copy()
    rows[57, 0] = 101.0
    spoilt, features = subject.spoil(rows, value)
    with sklearn.config_context(assume_finite=True), np.errstate(invalid="ignore"):  # as in a trial
        with pytest.raises(MethodError, match="not finite"):
            subject.fitted(spoilt, features=features)
        solver = subject.fitted(features=features)
        with pytest.raises(MethodError, match="not finite"):
            solver.compute_decisions(spoilt)


CONTRACT = Contract.of(
    SolverSubject,
    __name__,
    selection=("cv3", "validation", "test"),
    value=(np.nan, np.inf, -np.inf),
)
