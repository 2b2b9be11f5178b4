"""Kernels with their closed forms, spectral measures and types of random features.

The attribute `feature` of a kernel is the type of its random features. Shift-invariant kernels have
*wave* features ``cos(w'x + b)`` (Bochner's theorem) of a row x, with random w and b. Arc-cosine
kernels have *arc-cosine* features ``H(w'x) (w'x)^order``, where H is the step function (Cho & Saul
2009). The linear kernel has a single *coordinate* of the row (Sinha & Duchi 2016, section 4.2). The
features of a *dot-product* kernel are products of projections.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, Rows
from rfbench.compute.products import matmul, multiply_by_transpose
from rfbench.errors import MethodError
from rfbench.registry import KERNELS

Feature = Literal["wave", "arc-cosine", "coordinate", "dot-product"]


def to_dense(rows: Rows) -> Any:
    """Return the rows as a dense array.

    Parameters
    ----------
    rows : array or sparse matrix of shape (n, d)
        Rows.

    Returns
    -------
    array of shape (n, d)
        The same rows. Dense rows are returned as they are.
    """
    return rows.toarray() if hasattr(rows, "toarray") else rows


def _dense(rows: Rows) -> NDArray[np.float64]:
    return np.asarray(to_dense(rows), dtype=np.float64)


def to_float64(rows: Rows) -> Any:
    """Return the rows as float64 numbers.

    Parameters
    ----------
    rows : array or sparse matrix of shape (n, d)
        Rows.

    Returns
    -------
    array or sparse matrix of shape (n, d)
        The same rows. Sparse rows stay sparse.
    """
    return rows.astype(np.float64) if hasattr(rows, "toarray") else np.asarray(rows, np.float64)


def shift_by_mean(X: Rows, Y: Rows) -> tuple[Any, Any]:
    """Subtract the mean of the rows Y from the rows of X and of Y.

    Without the shift, squared distances of rows far from the origin would lose digits to
    cancellation. Sparse rows are not shifted.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Rows.
    Y : array or sparse matrix of shape (m, d)
        Other rows.

    Returns
    -------
    tuple of two arrays or sparse matrices
        The shifted rows X and Y, in float64.
    """
    same = X is Y
    X, Y = to_float64(X), to_float64(Y)
    if not (hasattr(X, "toarray") or hasattr(Y, "toarray")):
        center = Y.mean(axis=0)
        X, Y = X - center, Y - center
    return (Y, Y) if same else (X, Y)


def _is_dense(rows: Any) -> bool:
    return isinstance(rows, np.ndarray) and rows.dtype == np.float64


def _products(X: Any, Y: Any) -> Any:
    """Return the matrix product X Y'. If X is Y, the result is exactly symmetric."""
    return multiply_by_transpose(X) if X is Y and _is_dense(X) else matmul(X, Y.T)


def compute_squared_distances(X: Rows, Y: Rows) -> NDArray[np.float64]:
    """Return the squared Euclidean distances between the rows of X and the rows of Y.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Rows.
    Y : array or sparse matrix of shape (m, d)
        Other rows.

    Returns
    -------
    array of shape (n, m)
        Squared distances. Distances within the rounding error are set to 0.
    """
    from sklearn.metrics.pairwise import euclidean_distances
    from sklearn.utils.extmath import row_norms

    squares: NDArray[np.float64]
    if _is_dense(X) and _is_dense(Y):
        # Squared distances |x|^2 - 2 x'y + |y|^2, as in scikit-learn. The matrix product is
        # computed here, so that all products use the same BLAS library.
        squares = _products(X, Y)
        squares *= -2.0
        squares += row_norms(X, squared=True)[:, None]
        squares += row_norms(Y, squared=True)
        np.maximum(squares, 0.0, out=squares)
        if X is Y:
            np.fill_diagonal(squares, 0.0)
    else:
        squares = euclidean_distances(X, Y, squared=True)
    # Bound on the rounding error of a squared distance between two nearly equal rows. Squared
    # distances up to this bound are set to 0.
    rounding = 8 * (X.shape[1] + 4) * np.finfo(np.float64).eps
    squares[squares <= rounding * row_norms(X, squared=True)[:, None]] = 0.0
    return squares


