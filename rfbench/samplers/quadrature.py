"""Random features whose frequencies are points of quadrature rules for a Gaussian integral."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

from rfbench.arrays import Array, Rows
from rfbench.errors import MethodError
from rfbench.kernels import GaussianMeasure
from rfbench.parameters import parameter, whole
from rfbench.samplers.base import RandomFeatures, RandomStreams
from rfbench.samplers.declaration import ISOTROPIC, sampler
from rfbench.samplers.feature_map import FeatureMap
from rfbench.samplers.orf import draw_haar_rows


@sampler(
    "gaussian-quadrature",
    kernels=ISOTROPIC,
    about="coordinates of frequencies drawn from the three nodes of Gauss-Hermite quadrature",
)
class GaussianQuadrature(RandomFeatures):
    r"""Frequencies whose coordinates are drawn from the nodes of Gauss-Hermite quadrature.

    Each coordinate of a frequency is :math:`\sigma t`, where t is drawn from the L nodes of the
    quadrature rule, with probabilities proportional to the weights of the rule. :math:`\sigma` is
    the standard deviation of a coordinate, 1/s for the Gaussian kernel with length scale s. For
    example, for L = 3 the nodes are 0 with probability 2/3, and :math:`\pm\sqrt 3` otherwise. The
    kernel estimate has a bias that does not decrease with the number M of features. The moments of
    the frequencies equal the Gaussian moments up to degree 2L - 1.

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
    points : int, default=3
        Number L of nodes of the quadrature rule.

    Notes
    -----
    The mean of the kernel estimate is :math:`\prod_j \sum_l a_l \cos(\sigma t_l (x_j - y_j))` for
    nodes :math:`t_l` with the probabilities :math:`a_l`. The paper does not consider arc-cosine
    features, which are not smooth. The mean of their kernel estimate is the mean over all nodes of
    the grid.

    References
    ----------
    Dao, De Sa and Re, Gaussian Quadrature for Kernel Features, NIPS 2017, section 4 (the
    subsampled dense grid).

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import GaussianQuadrature
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> W = GaussianQuadrature(50, bandwidth=1.0, random_state=0).fit(X).feature_map_.frequencies
    >>> np.unique((W**2).round(9))
    array([0., 3.])
    """

    kernels_served: ClassVar[Any] = GaussianMeasure
    unbiased: ClassVar[bool] = False

    points: int = parameter(3, whole(2))

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FeatureMap:
        d, m = X.shape[1], self.n_components
        nodes, weights = hermegauss(self.points)
        drawn = random.frequencies.choice(nodes, size=(m, d), p=weights / weights.sum())
        return self.unit_map(drawn * self.kernel_.spread, random).times(m**-0.5)


@dataclass(frozen=True)
class QuadratureMap(FeatureMap):
    """Feature map with weighted columns and a constant that is added to the kernel estimate.

    The constant corrects the kernel estimate for weights w_m whose mean square is not 1. Its value
    is (1 - mean of w_m^2) k(0, 0), with the kernel value k(0, 0) of two rows of zeros.
    """

    @property
    def kernel_constant(self) -> float:
        """Constant that is added to products of features to estimate the kernel.

        The constant may be negative.
        """
        assert self.weights is not None
        lacking = 1.0 - float(np.mean(np.square(self.weights, dtype=np.float64)))
        if self.feature == "arc-cosine":
            # A step feature (order 0) is H(0) = 1/2 at frequency 0. As in the authors' code, the
            # constant is 2 * H(0)^2 times the missing weight. The features of higher order are 0 at
            # frequency 0.
            return 0.5 * lacking if self.order == 0 else 0.0
        return lacking


@sampler(
    "ssr",
    kernels=ISOTROPIC,
    about=(
        "spherical-radial quadrature: random rotations of a regular simplex at random "
        "radii, with weights"
    ),
)
class SSR(RandomFeatures):
    r"""Features from stochastic spherical-radial quadrature of degree (3, 3).

    The frequencies of a block are :math:`w_j = \sigma \rho_j Q v_j` for the d + 1 vertices
    :math:`v_j` of a regular simplex on the unit sphere. Q is a random orthogonal matrix
    (Haar-distributed), :math:`\rho_j \sim \chi_{d+2}` are random lengths, and :math:`\sigma` is
    the standard deviation of a coordinate, 1/s for the Gaussian kernel. Independent blocks are
    stacked until there are M frequencies. The kernel estimate is

    .. math:: k(x, y) \approx c_0 + \frac1M \sum_j \frac{d}{\rho_j^2} \cos w_j^\top (x - y),
              \qquad c_0 = 1 - \frac1M \sum_j \frac{d}{\rho_j^2}.

    The estimate is unbiased. The features are cosines and sines that are multiplied by the weights
    :math:`\sqrt d / \rho_j`. The constant :math:`c_0`, which may be negative, is used only for
    kernel errors. In a regression, an intercept has the same effect. Drawing costs O(M d^2).
    Dimensions d of 1 and 2 are not supported, because the variance of the weights is infinite.

    Arc-cosine features are not even functions. Every second frequency is then the opposite of the
    previous frequency, with the same weight. The constant :math:`c_0` is half as large for the
    order 0 (steps), and 0 for higher orders.

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

    Notes
    -----
    Each frequency has its own random length, as in the code of the authors. The butterfly matrices
    of the paper are not used, because they only make Q x faster.

    References
    ----------
    Munkhoeva, Kapushev, Burnaev and Oseledets, Quadrature-based Features for Kernel Approximation,
    NeurIPS 2018; Genz and Monahan, A Stochastic Algorithm for High-Dimensional Integrals over
    Unbounded Regions with Gaussian Weight, 1999, for the rule.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import SSR
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> SSR(50, bandwidth=2.0, random_state=0).fit(X).transform(X).shape
    (20, 50)
    """

    kernels_served: ClassVar[Any] = GaussianMeasure

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FeatureMap:
        d, m = X.shape[1], self.n_components
        opposites = self.kernel_.feature == "arc-cosine"
        n_drawn = (m + 1) // 2 if opposites else m
        if d < 3:
            raise MethodError(
                f"Spherical-radial quadrature needs at least 3 columns, but n_features = {d}.",
                "The variance of its weights is infinite for fewer columns.",
                "Use the sampler orf.",
            )
        simplex = compute_simplex_vertices(d)
        directions = []
        for start in range(0, n_drawn, d + 1):
            # The last block may have fewer frequencies than a full block. The first r vertices of
            # the simplex are combinations of the first r coordinate axes, so the first r rows of a
            # Haar matrix are sufficient.
            rank = min(d, n_drawn - start)
            corners = simplex[: n_drawn - start, :rank]
            directions.append(corners @ draw_haar_rows(random.frequencies, d, rank))
        lengths = np.sqrt(random.selection.chisquare(d + 2, size=n_drawn))
        frequencies = np.concatenate(directions) * (lengths * self.kernel_.spread)[:, None]
        if opposites:
            frequencies = np.repeat(frequencies, 2, axis=0)[:m]
            frequencies[1::2] *= -1.0
            lengths = np.repeat(lengths, 2)[:m]
        unit = self.unit_map(frequencies, random).with_weights(d**0.5 / lengths).times(m**-0.5)
        return QuadratureMap(**vars(unit))


def compute_simplex_vertices(d: int) -> Array:
    """Return the d + 1 vertices of a regular simplex on the unit sphere, shape (d + 1, d).

    The sum of the vertices is 0.
    """
    i = np.arange(d)
    step = np.sqrt((d + 1) / ((d - i) * d * (d - i + 1)))
    return np.asarray(np.tril(np.tile(-step, (d + 1, 1)), -1) + np.eye(d + 1, d) * (d - i) * step)
