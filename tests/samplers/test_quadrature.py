import itertools
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from rfbench import kernels
from rfbench.checking.samplers import CHECK_ROWS, MAPS, NEW_ROWS
from rfbench.errors import MethodError
from rfbench.samplers import SSR, GaussianQuadrature
from rfbench.samplers.declaration import GAUSSIAN
from rfbench.samplers.quadrature import QuadratureMap, compute_simplex_vertices
from tests.support.nightly import at_night

from .unbiased import assert_mean, estimates, points

KERNELS_BY_DAY = [GAUSSIAN[0], *at_night(*GAUSSIAN[1:])]


def frequencies(sampler: Any, d: int) -> Any:
    return sampler.fit(np.zeros((2, d))).feature_map_.frequencies.T


@pytest.mark.parametrize("points_", [2, 3, 4])
def test_gauss_hermite_nodes_have_the_exact_normal_moments(points_: int) -> None:
    """Of the law that is drawn from, and of a draw in standard errors."""
    drawn = frequencies(GaussianQuadrature(20_000, points=points_, bandwidth=1.0), 1)[:, 0]
    nodes, counts = np.unique(drawn.round(9), return_counts=True)
    assert len(nodes) == points_
    nodes_, weights = np.polynomial.hermite_e.hermegauss(points_)
    assert_allclose(nodes, nodes_, atol=1e-8)
    law = weights / weights.sum()
    for degree in range(2 * points_):
        assert law @ nodes_**degree == pytest.approx(stats.norm.moment(degree), abs=1e-9)
    assert stats.chisquare(counts, law * 20_000).pvalue > 1e-3


@pytest.mark.parametrize("feature_map", MAPS)
@pytest.mark.parametrize("points_", [2, 3])
@pytest.mark.parametrize("kernel", KERNELS_BY_DAY)
def test_bias_of_gaussian_quadrature_equals_the_stated_value(
    feature_map: str, points_: int, kernel: str
) -> None:
    """To 5 standard errors of 400 seeds; the kernel itself fails for L = 2."""
    rows = points(3)
    words: dict[str, Any] = {"kernel": kernel, "bandwidth": 2.0, "feature_map": feature_map}

    def make(seed: int) -> Any:
        return GaussianQuadrature(40, points=points_, random_state=seed, **words)

    spread = kernels.make(kernel, 2.0).spread  # type: ignore[attr-defined]
    steps = spread * (rows[:, None] - rows[None])
    if points_ == 2:
        mean = np.cos(steps).prod(axis=2)
    else:
        mean = (2 / 3 + np.cos(np.sqrt(3) * steps) / 3).prod(axis=2)
    wrong = [kernels.make(kernel, 2.0)(rows, rows)] if points_ == 2 else []
    assert_mean(estimates(make, rows, seeds=400), mean, wrong, limit=5)


@pytest.mark.parametrize("order", [0, 1])
def test_mean_of_arc_cosine_quadrature_equals_the_mean_over_all_nodes(order: int) -> None:
    rows, kernel = points(3), f"arc-cosine-{order}"
    grid = np.array(list(itertools.product(*[[-1.0, 1.0]] * 3))) @ rows.T
    features = np.heaviside(grid, 0.5) * grid**order
    mean = 2 * features.T @ features / 8
    sample = estimates(
        lambda seed: GaussianQuadrature(40, points=2, kernel=kernel, random_state=seed), rows, 400
    )
    assert_mean(sample, mean, [kernels.make(kernel)(rows, rows)], limit=5)


@pytest.mark.parametrize(("order", "d", "m"), [(0, 5, 11), (0, 4, 10), (1, 3, 8), (2, 3, 7)])
def test_ssr_uses_antipodal_frequencies_for_arc_cosine_features(order: int, d: int, m: int) -> None:
    """And k(x, x) is that of steps with twice the constant, that of ramps exact."""
    rows, kernel = points(d), f"arc-cosine-{order}"
    for seed in range(20):
        fitted = SSR(m, kernel=kernel, random_state=seed).fit(rows)
        W = fitted.feature_map_.frequencies
        assert_allclose(W[:, 1::2], -W[:, : m - m % 2 : 2], atol=0)
        features, constant = fitted.transform(rows), fitted.feature_map_.kernel_constant
        if order == 0 and m % 2 == 0:
            assert_allclose((features**2).sum(axis=1) + 2 * constant, 1.0, rtol=1e-12)
        assert order == 0 or constant == 0
        if order == 1 and m == 2 * (d + 1):
            assert_allclose((features**2).sum(axis=1), (rows**2).sum(axis=1), rtol=1e-12)


def test_ssr_integrates_polynomials_up_to_degree_3_exactly() -> None:
    """The weighted second moments of whole blocks, and the value at 0 in the paired map."""
    sampler = SSR(12, bandwidth=2.0, feature_map="paired", random_state=0).fit(CHECK_ROWS)
    W, weights = sampler.feature_map_.frequencies, sampler.feature_map_.weights
    assert_allclose((W * weights[:12] ** 2) @ W.T / 12 * 4, np.eye(5), atol=1e-12)
    features = sampler.transform(NEW_ROWS)
    constant = sampler.feature_map_.kernel_constant
    assert_allclose(np.square(features).sum(axis=1) + constant, 1.0, atol=1e-12)


def test_ssr_estimate_for_given_radii_equals_that_of_the_authors() -> None:
    """What `kernel` of maremun/quffka@2d935b4 gives at gamma 1/8 with Q = I and these radii."""
    radii = np.array([1.5, 2.0, 2.5, 3.0, 1.25, 2.25, 2.75, 1.75, 3.25, 2.0])
    rows = np.array([[0.3, -0.2, 0.5, 0.1], [-0.4, 0.7, 0.2, 0.0], [1.0, 0.5, -0.5, -1.0]])
    frequencies = np.tile(compute_simplex_vertices(4), (2, 1)) * radii[:, None] / 2.0
    weights = np.tile(2.0 / radii, 2)
    fitted = QuadratureMap("wave", "paired", frequencies.T, None, 10**-0.5, weights)
    features = fitted.transform(rows)
    assert_allclose(fitted.kernel_constant, -0.042609197267871934, rtol=1e-12)
    found = (features @ features.T + fitted.kernel_constant)[np.triu_indices(3, 1)]
    expected = [0.8406543338082552, 0.6432609972627953, 0.6079474065074812]
    assert_allclose(found, expected, rtol=1e-12)


def test_ssr_requires_at_least_three_input_columns() -> None:
    SSR(5, bandwidth=1.0).fit(np.zeros((4, 3)))
    for d in (1, 2):
        with pytest.raises(MethodError, match="3 columns"):
            SSR(5, bandwidth=1.0).fit(np.zeros((4, d)))
