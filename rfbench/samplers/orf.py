"""Orthogonal random features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from rfbench.arrays import Array, Rows
from rfbench.kernels import GaussianMeasure, ScaleMixture
from rfbench.parameters import BOOLEAN, parameter
from rfbench.samplers.base import RandomFeatures, RandomStreams
from rfbench.samplers.declaration import ISOTROPIC, MIXTURES, sampler
from rfbench.samplers.feature_map import FeatureMap


@sampler(
    "orf",
    kernels=(*ISOTROPIC, *MIXTURES),
    about="random frequencies that are orthogonal to one another within a block",
)
class ORF(RandomFeatures):
    r"""Orthogonal random features: Gaussian frequencies that are orthogonal within blocks.

    Each block of d frequencies is a matrix :math:`W = \sigma S Q`. Q is a random orthogonal matrix
    (Haar-distributed), and S is diagonal with independent :math:`\chi_d` entries. :math:`\sigma` is
    the standard deviation of a coordinate, 1/s for the Gaussian kernel with length scale s. Every
    single frequency is exactly N(0, sigma^2 I), so the kernel estimate is unbiased. Independent
    blocks are stacked until there are M frequencies.

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
    padded : bool, default=False
        Draw frequencies for rows that are padded with zeros to a power of two, as in the
        experiments of the paper and in SORF. The blocks are then larger.

    Notes
    -----
    The last block is truncated, so that there are exactly M frequencies. The cost is O(M d min(M,
    d)). The supported kernels have an isotropic Gaussian spectral measure: the Gaussian kernels,
    and arc-cosine kernels (not in the paper, our choice). For the Matern and the rational quadratic
    kernel, the frequencies are multiplied by random scales.

    References
    ----------
    Yu, Suresh, Choromanski, Holtmann-Rice and Kumar, Orthogonal Random Features, NIPS 2016,
    sections 3 and 5. Mezzadri, How to generate random matrices from the classical compact groups,
    2007, for the signs.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import ORF
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> W = ORF(7, bandwidth=2.0, random_state=0).fit(X).feature_map_.frequencies
    >>> bool(np.isclose(W[:, 3] @ W[:, 5], 0.0)), bool(np.isclose(W[:, 2] @ W[:, 3], 0.0))
    (True, False)
    """

    kernels_served: ClassVar[Any] = (GaussianMeasure, ScaleMixture)

    padded: bool = parameter(False, BOOLEAN)

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FeatureMap:
        from rfbench.compute.hadamard import compute_padded_length

        d, m = X.shape[1], self.n_components
        p = compute_padded_length(d) if self.padded else d
        counts = [min(p, m - start) for start in range(0, m, p)]
        blocks = [self._directions(random.frequencies, p, count)[:, :d] for count in counts]
        # The lengths of the frequencies are drawn from a second random generator. If the last block
        # of directions has fewer than p frequencies, the lengths are then still the same.
        lengths = np.sqrt(random.selection.chisquare(p, size=m)) * self.kernel_.spread
        unit = self.unit_map(np.concatenate(blocks) * lengths[:, None], random)
        return unit.times(m**-0.5)

    def _directions(self, generator: np.random.Generator, d: int, count: int) -> Array:
        """Draw the directions (unit vectors) of the frequencies of one block, shape (count, d)."""
        return draw_haar_rows(generator, d, count)


@sampler(
    "orf-columns",
    kernels=(*ISOTROPIC, *MIXTURES),
    about="random frequencies with orthogonal coordinates over all frequencies",
)
class ColumnORF(RandomFeatures):
    r"""Gaussian frequencies from a random matrix with orthonormal columns.

    The M x d matrix of frequencies is :math:`W = \sigma S Q`. Q has the orthonormal columns of a QR
    factorization of a Gaussian matrix, and S is diagonal with independent :math:`\chi_M` entries.
    :math:`\sigma` is the standard deviation of a coordinate. The columns of Q are orthogonal here,
    while `ORF` has orthogonal rows (frequencies) within blocks. Every single frequency is exactly
    N(0, sigma^2 I), so the kernel estimate is unbiased. For M of at most d the method is the same
    as `ORF`. The cost is O(M d^2).

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

    References
    ----------
    Munkhoeva, Kapushev, Burnaev and Oseledets, Quadrature-based Features for Kernel Approximation,
    NeurIPS 2018: `quffka/rom.py` of their repository maremun/quffka, commit 94ae573.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import ColumnORF
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> ColumnORF(7, bandwidth=2.0, random_state=0).fit(X).transform(X).shape
    (20, 7)
    """

    kernels_served: ClassVar[Any] = (GaussianMeasure, ScaleMixture)

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FeatureMap:
        d, m = X.shape[1], self.n_components
        if m > d:
            rows = draw_haar_rows(random.frequencies, m, d).T
        else:
            rows = draw_haar_rows(random.frequencies, d, m)
        lengths = np.sqrt(random.selection.chisquare(max(m, d), size=m)) * self.kernel_.spread
        return self.unit_map(rows * lengths[:, None], random).times(m**-0.5)


@sampler(
    "simrf",
    kernels=(*ISOTROPIC, *MIXTURES),
    about="random Fourier features in the directions of a simplex",
)
class SimRF(ORF):
    r"""Simplex random features: Gaussian frequencies that point to the vertices of a simplex.

    Each block has d frequencies for rows with d columns. Their directions are the vertices of a
    randomly rotated regular simplex around the origin, so that any two directions have the inner
    product :math:`-1/(d - 1)`. Their lengths are random and independent, as in `ORF`. Every single
    frequency is exactly N(0, sigma^2 I), so the kernel estimate is unbiased. The simplex is optimal
    for positive features. For cosines and sines, `ORF` has a smaller variance. The cost is
    O(M d^2).

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
    padded : bool, default=False
        Draw frequencies for rows that are padded with zeros to a power of two, as in the
        experiments of the paper and in SORF. The blocks are then larger.

    References
    ----------
    Reid, Choromanski, Likhosherstov and Weller, Simplex Random Features, ICML 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import SimRF
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> W = SimRF(3, bandwidth=2.0, random_state=0).fit(X).feature_map_.frequencies
    >>> V = W / np.linalg.norm(W, axis=0)
    >>> (V.T @ V).round(6)[0]
    array([ 1. , -0.5, -0.5])
    """

    def _directions(self, generator: np.random.Generator, d: int, count: int) -> Array:
        vertices = np.eye(d) - 1.0 / d if d > 1 else np.eye(1)
        rotated = vertices[:count] @ draw_haar_rows(generator, d, d)
        return np.asarray(rotated / np.linalg.norm(rotated, axis=1, keepdims=True))


def draw_haar_rows(generator: np.random.Generator, d: int, count: int) -> Array:
    """Draw the first `count` rows of a uniformly distributed (Haar) orthogonal d x d matrix.

    The rows are from the QR factorization of a Gaussian matrix, with signs such that the diagonal
    of R is positive. With the same seed, the result for a smaller `count` consists of the first
    rows of the result for a larger `count`.
    """
    q, r = np.linalg.qr(generator.standard_normal((count, d)).T)
    return np.asarray((q * np.where(np.diag(r) < 0, -1.0, 1.0)).T)
