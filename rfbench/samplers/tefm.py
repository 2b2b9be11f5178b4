"""Random features projected to fewer columns by a sketch (TEFM), by an SVD, or at random (Comp)."""

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
    r"""Random kitchen sinks projected by a Gaussian sketch of the training set (TEFM-G).

    Let F be the n x D matrix of random features of the training set, and let Theta be an n x l
    matrix with entries N(0, 1).

    .. math:: Y = F^\top \Theta, \qquad Q = \operatorname{qr}(Y), \qquad Z = F Q.

    F and Theta are processed in blocks. The cost is O(n D l). Transforming a row costs as much as
    computing the D features.

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
        l is at most D. For comparison, `RKS` has D columns with n_components = base_size. With
        n_components = l it has l columns for the offset map and 2l for the paired map.
    power : {0}, default=0
        Exponent of the matrix F'F that is applied before the sketch. The paper does not state the
        exponent of its figures, so 0 is our choice.

    Notes
    -----
    If there are fewer than l rows, the rank of Y is below l, and the other columns of Q are an
    arbitrary orthonormal completion.

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
    r"""Random kitchen sinks projected by a fast sketch of the training set (TEFM-S).

    The method is like `TEFMG`, but Theta is a subsampled randomized transform along the n training
    rows: random signs, an orthonormal transform, and l of its rows drawn without replacement. (A
    constant factor of Theta does not change Q.) The columns of F are processed in groups. The cost
    is O(n D log n + l^2 D). Transforming a row costs as much as computing the D features.

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
        l is at most D. For comparison, `RKS` has D columns with n_components = base_size. With
        n_components = l it has l columns for the offset map and 2l for the paired map.
    sketch : {'hadamard'}, default='hadamard'
        Type of the transform: Walsh-Hadamard, with the rows padded with zeros to a power of two.

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
    r"""Random kitchen sinks F projected on their l leading right singular vectors V.

    The features are :math:`F V`. V is computed from the training set. No other projection to l
    columns approximates :math:`F F^\top` better on the training set. V is computed from the
    eigenvectors of :math:`F^\top F`. If a singular value is below 1e-8 of the largest singular
    value, its direction is therefore arbitrary (and its column is equally small). The cost is O(n
    D^2 + D^3). Transforming a row costs as much as computing the D features.

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
        l is at most D. For comparison, `RKS` has D columns with n_components = base_size. With
        n_components = l it has l columns for the offset map and 2l for the paired map.

    Notes
    -----
    The sign of a singular vector is chosen so that its largest entry is positive.

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
    r"""Random kitchen sinks F, n x D, multiplied by a random D x l matrix P.

    P does not depend on the data. Because of :math:`E[P P^\top] = I`, :math:`F P P^\top F^\top` is
    an unbiased estimate of the kernel matrix.

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
        l is at most D. For comparison, `RKS` has D columns with n_components = base_size. With
        n_components = l it has l columns for the offset map and 2l for the paired map.
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
