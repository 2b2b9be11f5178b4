"""Number of features for a kernel error: brute force, coverage, and when none is stated."""

import math
import re

import numpy as np
import pytest
from click.testing import CliRunner

from rfbench import kernels
from rfbench.checking import enough
from rfbench.checking.run import check_feature_map
from rfbench.cli import main
from rfbench.errors import MethodError
from rfbench.registry import SAMPLERS

PAIRS = np.array([0, 1, 2, 0, 1, 2])  # cosines of three frequencies, then their sines


def test_resampled_errors_are_the_norms_of_the_resampled_estimates():
    Z = np.random.default_rng(0).standard_normal((5, 6))
    found = enough.compute_resampled_errors(Z, PAIRS, seed=3)
    counts = np.random.default_rng(3).multinomial(3, np.full(3, 1 / 3), enough.N_ERRORS)
    for i in (0, 7, enough.N_ERRORS - 1):
        change = Z @ np.diag(counts[i][PAIRS]) @ Z.T - Z @ Z.T
        assert found["frobenius"][i] == pytest.approx(np.linalg.norm(change))
        assert found["largest"][i] == pytest.approx(np.abs(change).max())


@pytest.mark.parametrize("frequency", [[0, 1, 0], [0, 1, 0, 0], [0, 2, 0, 2]])
def test_frequencies_with_unequal_numbers_of_columns_are_rejected(frequency):
    with pytest.raises(MethodError, match="`frequency` needs an index for each of 4 columns"):
        enough.estimate_kernel_error(np.ones((2, 4)), np.array(frequency))


def test_ninety_percent_quantile_is_the_180th_of_199_errors():
    assert enough.find_quantile(np.arange(1.0, 200.0)) == pytest.approx(180.0)


def test_half_of_the_error_needs_four_times_as_many_features():
    assert enough.count_enough_features(0.1, 50, 0.1) == 50
    assert enough.count_enough_features(0.1, 50, 0.05) == 200
    assert enough.count_enough_features(0.1, 50, 10.0) == 1
    with pytest.raises(MethodError, match="needs more than 10,000,000 features") as caught:
        enough.count_enough_features(0.1, 50, 1e-6)
    least = 0.1 * math.sqrt(50 / enough.MOST_FEATURES)
    assert f"Use an error of at least {least:.1g}." in str(caught.value)


@pytest.mark.parametrize("form", ["offset", "paired"])
def test_bootstrap_quantile_covers_the_kernel_error_of_90_percent(form):
    """In 200 draws 180 are expected. Pairs whose columns are drawn apart have larger estimates."""
    X = np.random.default_rng(0).standard_normal((20, 3))
    K = kernels.make("gaussian", 1.5)(X, X)
    frequency = np.arange(200) % 100 if form == "paired" else None
    covered = apart = 0
    for seed in range(200):
        sampler = SAMPLERS.find("rks")(100, bandwidth=1.5, feature_map=form, random_state=seed)
        Z = sampler.fit(X).transform(X)
        error = np.linalg.norm(Z @ Z.T - K) / np.linalg.norm(Z @ Z.T)
        covered += error <= enough.estimate_kernel_error(Z, frequency)
        apart += error <= enough.estimate_kernel_error(Z)
    assert 165 <= covered <= 193  # three standard errors are 13
    assert (apart > 193) == (form == "paired")


@pytest.mark.parametrize("name", ["rks", "fastfood", "orf"])
def test_recommended_number_of_features_reaches_the_error_in_90_percent(name):
    """In 199 other draws 179 are expected, and 13 are three standard errors."""
    words = {"feature_map": "paired"}
    report = check_feature_map(SAMPLERS.find(name), "gaussian", None, words, seconds=1.0)
    claim, found = report.measured[0]
    answer, measured = enough.describe_enough(claim, found, 0.1)
    numbers = re.fullmatch(r"enough features: M = (\d+) \((\d+) to (\d+)\) for .*", answer)
    assert numbers is not None
    assert answer.endswith("in 90 % of draws, if the error falls as M^-0.5")
    M, low, high = map(int, numbers.groups())
    assert low < M < high
    assert "measured with M = 256: the relative kernel error of 90 % of 199 seeds" in measured
    shares = []
    for size in (2 * (low // 2), 2 * (high // 2 + 1)):
        other = claim._replace(
            draw=lambda X, M, seed: claim.draw(X, M, 1000 + seed), sizes=(16, size)
        )
        shares.append(np.mean(enough.measure_kernel_errors(other) <= 0.1))
    assert shares[0] < 0.965
    assert shares[1] > 0.835


def test_no_number_of_features_is_recommended_for_fixed_or_biased_maps():
    features = {
        "fixed": lambda X, M, seed: np.hstack([np.cos(X), np.sin(X)]),
        "biased": lambda X, M, seed: 2 * np.random.default_rng(seed).standard_normal((len(X), M)),
    }
    said = {}
    for name, function in features.items():
        report = check_feature_map(function, "gaussian", 3.0, seconds=1.0)
        said[name] = enough.describe_enough(*report.measured[0], 0.1)
    begin = "enough features: not estimated, because "
    assert said == {
        "fixed": [f"{begin}the features are the same for every seed"],
        "biased": [f"{begin}the mean of the estimates is not the kernel"],
    }


def test_message_names_an_error_that_requires_too_many_features():
    report = check_feature_map(SAMPLERS.find("rks"), "gaussian", None, seconds=1.0)
    answer, _ = enough.describe_enough(*report.measured[0], 1e-6)
    assert answer.startswith("enough features: A kernel error of 1e-06 needs more than 10,000,000")


def test_interval_of_the_quantile_covers_it():
    """The 90 % quantile of uniform errors is .9, and 95 % of the intervals contain it."""
    generator = np.random.default_rng(0)
    intervals = [enough.find_quantile_interval(generator.random(199)) for _ in range(1000)]
    covered = sum(low <= 0.9 <= high for low, high in intervals)
    assert 930 <= covered <= 985


def test_nonpositive_kernel_error_option_is_a_usage_error():
    result = CliRunner().invoke(main, ["test", "rks", "--within", "0"])
    assert result.exit_code == 2
    assert "0.0 is not in the range x>0." in result.output
