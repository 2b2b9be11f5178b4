"""Frequencies that are products of Hadamard matrices and diagonals: O(M log d) work a row."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.kernels import Gaussian, dense
from rfbench.parameters import estimator
from rfbench.samplers.base import RandomFeatures, Streams
from rfbench.samplers.feature_map import FeatureMap, Projection

_CHUNK_ELEMENTS = 2**17


class Block(NamedTuple):
    """One p x p block ``diag(lengths) H diag(D_L) ... H diag(D_2) P H diag(D_1)`` of frequencies.

    Attributes
    ----------
    diagonals : array of shape (L, p)
        D_1, which meets the row first, to D_L.
    lengths : array of shape (p,)
    shuffle : array of shape (p,) or None
        The permutation P takes element shuffle[i] to place i; None for the identity.
    """

    diagonals: Array
    lengths: Array
    shuffle: NDArray[np.intp] | None = None


@dataclass(frozen=True)
class StackedHadamard(Projection):
    """Blocks below one another; rows are padded with zeros to a power of two.

    Attributes
    ----------
    blocks : list of Block
    n_features : int
        d, the number of columns of the rows.
    """

    blocks: list[Block]
    n_features: int

    @property
    def length(self) -> int:
        """The power of two p that d is padded to."""
        return len(self.blocks[0].lengths)

    def explicit(self) -> Array:
        """Return all the frequencies, shape (d, p x number of blocks)."""
        total = self.length * len(self.blocks)
        out = np.empty((self.n_features, total))
        self.project(np.eye(self.n_features), np.arange(total), out)
        return out

    def project(self, rows: Rows, chosen: NDArray[Any], out: FloatArray) -> None:
        """Write w'x of the chosen frequencies into ``out``, shape (n, len(chosen))."""
        p = self.length
        owner = chosen // p
        pieces = []
        for number in np.unique(owner):
            columns = np.flatnonzero(owner == number)
            pieces.append((number, _as_slice(columns), _as_slice(chosen[columns] - number * p)))
        step = max(1, _CHUNK_ELEMENTS // p)
        for start in range(0, rows.shape[0], step):
            part = rows[start : start + step]
            padded = np.zeros((part.shape[0], p), dtype=out.dtype)
            padded[:, : self.n_features] = dense(part)
            target = out[start : start + step]
            for number, columns, own in pieces:
                target[:, columns] = _through(self.blocks[number], padded)[:, own]


def _through(block: Block, padded: FloatArray) -> FloatArray:
    from rfbench.compute.hadamard import fwht_inplace

    diagonals = block.diagonals.astype(padded.dtype, copy=False)
    rows: FloatArray = padded * diagonals[0]
    fwht_inplace(rows, 1)
    if block.shuffle is not None:
        rows = np.ascontiguousarray(rows[:, block.shuffle])
    for diagonal in diagonals[1:]:
        rows *= diagonal
        fwht_inplace(rows, 1)
    rows *= block.lengths.astype(padded.dtype, copy=False)
    return rows


def _as_slice(numbers: NDArray[Any]) -> Any:
    """Return consecutive numbers as a slice, which copies faster than an index."""
    first, last = int(numbers[0]), int(numbers[-1])
    if last - first + 1 == len(numbers) and bool(np.all(np.diff(numbers) == 1)):
        return slice(first, last + 1)
    return numbers


class HadamardFeatures(RandomFeatures):
    """Base of the samplers with Hadamard blocks: a method writes only `_draw_block`.

    The kernels are those with an isotropic Gaussian measure: the Gaussian ones, and arc-cosine
    (beyond the papers, a choice).

    Attributes
    ----------
    frequencies_ : array of shape (M, d)
        Written out at every access; `transform` does not need them.
    """

    has_prefixes: ClassVar[bool] = True
    kernels_served: ClassVar[Any] = Gaussian

    @abstractmethod
    def _draw_block(self, generator: np.random.Generator, p: int, spread: float) -> Block:
        """Return p frequencies whose coordinates have the standard deviation `spread`."""

    def _draw(self, X: Rows, targets: Array | None, random: Streams) -> FeatureMap:
        from rfbench.compute.hadamard import padded_length

        assert isinstance(self.kernel_, Gaussian)
        d, m = X.shape[1], self.n_components
        p = padded_length(d)
        spread = self.kernel_.spread
        blocks = [self._draw_block(random.frequencies, p, spread) for _ in range(-(-m // p))]
        unit = self.unit_map(np.arange(m), random, StackedHadamard(blocks, d))
        return unit.times(m**-0.5)

    @property
    def frequencies_(self) -> Array:
        """The frequencies, shape (M, d)."""
        check_is_fitted(self, "feature_map_")
        assert isinstance(self.feature_map_, FeatureMap)
        assert self.feature_map_.projection is not None
        explicit = self.feature_map_.projection.explicit()
        return np.ascontiguousarray(explicit[:, self.feature_map_.frequencies].T)


@estimator
class Fastfood(HadamardFeatures):
    r"""Frequencies that are products of Hadamard matrices, a permutation and diagonals.

    Each block is :math:`V = \frac{\sigma}{\sqrt p} S H G \Pi H B` with
    :math:`p = 2^{\lceil \log_2 d \rceil}` (rows are padded with zeros), H the unnormalised
    Walsh-Hadamard matrix, B signs, :math:`\Pi` a permutation, G standard Gaussian,
    :math:`S_{ii} = \chi_p / |G|_F` and :math:`\sigma` the standard deviation of a coordinate, 1/s
    for the Gaussian kernel; stacked and cut to exactly M. Every single frequency is exactly
    N(0, sigma^2 I), so the kernel estimate is unbiased, but frequencies of a block depend on each
    other and the variance is larger than that of i.i.d. ones. Costs O(M log d) a row.

    References
    ----------
    Le, Sarlos and Smola, Fastfood: Approximating Kernel Expansions in Loglinear Time, ICML 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from rfbench.samplers import Fastfood
    >>> X = np.random.default_rng(0).standard_normal((20, 10))
    >>> Fastfood(50, bandwidth=4.0, random_state=0).fit(X).transform(X).shape
    (20, 50)
    """

    def _draw_block(self, generator: np.random.Generator, p: int, spread: float) -> Block:
        signs = generator.choice([-1.0, 1.0], size=p)
        shuffle = generator.permutation(p)
        gaussian = generator.standard_normal(p)
        lengths = np.sqrt(generator.chisquare(p, size=p)) / np.linalg.norm(gaussian)
        return Block(np.stack([signs, gaussian]), lengths * (spread / np.sqrt(p)), shuffle)


@estimator
class SORF(HadamardFeatures):
    r"""Structured orthogonal random features: Hadamard transforms in place of a Haar matrix.

    Each block is :math:`W = \sigma \sqrt{p}\, H D_1 H D_2 H D_3` with
    :math:`p = 2^{\lceil \log_2 d \rceil}` (rows are padded with zeros), H the orthonormal
    Walsh-Hadamard matrix, D independent diagonals of signs and :math:`\sigma` the standard
    deviation of a coordinate, 1/s for the Gaussian kernel; stacked and cut to exactly M. All
    frequencies have the same length, so the kernel estimate is unbiased only in the limit of large
    d: take it for d of 32 and more. Costs O(M log d) a row.

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

    def _draw_block(self, generator: np.random.Generator, p: int, spread: float) -> Block:
        signs = generator.choice([-1.0, 1.0], size=(3, p))
        # sqrt(p) and three factors 1 / sqrt(p) that make the transforms orthonormal.
        return Block(signs, np.full(p, spread / p))
