"""The truncated singular value decomposition of random features: what a projection can reach."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from rfbench.arrays import Rows
from rfbench.parameters import estimator
from rfbench.samplers.base import Streams
from rfbench.samplers.feature_map import FeatureMap
from rfbench.samplers.projected import ProjectedFeatures, base_gram


@estimator
class TruncatedSVD(ProjectedFeatures):
    r"""The l leading right singular vectors V of random kitchen sinks F on the training rows.

    The features are :math:`F V`; no other projection to l columns approximates
    :math:`F F^\top` better on these rows. From :math:`F^\top F` and its eigenvectors, so directions
    with singular values below 1e-8 of the largest are arbitrary (their columns are as small). Costs
    O(n D^2 + D^3); applied to a row it costs as much as the D features do.

    Parameters
    ----------
    n_components, base_size, kernel, bandwidth, feature_map, random_state
        See `ProjectedFeatures`.

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

    def _projection(self, base: FeatureMap, X: Rows, random: Streams) -> NDArray[np.float64]:
        size = base.n_columns
        leading = (size - self.n_components, size - 1)
        _, vectors = linalg.eigh(base_gram(base, X), subset_by_index=leading)
        vectors = vectors[:, ::-1]
        largest = np.abs(vectors).argmax(axis=0)
        signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
        return np.ascontiguousarray(vectors * signs)
