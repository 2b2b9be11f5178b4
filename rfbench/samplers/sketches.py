"""Random features of dot-product kernels, such as the polynomial kernel.

A sketch is a set of random features of a row x whose inner products with the features of a row y
estimate a power (x'y)^p. Sketches of several powers are combined to a Maclaurin series.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_approximation import PolynomialCountSketch
from sklearn.utils.extmath import row_norms

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.compute.hadamard import compute_padded_length, fwht_inplace
from rfbench.errors import MethodError
from rfbench.kernels import DotProduct, Gaussian, Kernel, Polynomial, Softmax, to_dense
from rfbench.parameters import (
    BOOLEAN,
    NONE,
    WITH_PARAMETERS,
    Rule,
    estimator,
    one_of,
    parameter,
    whole,
)
from rfbench.samplers.allocation import allocate_features_to_degrees, compute_pair_moments
from rfbench.samplers.base import RandomFeatures, RandomStreams
from rfbench.samplers.declaration import DOT_PRODUCTS, GAUSSIAN, CheckCase, sampler
from rfbench.samplers.feature_map import FittedMap
from rfbench.samplers.projected import iterate_row_blocks

PROJECTIONS = ("gaussian", "rademacher", "srht", "countsketch")
COUNTSKETCH = PROJECTIONS[-1]
SERVED = (*GAUSSIAN, *DOT_PRODUCTS)
# With at most this number of columns, a Hadamard transform is computed as a product with the
# Hadamard matrix, which is then faster than the fast transform. The value is from the times in the
# comment at `structured.DENSE_COLUMNS`, which were measured.
MOST_DENSE_COLUMNS = 128
# Number of training rows that determine how many features each degree of the kernel's series gets.
# The value was chosen without a measurement. The authors use at most 5,000 rows. With twice the
# value, the allocation needs four times the time, and the numbers of features change by a few
# percent.
ALLOCATION_ROWS = 500
# Largest degree of a truncated power series, as in the authors' code. With twice the value, the
# search for the best degree needs four times the time. A degree above ten is hardly ever selected.
SERIES_DEGREE = 10


def _is_numbers_of_features(value: Any) -> bool:
    return isinstance(value, tuple | list) and all(whole(0).holds(each) for each in value)


FEATURES_BY_DEGREE = Rule("a list of whole numbers, one per degree", _is_numbers_of_features)


def multiply_complex(rows: Any, matrix: Any) -> Any:
    """Return the matrix product of real or complex rows and a real or complex matrix."""
    if np.iscomplexobj(matrix) and not np.iscomplexobj(rows):
        return rows @ matrix.real + 1j * (rows @ matrix.imag)
    return rows @ matrix


def convert(part: Any, dtype: Any) -> Any:
    """Return an object with all its arrays in the precision of `dtype`.

    The object is an array, a sketch (a dataclass with arrays), or a list of such objects.
    """
    if isinstance(part, list):
        return [convert(each, dtype) for each in part]
    if isinstance(part, np.ndarray) and part.dtype.kind in "fc":
        kind = np.result_type(dtype, np.complex64) if np.iscomplexobj(part) else dtype
        return part.astype(kind, copy=False)
    if is_dataclass(part) and not isinstance(part, type):
        parts = {each.name: convert(getattr(part, each.name), dtype) for each in fields(part)}
        return replace(part, **parts)
    return part


@dataclass(frozen=True)
class Dense:
    """D random projections of rows with p columns, stored as a matrix of shape (p, D)."""

    matrix: NDArray[Any]

    def project(self, rows: Any) -> Any:
        """Return the D projections of each of the n rows, shape (n, D)."""
        return multiply_complex(rows, self.matrix)


@dataclass(frozen=True)
class HadamardRows:
    """Random projections of rows, computed by fast Walsh-Hadamard transforms.

    Each block of projections is H diag(s) with the Hadamard matrix H and a row s of `signs`. The
    blocks are stacked, and only the projections with the indices `chosen` are returned.
    """

    signs: NDArray[Any]  # shape (blocks, p)
    chosen: NDArray[np.intp]  # shape (D,); row r of block b has the number b * p + r

    def project(self, rows: Any) -> Any:
        """Return the D projections of each of the n rows, shape (n, D)."""
        return np.concatenate([_transform(rows * each) for each in self.signs], 1)[:, self.chosen]


def _transform(rows: Any) -> Any:
    """Return the product of each row with the unnormalized Walsh-Hadamard matrix."""
    if np.iscomplexobj(rows):
        return _transform(rows.real) + 1j * _transform(rows.imag)
    out = np.array(rows, order="C")
    fwht_inplace(out, 1)
    return out


class Way(NamedTuple):
    """Options of the random projections of a sketch.

    Attributes
    ----------
    projection : {'gaussian', 'rademacher', 'srht', 'countsketch'}
        Type of the projections: independent normal entries, independent signs, rows of Hadamard
        matrices multiplied by random signs, or count sketches.
    is_complex : bool
        True if the projections are complex: signs 1, -1, i, -i, or complex normal variables.
    full_cov : bool
        True if all blocks of a Hadamard matrix in 'srht' have the same signs.
    """

    projection: str
    is_complex: bool = False
    full_cov: bool = False

    def draw(self, generator: np.random.Generator, p: int, D: int) -> Dense | HadamardRows:
        """Draw D random projections for rows with p columns. p has to be a power of two."""
        if self.projection == "gaussian":
            normal = generator.standard_normal((p, D))
            if self.is_complex:
                return Dense((normal + 1j * generator.standard_normal((p, D))) / np.sqrt(2.0))
            return Dense(normal)
        if self.projection == "rademacher":
            return Dense(self._signs(generator, (p, D)))
        count = -(-D // p)
        if self.full_cov:
            signs = np.repeat(self._signs(generator, (1, p)), count, axis=0)
            chosen = generator.choice(count * p, size=D, replace=False)
        else:
            signs = self._signs(generator, (count, p))
            orders = [b * p + generator.permutation(p) for b in range(count)]
            chosen = np.concatenate(orders)[:D]
        rows = HadamardRows(signs, chosen)
        return Dense(rows.project(np.eye(p))) if p <= MOST_DENSE_COLUMNS else rows

    def _signs(self, generator: np.random.Generator, shape: tuple[int, int]) -> NDArray[Any]:
        choices = np.array([1, -1, 1j, -1j]) if self.is_complex else np.array([1.0, -1.0])
        return choices[generator.integers(len(choices), size=shape)]


class Sketch(ABC):
    """Base class of sketches: D random features of a row.

    The inner product of the features of two rows x and y estimates a power (x'y)^p.
    """

    @abstractmethod
    def features(self, rows: Any) -> Any:
        """Return the D real or complex features of each of the n rows, shape (n, D)."""


@dataclass(frozen=True)
class ProductSketch(Sketch):
    """Sketch whose features are products of p random projections, divided by sqrt(D)."""

    factors: Sequence[Any]
    D: int

    def features(self, rows: Any) -> Any:
        """Return the D features of each of the n rows, shape (n, D)."""
        product = self.factors[0].project(rows)
        for factor in self.factors[1:]:
            product *= factor.project(rows)
        product *= float(self.D) ** -0.5
        return product


@dataclass(frozen=True)
class TreeSketch(Sketch):
    """Sketch whose projections are multiplied in pairs, as in a binary tree.

    The leaves of the tree are random projections of a row. Each inner node multiplies the values of
    its two children, and projects the product again. The root contains the features. The number of
    leaves is the smallest power of two that is at least the degree p. Leaves beyond p contain ones.
    """

    leaves: Sequence[Any]
    levels: Sequence[Sequence[Any]]
    D: int
    width: int

    def features(self, rows: Any) -> Any:
        """Return the D features of each of the n rows, shape (n, D)."""
        nodes = [leaf.project(rows) for leaf in self.leaves]
        nodes += [np.ones_like(nodes[0])] * (2 ** len(self.levels) - len(nodes))
        for level in self.levels:
            products = [left * right for left, right in zip(nodes[::2], nodes[1::2], strict=True)]
            nodes = [self._project(*pair) for pair in zip(level, products, strict=True)]
        return nodes[0] * float(self.D) ** -0.5

    def _project(self, inner: Any, product: Any) -> Any:
        padded = np.zeros((len(product), self.width), product.dtype)
        padded[:, : self.D] = product
        return inner.project(padded) * float(self.D) ** -0.5


@dataclass(frozen=True)
class CompressedSketch(Sketch):
    """Sketch with many columns that are reduced to D real columns.

    The columns are multiplied by random signs and a Hadamard matrix, from which D columns are
    selected.
    """

    inner: Sketch
    last: HadamardRows

    def features(self, rows: Any) -> Any:
        """Return the D features of each of the n rows, shape (n, D)."""
        wide = self.inner.features(rows)
        if np.iscomplexobj(wide):
            wide = np.concatenate([wide.real, wide.imag], axis=1)
        return self.last.project(wide) * float(len(self.last.chosen)) ** -0.5


@dataclass(frozen=True)
class TensorSketch(Sketch):
    """Sketch that is computed in float64 by `PolynomialCountSketch` of scikit-learn."""

    fitted: PolynomialCountSketch

    def features(self, rows: Any) -> Any:
        """Return the D features of each of the n rows, shape (n, D)."""
        return self.fitted.transform(rows)


def draw_sketch(
    way: Way, degree: int, d: int, D: int, generator: np.random.Generator, tree: bool = False
) -> Sketch:
    """Draw a sketch: D random features whose inner products estimate (x'y)^degree.

    Parameters
    ----------
    way : Way
        Options of the projections.
    degree : int
        Degree of the power, at least 1.
    d : int
        Number of columns of the rows after padding with zeros, a power of two.
    D : int
        Number of features. The features are complex if the projections are complex.
    generator : numpy.random.Generator
        Random numbers.
    tree : bool
        If True, return a `TreeSketch` instead of a `ProductSketch`.

    Returns
    -------
    Sketch
        The sketch, which computes the features of rows.
    """
    if way.projection == COUNTSKETCH:
        seed = int(generator.integers(2**31 - 1))
        sketch = PolynomialCountSketch(degree=degree, n_components=D, random_state=seed)
        return TensorSketch(sketch.fit(np.zeros((1, d))))
    factors = [way.draw(generator, d, D) for _ in range(degree)]
    if not tree or degree == 1:
        return ProductSketch(factors, D)
    width = compute_padded_length(D) if way.projection == "srht" else D
    levels, count = [], compute_padded_length(degree) // 2
    while count:
        levels.append([way.draw(generator, width, D) for _ in range(count)])
        count //= 2
    return TreeSketch(factors, levels, D, width)


@dataclass(frozen=True)
class DotProductMap(FittedMap):
    """Feature map of a kernel that is a sum of powers of x'y, such as the polynomial kernel.

    Each power is estimated by a sketch (random features of this power). The features are the
    columns of all sketches.

    Attributes
    ----------
    sketches : sequence of (float, Sketch)
        For each term of the sum, the square root of its coefficient, and the sketch of its power.
    columns : int
        Number of real columns of the result. Complex features are written as their real parts,
        followed by their imaginary parts. The remaining columns are 0.
    length : float
        Length scale by which the rows are divided.
    width : int
        Number of columns to which the rows are padded with zeros.
    root : float
        Constant that is added to the rows as their first column. If it is 0, no column is added.
    constant : float
        Constant that is the first feature. If it is 0, there is no such feature.
    decay : float
        Factor in the exponent of exp(-decay |x|^2), by which the features of a row x are multiplied
        after x is divided by the length.
    """

    sketches: Sequence[tuple[float, Sketch]]
    columns: int
    length: float
    width: int
    root: float = 0.0
    constant: float = 0.0
    decay: float = 0.0

    @property
    def n_columns(self) -> int:
        """Number of real columns of the feature matrix."""
        return self.columns

    def astype(self, dtype: Any) -> DotProductMap:
        """Return the feature map with its arrays converted to the floating-point type `dtype`."""
        return replace(self, sketches=[(a, convert(each, dtype)) for a, each in self.sketches])

    def transform_into(self, rows: Rows, out: FloatArray) -> None:
        """Compute the features of the n rows, and write them into `out`, shape (n, n_columns)."""
        for block in iterate_row_blocks(rows.shape[0], max(self.width, self.columns)):
            part = to_dense(rows[block]) / np.asarray(self.length, out.dtype)
            padded = np.zeros((len(part), self.width), out.dtype)
            first = int(self.root != 0.0)
            padded[:, first : first + part.shape[1]] = part
            padded[:, :first] = self.root
            found = [np.full((len(part), 1), self.constant)] if self.constant else []
            found += [root * each.features(padded) for root, each in self.sketches]
            features = np.concatenate(found, axis=1)
            if self.decay:
                features *= np.exp(-self.decay * row_norms(part, squared=True))[:, None]
            parts = [features.real, features.imag] if np.iscomplexobj(features) else [features]
            filled = sum(each.shape[1] for each in parts)
            np.concatenate(parts, axis=1, out=out[block, :filled], casting="same_kind")
            out[block, filled:] = 0.0


def find_length(kernel: Kernel) -> float:
    """Return the length scale of the kernel, by which rows are divided.

    For the Gaussian kernel exp(-|x - y|^2 / (2 s^2)), the length scale is s.
    """
    return 1.0 / kernel.spread if isinstance(kernel, Gaussian) else float(kernel.bandwidth)


def allocate_features(
    sample: Array, kernel: Any, totals: Iterable[int], way: Way, least: int
) -> dict[int, list[int]]:
    """Return how a total number of features is best divided among the degrees of a power series.

    The chosen numbers of features minimize the mean squared error of the kernel estimate.

    Parameters
    ----------
    sample : array of shape (n, d)
        Rows over whose pairs the mean squared error is computed.
    kernel : Kernel
        Kernel that is a power series in x'y.
    totals : iterable of int
        Total numbers of features to divide. The constant feature of degree 0 is not counted.
    way : Way
        Options of the projections.
    least : int
        Lowest degree at which the series is truncated.

    Returns
    -------
    dict
        Each total, mapped to a list with the number of features for each of the degrees 1, 2, ...
    """
    decays = isinstance(kernel, Gaussian)
    series = Softmax(1.0) if decays else kernel
    limit = kernel.degree if isinstance(kernel, Polynomial) else SERIES_DEGREE
    coefficients = series.coefficients(limit)
    rows = np.zeros((len(sample), compute_padded_length(sample.shape[1])))
    rows[:, : sample.shape[1]] = sample
    rows /= find_length(kernel)
    moments = compute_pair_moments(
        *(rows, coefficients, series.evaluate, way.projection),
        is_complex=way.is_complex,
        decays=decays,
    )
    return allocate_features_to_degrees(moments, coefficients, rows.shape[1], totals, least)


@estimator
class SketchedFeatures(RandomFeatures):
    """Base class of the samplers for random features of dot-product kernels.

    Parameters
    ----------
    n_components : int, default=100
        M, the number of columns.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Length scale of the kernel, or the rule that computes it from the training set.
    feature_map : {'offset', 'paired'}, default='offset'
        Ignored.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Seed or generator of the random numbers. None draws a new seed in every fit.
    projection : {'gaussian', 'rademacher', 'srht', 'countsketch'}, default='rademacher'
        Type of the projections: independent normal entries, independent signs, rows of Hadamard
        matrices times random signs (TensorSRHT), or count sketches (TensorSketch).
    is_complex : bool, default=False
        Draw M // 2 complex features, and return their real and imaginary parts. With an odd M,
        the last column is 0.
    """

    kernels_served: ClassVar[Any] = (DotProduct, Gaussian)
    features_served: ClassVar[tuple[str, ...]] = ("wave", "dot-product")

    projection: str = parameter("rademacher", one_of(*PROJECTIONS))
    is_complex: bool = parameter(False, BOOLEAN)

    def check_parameters(self) -> None:
        """Raise MethodError if a parameter is not valid, or if features cannot be complex."""
        super().check_parameters()
        if self.is_complex and (self.projection == COUNTSKETCH or self.n_components < 2):
            raise MethodError(
                f"is_complex is true with the projection {self.projection} and n_components "
                f"{self.n_components}.",
                "Count sketches are always real, and complex features need at least 2 columns.",
                "Set is_complex to false.",
            )

    @property
    def _n_features(self) -> int:
        """Number of features, where a complex feature counts as one."""
        return self.n_components // 2 if self.is_complex else self.n_components


@sampler(
    "polynomial-sketch",
    kernels=("polynomial",),
    about="products of random projections of a row",
    forms=(
        CheckCase(),
        CheckCase({"projection": "gaussian"}),
        CheckCase({"projection": "srht"}),
        CheckCase({"projection": "countsketch"}),
        CheckCase({"projection": "srht", "is_complex": True, "full_cov": True}),
        CheckCase({"projection": "srht", "tree": True}),
        CheckCase({"projection": "rademacher", "expanded": 64}),
    ),
)
class PolynomialSketch(SketchedFeatures):
    r"""Random features of the polynomial kernel: products of p random projections of a row.

    The kernel is :math:`(x^\top y / s^2 + b)^p` with the length scale s and the bias b. Feature j
    of a row x is :math:`M^{-1/2} \prod_{i=1}^p w_{ij}^\top \tilde x` with random vectors
    :math:`w_{ij}`. The vector :math:`\tilde x` is :math:`(\sqrt b, x / s)`, padded with zeros to a
    power of two. The kernel estimate is unbiased.

    Parameters
    ----------
    n_components : int, default=100
        M, the number of columns.
    kernel : str, default='polynomial'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Length scale of the kernel, or the rule that computes it from the training set.
    feature_map : {'offset', 'paired'}, default='offset'
        Ignored.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Seed or generator of the random numbers. None draws a new seed in every fit.
    projection : {'gaussian', 'rademacher', 'srht', 'countsketch'}, default='rademacher'
        Type of the projections: independent normal entries, independent signs, rows of Hadamard
        matrices times random signs (TensorSRHT), or count sketches (TensorSketch).
    is_complex : bool, default=False
        Draw M // 2 complex features, and return their real and imaginary parts. With an odd M,
        the last column is 0.
    full_cov : bool, default=False
        With 'srht', all blocks of a Hadamard matrix have the same signs, and rows are drawn from
        all blocks without replacement.
    tree : bool, default=False
        Multiply the projections in pairs and project each product again, until one remains.
    expanded : int or None, default=None
        Number of columns of a sketch that is reduced to M columns by a Hadamard transform with
        random signs. None: no reduction.

    References
    ----------
    Kar and Karnick, Random Feature Maps for Dot Product Kernels, AISTATS 2012. Pham and Pagh, Fast
    and Scalable Polynomial Kernels via Explicit Feature Maps, KDD 2013, for TensorSketch. Ahle et
    al., Oblivious Sketching of High-Degree Polynomial Kernels, SODA 2020, for the tree. Wacker,
    Kanagawa and Filippone, Improved Random Features for Dot Product Kernels, arXiv 2201.08712.
    Wacker, Ohana and Filippone, Complex-to-Real Sketches for Tensor Products with Applications to
    the Polynomial Kernel, AISTATS 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import PolynomialSketch
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> sketch = PolynomialSketch(50, kernel="polynomial[degree=2]", bandwidth=2.0)
    >>> sketch.fit(X).transform(X).shape
    (20, 50)
    """

    kernels_served: ClassVar[Any] = Polynomial

    kernel: str = parameter("polynomial", one_of("polynomial") | WITH_PARAMETERS)
    full_cov: bool = parameter(False, BOOLEAN)
    tree: bool = parameter(False, BOOLEAN)
    expanded: int | None = parameter(None, whole(2) | NONE)

    def _find_power(self) -> tuple[int, float, float, float]:
        """Return the degree, bias, length scale and decay of the kernel.

        The kernel is (x'y / length^2 + bias)^degree, multiplied by exp(-decay |x / length|^2) for
        each of the two rows.
        """
        return self.kernel_.degree, self.kernel_.bias, find_length(self.kernel_), 0.0

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> DotProductMap:
        degree, bias, length, decay = self._find_power()
        d, generator = compute_padded_length(X.shape[1] + (bias > 0)), random.frequencies
        way = Way(self.projection, self.is_complex, self.full_cov)
        if self.expanded is None:
            sketch = draw_sketch(way, degree, d, self._n_features, generator, self.tree)
        else:
            E = compute_padded_length(max(self.expanded, self.n_components))
            inner = draw_sketch(way, degree, d, E // (1 + self.is_complex), generator, self.tree)
            signs = np.array([-1.0, 1.0])[generator.integers(2, size=(1, E))]
            chosen = generator.permutation(E)[: self.n_components]
            sketch = CompressedSketch(inner, HadamardRows(signs, chosen))
        root = float(np.sqrt(bias))
        return DotProductMap([(1.0, sketch)], self.n_components, length, d, root=root, decay=decay)


@sampler(
    "power-sketch",
    kernels=(*GAUSSIAN, "softmax"),
    about="sketches of a power of 1 + x'y / q in place of the exponential function",
)
class PowerSketch(PolynomialSketch):
    r"""Random features of the softmax and the Gaussian kernel, from a power of high degree.

    The softmax kernel :math:`\exp(x^\top y / s^2)` with the length scale s is replaced by
    :math:`(1 + x^\top y / (q s^2))^q`. The features are products of q random projections of a row,
    as in `PolynomialSketch`. For the Gaussian kernel, the features of a row x are multiplied by
    :math:`\exp(-|x|^2 / (2 s^2))`. The kernel estimate is biased, and the bias decreases as q
    increases.

    Parameters
    ----------
    n_components : int, default=100
        M, the number of columns.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Length scale of the kernel, or the rule that computes it from the training set.
    feature_map : {'offset', 'paired'}, default='offset'
        Ignored.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Seed or generator of the random numbers. None draws a new seed in every fit.
    projection : {'gaussian', 'rademacher', 'srht', 'countsketch'}, default='rademacher'
        Type of the projections: independent normal entries, independent signs, rows of Hadamard
        matrices times random signs (TensorSRHT), or count sketches (TensorSketch).
    is_complex : bool, default=False
        Draw M // 2 complex features, and return their real and imaginary parts. With an odd M,
        the last column is 0.
    full_cov : bool, default=False
        With 'srht', all blocks of a Hadamard matrix have the same signs, and rows are drawn from
        all blocks without replacement.
    tree : bool, default=False
        Multiply the projections in pairs and project each product again, until one remains.
    expanded : int or None, default=None
        Number of columns of a sketch that is reduced to M columns by a Hadamard transform with
        random signs. None: no reduction.
    power : int, default=4
        The power q.

    References
    ----------
    Wacker, Kanagawa and Filippone, Improved Random Features for Dot Product Kernels, arXiv
    2201.08712.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import PowerSketch
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> PowerSketch(50, bandwidth=2.0, power=8).fit(X).transform(X).shape
    (20, 50)
    """

    kernels_served: ClassVar[Any] = (Gaussian, Softmax)
    unbiased: ClassVar[bool] = False

    kernel: str = parameter("gaussian", one_of(*GAUSSIAN, "softmax"))
    power: int = parameter(4, whole(1))

    def _find_power(self) -> tuple[int, float, float, float]:
        q, decays = self.power, isinstance(self.kernel_, Gaussian)
        return q, 1.0, find_length(self.kernel_) * float(np.sqrt(q)), 0.5 * q * decays


@sampler(
    "maclaurin",
    kernels=SERVED,
    about="sketches of the terms of the kernel's power series, side by side",
    forms=(
        CheckCase({"degrees": "random"}),
        CheckCase({"degrees": "random", "projection": "srht", "is_complex": True}),
        CheckCase({}, {"unbiased": False}),
        CheckCase({"projection": "srht", "is_complex": True}, {"unbiased": False}),
    ),
)
class MaclaurinFeatures(SketchedFeatures):
    r"""Random features of a kernel that is a power series in the product of two rows.

    The terms of the series are :math:`a_n (x^\top y / s^2)^n` for the degrees n = 0, 1, ..., with
    the length scale s of the kernel. The constant :math:`\sqrt{a_0}` is one feature. The other
    M - 1 features are divided among the other degrees. By default, the division minimizes the mean
    squared error of the kernel estimate over pairs of training rows. The series is then truncated,
    and the estimate is biased. With ``degrees='random'``, the degree of each feature is random with
    probabilities proportional to :math:`2^{-(n + 1)}`, and the estimate is unbiased.

    Parameters
    ----------
    n_components : int, default=100
        M, the number of columns.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Length scale of the kernel, or the rule that computes it from the training set.
    feature_map : {'offset', 'paired'}, default='offset'
        Ignored.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Seed or generator of the random numbers. None draws a new seed in every fit.
    projection : {'gaussian', 'rademacher', 'srht', 'countsketch'}, default='rademacher'
        Type of the projections: independent normal entries, independent signs, rows of Hadamard
        matrices times random signs (TensorSRHT), or count sketches (TensorSketch).
    is_complex : bool, default=False
        Draw M // 2 complex features, and return their real and imaginary parts. With an odd M,
        the last column is 0.
    degrees : {'optimized', 'random'} or list of int, default='optimized'
        Method that distributes the features over the degrees, or a list with the number of features
        for each degree, from 1.
    least_degree : int, default=2
        Lowest degree at which the series is truncated.

    Attributes
    ----------
    degrees_ : list of int
        Number of features for each degree, from 1.

    References
    ----------
    Kar and Karnick, Random Feature Maps for Dot Product Kernels, AISTATS 2012, for random degrees.
    Wacker, Kanagawa and Filippone, Improved Random Features for Dot Product Kernels, arXiv
    2201.08712, for optimized numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import MaclaurinFeatures
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> sum(MaclaurinFeatures(50, bandwidth=2.0, random_state=0).fit(X).degrees_)
    49
    """

    degrees: Any = parameter("optimized", one_of("optimized", "random") | FEATURES_BY_DEGREE)
    least_degree: int = parameter(2, whole(1))

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> DotProductMap:
        d, total = compute_padded_length(X.shape[1]), self._n_features - 1
        kernel, decays = self.kernel_, isinstance(self.kernel_, Gaussian)
        way, generator = Way(self.projection, self.is_complex), random.frequencies
        weights: Any = None
        if self.degrees == "random":
            limit = kernel.degree if isinstance(kernel, Polynomial) else None
            counts, weights = draw_degrees(random.selection, total, limit)
        elif self.degrees == "optimized":
            counts = self._optimize(X, way, random.selection, total)
        else:
            counts = list(self.degrees)
        self.degrees_ = counts
        coefficients = (Softmax(1.0) if decays else kernel).coefficients(len(counts))
        weights = np.ones(len(counts)) if weights is None else weights
        sketches = [
            (float(np.sqrt(a * w)), draw_sketch(way, n, d, D, generator))
            for n, (a, w, D) in enumerate(zip(coefficients[1:], weights, counts, strict=True), 1)
            if D
        ]
        constant = float(np.sqrt(coefficients[0]))
        return DotProductMap(
            *(sketches, self.n_components, find_length(kernel), d),
            constant=constant,
            decay=0.5 * decays,
        )

    def _optimize(self, X: Rows, way: Way, generator: np.random.Generator, total: int) -> list[int]:
        n = X.shape[0]
        if total < 1 or n < 2:
            return [total] if total > 0 else []
        chosen = np.sort(generator.choice(n, size=min(ALLOCATION_ROWS, n), replace=False))
        sample = to_dense(X[chosen])
        return allocate_features(sample, self.kernel_, [total], way, self.least_degree)[total]


def draw_degrees(
    generator: np.random.Generator, total: int, limit: int | None
) -> tuple[list[int], Array]:
    """Draw a random degree n >= 1 for each feature of a power series.

    The probability of the degree n is proportional to 2^-(n + 1).

    Parameters
    ----------
    generator : numpy.random.Generator
        Random numbers.
    total : int
        Number of features.
    limit : int or None
        Highest degree of the series. None if the series is infinite.

    Returns
    -------
    counts : list of int
        Number of features for each degree, from 1.
    weights : array
        Factor of the estimate of each power. With these factors, the estimated sum of the series is
        unbiased.
    """
    if limit is None:
        drawn = generator.geometric(0.5, size=total)
        q: Any = 0.5 ** np.arange(1, max(drawn, default=0) + 1)
    else:
        q = 0.5 ** np.arange(1, limit + 1)
        q /= q.sum()
        drawn = 1 + generator.choice(limit, size=total, p=q)
    counts = np.bincount(drawn, minlength=len(q) + 1)[1:]
    return counts.tolist(), counts / (q * max(total, 1))
