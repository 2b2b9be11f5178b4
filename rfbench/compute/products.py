"""Products of matrices that are computed by the BLAS library of scipy.

The packages of numpy and of scipy each contain a BLAS library with its own threads. After a call,
the threads of a library wait actively for some milliseconds. A loop that calls both libraries in
turn is therefore slower with two threads than with one. Factorizations use the library of scipy, so
the products use it, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import blas

from rfbench.arrays import Array, FloatArray

_PREFIXES = {np.dtype(np.float64): "d", np.dtype(np.float32): "s"}


def matmul(a: Any, b: Any, out: FloatArray | None = None) -> Any:
    """Return the matrix product ``a @ b``.

    If both matrices are float64 or both are float32, scipy's BLAS computes the product without
    copies of the matrices.

    Parameters
    ----------
    a : ndarray, shape (n, k)
    b : ndarray, shape (k, m) or (k,)
    out : ndarray, shape (n, m), optional
        Array for the product. It must not overlap `a` or `b`.

    Returns
    -------
    ndarray, shape (n, m) or (n,)
        The product. For matrices that are sparse, empty or of different types, numpy or scipy
        computes it. Otherwise it is C-contiguous, unless `out` is not.
    """
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and b.ndim == 1:
        return matmul(a, b[:, None])[:, 0]
    prefix = _find_prefix(a, b, out)
    if prefix is None:
        if out is None:
            return a @ b
        out[...] = a @ b
        return out
    result = np.empty((len(a), b.shape[1]), a.dtype) if out is None else out
    if b.shape[1] == 1:
        result[:, 0] = _multiply_vector(prefix, a, b[:, 0])
    elif len(a) == 1:
        result[0] = _multiply_vector(prefix, b.T, a[0])
    else:
        # BLAS reads and writes arrays in Fortran order without a copy. The transpose of a
        # C-contiguous array is in Fortran order. The product ab is therefore computed as (b'a')'.
        (left, turn_left), (right, turn_right) = _in_fortran_order(b.T), _in_fortran_order(a.T)
        gemm = getattr(blas, f"{prefix}gemm")
        target = result.T if result.flags.c_contiguous else None
        product = gemm(
            1.0, left, right, c=target, overwrite_c=1, trans_a=turn_left, trans_b=turn_right
        )
        if target is None:
            result[...] = product.T
    return result


def multiply_by_transpose(a: FloatArray) -> FloatArray:
    """Return the product ``a @ a.T``, shape (n, n), which is exactly symmetric.

    The computation needs half as many operations as a general matrix product.

    Parameters
    ----------
    a : ndarray, shape (n, k), float64 or float32

    Returns
    -------
    ndarray, shape (n, n), of the type of `a`
    """
    matrix, turned = _in_fortran_order(a)
    syrk = getattr(blas, f"{_PREFIXES[a.dtype]}syrk")
    # `half` contains the upper triangle of the product, and zeros below the diagonal.
    half = syrk(1.0, matrix, trans=turned)
    mirror_upper_triangle(half)
    return np.asarray(half.T)


def multiply_row_without_blas(row: Array, path: Array) -> Array:
    """Return the product ``row @ path`` without BLAS.

    `row` has the shape (p,), and `path` the shape (..., p, t) with a small t.
    """
    return np.asarray(np.einsum("p,...pt->...t", row, path))


def mirror_upper_triangle(square: FloatArray, step: int = 256) -> None:
    """Copy the upper triangle of a square matrix onto its lower triangle."""
    for j in range(0, square.shape[0], step):
        end = j + step
        square[end:, j:end] = square[j:end, end:].T
        tile = square[j:end, j:end]
        tile[:] = np.triu(tile) + np.triu(tile, 1).T


def sum_squares(values: FloatArray) -> float:
    """Return the sum of the squares of all elements of an array."""
    if values.size and values.dtype in _PREFIXES and values.flags.c_contiguous:
        flat = values.reshape(-1)
        return float(getattr(blas, f"{_PREFIXES[values.dtype]}dot")(flat, flat))
    return float(np.vdot(values, values))


def _find_prefix(a: Any, b: Any, out: Any) -> str | None:
    """Return the first letter of the BLAS routines for the matrices, such as "d" for float64.

    The result is None if BLAS cannot multiply the matrices.
    """
    operands = [a, b] if out is None else [a, b, out]
    if not all(isinstance(each, np.ndarray) and each.ndim == 2 for each in operands):
        return None
    kinds = {each.dtype for each in operands}
    usable = len(kinds) == 1 and all(each.size for each in operands)
    return _PREFIXES.get(a.dtype) if usable else None


def _in_fortran_order(a: FloatArray) -> tuple[FloatArray, int]:
    """Return `a` or its transpose in Fortran order, such that BLAS needs no copy.

    The second result is 1 if the matrix is transposed, and 0 otherwise.
    """
    return (a, 0) if a.flags.f_contiguous else (a.T, 1)


def _multiply_vector(prefix: str, a: FloatArray, x: FloatArray) -> Any:
    matrix, turned = _in_fortran_order(a)
    return getattr(blas, f"{prefix}gemv")(1.0, matrix, x, trans=turned)
