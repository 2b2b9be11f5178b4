"""Length scales of maps, held against closed forms of their kernels."""

import math
import random

import numpy as np
import pytest
from scipy.optimize import brentq
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler
from sklearn.preprocessing import FunctionTransformer

from rfbench import samplers
from rfbench.kernels import make
from rfbench.registry import SAMPLERS
from rfbench.samplers import length_scale
from rfbench.samplers.elsewhere import UNKNOWN_SCALE, FunctionFeatures, Method
from rfbench.samplers.length_scale import FALLEN, PAIRS, measure_length_scale
from tests.support import kinds

M = 2 * PAIRS
HALF_A_PART = 2 ** (1 / 16)


def round_to_parts(value):
    return 2.0 ** (round(8 * math.log2(value)) / 8)


def measured(cls, d, **parameters):
    return measure_length_scale(
        lambda seed: cls(n_components=M, random_state=seed, **parameters), d
    )


@pytest.mark.parametrize("d", [1, 3, 30])
@pytest.mark.parametrize("gamma", [1.0, 0.5, 0.01, 2.0**9])
def test_length_scale_of_gaussian_features_is_their_bandwidth(gamma, d):
    expected = (2 * gamma) ** -0.5
    for cls in (RBFSampler, Nystroem):
        found = measured(cls, d, gamma=gamma)
        if expected == pytest.approx(round_to_parts(expected)):
            assert found == pytest.approx(expected, rel=1e-12)
        assert max(found / expected, expected / found) < 1.02 * HALF_A_PART


@pytest.mark.parametrize("d", [1, 5, 64])
def test_default_of_scikit_learn_nystroem_depends_on_the_columns(d):
    assert measured(Nystroem, d) == round_to_parts(math.sqrt(d / 2))


@pytest.mark.parametrize("name", ["rks", "orf", "qmc", "fastfood", "nystroem", "sorf"])
def test_length_scale_of_builtin_gaussian_samplers_is_the_bandwidth(name):
    assert measured(SAMPLERS[name], 5, bandwidth=1.0) == 1.0
    assert measured(SAMPLERS[name], 5, bandwidth=2.0**1.5) == 2.0**1.5


@pytest.mark.parametrize("name", ["laplacian", "laplacian-l2", "cauchy", "gaussian-unhalved"])
def test_length_scale_of_other_kernels_equals_the_closed_form(name):
    """Heavy tails: the mean of the kernel over directions falls to exp(-1/2) there."""
    kernel, d = make(name, 3.0), 4
    ways = np.random.default_rng(0).standard_normal((4000, d))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    zero = np.zeros((1, d))
    expected = brentq(lambda r: kernel(r * ways, zero).mean() - FALLEN, 1e-3, 1e3)
    found = measured(samplers.RKS, d, kernel=name, bandwidth=3.0)
    assert max(found / expected, expected / found) < 1.02 * HALF_A_PART
    assert name != "laplacian-l2" or expected == pytest.approx(1.5)


def steps_of_signs(X, M, seed):
    return np.sign(X @ np.random.default_rng(seed).standard_normal((X.shape[1], M)))


def one_column(X, M, seed):
    return kinds.function(X, 1, seed)


def broken(X, M, seed):
    raise ZeroDivisionError("no rows of data")


class Supervised(kinds.Transformer):
    needs_target = True


@pytest.mark.parametrize(
    ("thing", "parameters", "why"),
    [
        (RBFSampler, {"gamma": "scale"}, "does not decrease to 0.61"),
        (PolynomialCountSketch, {}, "does not decrease"),
        (steps_of_signs, {}, "does not decrease"),
        (FunctionTransformer, {"bandwidth_parameter": "rows"}, "does not decrease"),
        (Nystroem, {"kernel": "polynomial"}, "depends on the position of the rows"),
        (one_column, {}, "do not determine the length scale to 2 %"),
        (Supervised, {}, "uses the target"),
        (broken, {}, "ZeroDivisionError: no rows of data"),
    ],
)
def test_unmeasurable_length_scale_is_1_with_a_note(thing, parameters, why):
    value, note = Method(thing, "mine", parameters).find_length_scale(2)
    assert value == 1.0
    assert note.startswith(UNKNOWN_SCALE)
    assert why in note


