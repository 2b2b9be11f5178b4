"""Checks as plain functions: what each refuses, and what its sentence says."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin

import rfbench
from rfbench.checking import CheckFailedError, samplers
from rfbench.checking.samplers import (
    FeatureMapUnderTest,
    expect_equal,
    expect_finite_columns,
    run_checks,
)
from rfbench.kernels import Gaussian
from rfbench.samplers import RandomFeatures


def test_package_does_not_import_pytest():
    for file in Path(rfbench.__file__).parent.rglob("*.py"):
        assert not re.search(r"^\s*(import|from) _?pytest\b", file.read_text(), re.MULTILINE), file


class Thing:
    pass


def one_plain_use(subject):
    """Correct this."""


def numbers_are_small(subject):
    """Divide them."""
    raise CheckFailedError("3 is large")


def numbers_are_positive(subject):
    raise ValueError("negative")


def test_each_failed_check_has_an_explanation():
    subject = FeatureMapUnderTest(Thing)
    every = [one_plain_use, numbers_are_small, numbers_are_positive]
    kept, large, negative = run_checks(subject, every)
    assert kept == ("one plain use", "Correct this.", "")
    assert str(large) == "numbers are small: 3 is large\nDivide them."
    assert re.fullmatch(
        r"ValueError: negative \(test_promises.py, line \d+: raise ValueError\(\"negative\"\)\)",
        negative.fault,
    )
    assert len(run_checks(subject, [numbers_are_small, one_plain_use])) == 1


def test_failure_messages_state_the_observed_values():
    expect_equal([1.0, np.nan], [1.0, np.nan], "rows")
    expect_equal([1.0, 2.0], [1.0, 2.05], "rows", 0.1)
    for got, expected, tolerance, sentence in (
        ([1, 2], [1], 0.0, r"rows: \(shapes \(2,\), \(1,\) mismatch"),
        ([1.0, 2.0], [1.0, 2.5], 0.1, r"rows: .*1 / 2 \(50%\); Max absolute .*: 0.5"),
        (["a", "b"], ["a", "c"], 0.0, r"1 / 2 \(50%\)"),
    ):
        with pytest.raises(CheckFailedError, match=sentence):
            expect_equal(got, expected, "rows", tolerance)
    with pytest.raises(CheckFailedError, match=r"these contain NaN or infinity: \[1\]"):
        expect_finite_columns(np.array([[0.0, np.inf]]))


class Features(RandomFeatures):
    kernels_served = Gaussian

    def _draw(self, X, targets, random):
        return self.draw_unit_map(random, X.shape[1], self.n_components).times(
            self.n_components**-0.5
        )


class OwnSeed(Features):
    def _draw(self, X, targets, random):
        frequencies = np.random.default_rng().standard_normal((self.n_components, X.shape[1]))
        return self.unit_map(frequencies, random)


class Changed(Features):
    """Features of which a method changes what `transform` gives."""

    def transform(self, X):
        return self.changed(super().transform(X), X)


class Wide(Changed):
    def changed(self, Z, X):
        return Z.astype(float)


class Rounded(Changed):
    def changed(self, Z, X):
        return Z.round(1 if X.dtype == np.float32 else 9)


class Sparse(Changed):
    def changed(self, Z, X):
        return Z if isinstance(X, np.ndarray) else Z + 1


class Centred(Changed):
    def changed(self, Z, X):
        return Z - Z.mean(axis=0)


class Lengths(Features):
    def _draw(self, X, targets, random):
        spread = np.asarray(X[:]).std(axis=0).min()
        with np.errstate(divide="ignore", invalid="ignore"):
            return super()._draw(X, targets, random).times(spread / spread)


class Names(Features):
    def get_feature_names_out(self, names=None):
        return np.array([f"z{number}" for number in range(self.n_components + 1)])


class Unpicklable(Features):
    def fit(self, X, y=None):
        self.function_ = lambda: 0
        return super().fit(X, y)


class Writes(BaseEstimator, TransformerMixin):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        X *= 2
        return X


class Neither(Features):
    needs_target = True


@pytest.mark.parametrize(
    ("cls", "check", "words"),
    [
        (OwnSeed, "same_seed_same_features", "two fits"),
        (Wide, "float32_gives_nearly_the_features_of_float64", "in float64"),
        (Rounded, "float32_gives_nearly_the_features_of_float64", "in float32"),
        (Sparse, "sparse_rows_give_the_features_of_dense_ones", "csr_array"),
        (Centred, "features_are_a_function_of_each_row", "six rows"),
        (Lengths, "constant_columns_give_finite_features", "NaN"),
        (Names, "serves_its_kernels_with_the_columns_asked_for", "6 have names"),
        (Unpicklable, "clones_and_copies", "pickle"),
        (Neither, "the_target_is_used_where_it_is_needed", "shuffled labels"),
    ],
)
def test_each_faulty_sampler_fails_its_check(cls, check, words):
    function = getattr(samplers, check)
    assert function in samplers.make_map_under_test(cls).checks
    function(samplers.make_map_under_test(Features))
    with pytest.raises((CheckFailedError, AttributeError, TypeError), match=words):
        function(samplers.make_map_under_test(cls))


def test_transformer_that_modifies_its_input_is_rejected_with_the_line():
    (promise,) = run_checks(FeatureMapUnderTest(Writes), samplers.OF_EVERY_MAP)
    assert re.search(r"read-only \(test_promises.py, line \d+: X \*= 2\)", promise.fault)
    assert "copy them" in promise.help
