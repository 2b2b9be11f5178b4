import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, sparse, stats
from sklearn import gaussian_process

from rfbench import kernels
from rfbench.errors import MethodError
from rfbench.registry import KERNELS

X = np.random.default_rng(0).standard_normal((6, 4))
Y = np.random.default_rng(1).standard_normal((5, 4))
WAVES = [name for name, cls in KERNELS.items() if cls.feature == "wave"]
MIXTURES = [name for name, cls in KERNELS.items() if issubclass(cls, kernels.ScaleMixture)]
PRODUCT = [
    name for name, cls in KERNELS.items() if cls.coordinate is not None and name not in MIXTURES
]


def brute_force(name, s, x, y):
    gap = x - y
    length = np.sqrt(gap @ gap)
    angle = np.arccos(x @ y / np.sqrt((x @ x) * (y @ y)))
    lengths = np.sqrt((x @ x) * (y @ y))
    return {
        "gaussian": lambda: np.exp(-(gap @ gap) / (2 * s**2)),
        "gaussian-unhalved": lambda: np.exp(-(gap @ gap) / s**2),
        "laplacian": lambda: np.exp(-np.abs(gap).sum() / s),
        "laplacian-l2": lambda: np.exp(-np.sqrt(gap @ gap) / s),
        "cauchy": lambda: np.prod([1 / (1 + g**2 / s**2) for g in gap]),
        "arc-cosine-0": lambda: 1 - angle / np.pi,
        "arc-cosine-1": lambda: lengths * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / np.pi,
        "arc-cosine-2": lambda: (
            lengths**2
            * (3 * np.sin(angle) * np.cos(angle) + (np.pi - angle) * (1 + 2 * np.cos(angle) ** 2))
            / np.pi
        ),
        "linear": lambda: x @ y / len(x),
        "matern": lambda: (1 + 3**0.5 * length / s) * np.exp(-(3**0.5) * length / s),
        "rational-quadratic": lambda: 1 / (1 + length**2 / (2 * s**2)),
        "softmax": lambda: np.exp(x @ y / s**2),
        "polynomial": lambda: (x @ y / s**2 + 1) ** 3,
    }[name]()


@pytest.mark.parametrize("name", KERNELS)
def test_kernel_equals_its_closed_form(name):
    expected = [[brute_force(name, 1.7, x, y) for y in Y] for x in X]
    kernel = kernels.make(name, 1.7)
    assert_allclose(kernel(X, Y), expected, atol=1e-12)
    assert_allclose(kernel(sparse.csr_array(X), sparse.csr_array(Y)), expected, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in WAVES if name in PRODUCT])
def test_fourier_transform_of_the_spectral_measure_is_the_kernel(name):
    """Bochner's theorem in one dimension, by a sum over quantiles at equal steps."""
    kernel = kernels.make(name, 1.7)
    levels = (np.arange(400_000) + 0.5) / 400_000
    frequencies = kernel.quantile(levels[:, None])[:, 0]
    for gap in (0.0, 0.3, 1.0, 2.5):
        transform = np.mean(np.cos(frequencies * gap))
        assert_allclose(transform, kernel(np.array([[gap]]), np.zeros((1, 1)))[0, 0], atol=1e-4)


@pytest.mark.parametrize("name", PRODUCT)
def test_drawn_frequencies_follow_the_spectral_quantile_function(name):
    kernel = kernels.make(name, 1.7)
    drawn = kernel.frequencies(np.random.default_rng(0), 3, 4000)
    assert drawn.shape == (4000, 3)
    assert_allclose(np.corrcoef(np.sign(drawn.T)), np.eye(3), atol=0.08)
    levels = np.linspace(0.05, 0.95, 19)
    for column in drawn.T:
        below = np.mean(column[:, None] < kernel.quantile(levels), axis=0)
        assert np.abs(below - levels).max() < 4 * np.sqrt(0.25 / 4000)