def test_length_scale_measurement_skips_a_seed_that_fails():
    """As scikit-learn's Nystroem fails if its decomposition does not converge."""

    def fails_at_times(X, M, seed):
        if seed % 3 == 1:
            raise np.linalg.LinAlgError("SVD did not converge")
        return kinds.function(X, M, seed)

    assert Method(fails_at_times, "mine", {}).find_length_scale(5)[0] == 1.0
    assert UNKNOWN_SCALE not in Method(fails_at_times, "mine", {}).find_length_scale(5)[1]


def test_length_scale_is_not_measured_if_the_bandwidth_is_declared():
    for thing, parameters in (
        (broken, {"bandwidth_parameter": "none"}),
        (broken, {"bandwidth_parameter": "gamma", "bandwidth_formula": "1/s"}),
        (samplers.RKS, {}),
        (FunctionTransformer, {}),
    ):
        assert Method(thing, "mine", parameters).find_length_scale(2) == (1.0, "")


@pytest.mark.parametrize("s", [0.7, 4.0])
@pytest.mark.parametrize(
    ("thing", "parameters", "exact"),
    [
        (RBFSampler, {"gamma": 1.0}, True),
        (RBFSampler, {"gamma": 0.5}, True),
        (RBFSampler, {"gamma": 0.1}, False),
        (RBFSampler, {"gamma": 1.0, "bandwidth_parameter": "gamma"}, True),
        (RBFSampler, {"bandwidth_parameter": "gamma", "bandwidth_formula": "1/(2*s^2)",
                      "gamma": "scale"}, True),
        (Nystroem, {}, False),
        (Nystroem, {"gamma": 8.0}, True),
        (kinds.function, {}, True),
    ],
)  # fmt: skip
def test_each_gaussian_map_has_the_requested_bandwidth(thing, parameters, exact, s):
    """The bandwidth in units of the rows, from the fitted map: its gamma, and what divides rows."""
    X = np.random.default_rng(0).standard_normal((40, 6))
    shared = {"n_components": 30, "random_state": 0, "bandwidth": s}
    method = Method(thing, "mine", parameters)
    made = method.build(shared, method.own_parameters).fit(X)
    gamma = getattr(made.feature_map_.fitted, "gamma", 0.5)
    bandwidth = made.feature_map_.scale / math.sqrt(2 * (1 / 6 if gamma is None else gamma))
    assert bandwidth == pytest.approx(s, rel=1e-12 if exact else HALF_A_PART - 1)
    assert exact or bandwidth != pytest.approx(s, rel=1e-3)


def global_waves(X, M, seed):
    """Frequencies of the global generators, which know no seed."""
    W = np.random.standard_normal((X.shape[1], M))  # noqa: NPY002
    return np.sqrt(2 / M) * np.cos(
        X @ W + 2 * np.pi * np.array([random.random() for _ in range(M)])
    )


def test_length_scale_measurement_keeps_the_global_random_state():
    found = []
    for start in (0, 1):
        features = []

        def watched(X, M, seed, features=features):
            features.append(global_waves(X, M, seed))
            return features[-1]

        random.seed(start)
        np.random.seed(start)  # noqa: NPY002
        before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
        value = measure_length_scale(lambda seed, f=watched: FunctionFeatures(f, M, seed, {}), 3)
        after = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002
        assert value == 1.0
        assert after == before
        found.append(np.concatenate(features))
    assert np.array_equal(*found)


def test_length_scale_measurement_bounds_the_number_of_map_evaluations(monkeypatch):
    """As many as the docstring says, few if its products do not vary with the seed."""
    count = 0
    compute = length_scale.compute_feature_products

    def counted(*given):
        nonlocal count
        count += 1
        return compute(*given)

    monkeypatch.setattr(length_scale, "compute_feature_products", counted)
    for thing, most in ((Nystroem, 48), (RBFSampler, 300)):
        count = 0
        measured(thing, 1, gamma=1.0)
        assert count <= most
    count = 0
    with pytest.raises(ValueError, match="do not determine"):
        measure_length_scale(lambda seed: FunctionFeatures(one_column, M, seed, {}), 2)
    assert count <= 4 * 20 + 528
