"""Compact random features: an oblivious projection of many random features to few."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rfbench.kernels import Rows
from rfbench.samplers.base import RandomState, Streams
from rfbench.samplers.feature_map import OFFSET, FeatureMap
from rfbench.samplers.projected import ProjectedFeatures

GAUSSIAN, SRHT = "gaussian", "srht"


class CompactFeatures(ProjectedFeatures):
    r"""Random kitchen sinks F, n x D, times a D x l matrix P that knows nothing of the data.

    :math:`E[P P^\top] = I`, so that :math:`F P P^\top F^\top` estimates the kernel without bias.

    Parameters
    ----------
    projection : {'gaussian', 'srht'}
        ``gaussian``: entries N(0, 1/l). ``srht``: :math:`P = \sqrt{p/l}\, S H R` with random signs
        S, the orthonormal Walsh-Hadamard matrix H of the power of two p >= D (F padded with
        zeros), and R l of its p columns drawn without replacement. Either is applied as a matrix
        (a choice: at these sizes a fast transform of the rows gains little beside making F).
    n_components, base_size, kernel, bandwidth, feature_map, random_state
        See `ProjectedFeatures`. The up-dimension D is not stated in tefm2015; that of its own
        methods is taken.

    References
    ----------
    Hamid, Xiao, Gittens and DeCoste, Compact Random Feature Maps, ICML 2014; "Comp" in Chen, Yang,
    King and Lyu, Training-Efficient Feature Map for Shift-Invariant Kernels, IJCAI 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import CompactFeatures
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> sampler = CompactFeatures(10, projection="srht", bandwidth=2.0, random_state=0)
    >>> sampler.fit(X).transform(X).shape
    (200, 10)
    """

    def __init__(
        self,
        n_components: int = 100,
        *,
        base_size: int | None = None,
        projection: str = GAUSSIAN,
        kernel: str = "gaussian",
        bandwidth: float | str = "median",
        feature_map: str = OFFSET,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(
            n_components,
            base_size=base_size,
            kernel=kernel,
            bandwidth=bandwidth,
            feature_map=feature_map,
            random_state=random_state,
        )
        self.projection = projection

    def check_parameters(self) -> None:
        """Check the projection as well."""
        super().check_parameters()
        self._check_choice("projection", self.projection, (GAUSSIAN, SRHT))

    def _projection(self, base: FeatureMap, X: Rows, random: Streams) -> NDArray[np.float64]:
        size = base.n_columns
        if self.projection == GAUSSIAN:
            entries = random.selection.standard_normal((size, self.n_components))
        else:
            entries = _signed_hadamard_columns(size, self.n_components, random.selection)
        return np.asarray(entries * self.n_components**-0.5)


def _signed_hadamard_columns(
    size: int, count: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Return the first `size` rows of `count` columns of a Hadamard matrix, rows signed."""
    from rfbench.compute.hadamard import fwht_inplace

    padded = 1 << (size - 1).bit_length()
    columns = np.zeros((padded, count))
    columns[generator.choice(padded, size=count, replace=False), np.arange(count)] = 1.0
    fwht_inplace(columns, 0)
    return np.asarray(columns[:size] * generator.choice([-1.0, 1.0], size=(size, 1)))