def test_projected_frequencies_of_the_euclidean_laplacian_are_cauchy():
    """So by Bochner's theorem E cos(w'x) = exp(-|x| / s); independent coordinates give the 1-norm.

    A wrong law of one direction would be seen in the other: both by Kolmogorov and Smirnov's test.
    """
    drawn = kernels.make("laplacian-l2", 1.7).frequencies(np.random.default_rng(0), 3, 4000)
    for direction in ([1.0, 0, 0], [0.6, -0.8, 0], np.full(3, 3**-0.5)):
        assert stats.kstest(1.7 * drawn @ direction, "cauchy").pvalue > 1e-3
    independent = kernels.make("laplacian", 1.7).frequencies(np.random.default_rng(0), 3, 4000)
    assert stats.kstest(1.7 * independent @ np.full(3, 3**-0.5), "cauchy").pvalue < 1e-9


@pytest.mark.parametrize("name", WAVES)
def test_gradients_equal_finite_differences(name):
    kernel, coef = kernels.make(name, 1.7), np.random.default_rng(2).standard_normal((5, 2))
    found = kernel.gradients(sparse.csr_array(X + 3.0), Y + 3.0, coef)
    assert found.shape == (2, 6, 4)
    for j in range(4):
        step = 1e-6 * np.eye(4)[j]
        ends = [kernel(X + sign * step, Y) @ coef for sign in (1, -1)]
        assert_allclose(found[:, :, j], (ends[0] - ends[1]).T / 2e-6, atol=1e-8)


def test_laplacian_kernel_gradient_at_distance_zero_is_zero():
    for name in ("laplacian", "laplacian-l2"):
        kernel = kernels.make(name, 1.7)
        assert_allclose(kernel.gradients(Y[:1], Y[:1], np.ones((1, 1))), 0.0, atol=1e-12)


def test_kernels_that_do_not_decrease_with_distance_have_no_gradients():
    for name in set(KERNELS) - set(WAVES):
        with pytest.raises(MethodError, match="gradients .* not implemented"):
            kernels.make(name).gradients(X, Y, np.ones((5, 1)))


@pytest.mark.parametrize("order", [0, 1, 2])
def test_arc_cosine_kernel_equals_the_integral_over_its_features(order):
    """In the plane, w = r (cos t, sin t): E r^(2 p) = 2^p p! times an integral over t."""
    x, y = np.array([1.0, 0.2]), np.array([-0.4, 0.9])

    def product(t):
        w = np.array([np.cos(t), np.sin(t)])
        return float((w @ x > 0) * (w @ y > 0) * (w @ x) ** order * (w @ y) ** order)

    edges = np.sort(
        [
            (np.arctan2(v[1], v[0]) + turn) % (2 * np.pi)
            for v in (x, y)
            for turn in (np.pi / 2, -np.pi / 2)
        ]
    )
    angular = integrate.quad(product, 0, 2 * np.pi, points=edges, limit=200)[0] / (2 * np.pi)
    expected = 2 * angular * [1.0, 2.0, 8.0][order]
    kernel = kernels.make(f"arc-cosine-{order}")
    assert_allclose(kernel(x[None], y[None])[0, 0], expected, rtol=1e-6)


def test_arc_cosine_of_zero_and_parallel_rows_is_finite():
    rows = np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0], [-1.0, -1.0]])
    for order in (0, 1, 2):
        assert np.isfinite(kernels.make(f"arc-cosine-{order}")(rows, rows)).all()
    assert_allclose(kernels.make("arc-cosine-0")(rows[1:], rows[1:])[0], [1.0, 1.0, 0.0], atol=1e-7)


