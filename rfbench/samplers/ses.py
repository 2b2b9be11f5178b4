"""Stein effect shrinkage: weights of random features that are learned from data."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from rfbench.arrays import Array, Rows
from rfbench.compute.products import matmul, multiply_by_transpose, sum_squares
from rfbench.kernels import Kernel
from rfbench.parameters import one_of, parameter, whole
from rfbench.samplers.base import RandomFeatures, RandomStreams
from rfbench.samplers.declaration import ANY, sampler
from rfbench.samplers.feature_map import PAIRED, FeatureMap

# Number of row pairs whose products are computed in one block. Measured CPU time, as a multiple of
# the time with this value: 1.13 with half the value, and 0.88 with twice the value (`python -m
# scripts.bench.doubled`).
BLOCK_PAIRS = 128
# Penalties from which one is selected, relative to the scale of the equations (see `penalty`). The
# range was chosen without a measurement. The smallest penalty has almost no effect, and the largest
# penalty makes the weights almost uniform. A range of twice the width would therefore give the same
# results.
SPARSE_PENALTIES = tuple(float(10.0**e) for e in range(-6, 3))


@sampler(
    "ses",
    kernels=ANY,
    about="the features of rks, re-weighted to approximate the kernel on the data",
)
class SES(RandomFeatures):
    r"""Random Fourier features with weights that are fitted to the kernel of the data.

    The weights :math:`\beta_m` of the M features minimize the error of the kernel estimate over
    pairs of training rows, plus a penalty. Labels are not used. The objective is

    .. math:: \sum_{ij} \Big(k(x_i, x_j) - \sum_m \beta_m u_m(x_i) u_m(x_j)\Big)^2
              + \lambda |\beta|^2.

    Column m of the features is :math:`\sqrt{\beta_m} u_m`, where :math:`u_m(x) = \sqrt 2
    \cos(w_m^\top x + b_m)`. In the paired map, :math:`u_m` is a pair of a cosine and a sine, and
    :math:`u_m(x) u_m(y)` is the inner product of two pairs. For :math:`\beta_m = 1/M` the features
    are random kitchen sinks.

    Parameters
    ----------
    n_components : int, default=100
        M, the number of frequencies. A frequency has one column, or two in the paired map.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Bandwidth (length scale) of the kernel, or the rule that computes the bandwidth from the
        training set.
    feature_map : {'offset', 'paired'}, default='offset'
        'offset': the columns are sqrt(2/M) cos(w'x + b) for frequencies w and random offsets b.
        'paired': the columns are the pairs sqrt(1/M) [cos w'x, sin w'x]. Ignored for arc-cosine and
        linear kernels.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    equations : {'sketched'}, default='sketched'
        Method of choosing the pairs of rows in the sum: r pairs are drawn uniformly. The cost is
        O(r M^2).
    pairs_per_feature : int, default=10
        Number r of pairs divided by M.
    weights : {'nonnegative'}, default='nonnegative'
        Constraint on the weights, which are computed by non-negative least squares. The constraint
        is our choice, because the paper does not state it.
    penalty : {'validated'}, default='validated'
        Method of selecting lambda. lambda is divided by the mean diagonal element of the Gram
        matrix of the least-squares problem, to remove the scale (our choice). The value from 1e-6,
        1e-5, ..., 100 with the smallest error on a held-out fifth of the pairs is selected. The
        weights are then fitted on all pairs.

    Attributes
    ----------
    beta_ : array of shape (n_components,)
        The weights.
    penalty_ : float
        The selected penalty lambda.

    References
    ----------
    Chang, Li, Yang and Poczos, Data-driven Random Fourier Features using Stein Effect, IJCAI 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import SES
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> sampler = SES(20, bandwidth=2.0, random_state=0).fit(X)
    >>> sampler.transform(X).shape, bool(sampler.beta_.min() >= 0)
    ((100, 20), True)
    """

    unbiased: ClassVar[bool] = False

    equations: str = parameter("sketched", one_of("sketched"))
    pairs_per_feature: int = parameter(10, whole(1))
    weights: str = parameter("nonnegative", one_of("nonnegative"))
    penalty: str = parameter("validated", one_of("validated"))

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FeatureMap:
        unit = self.draw_unit_map(random, X.shape[1], self.n_components)
        size = (self.pairs_per_feature * self.n_components, 2)
        pairs = random.rows.integers(0, X.shape[0], size=size)
        held = len(pairs) // 5
        held_out = make_pair_equations(unit, self.kernel_, X, pairs[:held])
        training = make_pair_equations(unit, self.kernel_, X, pairs[held:])
        solve = training.make_solver()
        self.penalty_ = min(
            SPARSE_PENALTIES, key=lambda penalty: held_out.compute_error(solve(penalty))
        )
        every = PairEquations(*map(operator.add, held_out, training))
        self.beta_ = every.make_solver()(self.penalty_)
        return unit.with_weights(np.sqrt(self.beta_))


class PairEquations(NamedTuple):
    r"""Normal equations of the least-squares problem that fits feature weights to kernel values.

    The problem is to minimize :math:`|t - A\beta|^2` over the weights :math:`\beta` of M features
    :math:`u_m`. A and t have one row for each pair of data rows. For the pair (i, j), the row of A
    contains the products :math:`u_m(x_i) u_m(x_j)`, and the element of t is the kernel value
    :math:`k(x_i, x_j)`.

    Attributes
    ----------
    gram : array of shape (M, M)
        The matrix A'A.
    moment : array of shape (M,)
        The vector A't.
    square : float
        The number t't.
    """

    gram: Array
    moment: Array
    square: float

    def compute_error(self, beta: Array) -> float:
        """Return the sum of squared errors of the kernel values for the weights `beta`."""
        return float(beta @ (self.gram @ beta) - 2.0 * (beta @ self.moment) + self.square)

    def make_solver(self) -> Callable[[float], Array]:
        """Return a function that computes the M non-negative weights for a penalty.

        The argument of the function is the penalty divided by the mean diagonal element of A'A.
        The eigendecomposition of A'A is computed only once, for all penalties.
        """
        values, vectors = np.linalg.eigh(self.gram)
        projected = vectors.T @ self.moment
        scale = float(np.trace(self.gram)) / len(values)

        def solve(penalty: float) -> Array:
            shifted = np.maximum(values, 0.0) + penalty * scale
            present = shifted > len(values) * np.finfo(np.float64).eps * shifted.max()
            roots = np.sqrt(np.where(present, shifted, 1.0))
            image = np.where(present, projected / roots, 0.0)
            factor = np.where(present, roots, 0.0)[:, None] * vectors.T
            return np.asarray(nnls(factor, image, maxiter=30 * len(values))[0])

        return solve


def make_pair_equations(
    unit: FeatureMap, kernel: Kernel, X: Rows, pairs: NDArray[np.intp]
) -> PairEquations:
    """Return the normal equations that fit feature weights to the kernel values of r pairs of rows.

    `pairs` contains the row indices of the pairs, shape (r, 2).
    """
    m = unit.n_frequencies
    gram, moment, square = np.zeros((m, m)), np.zeros(m), 0.0
    for start in range(0, len(pairs), BLOCK_PAIRS):
        first, second = (X[pairs[start : start + BLOCK_PAIRS, side]] for side in (0, 1))
        products = _features(unit, first) * _features(unit, second)
        if unit.layout == PAIRED:
            products = products[:, :m] + products[:, m:]
        wanted = np.diag(kernel(first, second))
        gram += multiply_by_transpose(products.T)
        moment += matmul(products.T, wanted[:, None])[:, 0]
        square += sum_squares(wanted)
    return PairEquations(gram, moment, square)


def _features(unit: FeatureMap, rows: Rows) -> Array:
    return np.asarray(unit.transform(rows.astype(np.float64, copy=False)), dtype=np.float64)
