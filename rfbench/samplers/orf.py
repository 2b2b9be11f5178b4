"""Orthogonal random features and their structured form."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Rows
from rfbench.kernels import Gaussian, Kernel
from rfbench.parameters import estimator
from rfbench.samplers.base import RandomFeatures, Streams
from rfbench.samplers.feature_map import FeatureMap
from rfbench.samplers.structured import Block, HadamardFeatures


@estimator
class ORF(RandomFeatures):
    r"""Gaussian frequencies that are orthogonal to one another within a block.

    Each block is :math:`W = \sigma S Q` with Q Haar-distributed orthogonal (d x d), S diagonal
    with independent :math:`\chi_d` entries and :math:`\sigma` the standard deviation of a
    coordinate, 1/s for the Gaussian kernel. Every single frequency is exactly N(0, sigma^2 I), so
    the kernel estimate is unbiased; independent blocks are stacked and the last one is cut, so that
    there are exactly M. Costs O(M d min(M, d)).

    Parameters
    ----------
    n_components, kernel, bandwidth, feature_map, random_state
        See `rfbench.samplers.base.RandomFeatures`. The kernels are those with an isotropic
        Gaussian measure: the Gaussian ones, and arc-cosine (beyond the paper, a choice).

    References
    ----------
    Yu, Suresh, Choromanski, Holtmann-Rice and Kumar, Orthogonal Random Features, NIPS 2016,
    section 3. Mezzadri, How to generate random matrices from the classical compact groups, 2007,
    for the signs.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import ORF
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> W = ORF(7, bandwidth=2.0, random_state=0).fit(X).feature_map_.frequencies
    >>> bool(np.isclose(W[:, 3] @ W[:, 5], 0.0)), bool(np.isclose(W[:, 2] @ W[:, 3], 0.0))
    (True, False)
    """

    has_prefixes: ClassVar[bool] = True

    @classmethod
    def serves(cls, kernel: type[Kernel]) -> bool:
        """Tell whether the kernel's frequencies are isotropic Gaussian vectors."""
        return issubclass(kernel, Gaussian)

    def _draw(self, X: Rows, targets: NDArray[np.float64] | None, random: Streams) -> FeatureMap:
        assert isinstance(self.kernel_, Gaussian)
        d, m = X.shape[1], self.n_components
        blocks = [haar_rows(random.frequencies, d, min(d, m - start)) for start in range(0, m, d)]
        # Lengths have a stream of their own: a block that is cut must not shift them.
        lengths = np.sqrt(random.selection.chisquare(d, size=m)) * self.kernel_.spread
        unit = self.unit_map(np.concatenate(blocks) * lengths[:, None], random)
        return unit.times(m**-0.5)


def haar_rows(generator: np.random.Generator, d: int, count: int) -> NDArray[np.float64]:
    """Return the first rows of a Haar-distributed orthogonal matrix, shape (count, d).

    The Q of a QR factorisation is unique, and Haar for a Gaussian matrix, once the diagonal of R
    is positive; then fewer rows from the same generator are the first of more rows.
    """
    q, r = np.linalg.qr(generator.standard_normal((count, d)).T)
    return np.asarray((q * np.where(np.diag(r) < 0, -1.0, 1.0)).T)


@estimator
class SORF(HadamardFeatures):
    r"""Structured orthogonal random features: Hadamard transforms in place of a Haar matrix.

    Each block is :math:`W = \sigma \sqrt{p}\, H D_1 H D_2 H D_3` with
    :math:`p = 2^{\lceil \log_2 d \rceil}` (rows are padded with zeros), H the orthonormal
    Walsh-Hadamard matrix, D independent diagonals of signs and :math:`\sigma` the standard
    deviation of a coordinate, 1/s for the Gaussian kernel; stacked and cut to exactly M. All
    frequencies have the same length, so the kernel estimate is unbiased only in the limit of large
    d: take it for d of 32 and more. Costs O(M log d) a row.

    Parameters
    ----------
    n_components, kernel, bandwidth, feature_map, random_state
        See `rfbench.samplers.base.RandomFeatures`. The kernels are those with an isotropic
        Gaussian measure: the Gaussian ones, and arc-cosine (beyond the paper, a choice).

    Attributes
    ----------
    frequencies_ : array of shape (M, d)
        Written out at every access; `transform` does not need them.

    References
    ----------
    Yu, Suresh, Choromanski, Holtmann-Rice and Kumar, Orthogonal Random Features, NIPS 2016,
    section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import SORF
    >>> X = np.random.default_rng(0).standard_normal((20, 32))
    >>> SORF(50, bandwidth=8.0, random_state=0).fit(X).frequencies_.shape
    (50, 32)
    """

    has_prefixes: ClassVar[bool] = True

    def _draw_block(self, generator: np.random.Generator, p: int, spread: float) -> Block:
        signs = generator.choice([-1.0, 1.0], size=(3, p))
        # sqrt(p) and three factors 1 / sqrt(p) that make the transforms orthonormal.
        return Block(signs, np.full(p, spread / p))
