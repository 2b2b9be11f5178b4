"""Compact random features: an oblivious projection of many random features to few."""

from __future__ import annotations

import numpy as np

from rfbench.arrays import Array, Rows
from rfbench.parameters import one_of, parameter
from rfbench.samplers.base import Streams
from rfbench.samplers.declaration import ANY, sampler
from rfbench.samplers.feature_map import FeatureMap
from rfbench.samplers.projected import ProjectedFeatures

GAUSSIAN = "gaussian"


@sampler(
    "comp",
    kernels=ANY,
    about=(
        "more features of rks, projected onto M by a random matrix that knows nothing of the data"
    ),
)
class CompactFeatures(ProjectedFeatures):
    r"""Random kitchen sinks F, n x D, times a D x l matrix P that knows nothing of the data.

    :math:`E[P P^\top] = I`, so that :math:`F P P^\top F^\top` estimates the kernel without bias.

    Parameters
    ----------
    projection : {'gaussian'}
        The entries of P are independent, N(0, 1/l).
    Other parameters: those of `ProjectedFeatures`.

    Notes
    -----
    The up-dimension D is not stated in the TEFM paper; that of its own methods is taken.

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

    projection: str = parameter(GAUSSIAN, one_of(GAUSSIAN))

    def _projection(self, base: FeatureMap, X: Rows, random: Streams) -> Array:
        entries = random.selection.standard_normal((base.n_columns, self.n_components))
        return np.asarray(entries * self.n_components**-0.5)
