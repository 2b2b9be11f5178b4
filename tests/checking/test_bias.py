"""Wrong maps are found within seconds, with their cause; right ones are not refused."""

import math

import numpy as np
import pytest
from scipy import stats

from rfbench.checking import bias
from rfbench.checking.bias import (
    KernelClaim,
    Measurement,
    choose_row_pairs,
    compute_error_of_independent_draws,
    measure_bias,
)
from rfbench.checking.causes import find_cause_of_bias
from rfbench.checking.closed_forms import find_kernel_by_name
from rfbench.checking.run import describe_kernel_result, list_causes_of_bias
from rfbench.kernels import Gaussian
from scripts.foreign import transcribed
from tests.checking import faulty_maps
from tests.support.nightly import at_night, nightly


@pytest.mark.parametrize(
    ("draw", "kernel", "cause"),
    [
        (transcribed.rfflearn_orf, "gaussian", "lengths on the wrong axis"),
        (transcribed.performer, "softmax", "signs of the QR decomposition missing"),
        *(
            pytest.param(*case, marks=nightly)
            for case in [
                (transcribed.spectraformer_qmc, "gaussian", "quasi-random points transposed"),
                (transcribed.spectraformer_mm, "gaussian", "moments matched"),
                (transcribed.xformers_smreg, "softmax", "frequencies too short by sqrt(d / M)"),
            ]
        ),
        (faulty_maps.too_short, "gaussian", "frequencies too short by sqrt(d / M)"),
        (faulty_maps.bandwidth_squared, "gaussian", "bandwidth squared"),
        (faulty_maps.bandwidth_ignored, "gaussian", "bandwidth ignored"),
        (faulty_maps.m_forgotten, "gaussian", "M forgotten"),
        (faulty_maps.factor_missing, "gaussian", "the features are scaled by the root of 0.5"),
    ],
)
def test_fault_is_detected_with_its_cause(draw, kernel, cause):
    s = 1.0 if draw.__module__.endswith("transcribed") else faulty_maps.S
    found = measure_bias(KernelClaim("", draw, find_kernel_by_name(kernel, s)))
    assert found.biased
    assert abs(found.largest_z) > 8
    assert found.seconds < 60
    assert find_cause_of_bias(found).what.startswith(cause)
    assert describe_kernel_result(KernelClaim("", draw, found.kernel), found).startswith(
        f"no {kernel} kernel: biased by"
    )
    assert "to do: " in list_causes_of_bias(found)[1]


def test_orthogonal_features_need_random_signs_only_for_softmax_kernel():
    def signed(X, M, seed):
        return transcribed.performer(X, M, seed, signs=True)

    assert not measure_bias(KernelClaim("", signed, find_kernel_by_name("softmax", 1.0))).biased
    assert not measure_bias(
        KernelClaim("", transcribed.pyrfm_orf, find_kernel_by_name("gaussian", 1.0))
    ).biased


def test_correct_map_is_measured_with_all_seeds():
    found = measure_bias(KernelClaim("", faulty_maps.right, Gaussian(faulty_maps.S)))
    assert found.seeds == bias.N_SEEDS
    assert (found.biased, found.is_error_decreasing) == (False, True)
    assert find_cause_of_bias(found) is None
    assert found.detectable_bias == pytest.approx(0.1, rel=0.01)
    assert found.relative_error == pytest.approx(1.0, abs=0.1)
    assert found.rate == pytest.approx(-0.5, abs=0.1)
    assert found.relative_error_at_distant_pair == pytest.approx(1.0, abs=0.1)


def test_kernel_error_that_does_not_decrease_with_m_is_not_called_bias():
    found = measure_bias(KernelClaim("", faulty_maps.one_line, Gaussian(faulty_maps.S)))
    assert not found.biased
    assert not found.is_error_decreasing
    assert "the error falls as M^" in describe_kernel_result(
        KernelClaim("", faulty_maps.one_line, found.kernel), found
    )


