"""Normal equations of least squares, summed over blocks of rows.

The matrix of features of all rows is never stored as a whole. The equations contain everything that
least squares needs. In cross-validation, the equations of the training rows are the equations of
all rows minus the equations of the held-out rows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import blas

from rfbench.arrays import Array, FloatArray
from rfbench.clock import Clock
from rfbench.compute import compile_function
from rfbench.compute.blocks import choose_block_rows, iterate_group_blocks, read_rows
from rfbench.compute.products import matmul, mirror_upper_triangle
from rfbench.compute.ridge import NormalEquations
from rfbench.memory import check_memory_fits

Transform = Callable[[Any, FloatArray], object]


def accumulate_normal_equations(
    transform: Transform, X: Any, Y: npt.ArrayLike, n_columns: int, **options: Any
) -> NormalEquations:
    """Return the normal equations of a regression of Y on the features of all rows of X.

    `transform` computes the features of a block of rows. Keyword arguments are passed to
    `accumulate_parts`.
    """
    return accumulate_parts(transform, X, Y, n_columns, None, **options)[0]


def accumulate_parts(
    transform: Transform,
    X: Any,
    Y: npt.ArrayLike,
    n_columns: int,
    parts: npt.ArrayLike | None,
    *,
    weights: npt.ArrayLike | None = None,
    dtype: npt.DTypeLike = np.float64,
    clock: Clock | None = None,
    center: bool = False,
) -> list[NormalEquations]:
    """Return the normal equations of a regression of Y on features, for each part of the rows.

    The parts are, for example, the folds of a cross-validation.

    Parameters
    ----------
    transform : callable
        ``transform(rows, out)`` writes the features of ``rows`` (b, d) into ``out``, a C-contiguous
        array (b, p) of type `dtype`. The function must not keep either array.
    X : ndarray, memory map, RowSource or scipy CSR matrix, shape (n, d)
        The rows are read in blocks. Dense rows are passed to `transform` as C-contiguous arrays of
        type `dtype`, and sparse rows as CSR of their own type.
    Y : array, shape (n,) or (n, t)
        Targets.
    n_columns : int
        p, the number of features.
    parts : integer array, shape (n,), or None
        Number of the part of each row, from 0 to G - 1. If None, all rows are one part. The
        computation is fastest if the rows of a part are adjacent.
    weights : array, shape (n,), optional
        Non-negative weights of the rows.
    dtype : numpy.float64 or numpy.float32
        Precision of the features. The sums are float64. For float32 features the product of every
        block is computed in float32 and added to a float64 total.
    clock : Clock, optional
        Clock that records the time of reading rows and computing features, and the time of
        training. If None, the caller measures the time.
    center : bool
        Subtract the mean row of the first block from the features, for fits with an intercept. The
        mean of the first block may differ from the mean of all rows, because the equations correct
        for the difference.

    Returns
    -------
    list of NormalEquations
        The normal equations of each part.

    Raises
    ------
    MemoryLimitError
        If the Gram matrices do not fit into memory.
    """
    n = X.shape[0]
    kind = np.dtype(dtype)
    targets: Array = np.asarray(Y)
    if targets.dtype != np.int8:  # coded labels keep their type, which saves memory
        targets = targets.astype(np.float64, copy=False)
    targets = targets[:, None] if targets.ndim == 1 else targets
    assert len(targets) == n, f"{len(targets)} targets for {n} rows"
    # Z'WZ is computed as AA' with A = (W^(1/2) Z)'. A product of a matrix with its own transpose
    # needs half the work of a general product, and its result is exactly symmetric.
    roots = None if weights is None else np.sqrt(np.asarray(weights, np.float64))
    codes = None if parts is None else np.asarray(parts, np.intp)
    # The features of one block of rows are computed, multiplied and overwritten while they are in
    # the cache. The feature matrix Z of all rows would need more memory and would have to be read
    # again.
    rows = choose_block_rows(n_columns, kind.itemsize)
    buffer = np.empty((min(rows, max(n, 1)), n_columns), kind)
    n_parts = 1 if codes is None else int(codes.max(initial=-1)) + 1
    # The memory is checked before the first block. Otherwise the system could kill the process
    # later, without an error message.
    check_memory_fits(
        8.0 * n_parts * n_columns**2,
        f"The storage of {n_parts} Gram matrices of {n_columns} columns",
        "Use fewer features or a smaller pool, or raise --memory.",
    )
    sums = [_Sums(n_columns, targets.shape[1]) for _ in range(n_parts)]
    shift: FloatArray | None = None
    # For float32 features, the product of a block is stored in this array, and is then added to a
    # float64 total. In a float32 total, the rounding errors of the additions would grow with the
    # total.
    scratch = np.zeros((n_columns, n_columns) if kind == np.float32 else (0, 0), kind, order="F")
    # Each block contains rows of one part only. The sums of each part can therefore be used
    # separately, for example in cross-validation.
    for part, picked in iterate_group_blocks(n, codes, rows):
        with Clock.time_part_of(clock, "features"):
            block = read_rows(X, picked, kind)
            features = buffer[: block.shape[0]]
            transform(block, features)
        with Clock.time_part_of(clock, "train"):
            # A fixed row s near the mean row is subtracted from all features before the
            # multiplication. If n * m m' with the mean row m were instead subtracted from Z'Z, a
            # column whose mean is 1e8 times its standard deviation would lose all digits. All
            # blocks use the same s, because their sums are added.
            if center and shift is None:
                shift = _compute_mean_row(features)
            if shift is not None:
                with np.errstate(invalid="ignore", over="ignore"):
                    features -= shift
            own = None if roots is None else roots[picked]
            sums[part].add(features, targets[picked], own, scratch)
    with Clock.time_part_of(clock, "train"):
        known = np.zeros(n_columns) if shift is None else shift.astype(np.float64)
        return [total.finish(known, float(np.finfo(kind).eps)) for total in sums]


class _Sums:
    """Sums of the normal equations of a part of the rows, to which blocks of rows are added."""

    def __init__(self, p: int, t: int) -> None:
        self.gram = np.zeros((p, p), order="F")
        self.moments = np.zeros((t + 1, p))
        self.sums, self.squares = np.zeros((2, t + 1))

    def add(
        self, features: FloatArray, targets: Array, roots: Array | None, scratch: FloatArray
    ) -> None:
        rows, p = features.shape
        rhs = np.empty((rows, targets.shape[1] + 1))
        rhs[:, :-1] = targets
        # `rhs` contains the targets and, as its last column, ones (or sqrt(w) for rows with weights
        # w). The products with the last column are the sums of the features and the sums of the
        # targets, which are needed for an intercept.
        rhs[:, -1] = 1.0
        if roots is not None:
            rhs *= roots[:, None]
            features *= roots.astype(features.dtype)[:, None]
        self.sums += matmul(rhs[:, -1:].T, rhs)[0]
        self.squares += np.einsum("ij,ij->j", rhs, rhs)
        if p == 0:
            return
        # The products Z'WY and Z'w of a block are computed in the dtype of the features. They are
        # then added to float64 totals, because float32 totals would lose digits.
        moments = np.zeros(self.moments.shape, features.dtype)
        _compile_moments()(features, rhs.astype(features.dtype, copy=False), moments)
        self.moments += moments
        # BLAS computes only the upper triangle of Z'Z, which `finish` copies to the lower triangle.
        # BLAS adds to the array `gram` only if this array is in Fortran order and has the dtype of
        # the BLAS function. Otherwise BLAS would add to a copy, and `gram` would stay 0.
        if features.dtype == np.float64:
            blas.dsyrk(1.0, features.T, 1.0, self.gram, overwrite_c=1)
        else:
            blas.ssyrk(1.0, features.T, 0.0, scratch, overwrite_c=1)
            # The float32 product of a block is added to the float64 total, 256 columns at a time.
            # Only the rows of the upper triangle are added, which saves half of the memory
            # accesses.
            for j in range(0, p, 256):
                self.gram[: j + 256, j : j + 256] += scratch[: j + 256, j : j + 256]

    def finish(self, shift: Array, eps: float) -> NormalEquations:
        mirror_upper_triangle(self.gram)
        return NormalEquations(
            self.gram,
            self.moments[:-1].T,
            self.moments[-1],
            self.sums[:-1],
            self.squares[:-1],
            float(self.sums[-1]),
            shift,
            eps,
        )


def _compute_mean_row(features: FloatArray) -> FloatArray:
    """Return the mean of the rows.

    For a constant column, the mean is exactly the constant, without a rounding error.
    """
    # The mean row is computed as the first row plus the mean difference from the first row. For a
    # constant column, these differences are exactly 0, and so the centered column is exactly 0. The
    # ordinary mean of n equal numbers would have a rounding error.
    first = features[0]
    # Infinite and missing values do not cause a warning here. They raise an error later, when the
    # equations are solved.
    with np.errstate(invalid="ignore", over="ignore"):
        mean = first + (features - first).mean(axis=0, dtype=np.float64)
        return np.asarray(mean.astype(features.dtype))


def subtract_mean_row(features: FloatArray) -> FloatArray:
    """Subtract the mean of the rows from each row of the array, and return the mean."""
    first = features[0].copy()
    with np.errstate(invalid="ignore", over="ignore"):
        features -= first
        rest = features.mean(axis=0, dtype=np.float64).astype(features.dtype)
        features -= rest
    return np.asarray(first + rest)


def _add_moments(features: Any, rhs: Any, out: Any) -> None:
    """Add the product of the transpose of `rhs` and `features` to `out`.

    The compiled loop is faster than BLAS, because `rhs` has few columns.
    """
    rows = features.shape[0]
    in_fours = rows - rows % 4
    for i in range(0, in_fours, 4):
        z0, z1, z2, z3 = features[i], features[i + 1], features[i + 2], features[i + 3]
        for c in range(rhs.shape[1]):
            y0, y1, y2, y3 = rhs[i, c], rhs[i + 1, c], rhs[i + 2, c], rhs[i + 3, c]
            total = out[c]
            for j in range(total.size):
                total[j] += (z0[j] * y0 + z1[j] * y1) + (z2[j] * y2 + z3[j] * y3)
    for i in range(in_fours, rows):
        row = features[i]
        for c in range(rhs.shape[1]):
            y, total = rhs[i, c], out[c]
            for j in range(total.size):
                total[j] += row[j] * y


@functools.cache
def _compile_moments() -> Callable[..., None]:
    # The function is compiled when it is first called, and not on import, because importing numba
    # is slow.
    return compile_function(_add_moments)