def test_linear_kernel_draws_coordinates_uniformly():
    drawn = kernels.make("linear").frequencies(np.random.default_rng(0), 5, 10_000)
    assert drawn.shape == (10_000, 1)
    assert stats.chisquare(np.bincount(drawn[:, 0].astype(int), minlength=5)).pvalue > 1e-3
    with pytest.raises(MethodError, match="independent coordinates"):
        kernels.make("linear").quantile(np.array([[0.5]]))


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5, 0.8, 7])
def test_matern_equals_the_kernel_of_scikit_learn(nu):
    expected = gaussian_process.kernels.Matern(1.7, nu=nu)(X, Y)
    kernel = kernels.make(f"matern[nu={nu}]", 1.7)
    assert_allclose(kernel(X, Y), expected, atol=1e-12)
    assert_allclose(kernel(X, X), gaussian_process.kernels.Matern(1.7, nu=nu)(X), atol=1e-12)
    assert_allclose(
        kernels.make("matern[nu=0.5]", 1.7)(X, Y),
        kernels.make("laplacian-l2", 1.7)(X, Y),
        atol=1e-12,
    )


def test_rational_quadratic_equals_the_kernel_of_scikit_learn():
    expected = gaussian_process.kernels.RationalQuadratic(1.7, alpha=0.6)(X, Y)
    assert_allclose(kernels.make("rational-quadratic[alpha=0.6]", 1.7)(X, Y), expected)


@pytest.mark.parametrize(
    "name", ["matern[nu=0.5]", "matern", "matern[nu=2.5]", "rational-quadratic[alpha=0.7]"]
)
def test_kernel_equals_its_scale_mixture_of_gaussian_kernels(name):
    """E exp(-scale^2 |x - y|^2 / (2 s^2)) over 200,000 scales, to 5 standard errors."""
    kernel = kernels.make(name, 1.7)
    scales = kernel.draw_scales(np.random.default_rng(0), 200_000)
    frequencies = kernel.frequencies(np.random.default_rng(1), 4, 200_000)
    for x, y in zip(X, Y, strict=False):
        exact = kernel(x[None], y[None])[0, 0]
        mixed = np.exp(-(scales**2) * ((x - y) @ (x - y)) / (2 * 1.7**2))
        waves = np.cos(frequencies @ (x - y))
        for sample in (mixed, waves):
            assert abs(sample.mean() - exact) < 5 * sample.std() / 200_000**0.5


@pytest.mark.parametrize("name", ["softmax", "polynomial[degree=4, bias=0.3]"])
def test_maclaurin_series_of_a_dot_product_kernel_equals_the_kernel(name):
    kernel = kernels.make(name)
    a = kernel.coefficients(30)
    g = np.linspace(-1, 1, 9)
    assert a.shape == (31,)
    assert_allclose(np.polynomial.polynomial.polyval(g, a), kernel.evaluate(g), atol=1e-12)


def test_kernel_parameters_are_read_from_its_name():
    kernel = kernels.make("polynomial[degree=2, bias=0.5]", 2.0)
    assert_allclose(kernel(X, Y), (X @ Y.T / 4 + 0.5) ** 2)
    assert kernels.make("polynomial")(X, Y)[0, 0] == pytest.approx((X[0] @ Y[0] + 1) ** 3)
    copy = pickle.loads(pickle.dumps(kernel))
    assert copy == kernel
    assert copy.name == "polynomial[degree=2, bias=0.5]"
    for wrong, message in (
        ("polynomial[power=2]", "no parameter 'power'.*degree, bias"),
        ("polynomial[degree=half]", "degree .* is 'half'"),
        ("matern[nu=-1]", "nu .* is '-1'"),
        ("gaussian[nu=1]", "no parameter 'nu'"),
    ):
        with pytest.raises(MethodError, match=message):
            KERNELS.find(wrong)


@pytest.mark.parametrize("name", list(KERNELS))
def test_float32_rows_give_a_float64_kernel(name):
    X = np.random.default_rng(0).standard_normal((30, 3)).astype(np.float32)
    kernel = kernels.make(name, 1.5)
    np.testing.assert_allclose(kernel(X, X), kernel(X.astype(float), X.astype(float)), rtol=1e-12)
