"""Training-efficient feature maps (random features projected onto a randomised range), and SVD."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy import linalg

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.parameters import one_of, parameter
from rfbench.samplers.base import Streams
from rfbench.samplers.declaration import ANY, Form, sampler
from rfbench.samplers.feature_map import FeatureMap
from rfbench.samplers.projected import ProjectedFeatures, row_blocks

HADAMARD, DCT = "hadamard", "dct"
STRIP_BYTES = 2**27


@sampler(
    "tefm-g",
    kernels=ANY,
    about="more features of rks, projected onto M by a Gaussian sketch of the training rows",
    contract={"columns_per_component": 1},
    forms=(
        Form(),
        Form({"power": 2}, {"float32_tolerance": 1e-2}),
    ),
)
class TEFMG(ProjectedFeatures):
    r"""Random kitchen sinks projected by a Gaussian sketch of their training rows (TEFM-G).

    With F the n x D random features of the training rows and Theta n x l with entries N(0, 1),

    .. math:: Y = (F^\top F)^q F^\top \Theta, \qquad Q = \operatorname{qr}(Y), \qquad Z = F Q,

    Y re-orthonormalised after every power. F and Theta are streamed: the powers come from one
    pass that sums F'F. Costs O(n D l), and O(n D^2) for q > 0; applied to a row it costs as much as
    the D features do.

    Parameters
    ----------
    power : {0, 1, 2}
        q. Not stated for the figures of the paper: a choice.
    Other parameters: those of `ProjectedFeatures`.

    Notes
    -----
    With fewer than l rows Y has not the rank l, and the rest of Q is any orthonormal completion.

    References
    ----------
    Chen, Yang, King and Lyu, Training-Efficient Feature Map for Shift-Invariant Kernels, IJCAI
    2015.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import TEFMG
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> TEFMG(10, power=1, bandwidth=2.0, random_state=0).fit(X).transform(X).shape
    (200, 10)
    """

    unbiased: ClassVar[bool] = False

    power: int = parameter(0, one_of(0, 1, 2))

    def _projection(self, base: FeatureMap, X: Rows, random: Streams) -> Array:
        base = base.astype(X.dtype)
        sketch = np.zeros((base.n_columns, self.n_components))
        for block in row_blocks(X.shape[0], base.n_columns):
            features = base.transform(X[block])
            theta = random.selection.standard_normal((len(features), self.n_components))
            sketch += features.T @ theta.astype(X.dtype, copy=False)
        basis = np.linalg.qr(sketch).Q
        if self.power:
            gram = base.equations(X).gram
            for _ in range(self.power):
                basis = np.linalg.qr(gram @ basis).Q
        return np.asarray(basis)


@sampler(
    "tefm-s",
    kernels=ANY,
    about="more features of rks, projected onto M by a fast sketch of the training rows",
    contract={"columns_per_component": 1},
    forms=(
        Form(),
        Form({"sketch": "dct"}),
    ),
)
class TEFMS(ProjectedFeatures):
    r"""Random kitchen sinks projected by a fast sketch of their training rows (TEFM-S).

    As `TEFMG` with q = 0 and Theta a subsampled randomised transform along the n training rows:
    random signs, an orthonormal transform, and l of its rows drawn without replacement. (The factor
    of Theta drops out in Q.) Worked through a strip of the columns of F at a time. Costs
    O(n D log n + l^2 D); applied to a row it costs as much as the D features do.

    Parameters
    ----------
    sketch : {'hadamard', 'dct'}
        Walsh-Hadamard, the rows padded with zeros to a power of two; or the discrete cosine
        transform, which needs no padding.
    Other parameters: those of `ProjectedFeatures`.

    References
    ----------
    Chen, Yang, King and Lyu, Training-Efficient Feature Map for Shift-Invariant Kernels, IJCAI
    2015.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import TEFMS
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> TEFMS(10, sketch="dct", bandwidth=2.0, random_state=0).fit(X).transform(X).shape
    (200, 10)
    """

    unbiased: ClassVar[bool] = False

    sketch: str = parameter(HADAMARD, one_of(HADAMARD, DCT))

    @property
    def holds_rows(self) -> bool:
        """The transform runs along all rows."""
        return True

    def _projection(self, base: FeatureMap, X: Rows, random: Streams) -> Array:
        from rfbench.compute.hadamard import padded_length

        n = X.shape[0]
        length = padded_length(n) if self.sketch == HADAMARD else n
        kept = min(self.n_components, length)
        chosen = np.sort(random.selection.choice(length, size=kept, replace=False))
        signs = random.selection.choice([-1.0, 1.0], size=(n, 1)).astype(X.dtype)
        sketched = np.zeros((base.n_columns, self.n_components))
        first = 0
        for piece in base.astype(X.dtype).pieces(_strip(length, X.dtype.itemsize)):
            columns = base.columns_of(np.arange(first, first + piece.n_frequencies))
            strip = np.zeros((length, piece.n_columns), dtype=X.dtype)
            for rows in row_blocks(n, piece.n_columns):
                piece.transform_into(X[rows], strip[rows])
            strip[:n] *= signs
            sketched[columns, :kept] = self._transformed(strip)[chosen].T
            first += piece.n_frequencies
        return np.asarray(np.linalg.qr(sketched).Q)

    def _transformed(self, strip: FloatArray) -> FloatArray:
        if self.sketch == DCT:
            from scipy import fft

            return np.asarray(fft.dct(strip, axis=0, norm="ortho", overwrite_x=True))
        from rfbench.compute.hadamard import fwht_inplace

        fwht_inplace(strip, 0)
        return strip


@sampler(
    "svd",
    kernels=ANY,
    about=(
        "more features of rks, projected onto their M leading singular vectors on the training rows"
    ),
    contract={"columns_per_component": 1, "float32_tolerance": 1e-2},
)
class TruncatedSVD(ProjectedFeatures):
    r"""The l leading right singular vectors V of random kitchen sinks F on the training rows.

    The features are :math:`F V`; no other projection to l columns approximates
    :math:`F F^\top` better on these rows. From :math:`F^\top F` and its eigenvectors, so directions
    with singular values below 1e-8 of the largest are arbitrary (their columns are as small). Costs
    O(n D^2 + D^3); applied to a row it costs as much as the D features do.

    Its parameters are those of `ProjectedFeatures`.

    Notes
    -----
    The sign of a singular vector is chosen so that its largest entry is positive.

    References
    ----------
    Chen, Yang, King and Lyu, Training-Efficient Feature Map for Shift-Invariant Kernels, IJCAI
    2015: the limit of their two methods.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import TruncatedSVD
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> TruncatedSVD(10, bandwidth=2.0, random_state=0).fit(X).transform(X).shape
    (200, 10)
    """

    unbiased: ClassVar[bool] = False

    def _projection(self, base: FeatureMap, X: Rows, random: Streams) -> Array:
        size = base.n_columns
        leading = (size - self.n_components, size - 1)
        _, vectors = linalg.eigh(base.equations(X).gram, subset_by_index=leading)
        vectors = vectors[:, ::-1]
        largest = np.abs(vectors).argmax(axis=0)
        signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
        return np.ascontiguousarray(vectors * signs)


def _strip(length: int, itemsize: int) -> int:
    """Return how many frequencies of that many rows fit into 128 MiB, between 8 and 128."""
    return int(np.clip(STRIP_BYTES // (2 * itemsize * length), 8, 128))
