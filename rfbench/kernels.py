"""Kernels with their closed forms, spectral measures and types of random features.

The attribute `feature` is the type of random features of a kernel. It is a *wave* ``cos(w'x + b)``
for a shift-invariant kernel (Bochner's theorem), the *arc-cosine* feature ``H(w'x) (w'x)^order`` of
Cho & Saul (2009), or a single *coordinate* of the row for the linear kernel (Sinha & Duchi 2016,
section 4.2). The features of a *dot-product* kernel are products of projections.
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
    """Return the rows in float64.

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
    """Return two sets of rows in float64; dense rows are shifted by the mean of Y.

    Without the shift, squared distances of rows far from the origin would lose digits to
    cancellation.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Rows.
    Y : array or sparse matrix of shape (m, d)
        Other rows.

    Returns
    -------
    tuple of two arrays or sparse matrices
        The shifted rows X and Y.
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
    """Return the products X Y'; if X is Y, the result is exactly symmetric."""
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
    """Base class of kernels.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.

    Attributes
    ----------
    bandwidth : float
        Length scale s in the units of the rows; 1.0 if the kernel has no length scale.
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
        """Return the kernel matrix, shape (len(X), len(Y))."""

    def gradients(self, X: Rows, Y: Rows, coef: Array) -> Array:
        """Return the gradients of functions of kernel values, with respect to the rows X.

        Parameters
        ----------
        X : array or CSR matrix of shape (n, d)
            Rows at which the gradients are computed.
        Y : array or CSR matrix of shape (m, d)
            Rows with which the kernel values are computed.
        coef : array of shape (m, k)
            The k-th function is x -> sum_j coef[j, k] k(x, Y[j]). At a kink of the kernel, the
            gradient is the mean of the slopes on both sides.

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
        """Draw m frequencies from the spectral measure of the kernel, shape (m, d).

        Frequencies are drawn row by row. Draws with different m from the same generator state
        therefore start with the same frequencies.
        """
        return self._scaled(getattr(generator, self.drawn_by)(size=(m, d)))

    def quantile(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Map points of the open unit cube, shape (m, d), to frequencies (inverse CDF)."""
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
    """Base class of kernels with frequencies from N(0, spread^2 I): Gaussian, arc-cosine.

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
        """Return the kernel matrix."""
        from sklearn.metrics.pairwise import euclidean_distances

        squares = euclidean_distances(*shift_by_mean(X, Y), squared=True)
        return np.asarray(np.exp(-0.5 * self.spread**2 * squares))

    def gradients(self, X: Rows, Y: Rows, coef: Array) -> Array:
        """Return gradients of sums of kernel values with respect to X, shape (k, n, d)."""
        return _radial_gradients(X, Y, -(self.spread**2) * self(X, Y), coef)


class GaussianUnhalved(Gaussian):
    """Gaussian kernel exp(-|x - y|^2 / s^2) of Liu et al. (2020); frequencies from N(0, 2 I / s^2).

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
        """Return the kernel matrix."""
        from scipy.spatial.distance import cdist

        return np.asarray(np.exp(-cdist(_dense(X), _dense(Y), "cityblock") / self.bandwidth))

    def gradients(self, X: Rows, Y: Rows, coef: Array) -> Array:
        """Return gradients of sums of kernel values with respect to X, shape (k, n, d)."""
        s = self.bandwidth
        return _product_gradients(X, Y, self(X, Y), coef, lambda gap: -np.sign(gap) / s)


class LaplacianL2(Kernel):
    """Laplacian kernel exp(-|x - y| / s), |.| Euclidean, with multivariate Cauchy frequencies.

    It is also called the exponential kernel, or Matern kernel of order 1/2. Unlike `Laplacian`, it
    does not change when the rows are rotated. A frequency is g / (s |h|) with g ~ N(0, I) and h ~
    N(0, 1). The coordinates of a frequency are Cauchy(1 / s) and depend on each other.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    name = "laplacian-l2"

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel matrix."""
        return np.asarray(
            np.exp(-np.sqrt(compute_squared_distances(*shift_by_mean(X, Y))) / self.bandwidth)
        )

    def gradients(self, X: Rows, Y: Rows, coef: Array) -> Array:
        """Return gradients of sums of kernel values with respect to X, shape (k, n, d)."""
        distances = np.sqrt(compute_squared_distances(*shift_by_mean(X, Y)))
        slopes = -np.exp(-distances / self.bandwidth) / self.bandwidth
        away = np.divide(slopes, distances, out=np.zeros_like(slopes), where=distances > 0)
        return _radial_gradients(X, Y, away, coef)

    def frequencies(self, generator: np.random.Generator, d: int, m: int) -> NDArray[np.float64]:
        """Draw m frequencies row by row, shape (m, d)."""
        normal = generator.standard_normal((m, d + 1))
        return self._scaled(normal[:, :d] / np.abs(normal[:, d:]))


class ScaleMixture(NormalDraws):
    """Kernels whose frequencies are normal vectors N(0, I / s^2) times a random scale.

    A sampler that draws normal vectors therefore supports every kernel of this class. It multiplies
    the vectors by the scales that `draw_scales` returns.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    @abstractmethod
    def draw_scales(self, generator: np.random.Generator, m: int) -> Array:
        """Draw the scales of m frequencies, shape (m,)."""

    @abstractmethod
    def evaluate(self, squares: Array) -> tuple[Array, Array]:
        """Return the kernel values and their derivatives as functions of |x - y|^2 / s^2."""

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel matrix."""
        return self._evaluate_rows(X, Y)[0]

    def gradients(self, X: Rows, Y: Rows, coef: Array) -> Array:
        """Return the gradients at X of functions of kernel values, shape (k, n, d)."""
        slopes = self._evaluate_rows(X, Y)[1]
        return _radial_gradients(X, Y, 2.0 * slopes / self.bandwidth**2, coef)

    def _evaluate_rows(self, X: Rows, Y: Rows) -> tuple[Array, Array]:
        return self.evaluate(compute_squared_distances(*shift_by_mean(X, Y)) / self.bandwidth**2)

    def frequencies(self, generator: np.random.Generator, d: int, m: int) -> NDArray[np.float64]:
        """Draw m frequencies, shape (m, d), row by row."""
        (own,) = generator.spawn(1)
        return super().frequencies(generator, d, m) * self.draw_scales(own, m)[:, None]


class Matern(ScaleMixture):
    """Matern kernel of order nu, by default 1.5; frequencies are multivariate t.

    With r = sqrt(2 nu) |x - y| / s, the kernel is 2^(1 - nu) / Gamma(nu) r^nu K_nu(r), and the
    frequencies have 2 nu degrees of freedom (Rasmussen and Williams 2006, section 4.2.1).

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    name = "matern"
    parameters = MappingProxyType({"nu": 1.5})
    nu: ClassVar[float]

    def draw_scales(self, generator: np.random.Generator, m: int) -> Array:
        """Draw the scales of m frequencies, shape (m,)."""
        return np.sqrt(2 * self.nu / generator.chisquare(2 * self.nu, size=m))

    def evaluate(self, squares: Array) -> tuple[Array, Array]:
        """Return the kernel values and their derivatives as functions of |x - y|^2 / s^2."""
        from scipy.special import gamma, kv

        nu = self.nu
        apart = squares > 0
        r = np.sqrt(2 * nu * np.where(apart, squares, 1.0))
        factor = 2.0 ** (1 - nu) / gamma(nu) * r**nu
        slopes = np.where(apart, -nu * factor / r * kv(nu - 1, r), 0.0)
        return np.where(apart, factor * kv(nu, r), 1.0), slopes


class RationalQuadratic(ScaleMixture):
    """Rational quadratic kernel (1 + |x - y|^2 / (2 alpha s^2))^(-alpha), by default alpha = 1.

    The squares of the scales are Gamma distributed with shape alpha and mean 1 (Rasmussen and
    Williams 2006, section 4.2.1).

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    name = "rational-quadratic"
    parameters = MappingProxyType({"alpha": 1.0})
    alpha: ClassVar[float]

    def draw_scales(self, generator: np.random.Generator, m: int) -> Array:
        """Draw the scales of m frequencies, shape (m,)."""
        return np.sqrt(generator.gamma(self.alpha, 1 / self.alpha, size=m))

    def evaluate(self, squares: Array) -> tuple[Array, Array]:
        """Return the kernel values and their derivatives as functions of |x - y|^2 / s^2."""
        base = 1.0 + squares / (2 * self.alpha)
        return base**-self.alpha, -0.5 * base ** (-self.alpha - 1)


class Cauchy(Kernel):
    """Cauchy kernel prod_j 1 / (1 + (x_j - y_j)^2 / s^2); independent Laplace(1 / s) frequencies.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    name = "cauchy"
    coordinate, drawn_by = "laplace", "laplace"

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel matrix."""
        x, y = _dense(X) / self.bandwidth, _dense(Y) / self.bandwidth
        product = np.ones((len(x), len(y)))
        for j in range(x.shape[1]):
            product /= 1.0 + np.subtract.outer(x[:, j], y[:, j]) ** 2
        return product

    def gradients(self, X: Rows, Y: Rows, coef: Array) -> Array:
        """Return gradients of sums of kernel values with respect to X, shape (k, n, d)."""
        square = self.bandwidth**2
        return _product_gradients(X, Y, self(X, Y), coef, lambda gap: -2 * gap / (square + gap**2))


class ArcCosine(GaussianMeasure):
    """Kernel of Cho & Saul, 2 E[H(w'x) H(w'y) (w'x)^order (w'y)^order] with w ~ N(0, I).

    Parameters
    ----------
    bandwidth : float, default=1.0
        Ignored: the kernel has no length scale.
    """

    feature = "arc-cosine"
    has_bandwidth = False

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel matrix in closed form (Cho & Saul 2009, equations 3 to 6)."""
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
    """Arc-cosine kernel 1 - t / pi with t = angle(x, y), from step features.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Ignored: the kernel has no length scale.
    """

    name = "arc-cosine-0"


class ArcCosine1(ArcCosine):
    """Arc-cosine kernel |x| |y| (sin t + (pi - t) cos t) / pi, t = angle(x, y): ramp features.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Ignored: the kernel has no length scale.
    """

    name = "arc-cosine-1"
    order = 1


class ArcCosine2(ArcCosine):
    """Arc-cosine kernel |x|^2 |y|^2 (3 sin t cos t + (pi - t)(1 + 2 cos^2 t)) / pi: squared ramps.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Ignored: the kernel has no length scale.
    """

    name = "arc-cosine-2"
    order = 2


class Linear(Kernel):
    """Linear kernel x'y / d; each random feature is a coordinate that is drawn uniformly.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Ignored: the kernel has no length scale.
    """

    name = "linear"
    feature = "coordinate"
    has_bandwidth = False

    def __call__(self, X: Rows, Y: Rows) -> NDArray[np.float64]:
        """Return the kernel matrix."""
        product = _products(to_float64(X), to_float64(Y))
        return np.asarray(_dense(product) / X.shape[1])

    def frequencies(self, generator: np.random.Generator, d: int, m: int) -> NDArray[np.float64]:
        """Draw m column numbers with replacement, shape (m, 1)."""
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
        """Return the kernel matrix."""
        products = _dense(_products(to_float64(X), to_float64(Y)))
        return self.evaluate(products / self.bandwidth**2)

    @abstractmethod
    def evaluate(self, products: Array) -> Array:
        """Return the kernel values for the products x'y / s^2 of rows x and y."""

    @abstractmethod
    def coefficients(self, degree: int) -> Array:
        """Return the coefficients of the power series up to a degree, shape (degree + 1,)."""


class Softmax(DotProduct):
    """Softmax kernel exp(x'y / s^2), also called exponential kernel: the numerator of attention.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Length scale s.
    """

    name = "softmax"

    def evaluate(self, products: Array) -> Array:
        """Return the kernel values for the products x'y / s^2 of rows x and y."""
        return np.exp(products)

    def coefficients(self, degree: int) -> Array:
        """Return the coefficients of the power series up to a degree, shape (degree + 1,)."""
        return 1.0 / np.cumprod([1.0, *range(1, degree + 1)])

    def frequencies(self, generator: np.random.Generator, d: int, m: int) -> NDArray[np.float64]:
        """Draw m frequencies of positive features, shape (m, d)."""
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
        """Return the kernel values for the products x'y / s^2 of rows x and y."""
        return np.asarray((products + self.bias) ** self.degree)

    def coefficients(self, degree: int) -> Array:
        """Return the coefficients of the power series up to a degree, shape (degree + 1,)."""
        p = self.degree
        return np.array([math.comb(p, n) * self.bias ** max(p - n, 0) for n in range(degree + 1)])


def _radial_gradients(X: Rows, Y: Rows, factors: Array, coef: Array) -> Array:
    """Return sum_j factors[i, j] coef[j, k] (x_i - y_j), shape (k, n, d)."""
    X, Y = (_dense(rows) for rows in shift_by_mean(_dense(X), _dense(Y)))
    (m, d), k = Y.shape, coef.shape[1]
    pulled = matmul(factors, (coef[:, :, None] * Y[:, None, :]).reshape(m, k * d))
    gradients = matmul(factors, coef)[:, :, None] * X[:, None, :] - pulled.reshape(-1, k, d)
    return np.asarray(gradients.transpose(1, 0, 2))


def _product_gradients(
    X: Rows, Y: Rows, values: Array, coef: Array, log_slope: Callable[[Array], Array]
) -> Array:
    """Return the gradients of a kernel that is a product over the coordinates, shape (k, n, d).

    `log_slope` returns the derivative of the logarithm of one factor, with respect to the
    difference of the two rows in its coordinate.
    """
    X, Y = _dense(X), _dense(Y)
    gradients = np.empty((coef.shape[1], *X.shape))
    for j in range(X.shape[1]):
        gap = np.subtract.outer(X[:, j], Y[:, j])
        gradients[:, :, j] = ((log_slope(gap) * values) @ coef).T
    return gradients


def make(name: str, bandwidth: float = 1.0) -> Kernel:
    """Build a kernel by its name.

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
    """Return the kernel class for a name that contains parameters.

    Parameters
    ----------
    kernel_name : str
        Name of the kernel with its parameters, such as ``polynomial[degree=3, bias=0.5]``.

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