@dataclass(frozen=True)
class Kernel(ABC):
    """Base class of kernels, which are functions of two rows with a length scale s.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.

    Attributes
    ----------
    bandwidth : float
        Length scale s in the units of the rows. It is 1.0 if the kernel has no length scale.
    """

    bandwidth: float = 1.0

    name: ClassVar[str]
    feature: ClassVar[Feature] = "wave"
    order: ClassVar[int] = 0
    has_bandwidth: ClassVar[bool] = True
    # Distribution of one coordinate of a random frequency for bandwidth 1. `coordinate` is the name
    # of the distribution in scipy.stats, and `drawn_by` is the method of a numpy generator that
    # draws from the distribution.
    coordinate: ClassVar[str | None] = None
    drawn_by: ClassVar[str]
    # Default values of the parameters that the name of a kernel may contain, as in
    # `polynomial[degree=3]`.
    parameters: ClassVar[Mapping[str, float]] = MappingProxyType({})

    def __init_subclass__(cls) -> None:
        """Set each parameter in `parameters` as a class attribute with its default value."""
        for name, value in vars(cls).get("parameters", {}).items():
            setattr(cls, name, value)

    @abstractmethod
    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel values of each row of X with each row of Y, shape (len(X), len(Y))."""

    def gradients(self, X: Rows, Y: Rows, coef: Array) -> Array:
        """Return the gradients of weighted sums of kernel values, with respect to the rows X.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Rows at which the gradients are computed.
        Y : array or CSR matrix of shape (m, d)
            Rows with which the kernel values are computed.
        coef : array of shape (m, k)
            Weights. The i-th function is x -> sum_j coef[j, i] kernel(x, Y[j]). At a kink of the
            kernel, the gradient is the mean of the slopes on both sides.

        Returns
        -------
        array of shape (k, n, d)
            Gradients with respect to X.

        Raises
        ------
        MethodError
            If rfbench has no gradients for the kernel.
        """
        raise MethodError(
            f"The gradients of the kernel {self.name} are not implemented.",
            "The metric is learned from the gradients of a kernel regression.",
            "Use the kernel gaussian, laplacian, laplacian-l2 or cauchy.",
        )

    def frequencies(self, generator: np.random.Generator, d: int, m: int) -> NDArray[np.float64]:
        """Draw m frequencies from the spectral measure of the kernel, an array of shape (m, d).

        With the same state of the generator, draws with different m start with the same
        frequencies.
        """
        return self._scaled(getattr(generator, self.drawn_by)(size=(m, d)))

    def quantile(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Map points `u` of the open unit cube, shape (m, d), to frequencies by the inverse CDF.

        Raise MethodError if the coordinates of a frequency are not independent.
        """
        if self.coordinate is None:
            raise MethodError(
                f"The frequencies of the kernel {self.name} do not have independent coordinates.",
                "Quasi-random frequencies are computed for each coordinate separately.",
                "Use the sampler rks, or a different kernel.",
            )
        from scipy import stats  # import here, because importing scipy.stats takes a second

        return self._scaled(getattr(stats, self.coordinate).ppf(u))

    def _scaled(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        return frequencies / self.bandwidth


class NormalDraws(Kernel):
    """Base class of kernels whose frequencies are computed from normal vectors N(0, spread^2 I).

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    coordinate, drawn_by = "norm", "standard_normal"

    @property
    def spread(self) -> float:
        """Standard deviation of one coordinate of a normal vector."""
        return 1.0 / self.bandwidth


class GaussianMeasure(NormalDraws):
    """Base class of kernels with frequencies from N(0, spread^2 I), such as Gaussian kernels.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    def _scaled(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        return frequencies * self.spread


class Gaussian(GaussianMeasure):
    """Gaussian kernel exp(-|x - y|^2 / (2 s^2)), with frequencies from N(0, I / s^2).

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    name = "gaussian"

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel values of each row of X with each row of Y."""
        from sklearn.metrics.pairwise import euclidean_distances

        squares = euclidean_distances(*shift_by_mean(X, Y), squared=True)
        return np.asarray(np.exp(-0.5 * self.spread**2 * squares))

    def gradients(self, X: Rows, Y: Rows, coef: Array) -> Array:
        """Return the gradients of x -> sum_j coef[j, i] kernel(x, Y[j]) at all rows X, for each i.

        The shape is (k, n, d) for n rows with d columns, and k columns of `coef`.
        """
        return _radial_gradients(X, Y, -(self.spread**2) * self(X, Y), coef)


class GaussianUnhalved(Gaussian):
    """Gaussian kernel exp(-|x - y|^2 / s^2), without the factor 1/2 in the exponent.

    The frequencies are from N(0, 2 I / s^2). The kernel is used by Liu et al. (2020).

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    name = "gaussian-unhalved"

    @property
    def spread(self) -> float:
        """Standard deviation of one coordinate of a frequency."""
        return float(np.sqrt(2.0)) / self.bandwidth


class Laplacian(Kernel):
    """Laplacian kernel exp(-|x - y|_1 / s), with independent Cauchy(1 / s) frequencies.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    name = "laplacian"
    coordinate, drawn_by = "cauchy", "standard_cauchy"

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel values of each row of X with each row of Y."""
        from scipy.spatial.distance import cdist

        return np.asarray(np.exp(-cdist(_dense(X), _dense(Y), "cityblock") / self.bandwidth))

    def gradients(self, X: Rows, Y: Rows, coef: Array) -> Array:
        """Return the gradients of x -> sum_j coef[j, i] kernel(x, Y[j]) at all rows X, for each i.

        The shape is (k, n, d) for n rows with d columns, and k columns of `coef`.
        """
        s = self.bandwidth
        return _product_gradients(X, Y, self(X, Y), coef, lambda gap: -np.sign(gap) / s)


class LaplacianL2(Kernel):
    """Laplacian kernel exp(-|x - y| / s) with the Euclidean norm |.|.

    The kernel is also called the exponential kernel, or Matern kernel of order 1/2. Unlike
    `Laplacian`, it does not change when the rows are rotated. A frequency is g / (s |h|) with g ~
    N(0, I) and h ~ N(0, 1). The coordinates of a frequency are Cauchy(1 / s) and depend on each
    other.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    name = "laplacian-l2"

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel values of each row of X with each row of Y."""
        return np.asarray(
            np.exp(-np.sqrt(compute_squared_distances(*shift_by_mean(X, Y))) / self.bandwidth)
        )

    def gradients(self, X: Rows, Y: Rows, coef: Array) -> Array:
        """Return the gradients of x -> sum_j coef[j, i] kernel(x, Y[j]) at all rows X, for each i.

        The shape is (k, n, d) for n rows with d columns, and k columns of `coef`.
        """
        distances = np.sqrt(compute_squared_distances(*shift_by_mean(X, Y)))
        slopes = -np.exp(-distances / self.bandwidth) / self.bandwidth
        away = np.divide(slopes, distances, out=np.zeros_like(slopes), where=distances > 0)
        return _radial_gradients(X, Y, away, coef)

    def frequencies(self, generator: np.random.Generator, d: int, m: int) -> NDArray[np.float64]:
        """Draw m frequencies from the spectral measure of the kernel, an array of shape (m, d)."""
        normal = generator.standard_normal((m, d + 1))
        return self._scaled(normal[:, :d] / np.abs(normal[:, d:]))


class ScaleMixture(NormalDraws):
    """Base class of kernels whose frequencies are normal vectors N(0, I / s^2) times random scales.

    A sampler that draws normal vectors supports every kernel of this class, because it only has to
    multiply the vectors by the scales from `draw_scales`.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    @abstractmethod
    def draw_scales(self, generator: np.random.Generator, m: int) -> Array:
        """Draw the random scales by which m normal vectors are multiplied, shape (m,)."""

    @abstractmethod
    def evaluate(self, squares: Array) -> tuple[Array, Array]:
        """Return the kernel values, and their derivatives with respect to `squares`.

        An element of `squares` is |x - y|^2 / s^2 for two rows x and y and the length scale s.
        """

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel values of each row of X with each row of Y."""
        return self._evaluate_rows(X, Y)[0]

    def gradients(self, X: Rows, Y: Rows, coef: Array) -> Array:
        """Return the gradients of x -> sum_j coef[j, i] kernel(x, Y[j]) at all rows X, for each i.

        The shape is (k, n, d) for n rows with d columns, and k columns of `coef`.
        """
        slopes = self._evaluate_rows(X, Y)[1]
        return _radial_gradients(X, Y, 2.0 * slopes / self.bandwidth**2, coef)

    def _evaluate_rows(self, X: Rows, Y: Rows) -> tuple[Array, Array]:
        return self.evaluate(compute_squared_distances(*shift_by_mean(X, Y)) / self.bandwidth**2)

    def frequencies(self, generator: np.random.Generator, d: int, m: int) -> NDArray[np.float64]:
        """Draw m frequencies from the spectral measure of the kernel, an array of shape (m, d)."""
        (own,) = generator.spawn(1)
        return super().frequencies(generator, d, m) * self.draw_scales(own, m)[:, None]


class Matern(ScaleMixture):
    """Matern kernel of order nu, by default 1.5, with multivariate t frequencies.

    For r = sqrt(2 nu) |x - y| / s, the kernel is 2^(1 - nu) / Gamma(nu) r^nu K_nu(r), where K_nu is
    a modified Bessel function. The t distribution has 2 nu degrees of freedom (Rasmussen and
    Williams 2006, section 4.2.1).

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    name = "matern"
    parameters = MappingProxyType({"nu": 1.5})
    nu: ClassVar[float]

    def draw_scales(self, generator: np.random.Generator, m: int) -> Array:
        """Draw the random scales by which m normal vectors are multiplied, shape (m,)."""
        return np.sqrt(2 * self.nu / generator.chisquare(2 * self.nu, size=m))

    def evaluate(self, squares: Array) -> tuple[Array, Array]:
        """Return the kernel values, and their derivatives with respect to `squares`.

        An element of `squares` is |x - y|^2 / s^2 for two rows x and y and the length scale s.
        """
        from scipy.special import gamma, kv

        nu = self.nu
        apart = squares > 0
        r = np.sqrt(2 * nu * np.where(apart, squares, 1.0))
        factor = 2.0 ** (1 - nu) / gamma(nu) * r**nu
        slopes = np.where(apart, -nu * factor / r * kv(nu - 1, r), 0.0)
        return np.where(apart, factor * kv(nu, r), 1.0), slopes


class RationalQuadratic(ScaleMixture):
    """Rational quadratic kernel (1 + |x - y|^2 / (2 alpha s^2))^(-alpha), by default alpha = 1.

    A frequency is a normal vector times a random scale. The square of the scale has a Gamma
    distribution with shape alpha and mean 1 (Rasmussen and Williams 2006, section 4.2.1).

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    name = "rational-quadratic"
    parameters = MappingProxyType({"alpha": 1.0})
    alpha: ClassVar[float]

    def draw_scales(self, generator: np.random.Generator, m: int) -> Array:
        """Draw the random scales by which m normal vectors are multiplied, shape (m,)."""
        return np.sqrt(generator.gamma(self.alpha, 1 / self.alpha, size=m))

    def evaluate(self, squares: Array) -> tuple[Array, Array]:
        """Return the kernel values, and their derivatives with respect to `squares`.

        An element of `squares` is |x - y|^2 / s^2 for two rows x and y and the length scale s.
        """
        base = 1.0 + squares / (2 * self.alpha)
        return base**-self.alpha, -0.5 * base ** (-self.alpha - 1)


class Cauchy(Kernel):
    """Cauchy kernel prod_j 1 / (1 + (x_j - y_j)^2 / s^2), with independent Laplace frequencies.

    The Laplace distribution of each coordinate of a frequency has the scale 1 / s.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    name = "cauchy"
    coordinate, drawn_by = "laplace", "laplace"

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel values of each row of X with each row of Y."""
        x, y = _dense(X) / self.bandwidth, _dense(Y) / self.bandwidth
        product = np.ones((len(x), len(y)))
        for j in range(x.shape[1]):
            product /= 1.0 + np.subtract.outer(x[:, j], y[:, j]) ** 2
        return product

    def gradients(self, X: Rows, Y: Rows, coef: Array) -> Array:
        """Return the gradients of x -> sum_j coef[j, i] kernel(x, Y[j]) at all rows X, for each i.

        The shape is (k, n, d) for n rows with d columns, and k columns of `coef`.
        """
        square = self.bandwidth**2
        return _product_gradients(X, Y, self(X, Y), coef, lambda gap: -2 * gap / (square + gap**2))


class ArcCosine(GaussianMeasure):
    """Arc-cosine kernel 2 E[H(w'x) H(w'y) (w'x)^order (w'y)^order] of Cho and Saul (2009).

    The expectation is over w ~ N(0, I), and H is the step function.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Ignored: the kernel has no length scale.
    """

    feature = "arc-cosine"
    has_bandwidth = False

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel values of each row of X with each row of Y.

        The closed form is from Cho and Saul (2009), equations 3 to 6.
        """
        x, y = _dense(X), _dense(Y)
        norms = np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1))
        cosine = np.clip(_products(x, y) / np.where(norms > 0, norms, 1.0), -1.0, 1.0)
        angle = np.arccos(cosine)
        sine = np.sqrt(1.0 - cosine**2)
        if self.order == 0:
            angular = np.pi - angle
        elif self.order == 1:
            angular = sine + (np.pi - angle) * cosine
        else:
            angular = 3 * sine * cosine + (np.pi - angle) * (1 + 2 * cosine**2)
        return np.asarray(norms**self.order * angular / np.pi)


