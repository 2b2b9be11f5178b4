"""Random binning features of the Laplacian kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.kernels import Laplacian, dense
from rfbench.parameters import NOTHING, one_of, parameter, whole
from rfbench.registry import KERNELS
from rfbench.samplers.base import RandomFeatures, Streams
from rfbench.samplers.declaration import Form, sampler
from rfbench.samplers.feature_map import FittedMap
from rfbench.samplers.low_precision import split_mix

_ROWS = 1024


@dataclass(frozen=True)
class BinnedMap(FittedMap):
    """Signs of the bins that a row falls into, in columns that the bins are hashed to.

    Attributes
    ----------
    pitches, shifts : array of shape (R, d)
        Of the grids, in float64 whatever the features are: bins of nearby types would differ.
    factors : array of shape (R, d)
        Odd 64-bit numbers.
    keys : array of shape (R,)
        64-bit numbers; the key of a bin is its product with the factors plus that of its grid.
    columns : int
    """

    pitches: Array
    shifts: Array
    factors: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    columns: int

    @property
    def n_columns(self) -> int:
        """Number of real columns."""
        return self.columns

    def astype(self, dtype: Any) -> BinnedMap:
        """Return the map itself."""
        return self

    def transform_into(self, rows: Rows, out: FloatArray) -> None:
        """Write the features of the rows, shape (n, d), into `out`, shape (n, n_columns)."""
        out[...] = 0.0
        size = len(self.pitches) ** -0.5
        for start in range(0, rows.shape[0], _ROWS):
            part = np.asarray(dense(rows[start : start + _ROWS]), np.float64)
            own, numbers = out[start : start + _ROWS], np.arange(len(part))
            grids = zip(self.pitches, self.shifts, self.factors, self.keys, strict=True)
            for pitch, shift, factors, key in grids:
                bins = np.floor((part - shift) / pitch).astype(np.int64).view(np.uint64)
                hashed = split_mix((bins * factors).sum(axis=1, dtype=np.uint64) + key)
                signs = np.where(hashed >> np.uint64(63), -size, size)
                own[numbers, (hashed % np.uint64(self.columns)).astype(np.intp)] += signs


@sampler(
    "random-binning",
    position=30,
    kernels=("laplacian",),
    about=(
        "the bins of random grids that a row falls into, hashed to M columns: the Laplacian kernel"
    ),
    verified="""
        brute force: share of the grids in which two rows share a bin, where no two bins share a
            column
          tolerance: 1e-12
          tests/samplers/test_random_binning.py::test_without_collisions_it_is_the_share_of_common_bins
        closed form: mean of the kernel estimate over seeds, with many collisions
          tolerance: 4 standard errors of 400 seeds; a wrong bandwidth fails
          tests/samplers/test_random_binning.py::test_hashed_bins_are_unbiased
        closed form: variance of the kernel estimate, k (1 - k)/R + 1/M
          tolerance: 15 % of the mean over pairs, 2,000 seeds
          tests/samplers/test_random_binning.py::test_variance_is_the_stated_one
        """,
    contract={"columns_per_component": 1},
    forms=(Form({"kernel": "laplacian"}),),
)
class RandomBinning(RandomFeatures):
    r"""Bins of random grids, hashed to M columns with random signs: the Laplacian kernel.

    Each of R grids has in every coordinate a pitch :math:`\delta_j \sim \Gamma(2, s)` and a shift
    :math:`u_j \sim U[0, \delta_j]`; two rows share the bin
    :math:`\lfloor (x_j - u_j)/\delta_j \rfloor_j` with the probability
    :math:`\exp(-|x - y|_1 / s)`. A bin adds its sign over :math:`\sqrt R` to the column that a hash
    gives it. Bins that meet in a column are of independent signs, so that the estimate is unbiased,
    with a variance of about :math:`k (1 - k)/R + 1/M`. Costs O(R d) per row. In more than some 20
    dimensions nearly every row has bins of its own, and little is learnt from them.

    Parameters
    ----------
    grids : int or None
        R; None: as many as columns.
    kernel : {'laplacian'}
    feature_map
        Without effect.

    Notes
    -----
    The papers have one column per bin with a training row in it, and none for other bins; the
    hashing, which fixes the number of columns, is ours (feature hashing of Weinberger et al. 2009).

    References
    ----------
    Rahimi and Recht, Random Features for Large-Scale Kernel Machines, NIPS 2007, section 4. Wu,
    Yen, Chen and Yan, Revisiting Random Binning Features, KDD 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import RandomBinning
    >>> X = np.random.default_rng(0).standard_normal((20, 3))
    >>> Z = RandomBinning(1000, grids=4, bandwidth=2.0, random_state=0).fit_transform(X)
    >>> np.unique(np.abs(Z))
    array([0. , 0.5])
    """

    kernels_served: ClassVar[Any] = Laplacian

    kernel: str = parameter("laplacian", one_of(*KERNELS))
    grids: int | None = parameter(None, whole(1) | NOTHING)

    def planned_columns(self) -> int:
        """Return M."""
        return self.n_components

    @property
    def n_drawn(self) -> int:
        """Number of grids."""
        return self.n_components if self.grids is None else self.grids

    def _draw(self, X: Rows, targets: Array | None, random: Streams) -> BinnedMap:
        shape = self.n_drawn, X.shape[1]
        pitches = random.frequencies.gamma(2.0, self.bandwidth_, shape)
        shifts = random.offsets.uniform(0.0, pitches)
        factors = 2 * random.selection.integers(2**63, size=shape, dtype=np.uint64) + np.uint64(1)
        keys = random.rows.integers(2**64, size=shape[0], dtype=np.uint64)
        return BinnedMap(pitches, shifts, factors, keys, self.n_components)
