"""Random features that are projected to fewer columns by a sketch, an SVD or a random matrix."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy import linalg

from rfbench.arrays import Array, Rows
from rfbench.compute.products import matmul
from rfbench.memory import check_memory_fits
from rfbench.parameters import one_of, parameter
from rfbench.samplers.base import RandomStreams
from rfbench.samplers.declaration import ANY, sampler
from rfbench.samplers.feature_map import FeatureMap
from rfbench.samplers.projected import ProjectedFeatures, iterate_row_blocks

HADAMARD = "hadamard"
# Memory limit in bytes (128 MiB) of the features that are computed at once for all rows. Measured
# CPU time with 100,000 rows, as a multiple of the time with this value: 1.05 with half the value,
# and 2.16 with twice the value (`python -m scripts.bench.doubled`).
STRIP_BYTES = 2**27


@sampler(
    "tefm-g",
    kernels=ANY,
    about="more features of rks, projected onto M by a Gaussian sketch of the training rows",
)
class TEFMG(ProjectedFeatures):
    r"""Random Fourier features reduced to l columns by a Gaussian sketch of the data (TEFM-G).

    F is the n x D matrix of random Fourier features of the n training rows. The transpose of F is
    multiplied by a random n x l matrix Theta with entries N(0, 1). F is then projected on the l
    orthonormal columns Q of a QR factorization:

    .. math:: Y = F^\top \Theta, \qquad Q = \operatorname{qr}(Y), \qquad Z = F Q.

    Z contains the l features of each row. The cost is O(n D l). For each new row, all D features
    are computed.

    Parameters
    ----------
    n_components : int, default=100
        l, the number of columns of the output, for both values of `feature_map`.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Bandwidth (length scale) of the kernel, or the rule that computes the bandwidth from the
        training set.
    feature_map : {'offset', 'paired'}, default='offset'
        Type of the features F: cosines with random offsets, or pairs of a cosine and a sine.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    base_size : int or None, default=None
        Number of frequencies of F. The default is 4 n_components, as in the figures of TEFM. The
        number D of columns of F is base_size for the offset map and 2 base_size for the paired map.
        l is at most D.
    power : {0}, default=0
        Exponent of the matrix F'F, by whose power the sketch Y is multiplied. The paper does not
        state the exponent of its figures, so 0 is our choice.

    Notes
    -----
    If there are fewer than l rows, the rank of Y is below l. The remaining columns of Q are then
    arbitrary orthonormal columns.

    References
    ----------
    Chen, Yang, King and Lyu, Training-Efficient Feature Map for Shift-Invariant Kernels, IJCAI
    2015.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import TEFMG
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> TEFMG(10, bandwidth=2.0, random_state=0).fit(X).transform(X).shape
    (200, 10)
    """

    unbiased: ClassVar[bool] = False

    power: int = parameter(0, one_of(0))

    def _projection(self, base: FeatureMap, X: Rows, random: RandomStreams) -> Array:
        base = base.astype(X.dtype)
        sketch = np.zeros((base.n_columns, self.n_components))
        for block in iterate_row_blocks(X.shape[0], base.n_columns):
            features = base.transform(X[block])
            theta = random.selection.standard_normal((len(features), self.n_components))
            sketch += matmul(features.T, theta.astype(X.dtype, copy=False))
        return np.asarray(np.linalg.qr(sketch).Q)


@sampler(
    "tefm-s",
    kernels=ANY,
    about="more features of rks, projected onto M by a fast sketch of the training rows",
)
class TEFMS(ProjectedFeatures):
    r"""Random Fourier features reduced to l columns by a fast sketch of the training set (TEFM-S).

    F is the n x D matrix of random Fourier features of the n training rows. As in `TEFMG`, F is
    projected on the l orthonormal columns of a QR factorization of :math:`F^\top \Theta`, with an
    n x l matrix Theta. Here the product with Theta is a fast transform: the n rows get random
    signs, an orthonormal transform is applied, and l rows of the result are drawn without
    replacement. The cost is O(n D log n + l^2 D). For each new row, all D features are computed.

    Parameters
    ----------
    n_components : int, default=100
        l, the number of columns of the output, for both values of `feature_map`.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Bandwidth (length scale) of the kernel, or the rule that computes the bandwidth from the
        training set.
    feature_map : {'offset', 'paired'}, default='offset'
        Type of the features F: cosines with random offsets, or pairs of a cosine and a sine.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    base_size : int or None, default=None
        Number of frequencies of F. The default is 4 n_components, as in the figures of TEFM. The
        number D of columns of F is base_size for the offset map and 2 base_size for the paired map.
        l is at most D.
    sketch : {'hadamard'}, default='hadamard'
        Type of the transform: Walsh-Hadamard. The number of rows is increased to a power of two by
        rows of zeros.

    References
    ----------
    Chen, Yang, King and Lyu, Training-Efficient Feature Map for Shift-Invariant Kernels, IJCAI
    2015.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import TEFMS
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> TEFMS(10, bandwidth=2.0, random_state=0).fit(X).transform(X).shape
    (200, 10)
    """

    unbiased: ClassVar[bool] = False

    sketch: str = parameter(HADAMARD, one_of(HADAMARD))

    def _projection(self, base: FeatureMap, X: Rows, random: RandomStreams) -> Array:
        from rfbench.compute.hadamard import compute_padded_length, fwht_inplace

        n = X.shape[0]
        length = compute_padded_length(n)
        # Compute the number of frequencies, from 8 to 128, whose features for all rows fit into
        # STRIP_BYTES. The transform needs all rows of a column at once.
        frequencies = int(np.clip(STRIP_BYTES // (2 * X.dtype.itemsize * length), 8, 128))
        check_memory_fits(
            2.0 * X.dtype.itemsize * length * frequencies,
            f"A group of features of {n:,} rows",
            "Use tefm-g, which reads rows in blocks, or fewer rows.",
        )
        kept = min(self.n_components, length)
        chosen = np.sort(random.selection.choice(length, size=kept, replace=False))
        signs = random.selection.choice([-1.0, 1.0], size=(n, 1)).astype(X.dtype)
        sketched = np.zeros((base.n_columns, self.n_components))
        first = 0
        for piece in base.astype(X.dtype).split(frequencies):
            columns = base.find_columns(np.arange(first, first + piece.n_frequencies))
            strip = np.zeros((length, piece.n_columns), dtype=X.dtype)
            for rows in iterate_row_blocks(n, piece.n_columns):
                piece.transform_into(X[rows], strip[rows])
            strip[:n] *= signs
            fwht_inplace(strip, 0)
            sketched[columns, :kept] = strip[chosen].T
            first += piece.n_frequencies
        return np.asarray(np.linalg.qr(sketched).Q)


@sampler(
    "svd",
    kernels=ANY,
    about=(
        "more features of rks, projected onto their M leading singular vectors on the training rows"
    ),
    contract={"float32_tolerance": 1e-2},
)
class TruncatedSVD(ProjectedFeatures):
    r"""Random Fourier features reduced to l columns by a truncated singular value decomposition.

    F is the n x D matrix of random Fourier features of the n training rows, and V contains the l
    leading right singular vectors of F. The new features are :math:`F V`. No other projection to l
    columns approximates :math:`F F^\top` better on the training set. The cost is O(n D^2 + D^3).
    For each new row, all D features are computed.

    Parameters
    ----------
    n_components : int, default=100
        l, the number of columns of the output, for both values of `feature_map`.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Bandwidth (length scale) of the kernel, or the rule that computes the bandwidth from the
        training set.
    feature_map : {'offset', 'paired'}, default='offset'
        Type of the features F: cosines with random offsets, or pairs of a cosine and a sine.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    base_size : int or None, default=None
        Number of frequencies of F. The default is 4 n_components, as in the figures of TEFM. The
        number D of columns of F is base_size for the offset map and 2 base_size for the paired map.
        l is at most D.

    Notes
    -----
    The sign of a singular vector is chosen so that its largest entry is positive. V is computed
    from the eigenvectors of :math:`F^\top F`. If a singular value is below 1e-8 times the largest
    singular value, its vector is therefore arbitrary, and its column is equally small.

    References
    ----------
    Chen, Yang, King and Lyu, Training-Efficient Feature Map for Shift-Invariant Kernels, IJCAI
    2015: the limit of the two methods of the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import TruncatedSVD
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> TruncatedSVD(10, bandwidth=2.0, random_state=0).fit(X).transform(X).shape
    (200, 10)
    """

    unbiased: ClassVar[bool] = False

    def _projection(self, base: FeatureMap, X: Rows, random: RandomStreams) -> Array:
        size = base.n_columns
        leading = (size - self.n_components, size - 1)
        _, vectors = linalg.eigh(base.accumulate_equations(X).gram, subset_by_index=leading)
        vectors = vectors[:, ::-1]
        largest = np.abs(vectors).argmax(axis=0)
        signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
        return np.ascontiguousarray(vectors * signs)


@sampler(
    "comp",
    kernels=ANY,
    about="more features of rks, projected onto M by a random matrix, independent of the data",
)
class CompactFeatures(ProjectedFeatures):
    r"""Random Fourier features reduced to l columns by multiplication with a random matrix.

    F is the n x D matrix of random Fourier features of n rows, and P is a random D x l matrix that
    does not depend on the data. The new features are :math:`F P`. Their products :math:`F P P^\top
    F^\top` are an unbiased estimate of the kernel matrix, because :math:`E[P P^\top] = I`.

    Parameters
    ----------
    n_components : int, default=100
        l, the number of columns of the output, for both values of `feature_map`.
    kernel : str, default='gaussian'
        Name of a kernel in `rfbench.registry.KERNELS`.
    bandwidth : float or {'median', 'knn50', 'knn50-sample'}, default='median'
        Bandwidth (length scale) of the kernel, or the rule that computes the bandwidth from the
        training set.
    feature_map : {'offset', 'paired'}, default='offset'
        Type of the features F: cosines with random offsets, or pairs of a cosine and a sine.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Random seed or generator. None uses a new seed in every fit.
    base_size : int or None, default=None
        Number of frequencies of F. The default is 4 n_components, as in the figures of TEFM. The
        number D of columns of F is base_size for the offset map and 2 base_size for the paired map.
        l is at most D.
    projection : {'gaussian'}, default='gaussian'
        Distribution of P: the entries are independent, N(0, 1/l).

    Notes
    -----
    The TEFM paper does not state the number D of columns for this method. Here D is the same as for
    the paper's own methods.

    References
    ----------
    Hamid, Xiao, Gittens and DeCoste, Compact Random Feature Maps, ICML 2014; "Comp" in Chen, Yang,
    King and Lyu, Training-Efficient Feature Map for Shift-Invariant Kernels, IJCAI 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import CompactFeatures
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> CompactFeatures(10, bandwidth=2.0, random_state=0).fit(X).transform(X).shape
    (200, 10)
    """

    projection: str = parameter("gaussian", one_of("gaussian"))

    def _projection(self, base: FeatureMap, X: Rows, random: RandomStreams) -> Array:
        entries = random.selection.standard_normal((base.n_columns, self.n_components))
        return np.asarray(entries * self.n_components**-0.5)