class ArcCosine0(ArcCosine):
    """Arc-cosine kernel 1 - t / pi, where t is the angle between the rows x and y.

    The random features are step functions.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Ignored: the kernel has no length scale.
    """

    name = "arc-cosine-0"


class ArcCosine1(ArcCosine):
    """Arc-cosine kernel |x| |y| (sin t + (pi - t) cos t) / pi.

    The angle between the rows x and y is t. The random features are ramps (ReLU).

    Parameters
    ----------
    bandwidth : float, default=1.0
        Ignored: the kernel has no length scale.
    """

    name = "arc-cosine-1"
    order = 1


class ArcCosine2(ArcCosine):
    """Arc-cosine kernel |x|^2 |y|^2 (3 sin t cos t + (pi - t)(1 + 2 cos^2 t)) / pi.

    The angle between the rows x and y is t. The random features are squared ramps.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Ignored: the kernel has no length scale.
    """

    name = "arc-cosine-2"
    order = 2


class Linear(Kernel):
    """Linear kernel x'y / d. Each random feature is a column that is drawn uniformly.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Ignored: the kernel has no length scale.
    """

    name = "linear"
    feature = "coordinate"
    has_bandwidth = False

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel values of each row of X with each row of Y."""
        product = _products(to_float64(X), to_float64(Y))
        return np.asarray(_dense(product) / X.shape[1])

    def frequencies(self, generator: np.random.Generator, d: int, m: int) -> NDArray[np.float64]:
        """Draw m column numbers from 0 to d - 1 with replacement, shape (m, 1)."""
        return generator.integers(0, d, size=(m, 1)).astype(np.float64)


class DotProduct(Kernel):
    """Base class of kernels f(x'y / s^2), where f is a power series with coefficients >= 0.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    feature = "dot-product"

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel values of each row of X with each row of Y."""
        products = _dense(_products(to_float64(X), to_float64(Y)))
        return self.evaluate(products / self.bandwidth**2)

    @abstractmethod
    def evaluate(self, products: Array) -> Array:
        """Return the kernel values of rows x and y, given the elements x'y / s^2 of `products`."""

    @abstractmethod
    def coefficients(self, degree: int) -> Array:
        """Return the coefficients of the power series f of the kernel up to `degree`.

        The shape is (degree + 1,).
        """


class Softmax(DotProduct):
    """Softmax kernel exp(x'y / s^2), also called exponential kernel.

    In transformers, it is the numerator of the attention weights.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    name = "softmax"

    def evaluate(self, products: Array) -> Array:
        """Return the kernel values of rows x and y, given the elements x'y / s^2 of `products`."""
        return np.exp(products)

    def coefficients(self, degree: int) -> Array:
        """Return the coefficients of the power series f of the kernel up to `degree`.

        The shape is (degree + 1,).
        """
        return 1.0 / np.cumprod([1.0, *range(1, degree + 1)])

    def frequencies(self, generator: np.random.Generator, d: int, m: int) -> NDArray[np.float64]:
        """Draw m frequencies of positive random features, an array of shape (m, d)."""
        return generator.standard_normal((m, d)) / self.bandwidth


class Polynomial(DotProduct):
    """Polynomial kernel (x'y / s^2 + bias)^degree, by default with degree 3 and bias 1.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    name = "polynomial"
    parameters = MappingProxyType({"degree": 3, "bias": 1.0})
    degree: ClassVar[int]
    bias: ClassVar[float]

    def evaluate(self, products: Array) -> Array:
        """Return the kernel values of rows x and y, given the elements x'y / s^2 of `products`."""
        return np.asarray((products + self.bias) ** self.degree)

    def coefficients(self, degree: int) -> Array:
        """Return the coefficients of the power series f of the kernel up to `degree`.

        The shape is (degree + 1,).
        """
        p = self.degree
        return np.array([math.comb(p, n) * self.bias ** max(p - n, 0) for n in range(degree + 1)])


def _radial_gradients(X: Rows, Y: Rows, factors: Array, coef: Array) -> Array:
    """Return sum_j factors[i, j] coef[j, k] (x_i - y_j) for all rows x_i of X and all columns k.

    The sum is over the rows y_j of Y. The shape is (number of columns of `coef`, n, d).
    """
    X, Y = (_dense(rows) for rows in shift_by_mean(_dense(X), _dense(Y)))
    (m, d), k = Y.shape, coef.shape[1]
    pulled = matmul(factors, (coef[:, :, None] * Y[:, None, :]).reshape(m, k * d))
    gradients = matmul(factors, coef)[:, :, None] * X[:, None, :] - pulled.reshape(-1, k, d)
    return np.asarray(gradients.transpose(1, 0, 2))


def _product_gradients(
    X: Rows, Y: Rows, values: Array, coef: Array, log_slope: Callable[[Array], Array]
) -> Array:
    """Return the gradients for a kernel that is a product over the coordinates.

    `values` are the kernel values of X and Y. `log_slope` returns the derivative of the logarithm
    of one factor, with respect to the difference of the two rows in its coordinate. The result is
    as in `Kernel.gradients`.
    """
    X, Y = _dense(X), _dense(Y)
    gradients = np.empty((coef.shape[1], *X.shape))
    for j in range(X.shape[1]):
        gap = np.subtract.outer(X[:, j], Y[:, j])
        gradients[:, :, j] = ((log_slope(gap) * values) @ coef).T
    return gradients


def make(name: str, bandwidth: float = 1.0) -> Kernel:
    """Return the kernel with the given name and bandwidth.

    Parameters
    ----------
    name : str
        Name of the kernel, see ``rfbench list kernels``.
    bandwidth : float
        Length scale s. A kernel without a bandwidth ignores it.

    Returns
    -------
    Kernel
        The kernel with its bandwidth.

    Raises
    ------
    MethodError
        If the kernel does not exist.
    """
    cls: type[Kernel] = KERNELS.find(name)
    return cls(float(bandwidth)) if cls.has_bandwidth else cls()


@functools.cache
def find_parametrized_kernel(kernel_name: str) -> type[Kernel]:
    """Return the kernel class for a name with parameters in brackets.

    Parameters
    ----------
    kernel_name : str
        Name of the kernel, such as ``polynomial[degree=3, bias=0.5]``.

    Returns
    -------
    type
        A subclass of the kernel with these parameters.

    Raises
    ------
    MethodError
        If the kernel has no such parameter, or a value is not a number of at least 0.
    """
    name, _, rest = kernel_name.partition("[")
    base: type[Kernel] = KERNELS.find(name)
    values: dict[str, Any] = {}
    for part in rest.removesuffix("]").split(","):
        key, _, value = (word.strip() for word in part.partition("="))
        if key not in base.parameters:
            raise MethodError(
                f"The kernel {name} has no parameter '{key}'.",
                f"It has {', '.join(base.parameters) or 'none'}.",
            )
        try:
            values[key] = type(base.parameters[key])(value)
        except ValueError:
            values[key] = -1.0
        if not 0 <= values[key] < math.inf:
            raise MethodError(
                f"{key} of the kernel {name} is '{value}'.", "Use a number of at least 0."
            )

    def reduce(self: Kernel) -> Any:
        return make, (self.name, self.bandwidth)

    return type(base.__name__, (base,), {**values, "name": kernel_name, "__reduce__": reduce})
