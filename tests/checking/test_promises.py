"""Checks as plain functions: what each refuses, and what its sentence says."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin

import rfbench
from rfbench import checking
from rfbench.checking import CheckFailed, NotApplicable, foreign, run, samplers, solvers
from rfbench.checking.promises import (
    Contract,
    expect_finite,
    expect_refusal,
    expect_same,
    run_checks,
)
from rfbench.kernels import Gaussian
from rfbench.samplers import RandomFeatures
from rfbench.solvers import RidgeClassifier, RidgeRegressor


def test_the_program_does_without_pytest():
    for file in Path(rfbench.__file__).parent.rglob("*.py"):
        assert not re.search(r"^\s*(import|from) _?pytest\b", file.read_text(), re.MULTILINE), file


def test_every_check_is_found_and_says_what_to_do():
    contracts = list(run.CONTRACTS.values())
    assert [len(contract.checks) for contract in contracts] == [16, 13, 5, 4, 2]
    for contract in contracts:
        for check in contract.checks:
            promise = checking.Promise.of(check)
            assert promise.expected, promise.name
            assert promise.todo, promise.name


class Thing:
    pass


def kept_for_small_ones(subject, number):
    """Numbers are small.

    To do: divide them.
    """
    if number == 1:
        raise NotApplicable("ones are none of its business")
    if number > 2:
        raise CheckFailed(f"{number} is large")
    if number < 0:
        raise ValueError("negative")


def test_cases_are_counted_and_what_failed_is_explained():
    subject = foreign.ForeignSubject(Thing)
    contract = Contract((kept_for_small_ones,), {"number": (0, 1, 2, 3, -1)})
    (promise,) = run_checks(subject, contract)
    assert promise.cases == 4
    large, negative = promise.got
    assert large == "with the number 3: 3 is large"
    assert re.fullmatch(
        r"with the number -1: ValueError: negative\n"
        r'test_promises.py, line \d+: raise ValueError\("negative"\)',
        negative,
    )
    assert promise.explanation().splitlines() == [
        "kept for small ones (2 of 4 cases)",
        "    expected: Numbers are small.",
        "    got:      with the number 3: 3 is large",
        "    to do:    Divide them.",
    ]
    (promise,) = run_checks(subject, Contract((kept_for_small_ones,), {"number": (1,)}))
    assert (promise.cases, promise.got) == (0, [])
    assert promise.why_not == "ones are none of its business"


def test_sentences_say_what_came():
    expect_same([1.0, np.nan], [1.0, np.nan], "rows")
    expect_same([1.0, 2.0], [1.0, 2.05], "rows", 0.1)
    for got, expected, tolerance, sentence in (
        ([1, 2], [1], 0.0, r"rows: the shape is \(2,\) in place of \(1,\)"),
        ([1.0, 2.0], [1.0, 2.5], 0.0, "rows: 1 of 2 values differ, by up to 0.5$"),
        ([1.0, 2.0], [1.0, 2.5], 0.1, r"1 of 2 values differ, by up to 0.5 \(allowed: 0.1\)"),
        (["a", "b"], ["a", "c"], 0.0, "1 of 2 values differ$"),
    ):
        with pytest.raises(CheckFailed, match=sentence):
            expect_same(got, expected, "rows", tolerance)
    with pytest.raises(CheckFailed, match="1 of 2 columns has NaN or infinity: 1"):
        expect_finite(np.array([[0.0, np.inf]]))
    with expect_refusal(ValueError, "nothing", "^no"):
        raise ValueError("no")
    with (
        pytest.raises(CheckFailed, match="nothing: no ValueError is raised"),
        expect_refusal(ValueError, "nothing"),
    ):
        pass
    with (
        pytest.raises(CheckFailed, match="ValueError says 'yes', nothing of '"),
        expect_refusal(ValueError, "nothing", "^no"),
    ):
        raise ValueError("yes")


class Features(RandomFeatures):
    kernels_served = Gaussian

    def _draw(self, X, targets, random):
        return self.draw_unit_map(random, X.shape[1], self.n_components).times(
            self.n_components**-0.5
        )


class ConstantSeed(Features):
    def _draw(self, X, targets, random):
        again = np.random.default_rng(0)
        frequencies = again.standard_normal((self.n_components, X.shape[1]))
        return self.unit_map(frequencies, random)


class Changed(Features):
    """Features of which a method changes what `transform` gives."""

    def transform(self, X):
        return self.changed(super().transform(X), X)


class Wide(Changed):
    def changed(self, Z, X):
        return Z.astype(float)


class Sparse(Changed):
    def changed(self, Z, X):
        return Z if isinstance(X, np.ndarray) else Z + 1


class Lengths(Features):
    def _draw(self, X, targets, random):
        spread = np.asarray(X[:]).std(axis=0).min()
        with np.errstate(divide="ignore", invalid="ignore"):
            return super()._draw(X, targets, random).times(spread / spread)


class Careless(Features):
    def fit(self, X, y=None):
        return super().fit(X, y) if self.n_components else self


class Names(Features):
    def get_feature_names_out(self, names=None):
        return np.array([f"z{number}" for number in range(self.n_components + 1)])


class InMemory(Features):
    def _draw(self, X, targets, random):
        scale = 1.0 if isinstance(X, np.ndarray) else 2.0
        return super()._draw(X, targets, random).times(scale)


@pytest.mark.parametrize(
    ("cls", "check", "words"),
    [
        (ConstantSeed, "different_seeds_different_features", "seeds 0 and 1"),
        (Wide, "float32_in_float32_out", "float64"),
        (Sparse, "sparse_rows_give_the_features_of_dense_ones", "csr_array"),
        (Lengths, "finite_on_constant_columns", "NaN"),
        (Lengths, "fits_a_single_row", "NaN"),
        (Careless, "wrong_parameters_are_refused_by_fit_too", "n_components = 0 is fitted"),
        (Names, "has_exactly_the_columns_asked_for", "names of features"),
        (InMemory, "rows_on_disk_give_the_same_features", "the features"),
    ],
)
def test_each_fault_of_a_sampler_fails_its_check(cls, check, words):
    function = getattr(samplers, check)
    case = (
        {"feature_map": "paired"} if "feature_map" in inspect.signature(function).parameters else {}
    )
    function(samplers.SamplerSubject(Features), **case)
    with pytest.raises(CheckFailed, match=words):
        function(samplers.SamplerSubject(cls), **case)


class Remembers(RidgeRegressor):
    def fit(self, X, y, **options):
        again = hasattr(self, "coef_")
        return super().fit(X, -y if again else y, **options)


class Writes(RidgeRegressor):
    def fit(self, X, y, **options):
        y *= 2
        return super().fit(X, y, **options)


class Trusting(RidgeRegressor):
    def decisions(self, X):
        return np.nan_to_num(np.asarray(X)[:, :1])


class AnyClass(RidgeClassifier):
    def fit(self, X, y, **options):
        return super().fit(X, np.arange(len(y)) % 2, **options)


@pytest.mark.parametrize(
    ("cls", "check", "case", "error"),
    [
        (Remembers, "a_second_fit_forgets_the_first", {}, CheckFailed),
        (Writes, "rows_and_target_are_left_alone", {}, ValueError),
        (Trusting, "features_that_are_not_finite_are_refused", {"value": np.nan}, CheckFailed),
        (
            Trusting,
            "a_grid_ends_in_the_fit_of_the_chosen_value",
            {"selection": "test"},
            CheckFailed,
        ),
        (AnyClass, "a_single_class_is_refused", {}, CheckFailed),
        (AnyClass, "predictions_look_like_the_target_and_follow_it", {}, CheckFailed),
    ],
)
def test_each_fault_of_a_solver_fails_its_check(cls, check, case, error):
    function = getattr(solvers, check)
    function(solvers.SolverSubject(cls.__mro__[1]), **case)
    with pytest.raises(error):
        function(solvers.SolverSubject(cls), **case)


class Ranks(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X.argsort(axis=0)


class Drifts(RegressorMixin, BaseEstimator):
    fits = 0

    def fit(self, X, y):
        self.fits += 1
        return self

    def predict(self, X):
        return np.full(len(X), float(self.fits))


def lone():
    return np.zeros((3, 1)), [0, 0, 0]


def test_one_call_is_a_test_of_ones_own():
    checking.check_sampler(Features, {"bandwidth": 3.0})
    checking.check_solver(RidgeRegressor)
    for check, thing, sentence in (
        (checking.check_sampler, ConstantSeed, "different seeds different features"),
        (checking.check_foreign, Ranks, "features are a function of each row\n"),
        (checking.check_foreign, Drifts, "a second fit forgets the first\n"),
        (checking.check_foreign, lone, "the target is constant"),
    ):
        with pytest.raises(CheckFailed, match=sentence):
            check(thing)
