"""The design matrix of a fit, whose features are computed in blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import Array, FloatArray, Rows
from rfbench.clock import Clock
from rfbench.compute import gram
from rfbench.compute.blocks import choose_block_rows, iterate_group_blocks, read_rows
from rfbench.compute.products import matmul, sum_squares
from rfbench.compute.ridge import NormalEquations
from rfbench.errors import MethodError
from rfbench.rows import select_rows
from rfbench.samplers.feature_map import (
    FittedMap,
    PrecomputedFeatures,
    check_columns,
    to_feature_matrix,
)

# Size in bytes of a block of features that is multiplied and not stored: half of an L2 cache.
# Measured by `python -m scripts.bench.doubled`: a ridge fit needs .96 times the CPU time with half
# the value, and .93 times with twice the value.
DESIGN_BLOCK_BYTES = 2**19


class Design:
    """Design matrix of a fit, whose features are computed from rows without storing all of them.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
        The rows.
    features : fitted transformer or None
        The fitted feature map. If None, the rows are the features.

    Attributes
    ----------
    clock : Clock or None
        Clock to which `multiply` adds the time of computing features, if this time is measured.
    """

    def __init__(self, X: Rows, features: Any = None) -> None:
        self.X = X
        self.features = features
        self.clock: Clock | None = None
        fitted = getattr(features, "feature_map_", None)
        self._map: FittedMap | None = fitted if isinstance(fitted, FittedMap) else None
        if features is None:
            self.n_columns = int(X.shape[1])
        elif self._map is not None:
            self.n_columns = self._map.n_columns
        else:
            self.n_columns = to_feature_matrix(features.transform(X[:1]), 1).shape[1]

    @property
    def n(self) -> int:
        """Number of rows of the design matrix."""
        return int(self.X.shape[0])

    @property
    def bytes_per_row(self) -> int:
        """Number of bytes that the feature map needs to store the features of one row."""
        itemsize = int(self.X.dtype.itemsize)
        if self._map is not None:
            return self._map.bytes_per_row(itemsize)
        return self.n_columns * itemsize

    def transform_into(self, rows: Rows, out: FloatArray) -> None:
        """Compute the features of the given `rows`, and write them into `out`.

        `out` has shape (len(rows), n_columns). Raise MethodError if a feature is not finite.
        """
        if self._map is not None:
            self._map.transform_into(rows, out)
        else:
            features = rows if self.features is None else self.features.transform(rows)
            block = to_feature_matrix(features, rows.shape[0])
            check_columns(block.shape[1], self.n_columns)
            out[...] = block
        check_finite(out, "The features")

    def select_rows(self, chosen: NDArray[np.intp]) -> Design:
        """Return the design matrix of the rows with the indices `chosen`, without a clock."""
        return Design(select_rows(self.X, chosen), self.features)

    def compute_matrix(self, *, copy: bool = True) -> FloatArray:
        """Return the features of all rows as one matrix, shape (n, n_columns).

        If `copy` is False and there is no feature map, a dense array X is returned itself. The
        caller must not change this array.
        """
        if not copy and self.features is None and isinstance(self.X, np.ndarray):
            check_finite(self.X, "The features")
            return self.X
        out = np.empty((self.n, self.n_columns), dtype=self.X.dtype)
        step = self._block_rows()
        for start in range(0, self.n, step):
            self.transform_into(self.X[start : start + step], out[start : start + step])
        return out

    def iterate_blocks(self, clock: Clock) -> Iterator[tuple[slice, FloatArray]]:
        """Yield the row indices and the features of one block of rows after another.

        The features of a block overwrite the features of the previous block in memory.
        """
        step = choose_block_rows(self.n_columns, self.X.dtype.itemsize)
        buffer = np.empty((min(step, self.n), self.n_columns), dtype=self.X.dtype)
        for _, rows in iterate_group_blocks(self.n, None, step):
            assert isinstance(rows, slice)
            with clock.time_part("features"):
                block = read_rows(self.X, rows, self.X.dtype)
                features = buffer[: block.shape[0]]
                self.transform_into(block, features)
            yield rows, features

    def accumulate_equations(
        self, targets: Array, parts: NDArray[np.intp], clock: Clock, center: bool
    ) -> list[NormalEquations]:
        """Return the normal equations of the features and `targets` for each part of the rows.

        `parts` contains the number of the part to which each row belongs. `center` is True for a
        fit with an intercept.
        """
        return gram.accumulate_parts(
            self.transform_into,
            self.X,
            targets,
            self.n_columns,
            parts,
            dtype=self.X.dtype,
            clock=clock,
            center=center,
        )

    def multiply(self, coefficients: FloatArray) -> Array:
        """Return the product Z @ coefficients of the feature matrix Z, shape (n, k).

        `coefficients` has shape (n_columns, k).
        """
        check_columns(self.n_columns, coefficients.shape[0])
        # If the feature map ends with a projection, apply the projection to the coefficients
        # instead of the features. This is faster if there are few columns of coefficients. It is
        # done only in float64, because projected coefficients can be large and would amplify
        # rounding errors of float32.
        double = self.X.dtype == np.float64
        few = coefficients.shape[1] < min(self.n, self.n_columns)
        if self._map is not None and double and few:
            inner, outer = self._map.unproject(coefficients)
            if inner is not self._map:
                plain = Design(self.X, SimpleNamespace(feature_map_=inner))
                plain.clock = self.clock
                return plain.multiply(outer)
        result = np.empty((self.n, coefficients.shape[1]))
        step = self._block_rows()
        buffer = np.empty((min(step, self.n), self.n_columns), dtype=self.X.dtype)
        coefficients = coefficients.astype(buffer.dtype, copy=False)
        for start in range(0, self.n, step):
            rows = self.X[start : start + step]
            out = buffer[: rows.shape[0]]
            with Clock.time_part_of(self.clock, "features"):
                self.transform_into(rows, out)
            result[start : start + step] = matmul(out, coefficients)
        return result

    def _block_rows(self) -> int:
        return max(16, DESIGN_BLOCK_BYTES // (8 * self.n_columns))


class PrecomputedDesign(Design):
    """Design matrix whose features are rescaled columns of a matrix that was computed earlier.

    Parameters
    ----------
    formed : PrecomputedFeatures
        The matrix, the indices of the selected columns, and their factors.
    """

    def __init__(self, formed: PrecomputedFeatures) -> None:
        super().__init__(formed.columns, formed)
        self._formed = formed

    def select_rows(self, chosen: NDArray[np.intp]) -> Design:
        """Return the design matrix of the rows with the indices `chosen`."""
        return PrecomputedDesign(replace(self._formed, columns=self.X[chosen]))

    def multiply(self, coefficients: FloatArray) -> Array:
        """Return the product Z @ coefficients of the feature matrix Z, shape (n, k).

        `coefficients` has shape (n_columns, k).
        """
        check_columns(self.n_columns, coefficients.shape[0])
        gradient = np.zeros((self.X.shape[1], coefficients.shape[1]), self.X.dtype)
        np.add.at(gradient, self._formed.chosen, coefficients * self._formed.factors[:, None])
        return np.asarray(matmul(self.X, gradient), dtype=np.float64)

    def accumulate_equations(
        self, targets: Array, parts: NDArray[np.intp], clock: Clock, center: bool
    ) -> list[NormalEquations]:
        """Return the normal equations of the features and `targets` for each part of the rows.

        If the stored matrix has at most as many columns as there are features, the equations of
        this matrix are computed once. Their entries are then selected and rescaled.
        """
        if self.X.shape[1] > self.n_columns:
            return super().accumulate_equations(targets, parts, clock, center)
        total = Design(self.X).accumulate_equations(targets, parts, clock, center)
        with clock.time_part("train"):
            return [
                part.select_columns(self._formed.chosen, self._formed.factors) for part in total
            ]


def check_finite(values: FloatArray, what: str) -> None:
    """Raise MethodError if `values` contain NaN or infinity. The message starts with `what`."""
    # The sum of squares is a fast check. If it is not finite, a full check follows, because the sum
    # may overflow.
    with np.errstate(invalid="ignore", over="ignore"):
        squares = sum_squares(values)
    if not np.isfinite(squares) and not np.isfinite(values).all():
        raise MethodError(
            f"{what} are not finite.",
            "The rows or the features contain NaN or infinity.",
            "Check the data for missing values, and scale the columns.",
        )


def make_design(X: Rows, features: Any) -> Design:
    """Return the design matrix of the rows X and the feature map `features`.

    If the `fit` of the sampler has already computed features of X, these features are reused.
    """
    formed = getattr(features, "formed_", None)
    if isinstance(formed, PrecomputedFeatures) and formed.rows is X:
        return PrecomputedDesign(formed)
    return Design(X, features)
