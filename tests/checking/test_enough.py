"""Number of features for a kernel error: brute force of the bootstrap, and when it applies."""

import itertools
import math

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

from rfbench import kernels
from rfbench.checking import enough
from rfbench.checking.run import check_feature_map
from rfbench.cli import main
from rfbench.errors import MethodError
from rfbench.registry import SAMPLERS

PAIRS = np.array([0, 1, 2, 0, 1, 2])  # cosines of three frequencies, then their sines


def test_bootstrap_variance_is_the_variance_over_all_resamples():
    """All 27 resamples of three frequencies; n / (n - 1) removes the bias of the variance."""
    Z = np.random.default_rng(0).standard_normal((4, 6))
    parts = [Z[:, PAIRS == k] @ Z[:, PAIRS == k].T for k in range(3)]
    every = np.array(
        [sum(parts[k] for k in each) for each in itertools.product(range(3), repeat=3)]
    )
    expected = every.var(axis=0).sum() * 3 / 2
    assert_allclose(enough.compute_bootstrap_variance(Z, PAIRS), expected)


def test_resampled_errors_are_the_norms_of_the_resampled_estimates():
    Z = np.random.default_rng(0).standard_normal((5, 6))
    found = enough.compute_resampled_errors(Z, PAIRS, seed=3)
    counts = np.random.default_rng(3).multinomial(3, np.full(3, 1 / 3), enough.RESAMPLES)
    for i in (0, 7, enough.RESAMPLES - 1):
        change = Z @ np.diag(counts[i][PAIRS]) @ Z.T - Z @ Z.T
        assert found["frobenius"][i] == pytest.approx(np.linalg.norm(change))
        assert found["largest"][i] == pytest.approx(np.abs(change).max())


def test_quantile_is_the_180th_of_199_errors():
    assert enough.find_quantile(np.arange(1.0, 200.0)) == pytest.approx(180.0)


def test_half_of_the_error_needs_four_times_as_many_features():
    assert enough.count_enough_features(0.1, 50, 0.1) == 50
    assert enough.count_enough_features(0.1, 50, 0.05) == 200
    assert enough.count_enough_features(0.1, 50, 10.0) == 1
    with pytest.raises(MethodError, match="needs more than 10,000,000 features") as caught:
        enough.count_enough_features(0.1, 50, 1e-6)
    least = 0.1 * math.sqrt(50 / enough.MOST_FEATURES)
    assert f"Write at least {least:.1g}." in str(caught.value)


@pytest.mark.parametrize(("form", "layout"), [("offset", 0), ("paired", 1)])
def test_stated_error_covers_the_error_of_most_draws(form, layout):
    """In 200 draws 180 are expected; resampling the columns of pairs apart is not correct."""
    X = np.random.default_rng(0).standard_normal((20, 3))
    K = kernels.make("gaussian", 1.5)(X, X)
    covered = apart = 0
    for seed in range(200):
        sampler = SAMPLERS.find("rks")(100, bandwidth=1.5, feature_map=form, random_state=seed)
        Z = sampler.fit(X).transform(X)
        error = np.linalg.norm(Z @ Z.T - K)
        layouts = enough.list_layouts(Z.shape[1])
        stated = [
            enough.find_quantile(enough.compute_resampled_errors(Z, each)["frobenius"])
            for each in (layouts[layout], layouts[0])
        ]
        covered += error <= stated[0]
        apart += error <= stated[1]
    assert 165 <= covered <= 193  # three standard errors are 13
    assert (apart > 193) == (form == "paired")


def test_odd_number_of_columns_has_no_pairs():
    assert [list(each) for each in enough.list_layouts(3)] == [[0, 1, 2]]
    assert [list(each) for each in enough.list_layouts(4)] == [
        [0, 1, 2, 3], [0, 1, 0, 1], [0, 0, 1, 1],
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "applies"), [("rks", True), ("orf", False)])
def test_number_is_stated_for_independent_features_only(name, applies, monkeypatch):
    monkeypatch.setattr(enough, "DRAWS", 300)
    words = {"feature_map": "paired"}
    report = check_feature_map(SAMPLERS.find(name), "gaussian", None, words, seconds=1.0)
    claim, found = report.measured[0]
    lines = enough.describe_enough(claim, found, 0.05)
    assert ("enough features for 0.05: M = " in lines[-1]) == applies
    assert ("the bootstrap does not apply, because columns depend" in lines[-1]) != applies


def test_value_that_is_not_positive_is_a_usage_error():
    result = CliRunner().invoke(main, ["test", "rks", "--within", "0"])
    assert result.exit_code == 2
    assert "0.0 is not in the range x>0." in result.output
