"""Positive random features of the Gaussian kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.extmath import row_norms

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.kernels import Gaussian, to_dense
from rfbench.parameters import one_of, parameter
from rfbench.registry import SAMPLERS
from rfbench.samplers.base import RandomFeatures, RandomStreams
from rfbench.samplers.declaration import GAUSSIAN, CheckCase, sampler
from rfbench.samplers.feature_map import PAIRED, PLAIN, FeatureMap
from rfbench.samplers.projected import iterate_row_blocks

BASES = ("rks", "orf", "simrf")


@dataclass(frozen=True)
class PositiveMap(FeatureMap):
    """Columns ``scale * exp(w'z + b - decay |z|^2)`` of z = x - center.

    Attributes
    ----------
    decay : float
    center : array of shape (d,) or None
        Row that is subtracted from the rows. If None, nothing is subtracted.
    """

    decay: float = 0.0
    center: FloatArray | None = None

    def transform_into(self, rows: Rows, out: FloatArray) -> None:
        """Write the features of rows, shape (n, d), into `out`, shape (n, n_columns)."""
        assert self.offsets is not None
        for block in iterate_row_blocks(rows.shape[0], rows.shape[1]):
            part, exponents = to_dense(rows[block]), out[block]
            if self.center is not None:
                part = part - self.center.astype(part.dtype)
            self._project(part, exponents)
            exponents += self.offsets
            exponents -= (self.decay * row_norms(part, squared=True))[:, None].astype(out.dtype)
        np.exp(out, out=out)
        out *= self.scale


@sampler(
    "positive",
    kernels=GAUSSIAN,
    about="positive features of the Gaussian kernel, as attention uses them",
)
class PositiveFeatures(RandomFeatures):
    r"""Positive features exp(w'x - |x|^2/s^2) / sqrt(M) of the Gaussian kernel, w ~ N(0, I/s^2).

    Because of :math:`E\,e^{w^\top (x + y)} = e^{|x + y|^2 / (2 s^2)}` the estimate is unbiased. All
    products of features are positive, as attention requires (FAVOR+). For ridge regression these
    features are expected to have larger errors than cosines. The kernel depends on differences of
    rows, but the features do not: rows many bandwidths away from the origin have features of 0.
    Therefore the mean of the training set is subtracted from the rows x, which is our addition.

    Parameters
    ----------
    n_components : int, default=100
        M, the number of frequencies. The paired map has two columns per frequency.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Bandwidth (length scale) of the kernel, or the rule that computes the bandwidth from the
        training set.
    feature_map : , default='offset'
        Ignored.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    base : {'rks', 'orf', 'simrf'}, default='rks'
        Sampler that draws the frequencies. FAVOR+ uses orthogonal frequencies.

    References
    ----------
    Choromanski et al., Rethinking Attention with Performers, ICLR 2021, lemma 1.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import PositiveFeatures
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> Z = PositiveFeatures(50, bandwidth=2.0, random_state=0).fit_transform(X)
    >>> Z.shape, bool((Z > 0).all())
    ((20, 50), True)
    """

    kernels_served: ClassVar[Any] = Gaussian
    revision: ClassVar[int] = 2  # revision 1 did not subtract a mean

    base: str = parameter("rks", one_of(*BASES))

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FeatureMap:
        m, spread = self.n_components, self.kernel_.spread
        base = SAMPLERS[self.base](m, kernel=self.kernel, feature_map=PAIRED)
        base.kernel_ = self.kernel_
        drawn = base._draw(X, None, random)
        assert isinstance(drawn, FeatureMap)
        center, variance = compute_moments(X)
        A = self._curvature(variance, X.shape[1])
        squares = np.sum(drawn.frequencies**2, axis=0) / spread**2
        return PositiveMap(
            "exp",
            PLAIN,
            np.sqrt(1.0 - 4.0 * A) * drawn.frequencies,
            A * squares + 0.25 * X.shape[1] * np.log(1.0 - 4.0 * A),
            scale=m**-0.5,
            decay=spread**2,
            center=center,
        )

    def _curvature(self, variance: float, d: int) -> float:
        """Return the parameter A <= 0 of `OptimalPositiveFeatures`."""
        return 0.0


@sampler(
    "oprf",
    kernels=GAUSSIAN,
    about="as positive, with the smallest variance",
    forms=(CheckCase({"base": "orf"}),),
)
class OptimalPositiveFeatures(PositiveFeatures):
    r"""Positive features with the smallest variance at the mean distance from the origin.

    The columns are :math:`(1 - 4A)^{d/4} \exp(A s^2 |w|^2 + \sqrt{1 - 4A}\, w^\top x - |x|^2/s^2) /
    \sqrt M`, which are unbiased for every :math:`A < 1/4`. Let :math:`\phi` be the mean of
    :math:`|x + y|^2 / (s^2 d)` over pairs of training rows. Then :math:`A = (1 - 2\phi -
    \sqrt{(2\phi + 1)^2 + 8\phi}) / 16 \le 0`. For ridge regression these features are expected to
    have larger errors than cosines.

    Parameters
    ----------
    n_components : int, default=100
        M, the number of frequencies. The paired map has two columns per frequency.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Bandwidth (length scale) of the kernel, or the rule that computes the bandwidth from the
        training set.
    feature_map : , default='offset'
        Ignored.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    base : {'rks', 'orf', 'simrf'}, default='rks'
        Sampler that draws the frequencies. FAVOR+ uses orthogonal frequencies.

    Attributes
    ----------
    curvature_ : float
        The parameter A.

    References
    ----------
    Likhosherstov, Choromanski, Dubey, Liu, Sarlos and Weller, Chefs' Random Tables:
    Non-Trigonometric Random Features, NeurIPS 2022 (OPRF). The formula of A is derived here.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import OptimalPositiveFeatures
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> sampler = OptimalPositiveFeatures(50, bandwidth=2.0, random_state=0).fit(X)
    >>> sampler.curvature_ < 0
    True
    """

    def _curvature(self, variance: float, d: int) -> float:
        # For rows with mean 0, the mean of |x + y|^2 over all pairs is twice the mean of |x|^2.
        phi = 2.0 * variance * self.kernel_.spread**2 / d
        self.curvature_ = float(1 - 2 * phi - np.sqrt((2 * phi + 1) ** 2 + 8 * phi)) / 16
        return self.curvature_


def compute_moments(X: Rows) -> tuple[Array, float]:
    """Return the mean of the rows, shape (d,), and the mean squared distance from this mean."""
    n, d = X.shape
    blocks = list(iterate_row_blocks(n, d))
    total = np.zeros(d)
    for block in blocks:
        total += np.asarray(X[block].astype(np.float64).sum(axis=0)).ravel()
    mean = total / n
    squares = (row_norms(to_dense(X[block]) - mean, squared=True).sum() for block in blocks)
    return mean, float(sum(squares)) / n