def test_time_limit_reduces_seeds_and_smallest_detectable_bias_is_reported():
    claim = KernelClaim("", faulty_maps.right, Gaussian(faulty_maps.S))
    found = measure_bias(claim, seconds=0.0)
    assert found.seeds == bias.FEW_SEEDS + 1
    assert found.detectable_bias > 0.5
    assert f"no bias of {found.detectable_bias:.2g} errors" in describe_kernel_result(claim, found)


def test_error_of_independent_draws_equals_closed_form():
    pairs, s = choose_row_pairs(3.0), 3.0
    kernel = Gaussian(s)
    squares = ((pairs.left - pairs.right) ** 2).sum(axis=1)
    k, twice = np.exp(-squares / 2 / s**2), np.exp(-4 * squares / 2 / s**2)
    np.testing.assert_allclose(pairs.compute_kernel(kernel), k)
    wave = (1 + twice) / 2 - k**2  # the variance of cos(w'(x - y))
    varies = np.random.default_rng(0).standard_normal((2, len(k)))
    offset = Measurement(kernel, 16, 16, pairs, varies)
    np.testing.assert_allclose(
        compute_error_of_independent_draws(offset), (wave + 0.5) / 16, rtol=0.05
    )
    paired = Measurement(kernel, 16, 32, pairs, np.ones_like(varies))
    np.testing.assert_allclose(
        compute_error_of_independent_draws(paired), wave / 16, rtol=0.06, atol=1e-9
    )


@pytest.mark.parametrize("name", ["matern32", "matern52"])
def test_mean_cosine_over_frequencies_equals_the_matern_kernel(name):
    kernel, pairs = find_kernel_by_name(name, 2.0), choose_row_pairs(2.0)
    W = kernel.frequencies(np.random.default_rng(1), 5, 40_000)
    waves = np.cos((pairs.left - pairs.right) @ W.T)
    z = (waves.mean(axis=1) - pairs.compute_kernel(kernel)) / np.maximum(
        waves.std(axis=1) / 200, 1e-12
    )
    assert np.abs(z).max() < 4


def test_power_of_the_bias_test_equals_the_power_of_a_normal_test():
    assert (
        len(choose_row_pairs(1.0).names[bias.TESTED])
        == bias.TESTS
        == len(choose_row_pairs(1.0).names) - 1
    )
    score = stats.norm.isf(bias.LEVEL / 2 / 17)
    assert stats.norm.sf(score - bias.SEEN * math.sqrt(bias.N_SEEDS)) == pytest.approx(
        bias.POWER, abs=0.001
    )


class Simulated:
    """Estimates with a bias, in errors of one draw, of the first pair."""

    def __init__(self, seed, shift):
        self.generator, self.shift = np.random.default_rng(seed), shift

    def measured(self, pairs):
        estimates = self.generator.standard_normal((bias.N_SEEDS, len(pairs.names)))
        estimates[:, 0] += self.shift
        exact = pairs.compute_kernel(Gaussian(3.0))
        return Measurement(Gaussian(3.0), 16, 16, pairs, exact + 0.2 * estimates)


def test_bias_test_has_power_90_percent_for_bias_of_a_tenth_of_the_error():
    pairs = choose_row_pairs(3.0)
    found = sum(Simulated(seed, bias.SEEN).measured(pairs).biased for seed in range(200))
    assert 160 <= found <= 194  # .9 of 200, within four standard errors


@pytest.mark.parametrize("maps", [5, *at_night(200)])
def test_at_most_1_of_200_unbiased_maps_is_rejected(maps):
    refused = 0
    for first in range(1, maps + 1):

        def draw(X, M, seed, first=first):
            return faulty_maps.right(X, M, seed, first=first)

        refused += measure_bias(KernelClaim("", draw, Gaussian(faulty_maps.S))).biased
    assert refused <= 1


@nightly
def test_at_most_1_of_40_heavy_tailed_unbiased_maps_is_rejected():
    refused = 0
    for first in range(40):

        def draw(X, M, seed, first=first):
            W = np.random.default_rng([first, seed]).standard_normal((M, X.shape[1]))
            return transcribed.positive(X, W)

        refused += measure_bias(KernelClaim("", draw, find_kernel_by_name("softmax", 1.0))).biased
    assert refused <= 1
