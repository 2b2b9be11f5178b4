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
from rfbench.samplers.declaration import GAUSSIAN, sampler
from rfbench.samplers.feature_map import PAIRED, PLAIN, FeatureMap
from rfbench.samplers.projected import iterate_row_blocks

BASES = ("rks", "orf", "simrf")


@dataclass(frozen=True)
class PositiveMap(FeatureMap):
    """Feature map with positive columns, ``scale * exp(w'z - decay |z|^2)`` for each frequency w.

    Here z = x - center for a row x.

    Attributes
    ----------
    decay : float
        Factor of the squared norm in the exponent.
    center : array of shape (d,) or None
        Row that is subtracted from each row x. If None, nothing is subtracted.
    """

    decay: float = 0.0
    center: FloatArray | None = None

    def transform_into(self, rows: Rows, out: FloatArray) -> None:
        """Compute the features of the n rows, and write them into `out`, shape (n, n_columns)."""
        for block in iterate_row_blocks(rows.shape[0], rows.shape[1]):
            part, exponents = to_dense(rows[block]), out[block]
            if self.center is not None:
                part = part - self.center.astype(part.dtype)
            self._project(part, exponents)
            exponents -= (self.decay * row_norms(part, squared=True))[:, None].astype(out.dtype)
        np.exp(out, out=out)
        out *= self.scale


@sampler(
    "positive",
    kernels=GAUSSIAN,
    about="positive features of the Gaussian kernel, as attention uses them",
)
class PositiveFeatures(RandomFeatures):
    r"""Positive random features exp(w'x - |x|^2/s^2) / sqrt(M) of the Gaussian kernel.

    The frequencies w have the distribution N(0, I/s^2), where s is the length scale of the kernel.
    The kernel estimate is unbiased: :math:`E\,e^{w^\top (x + y)} = e^{|x + y|^2 / (2 s^2)}`. All
    products of features are positive, as needed for attention (FAVOR+). For ridge regression, these
    features are expected to have larger errors than cosines. The mean of the training set is
    subtracted from the rows x, which is our addition, because features of rows far from the origin
    are nearly 0.

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
        return PositiveMap(
            "exp",
            PLAIN,
            drawn.frequencies,
            scale=m**-0.5,
            decay=spread**2,
            center=compute_mean(X),
        )


def compute_mean(X: Rows) -> Array:
    """Return the mean of the rows of `X`, shape (d,)."""
    n, d = X.shape
    total = np.zeros(d)
    for block in iterate_row_blocks(n, d):
        total += np.asarray(X[block].astype(np.float64).sum(axis=0)).ravel()
    return np.asarray(total / n)
