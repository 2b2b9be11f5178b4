"""Division of rows into blocks that fit into the caches of the processor and the free memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from rfbench.memory import count_free_bytes

# Sizes from which the number of rows in a block of features is computed, explained in
# `choose_block_rows`. Measured CPU time of a ridge fit (`python -m scripts.bench.doubled`) with
# half and with twice each value, as a multiple of the time with this value: _BLOCK_BYTES 1.20 and
# 1.07 (M = 100 features), _SMALL_ROWS 0.99 and 0.98 (M = 400), _LARGE_ROWS 1.05 and 1.08 (float32),
# and _L3_BYTES 1.01 and 1.01 (M = 1,200 and 1,700).
_BLOCK_BYTES = 5 * 2**17
_L3_BYTES = 2**24
_LARGE_ROWS, _SMALL_ROWS = 1024, 384

# A block of features and its products use at most the share _MEMORY_SHARE of the free memory. The
# share was chosen without a measurement. With twice the share, eight workers could request all free
# memory. A block has at least _LEAST_ROWS rows, because matrix products with very few rows are
# slow.
_MEMORY_SHARE = 1 / 16
_LEAST_ROWS = 16


def choose_block_rows(n_columns: int, itemsize: int = 8) -> int:
    """Return the number of rows per block with which features are computed fastest.

    A row has `n_columns` features of `itemsize` bytes each. The block fits into the L2 cache (640
    KiB), but has at least 384 rows, because matrix products with fewer rows are slow. The minimum
    is 1024 rows for float32 and for many columns. If there is little free memory, the block uses at
    most a sixteenth of it, but has at least 16 rows.
    """
    # 640 KiB leave space in the L2 cache for the copies that BLAS makes. More rows are needed in
    # two cases. If the Gram matrix exceeds the L3 cache, the matrix is read from memory for each
    # block. In float32, the product of each block is added to a total in float64.
    row_bytes = itemsize * max(n_columns, 1)
    large = itemsize < 8 or 8 * n_columns**2 > _L3_BYTES
    floor = _LARGE_ROWS if large else _SMALL_ROWS
    wanted = max(_BLOCK_BYTES // row_bytes, floor)
    return max(_LEAST_ROWS, min(wanted, int(_MEMORY_SHARE * count_free_bytes()) // row_bytes))


def is_float_matrix(a: Any) -> bool:
    """Return True if `a` is a writable, C-contiguous matrix of type float64 or float32."""
    return (
        isinstance(a, np.ndarray)
        and a.ndim == 2
        and a.dtype in (np.float64, np.float32)
        and a.flags.c_contiguous
        and a.flags.writeable
        and a.flags.aligned
    )


def read_rows(X: Any, indices: slice | npt.NDArray[np.integer[Any]], dtype: np.dtype[Any]) -> Any:
    """Return the rows of a matrix with the given indices.

    Rows of a sparse CSR matrix are returned as a CSR matrix. Other rows are returned as a
    C-contiguous array of the type `dtype`.
    """
    is_sparse = bool(sparse.issparse(X))
    return X[indices] if is_sparse else np.ascontiguousarray(X[indices], dtype)


def iterate_group_blocks(
    n: int, codes: npt.NDArray[np.intp] | None, rows: int
) -> Iterator[tuple[int, slice | npt.NDArray[np.intp]]]:
    """Divide n rows into blocks of at most `rows` rows that are in the same group.

    For each block, the number of its group and the indices of its rows are yielded. The group of
    row i is ``codes[i]``. If `codes` is None, all rows are in group 0.
    """
    if codes is None:
        for start in range(0, n, rows):
            yield 0, slice(start, min(start + rows, n))
        return
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes))
    for part, end in enumerate(ends):
        begin = ends[part - 1] if part else 0
        for start in range(begin, end, rows):
            picked = order[start : min(start + rows, end)]
            first, last = int(picked[0]), int(picked[-1]) + 1
            yield part, slice(first, last) if last - first == picked.size else picked
