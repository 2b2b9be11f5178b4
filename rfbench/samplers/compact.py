"""Compact random features: an oblivious projection of many random features to few."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.parameters import one_of, parameter
from rfbench.samplers.base import Streams
from rfbench.samplers.declaration import ANY, Form, sampler
from rfbench.samplers.feature_map import FeatureMap, FittedMap, torch_map
from rfbench.samplers.projected import ProjectedFeatures, row_blocks

GAUSSIAN, SRHT = "gaussian", "srht"


@dataclass(frozen=True)
class HadamardMap(FittedMap):
    r"""Random features times :math:`S H R / \sqrt l`, by the fast transform; a block at a time.

    Attributes
    ----------
    inner : FeatureMap
        With D columns.
    signs : array of shape (D,)
        The diagonal of S. H is the Hadamard matrix of -1 and +1 of the power of two p >= D.
    chosen : array of shape (l,)
        The columns of H that R keeps.
    """

    inner: FeatureMap
    signs: FloatArray
    chosen: NDArray[np.intp]

    @property
    def n_columns(self) -> int:
        """Number of real columns, l."""
        return len(self.chosen)

    def astype(self, dtype: Any) -> HadamardMap:
        """Return the map with its arrays in another floating-point type."""
        signs = self.signs.astype(dtype, copy=False)
        return HadamardMap(self.inner.astype(dtype), signs, self.chosen)

    def transform_into(self, rows: Rows, out: FloatArray) -> None:
        """Write the features of the rows, shape (n, d), into `out`, shape (n, l)."""
        from rfbench.compute.hadamard import fwht_inplace, padded_length

        size, length = len(self.signs), padded_length(len(self.signs))
        signs = self.signs.astype(rows.dtype, copy=False)
        for block in row_blocks(rows.shape[0], length):
            part = rows[block]
            padded = np.zeros((part.shape[0], length), dtype=rows.dtype)
            np.multiply(self.inner.transform(part), signs, out=padded[:, :size])
            fwht_inplace(padded, 1)
            np.multiply(padded[:, self.chosen], len(self.chosen) ** -0.5, out=out[block])

    def as_torch(self) -> Any:
        """Return the features as a `torch.nn.Module`, with the matrix S H R written out."""
        from rfbench.compute.hadamard import fwht_inplace, padded_length

        padded = np.zeros((len(self.signs), padded_length(len(self.signs))), self.signs.dtype)
        np.fill_diagonal(padded, self.signs)
        fwht_inplace(padded, 1)
        padded *= len(self.chosen) ** -0.5
        return torch_map(self.inner, padded[:, self.chosen])


@sampler(
    "comp",
    kernels=ANY,
    about=(
        "more features of rks, projected onto M by a random matrix that knows nothing of the data"
    ),
    contract={"columns_per_component": 1},
    forms=(
        Form(),
        Form({"projection": "srht"}),
    ),
)
class CompactFeatures(ProjectedFeatures):
    r"""Random kitchen sinks F, n x D, times a D x l matrix P that knows nothing of the data.

    :math:`E[P P^\top] = I`, so that :math:`F P P^\top F^\top` estimates the kernel without bias.

    Parameters
    ----------
    projection : {'gaussian', 'srht'}
        ``gaussian``: entries N(0, 1/l). ``srht``: :math:`P = \sqrt{p/l}\, S H R` with random signs
        S, the orthonormal Walsh-Hadamard matrix H of the power of two p >= D (F padded with
        zeros), and R l of its p columns drawn without replacement; applied to a row by the fast
        transform, p log p additions in place of D l multiplications.
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
    >>> sampler = CompactFeatures(10, projection="srht", bandwidth=2.0, random_state=0)
    >>> sampler.fit(X).transform(X).shape
    (200, 10)
    """

    projection: str = parameter(GAUSSIAN, one_of(GAUSSIAN, SRHT))

    def _draw(self, X: Rows, targets: Array | None, random: Streams) -> FittedMap:
        if self.projection == GAUSSIAN:
            return super()._draw(X, targets, random)
        from rfbench.compute.hadamard import padded_length

        base = self._base(random, X.shape[1])
        length = padded_length(base.n_columns)
        chosen = random.selection.choice(length, size=self.n_components, replace=False)
        return HadamardMap(base, random.selection.choice([-1.0, 1.0], size=base.n_columns), chosen)

    def _projection(self, base: FeatureMap, X: Rows, random: Streams) -> Array:
        entries = random.selection.standard_normal((base.n_columns, self.n_components))
        return np.asarray(entries * self.n_components**-0.5)
