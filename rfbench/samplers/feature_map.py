"""Fitted feature maps, which compute features for each row of the data independently."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.compute.products import matmul
from rfbench.errors import MethodError
from rfbench.kernels import Feature, to_dense

if TYPE_CHECKING:
    from rfbench.compute.ridge import NormalEquations

PAIRED, OFFSET, PLAIN = "paired", "offset", "plain"


def to_feature_matrix(features: Any, n: int) -> FloatArray:
    """Return the output of a transformer for n rows as a dense array of shape (n, n_columns).

    Raise MethodError if the output has the wrong shape, or values that are not real numbers.
    """
    block: FloatArray = np.asarray(to_dense(features))
    if block.ndim != 2 or len(block) != n or not block.shape[1]:
        raise MethodError(
            f"A transformer returned an array of shape {block.shape} for {n} rows.",
            "A transformer has to return one row of features per row of X.",
        )
    check_real_values(block, "A transformer returned features")
    return block


def check_real_values(values: NDArray[Any], what: str) -> None:
    """Raise MethodError if an array contains complex numbers, strings or other objects.

    The error message starts with `what`. Without this check, numpy would convert such values to
    floats without notice.
    """
    if values.dtype.kind not in "fiub":
        raise MethodError(
            f"{what} of the type {values.dtype}.",
            "The features have to be real numbers.",
            "Use the real part, or one column for the real and one for the imaginary part.",
        )


def check_columns(n_columns: int, expected: int) -> None:
    """Raise MethodError if a transformer returns `n_columns` instead of `expected` columns."""
    if n_columns != expected:
        raise MethodError(
            f"A transformer returned {n_columns} columns, but it returned "
            f"{expected} columns earlier.",
            "Training rows and test rows need the same columns.",
        )


class FittedMap(ABC):
    """Base class of fitted feature maps, which transform rows to features.

    The `fit` of a sampler creates a fitted map.

    Attributes
    ----------
    kernel_constant : float
        Constant c of the kernel estimate z(x)'z(y) + c, with the features z(x) of a row x.
    """

    @property
    def kernel_constant(self) -> float:
        """Constant c of the kernel estimate z(x)'z(y) + c, with the features z(x) of a row x.

        The constant is 0 unless a subclass overrides it.
        """
        return 0.0

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """Number of columns of the feature matrix."""

    def bytes_per_row(self, itemsize: int) -> int:
        """Return the number of bytes that the features of one row need.

        Parameters
        ----------
        itemsize : int
            Number of bytes of a floating-point number.
        """
        return self.n_columns * itemsize

    @abstractmethod
    def astype(self, dtype: Any) -> FittedMap:
        """Return the feature map with its arrays converted to the floating-point type `dtype`."""

    def unproject(self, coefficients: FloatArray) -> tuple[FittedMap, FloatArray]:
        """Return a feature map and coefficients that give the same predictions at a lower cost.

        If the last step of this feature map is a product with a matrix, the returned map omits this
        step, and the returned coefficients are the product of the matrix and `coefficients`.
        Otherwise the map and the coefficients are returned unchanged.

        Parameters
        ----------
        coefficients : array of shape (n_columns, k)
            Coefficients of k linear models of the features.
        """
        return self, coefficients

    @abstractmethod
    def transform_into(self, rows: Rows, out: FloatArray) -> None:
        """Compute the features of the n rows, and write them into `out`, shape (n, n_columns)."""

    def as_torch(self) -> Any:
        """Return a `torch.nn.Module` that computes the same features.

        The module maps rows of shape (..., n, d) to features of shape (..., n, n_columns). The
        features are differentiable with respect to the rows, as needed in a network. The arrays
        of the feature map become buffers of the module, with the same dtype.

        Raises
        ------
        MethodError
            If the map has no implementation in torch, or torch is not installed.
        """
        raise MethodError(
            f"{type(self).__name__} cannot be computed by torch.",
            "torch supports cosine, arc-cosine, tanh and coordinate features, and "
            "linear maps of these features.",
            "Use a different sampler.",
        )

    def transform(self, rows: Rows) -> FloatArray:
        """Return the features of the n rows, shape (n, n_columns), in the dtype of the rows."""
        out = np.empty((rows.shape[0], self.n_columns), dtype=rows.dtype)
        self.transform_into(rows, out)
        return out


class Projection(ABC):
    """Base class of frequencies w that are not stored as a matrix.

    A subclass computes the products w'x of the frequencies and the rows x by a fast transform.
    """

    @abstractmethod
    def compute_frequencies(self) -> Array:
        """Return all frequencies as a matrix of shape (d, n_frequencies)."""

    @abstractmethod
    def project(self, rows: Rows, chosen: NDArray[Any], out: FloatArray) -> None:
        """Write the products w'x of the chosen frequencies w and the rows x into `out`.

        `chosen` contains the indices of the frequencies. `out` has the shape (n, len(chosen)).
        """


@dataclass(frozen=True)
class FeatureMap(FittedMap):
    """Random features of a row x that are functions of the products w'x with M frequencies w.

    In the ``offset`` layout, column m is ``scale * cos(w_m'x + b_m)`` with an offset b_m. The
    ``paired`` layout has 2M columns: all ``scale * cos(w_m'x)``, then all ``scale * sin(w_m'x)``.
    The ``plain`` layout has one column per frequency, for arc-cosine and coordinate features and
    for ``scale * tanh(w_m'x + b_m)``. If weights are given, each column is multiplied by its
    weight.

    Attributes
    ----------
    feature : {'wave', 'arc-cosine', 'coordinate', 'tanh', 'exp'}
    layout : {'offset', 'paired', 'plain'}
    frequencies : array of shape (d, M)
        The frequencies w. For coordinate features, M column indices of the data. If `projection` is
        given, the M indices of frequencies of the projection.
    offsets : array of shape (M,) or None
        The offsets b_m.
    scale : float
        Factor of all columns.
    weights : array of shape (n_columns,) or None
        Factor of each column.
    order : int
        Order of the arc-cosine features.
    projection : Projection or None
        Object that computes the products w'x faster than a matrix product.
    number_type : str
        Floating-point type of the features if `frequencies` contains indices.
    """

    feature: Feature | Literal["tanh", "exp"]
    layout: str
    frequencies: FloatArray
    offsets: FloatArray | None = None
    scale: float = 1.0
    weights: FloatArray | None = None
    order: int = 0
    projection: Projection | None = None
    number_type: str = "float64"

    @property
    def dtype(self) -> np.dtype[Any]:
        """Floating-point type of the arrays of the feature map."""
        own = self.frequencies.dtype
        return own if own.kind == "f" else np.dtype(self.number_type)

    @property
    def n_frequencies(self) -> int:
        """Number M of frequencies."""
        return int(self.frequencies.shape[-1])

    @property
    def n_columns(self) -> int:
        """Number of columns of the feature matrix."""
        return self.n_frequencies * (2 if self.layout == PAIRED else 1)

    def find_columns(self, chosen: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the indices of the feature columns that belong to the chosen frequencies.

        `chosen` contains indices of frequencies. A frequency has two columns in the paired layout.
        """
        if self.layout == PAIRED:
            return np.concatenate([chosen, chosen + self.n_frequencies])
        return chosen

    def select(self, chosen: NDArray[np.intp]) -> FeatureMap:
        """Return a feature map with only the chosen frequencies.

        `chosen` contains indices of frequencies. The scale and the weights do not change.
        """
        return replace(
            self,
            frequencies=self.frequencies[..., chosen],
            offsets=None if self.offsets is None else self.offsets[chosen],
            weights=None if self.weights is None else self.weights[self.find_columns(chosen)],
        )

    def times(self, factor: float) -> FeatureMap:
        """Return a feature map with every column multiplied by `factor`."""
        return replace(self, scale=self.scale * factor)

    def with_weights(self, weights: Array) -> FeatureMap:
        """Return a feature map with the columns of frequency m multiplied by ``weights[m]``."""
        # The cosine and the sine of a frequency w get the same weight. With different weights, the
        # products of features would no longer be proportional to cos(w'(x - y)).
        columns = np.tile(weights, 2) if self.layout == PAIRED else weights
        return replace(self, weights=columns if self.weights is None else self.weights * columns)

    def to_offset(self) -> FeatureMap:
        """Return a feature map in the offset layout that computes the same columns.

        In the paired layout, each sine becomes a cosine by sin t = cos(t - pi/2).
        """
        if self.layout != PAIRED:
            return self
        return replace(
            self,
            layout=OFFSET,
            frequencies=np.concatenate([self.frequencies, self.frequencies], axis=-1),
            offsets=np.repeat([0.0, -0.5 * np.pi], self.n_frequencies),
        )

    def compute_columns_and_slopes(self, rows: Rows) -> tuple[FloatArray, FloatArray]:
        """Return the features of the rows and their derivatives, both of shape (n, n_columns).

        The features are scale * cos(t + b) for the products t = w'x of frequencies and rows. The
        derivatives are with respect to t.
        """
        from rfbench.compute import waves

        assert self.offsets is not None
        assert self.weights is None
        # The derivative of scale * cos(t + b) with respect to t is scale * cos(t + b + pi/2). One
        # loop can therefore compute columns and derivatives, with different offsets. The phases t
        # are computed once and copied, because computing them needs most of the time.
        slopes = self._project(rows)
        columns = slopes.copy()
        waves.cos_inplace(columns, self.offsets, self.scale)
        waves.cos_inplace(slopes, self.offsets + 0.5 * np.pi, self.scale)
        return columns, slopes

    def split(self, size: int) -> Iterator[FeatureMap]:
        """Yield feature maps that each have at most `size` consecutive frequencies of this map."""
        for start in range(0, self.n_frequencies, size):
            yield self.select(np.arange(start, min(start + size, self.n_frequencies)))

    def astype(self, dtype: Any) -> FeatureMap:
        """Return the feature map with its arrays converted to the floating-point type `dtype`."""
        # For coordinate features and for fast projections, `frequencies` contains indices. Indices
        # stay integers and are not converted.
        numbers = self.feature == "coordinate" or self.projection is not None
        return replace(
            self,
            number_type=np.dtype(dtype).name,
            frequencies=self.frequencies if numbers else self.frequencies.astype(dtype, copy=False),
            offsets=None if self.offsets is None else self.offsets.astype(dtype, copy=False),
            weights=None if self.weights is None else self.weights.astype(dtype, copy=False),
        )

    def transform_into(self, rows: Rows, out: FloatArray) -> None:
        """Compute the features of the n rows, and write them into `out`, shape (n, n_columns)."""
        if self.feature == "coordinate":
            columns: NDArray[Any] = self.frequencies
            if isinstance(rows, np.ndarray):
                # With the mode "clip", numpy writes directly into `out`. The default mode would use
                # a copy of `out`.
                np.take(rows, columns, axis=1, out=out, mode="clip")
            else:
                out[...] = to_dense(rows[:, columns])
            out *= self.scale
        else:
            from rfbench.compute import waves

            # The phases W'x are computed first. In an offset map, they are written into `out`, and
            # cosines are computed in place. In a paired map, `out` has two columns per phase, one
            # for the cosine and one for the sine, so the phases need a separate array.
            if self.layout == PAIRED:
                waves.cos_sin(self._project(rows), self.scale, out)
            else:
                self._project(rows, out)
                if self.feature == "wave":
                    waves.cos_inplace(out, self.offsets, self.scale)
                elif self.feature == "tanh":
                    assert self.offsets is not None
                    out += self.offsets
                    np.tanh(out, out=out)
                    out *= self.scale
                else:
                    waves.arc_cosine_inplace(out, self.order, self.scale)
        # The columns are multiplied by their weights last, because the loops above multiply all
        # columns by the same scale.
        if self.weights is not None:
            out *= self.weights

    def as_torch(self) -> Any:
        """Return a `torch.nn.Module` that computes the same features of rows."""
        # The torch module computes the same features as `FeatureMap.transform_into`. A subclass
        # that overrides this method therefore needs its own `as_torch`.
        own = type(self).transform_into is not FeatureMap.transform_into
        return super().as_torch() if own else make_torch_map(self)

    def accumulate_equations(self, rows: Rows, targets: Array | None = None) -> NormalEquations:
        """Return the normal equations for regressions of k targets on the features of the n rows.

        `targets` has the shape (n, k). By default, there are no targets.
        """
        from rfbench.compute.gram import accumulate_normal_equations

        Y = np.empty((rows.shape[0], 0)) if targets is None else targets
        transform = self.astype(rows.dtype).transform_into
        return accumulate_normal_equations(transform, rows, Y, self.n_columns, dtype=rows.dtype)

    def _project(self, rows: Rows, out: FloatArray | None = None) -> FloatArray:
        """Return the products w'x of the M frequencies w and the n rows x, shape (n, M).

        If `out` is given, the products are written into it.
        """
        if self.projection is not None:
            if out is None:
                out = np.empty((rows.shape[0], self.n_frequencies), dtype=rows.dtype)
            self.projection.project(rows, self.frequencies, out)
            return out
        # The frequencies are converted to the dtype of the rows. With float32 rows and float64
        # frequencies, the product would be float64, would need twice the time, and would not fit
        # the dtype of `out`.
        frequencies = self.frequencies.astype(rows.dtype, copy=False)
        if not sparse.issparse(rows):
            return cast(FloatArray, matmul(rows, frequencies, out=out))
        # For sparse rows, scipy cannot write a product into an existing array. The product is
        # therefore copied into `out`.
        phases: FloatArray = np.ascontiguousarray(rows @ frequencies)
        if out is None:
            return phases
        out[...] = phases
        return out


def make_torch_map(features: FeatureMap, matrix: FloatArray | None = None) -> Any:
    """Return a torch module that computes the given features of rows.

    If `matrix`, shape (n_columns, l), is given, the features are multiplied by it.
    """
    try:
        from rfbench.samplers.torch_map import TorchMap
    except ImportError:
        raise MethodError(
            "torch is not installed.",
            "torch is needed to use features as a torch module.",
            "Run `pip install 'rfbench[torch]'`.",
        ) from None
    return TorchMap(features, matrix)


@dataclass(frozen=True, eq=False)
class PrecomputedFeatures:
    """Features of the training rows that a sampler computed during its fit and stored.

    The sampler computes many candidate columns, and selects some of them as features. A solver that
    is fitted on the same rows reads the stored columns.

    Attributes
    ----------
    rows : array or CSR matrix of shape (n, d)
        The rows that were passed to `fit`.
    columns : array of shape (n, l)
        All candidate columns, before they are multiplied by factors.
    chosen : array of shape (n_columns,)
        Indices of the candidate columns that became features.
    factors : array of shape (n_columns,)
        Factors by which these columns are multiplied.
    """

    rows: Rows
    columns: FloatArray
    chosen: NDArray[np.intp]
    factors: FloatArray

    @property
    def feature_map_(self) -> FeatureMap:
        """Feature map that selects the chosen candidate columns and applies the factors."""
        chosen: NDArray[Any] = self.chosen
        return FeatureMap("coordinate", PLAIN, chosen, weights=self.factors)
