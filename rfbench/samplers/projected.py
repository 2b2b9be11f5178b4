"""Random features that are multiplied by a matrix to reduce the number of columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.compute.products import matmul
from rfbench.errors import MethodError
from rfbench.parameters import NONE, estimator, parameter, whole
from rfbench.registry import KERNELS
from rfbench.samplers.base import RandomFeatures, RandomStreams
from rfbench.samplers.feature_map import PAIRED, FeatureMap, FittedMap, make_torch_map

# Size in bytes of a block of features. Measured CPU time of tefm-g, as a multiple of the time with
# this value: 0.87 with half the value, and 1.09 with twice the value (`python -m
# scripts.bench.doubled`).
PROJECTED_BLOCK_BYTES = 2**23


def iterate_row_blocks(n: int, n_columns: int) -> Iterator[slice]:
    """Yield slices that divide `n` rows into consecutive blocks.

    A block of float64 features with `n_columns` columns needs about 8 MiB.
    """
    step = max(16, PROJECTED_BLOCK_BYTES // (8 * n_columns))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


@dataclass(frozen=True)
class ProjectedMap(FittedMap):
    """Feature map that multiplies the columns of an inner feature map by a matrix.

    Attributes
    ----------
    inner : FeatureMap
        Feature map with D columns, all of which are computed for every row.
    matrix : array of shape (D, l)
        The matrix. The result has l columns.
    """

    inner: FeatureMap
    matrix: FloatArray

    @property
    def n_columns(self) -> int:
        """Number l of columns of the product."""
        return int(self.matrix.shape[1])

    def astype(self, dtype: Any) -> ProjectedMap:
        """Return the feature map with its arrays converted to the floating-point type `dtype`."""
        return ProjectedMap(self.inner.astype(dtype), self.matrix.astype(dtype, copy=False))

    def unproject(self, coefficients: FloatArray) -> tuple[FittedMap, FloatArray]:
        """Return the inner feature map, and coefficients that give the same predictions with it.

        The returned coefficients are the product of the matrix and `coefficients`.
        """
        return self.inner, matmul(self.matrix, coefficients)

    def transform_into(self, rows: Rows, out: FloatArray) -> None:
        """Compute the features of the n rows, and write them into `out`, shape (n, l)."""
        matrix = self.matrix.astype(rows.dtype, copy=False)
        for block in iterate_row_blocks(rows.shape[0], self.inner.n_columns):
            matmul(self.inner.transform(rows[block]), matrix, out=out[block])

    def as_torch(self) -> Any:
        """Return a `torch.nn.Module` that computes the same features of rows."""
        return make_torch_map(self.inner, self.matrix)


@estimator
class ProjectedFeatures(RandomFeatures):
    r"""Base class of the samplers that reduce D random features to l columns by a matrix product.

    F is the n x D matrix of random Fourier features (random kitchen sinks) of n rows. F is
    multiplied by a D x l matrix, which a subclass computes.

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
    """

    base_size: int | None = parameter(None, whole(1) | NONE)

    def check_parameters(self) -> None:
        """Raise MethodError if a parameter is not valid, or if F has too few columns."""
        super().check_parameters()
        waves = KERNELS.find(self.kernel).feature == "wave"
        columns = self.n_drawn * (2 if waves and self.feature_map == PAIRED else 1)
        if self.n_components > columns:
            raise MethodError(
                f"base_size {self.base_size} gives {columns} columns, but n_components is "
                f"{self.n_components}.",
                "A projection cannot have more columns than the features that are projected.",
                "Increase base_size, or decrease n_components.",
            )

    def _draw(self, X: Rows, targets: Array | None, random: RandomStreams) -> FittedMap:
        size = self.n_drawn
        base = self.draw_unit_map(random, X.shape[1], size).times(size**-0.5)
        return ProjectedMap(base, self._projection(base, X, random))

    @property
    def n_drawn(self) -> int:
        """Number of frequencies of the random features F, before the reduction."""
        return 4 * self.n_components if self.base_size is None else self.base_size

    @abstractmethod
    def _projection(self, base: FeatureMap, X: Rows, random: RandomStreams) -> Array:
        """Return the matrix by which the D features of each row are multiplied, shape (D, l).

        `base` is the feature map with D columns, and `X` contains the training rows.
        """
