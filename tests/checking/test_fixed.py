"""Maps with the same features for every seed, and maps below the kernel: what one draw can show.

Quadrature, Nystroem features and a truncated series are compared with their closed forms.
"""

import itertools

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem

from rfbench.checking import check_feature_map
from rfbench.checking.bias import FAR_FROM_KERNEL, KernelClaim, measure_bias
from rfbench.checking.causes import find_cause_of_bias
from rfbench.checking.closed_forms import find_kernel_by_name
from rfbench.checking.run import describe_kernel_result, list_causes_of_bias
from rfbench.kernels import Gaussian
from tests.checking import faulty_maps
from tests.checking.faulty_maps import S


def quadrature(X, M, seed, s=S):
    """Gauss-Hermite points, as many per coordinate as M allows."""
    d = X.shape[1]
    points, weights = np.polynomial.hermite_e.hermegauss(2 if M < 100 else 3)
    W = np.array(list(itertools.product(points, repeat=d))) / s
    roots = np.sqrt([np.prod(w) for w in itertools.product(weights / weights.sum(), repeat=d)])
    return np.hstack([roots * np.cos(X @ W.T), roots * np.sin(X @ W.T)])


quadrature.deterministic = True


def undeclared(X, M, seed):
    return quadrature(X, M, seed)


def too_wide(X, M, seed):
    return quadrature(X, M, seed, s=2 * S)


def series(X, M, seed):
    """The first terms of exp(x'y), of which M decides the number."""
    columns = [np.ones((len(X), 1))]
    for degree in range(1, 3 if M < 100 else 5):
        last = (columns[-1][:, :, None] * X[:, None]).reshape(len(X), -1)
        columns.append(last / np.sqrt(degree))
    return np.hstack(columns)


def claim(draw, kernel=None, sizes=(16, 256)):
    return KernelClaim("", draw, kernel or Gaussian(S), sizes)


def test_deterministic_quadrature_gets_an_error_and_no_bias_verdict():
    found = measure_bias(claim(quadrature))
    assert (found.varies, found.biased, found.below, found.wrong) == (False, False, False, False)
    assert found.relative_error < FAR_FROM_KERNEL
    told = describe_kernel_result(claim(quadrature), found)
    assert "the same features for every seed, no verdict on a bias, the error is" in told
    along_an_axis = found.pairs.names.index("distance 2 along an axis")
    assert found.estimates[0, along_an_axis] == pytest.approx(np.cos(2.0))  # points at +-1 / s
    assert list_causes_of_bias(found) == []


@pytest.mark.parametrize("draw", [too_wide, faulty_maps.m_forgotten])
def test_deterministic_map_far_from_its_kernel_is_reported_as_wrong(draw):
    def fixed(X, M, seed):
        return draw(X, M, 0)

    found = measure_bias(claim(fixed))
    assert found.wrong
    assert max(found.relative_error, found.share_at_large) > FAR_FROM_KERNEL
    assert "far from the kernel" in describe_kernel_result(claim(fixed), found)
    assert find_cause_of_bias(found).what.startswith("a constant seed")


def test_correct_map_with_a_constant_seed_is_not_reported_as_wrong():
    found = measure_bias(claim(faulty_maps.constant_seed))
    assert not found.varies
    assert not found.wrong


def test_map_that_ignores_its_seed_fails_unless_declared_deterministic():
    for draw, broken in (
        (faulty_maps.constant_seed, ["another seed other features"]),
        (undeclared, ["another seed other features"]),
        (quadrature, []),
        (faulty_maps.right, []),
    ):
        report = check_feature_map(draw, bandwidth=S, seconds=0.2)
        assert [promise.name for promise in report.broken_promises] == broken


def test_nystroem_estimates_are_reported_as_smaller_than_the_kernel():
    def draw(X, M, seed):
        made = Nystroem(gamma=1 / (2 * S**2), n_components=M, random_state=seed)
        return made.fit_transform(X)

    found = measure_bias(claim(draw, sizes=(16, 64)))
    assert (found.below, found.biased, found.wrong, found.varies) == (True, False, False, True)
    assert abs(found.largest_z) > found.limit  # the mean is not the kernel
    assert "gaussian kernel from below, as with Nystroem features: -0." in describe_kernel_result(
        claim(draw), found
    )


def test_truncated_series_is_reported_as_smaller_than_the_kernel():
    kernel = find_kernel_by_name("softmax", 1.0)
    found = measure_bias(claim(series, kernel))
    assert (found.below, found.wrong) == (True, False)
    x = found.pairs.left
    y = found.pairs.right
    t = (x * y).sum(axis=1)
    assert found.estimates[0] == pytest.approx(1 + t + t**2 / 2)


@pytest.mark.parametrize("name", ["factor_missing", "right", "too_short", "one_line"])
def test_random_features_are_not_reported_as_smaller_than_the_kernel(name):
    assert not measure_bias(claim(getattr(faulty_maps, name)), most=50).below


def test_nystroem_error_that_does_not_decrease_with_m_is_wrong():
    def draw(X, M, seed):
        made = Nystroem(gamma=1 / (2 * S**2), n_components=4, random_state=seed)
        return made.fit_transform(X)

    found = measure_bias(claim(draw, sizes=(16, 64)), most=50)
    assert found.below
    assert found.wrong
