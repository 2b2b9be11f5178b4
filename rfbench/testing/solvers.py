"""What every solver promises, as one class of tests that the tests of each solver inherit."""

import pickle
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from rfbench.clock import Clock
from rfbench.errors import MethodError
from rfbench.samplers import RKS
from rfbench.solvers import Solver

FEWEST_CHECKS = 53
MANY_FITS = {
    "check_non_transformer_estimators_n_iter": (
        "n_iter_ is one number, and a fit is one for every penalty, fold and column; those that "
        "stop at max_iter are named in notes_"
    )
}


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


class SolverContract:
    """Inherit, set `solver` and what differs, and the tests below run.

    Attributes
    ----------
    solver : the class under test
    options : parameters that make its fits exact enough to be compared
    value : of its grid, at which it learns the targets of this file
    exceptions : names of the checks of scikit-learn that it cannot pass, and why
    tolerance : relative to the largest decision value, of two ways to the same fit
    float32_tolerance : the same, of rows in float32
    """

    solver: ClassVar[type[Solver]]
    options: ClassVar[dict[str, Any]] = {}
    value: ClassVar[float] = 0.5
    exceptions: ClassVar[dict[str, str]] = {}
    tolerance: ClassVar[float] = 1e-6
    float32_tolerance: ClassVar[float] = 1e-3

    def make(self, values: Any = None, **kwargs: Any) -> Any:
        """Build the solver with one value, or a grid of them."""
        values = self.value if values is None else values
        kwargs = {"random_state": 0, **self.options, "alphas": values, **kwargs}
        return self.solver(**kwargs)

    @property
    def targets(self) -> list[Any]:
        """Targets that it can learn, with two classes first."""
        if not is_classifier(self.solver()):
            return [REAL, np.column_stack([REAL, -REAL])]
        return [TWO, THREE] if self.solver.multi_class else [TWO]

    def assert_same(self, result: Any, expected: Any, tolerance: float | None = None) -> None:
        """Compare two ways to the same decision values."""
        scale = np.abs(expected).max()
        assert_allclose(result, expected, rtol=0, atol=(tolerance or self.tolerance) * scale)

    def fitted(self, X: Any = ROWS, y: Any = None, *, values: Any = None, **kwargs: Any) -> Any:
        """Build the solver and fit it."""
        y = self.targets[0] if y is None else y
        return self.make(values).fit(X, y, **kwargs)

    def spoil(self, X: Any, value: float) -> tuple[Any, Any]:
        """Return rows and the map that gives a value; exact kernels see the rows themselves."""
        if self.solver.uses_features:
            return X, Spoilt(value)
        return np.where(X > 100, value, X), None

    @pytest.fixture
    def _as_in_a_trial(self) -> Iterator[None]:
        with sklearn.config_context(assume_finite=True), np.errstate(invalid="ignore"):
            yield

    def test_passes_the_checks_of_scikit_learn(self) -> None:
        """It passes scikit-learn's `check_estimator`.

        To do: Read the first lines of what was got: they name the check.
        """
        results = check_estimator(
            self.solver(), expected_failed_checks=self.exceptions, on_skip=None, on_fail="raise"
        )
        assert len(results) >= FEWEST_CHECKS
        failed = {check["check_name"] for check in results if check["status"] == "xfail"}
        assert failed == set(self.exceptions)

    def test_predictions_look_like_the_target_and_follow_it(self) -> None:
        """Predictions have the shape and the labels of the target, and learn an easy
        problem.

        To do: Compare `decisions`, `predict` and `classes_` with those of
        `rfbench.solvers.Ridge`.
        """
        for y in self.targets:
            solver = self.fitted(y=y, features=FEATURES)
            predicted, decisions = solver.predict(ROWS), solver.decisions(ROWS)
            assert predicted.shape == y.shape
            columns = (1 if y is TWO else 3) if is_classifier(solver) else y.size // len(y)
            assert decisions.shape == (len(ROWS), columns)
            assert solver.predict(NEW_ROWS).shape == (len(NEW_ROWS), *y.shape[1:])
            assert solver.n_columns_ == (30 if self.solver.uses_features else len(ROWS))
            assert all(isinstance(note, str) for note in solver.notes_)
            if is_classifier(solver):
                assert set(predicted) <= set(y)
                assert_array_equal(solver.classes_[solver.predict_codes(decisions)], predicted)
                assert np.mean(predicted == y) > 0.7
            else:
                assert np.mean((predicted - y) ** 2) < 0.5 * np.mean((y - y.mean(axis=0)) ** 2)
                if y.ndim == 2:
                    self.assert_same(predicted[:, 1], -predicted[:, 0])

    def test_a_second_fit_forgets_the_first(self) -> None:
        """A second fit gives what a first one would.

        To do: Set every fitted attribute anew in `fit`.
        """
        first, last = self.targets[0], self.targets[-1]
        solver = self.fitted(y=first, features=FEATURES)
        again = solver.fit(ROWS[:, :3], last).decisions(NEW_ROWS[:, :3])
        assert_array_equal(again, self.fitted(ROWS[:, :3], last).decisions(NEW_ROWS[:, :3]))

    def test_clones_and_copies(self) -> None:
        """It can be cloned unfitted and pickled fitted.

        To do: Keep the constructor's parameters as they are; store no lambdas or open
        files.
        """
        solver = self.fitted(features=FEATURES)
        copy = clone(solver)
        assert copy.get_params() == solver.get_params()
        with pytest.raises(NotFittedError):
            copy.predict(NEW_ROWS)
        stored = pickle.loads(pickle.dumps(solver))
        assert_array_equal(stored.decisions(NEW_ROWS), solver.decisions(NEW_ROWS))

    def test_rows_in_float32(self) -> None:
        """Rows in float32 give nearly the decisions of float64.

        To do: Accumulate in float64, or widen `float32_tolerance`.
        """
        narrow = RKS(30, bandwidth=3.0, random_state=0).fit(ROWS.astype(np.float32))
        single = self.fitted(ROWS.astype(np.float32), features=narrow)
        double = self.fitted(features=FEATURES).decisions(NEW_ROWS)
        decisions = single.decisions(NEW_ROWS.astype(np.float32))
        self.assert_same(decisions, double, self.float32_tolerance)

    @pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
    @pytest.mark.parametrize("features", [None, FEATURES])
    def test_sparse_rows_give_the_fit_of_dense_ones(self, container: Any, features: Any) -> None:
        """CSR rows give the fit of the same dense rows.

        To do: Read the rows through the design that the base class makes.
        """
        X, new = (np.where(np.abs(rows) > 0.8, rows, 0.0) for rows in (ROWS, NEW_ROWS))
        dense = self.fitted(X, features=features).decisions(new)
        decisions = self.fitted(container(X), features=features).decisions(container(new))
        self.assert_same(decisions, dense)

    def test_rows_and_target_are_left_alone(self) -> None:
        """`fit` writes neither into X nor into y.

        To do: Copy before you centre or scale.
        """
        for y in self.targets:
            X, y = ROWS.copy(), y.copy()
            X.flags.writeable = y.flags.writeable = False
            self.fitted(X, y).predict(X)
            self.fitted(X, y, values=[0.1, 1.0], features=FEATURES).predict(X)

    def test_features_that_are_streamed_are_the_matrix_of_them(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Features streamed in blocks give the fit on their whole matrix.

        To do: Sum over the blocks; nothing may depend on where one ends.
        """
        monkeypatch.setattr("rfbench.solvers.design.BLOCK_BYTES", 1)
        for y in self.targets:
            streamed = self.fitted(y=y, values=[0.1, 1.0], features=FEATURES)
            if self.solver.uses_features:
                total = self.fitted(FEATURES.transform(ROWS), y, values=[0.1, 1.0])
                expected = total.decisions(FEATURES.transform(NEW_ROWS))
            else:
                expected = self.fitted(y=y, values=[0.1, 1.0]).decisions(NEW_ROWS)
            self.assert_same(streamed.decisions(NEW_ROWS), expected)

    @pytest.mark.parametrize("selection", ["cv3", "validation", "test"])
    def test_a_grid_ends_in_the_fit_of_the_chosen_value(self, selection: str) -> None:
        """A grid of penalties ends in the fit of the chosen one alone.

        To do: Fit anew on all rows after the choice, and count the time to its part.
        """
        grid = [0.01, 0.1, 1.0]
        clock, solver = Clock(), self.make(grid, selection=selection)
        assert sorted(solver.grid()) == grid
        y = self.targets[-1]
        held = (ROWS[:9], y[:9]) if selection == "test" else None
        solver.fit(ROWS, y, features=FEATURES, evaluation=held, clock=clock)
        assert solver.alpha_ in grid
        alone = self.fitted(y=y, values=solver.alpha_, features=FEATURES)
        self.assert_same(solver.decisions(NEW_ROWS), alone.decisions(NEW_ROWS))
        assert clock.wall["features"] > 0
        assert clock.wall["train"] > 0
        assert (clock.wall["test"] > 0) == (selection == "test")
        if held is not None:
            self.assert_same(solver.evaluation_decisions_, solver.decisions(ROWS[:9]))

    def test_a_choice_needs_something_to_choose_by(self) -> None:
        """Several penalties without a way to choose are refused.

        To do: Call the base class's `check_parameters`.
        """
        with pytest.raises(MethodError, match=r"2 alphas .*'fixed'"):
            self.make([0.1, 1.0], selection="fixed").check_parameters()
        with pytest.raises(MethodError, match="no evaluation rows"):
            self.make([0.1, 1.0], selection="test").fit(ROWS, self.targets[0])

    def test_more_columns_than_rows(self) -> None:
        """More columns than rows give finite decisions.

        To do: Add the penalty before you factorise.
        """
        X, y = FEATURES.transform(ROWS)[::8], self.targets[0][::8]
        assert np.isfinite(self.fitted(X, y).decisions(X)).all()

    def test_a_single_class_is_refused(self) -> None:
        """One class only is refused, by name.

        To do: Let the base class code the labels.
        """
        if is_classifier(self.solver()):
            with pytest.raises(MethodError, match="one class only: 7"):
                self.fitted(y=np.full(len(ROWS), 7))

    @pytest.mark.usefixtures("_as_in_a_trial")
    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_features_that_are_not_finite_are_refused(self, value: float) -> None:
        """Features with NaN or infinity are refused, in `fit` and in `decisions`.

        To do: Check the sums of each block.
        """
        rows = ROWS.copy()
        rows[57, 0] = 101.0
        spoilt, features = self.spoil(rows, value)
        with pytest.raises(MethodError, match="not finite"):
            self.fitted(spoilt, features=features)
        solver = self.fitted(features=features)
        with pytest.raises(MethodError, match="not finite"):
            solver.decisions(spoilt)
