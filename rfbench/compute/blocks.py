"""How rows are read: block by block, of a size that suits the caches and the memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from rfbench.memory import count_free_bytes

# Measured by `python -m scripts.bench.doubled`, in CPU time of a ridge fit: _BLOCK_BYTES halved
# 1.20, doubled 1.07 (M = 100); _SMALL_ROWS .99 and .98 (M = 400); _LARGE_ROWS 1.05 and 1.08
# (float32); _L3_BYTES, around which the two swap, 1.01 and 1.01 (M = 1,200 and 1,700). See
# `choose_block_rows` for what they trade.
_BLOCK_BYTES = 5 * 2**17
_L3_BYTES = 2**24
_LARGE_ROWS, _SMALL_ROWS = 1024, 384

# Chosen without a measurement, for machines that are nearly full: several workers each hold a block
# and what is made of it. Doubled, eight of them could ask for all free memory. Below 16 rows, of
# _LEAST_ROWS, products become matrix-vector products.
_MEMORY_SHARE = 1 / 16
_LEAST_ROWS = 16


def choose_block_rows(n_columns: int, itemsize: int = 8) -> int:
    """Choose the rows of a block of features of `itemsize` bytes each.

    As many rows as 640 KiB hold, which leaves room in the L2 cache for what the products pack, but
    at least 384 (fewer slow the products down more than a full cache does); at least 1024 where the
    Gram matrix itself leaves the L3 cache and has to be paid for in memory traffic, and in float32,
    where that of each block is added to a total in float64. Never more than
    a sixteenth of the free memory holds, but 16 in any case.
    """
    row_bytes = itemsize * max(n_columns, 1)
    large = itemsize < 8 or 8 * n_columns**2 > _L3_BYTES
    floor = _LARGE_ROWS if large else _SMALL_ROWS
    wanted = max(_BLOCK_BYTES // row_bytes, floor)
    return max(_LEAST_ROWS, min(wanted, int(_MEMORY_SHARE * count_free_bytes()) // row_bytes))


def is_float_matrix(a: Any) -> bool:
    """Tell whether an array is what the compiled loops take."""
    return (
        isinstance(a, np.ndarray)
        and a.ndim == 2
        and a.dtype in (np.float64, np.float32)
        and a.flags.c_contiguous
        and a.flags.writeable
        and a.flags.aligned
    )


def read_rows(X: Any, picked: slice | npt.NDArray[np.integer[Any]], dtype: np.dtype[Any]) -> Any:
    """Return some rows of a matrix: CSR as CSR, all else as a C-contiguous array of `dtype`."""
    is_sparse = bool(sparse.issparse(X))
    return X[picked] if is_sparse else np.ascontiguousarray(X[picked], dtype)


def iterate_blocks(
    n: int, codes: npt.NDArray[np.intp] | None, rows: int
) -> Iterator[tuple[int, slice | npt.NDArray[np.intp]]]:
    """Yield the group and the row numbers of each block; a block lies in one group."""
    if codes is None:
        for start in range(0, n, rows):
            yield 0, slice(start, min(start + rows, n))
        return
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes))
    for group, end in enumerate(ends):
        begin = ends[group - 1] if group else 0
        for start in range(begin, end, rows):
            picked = order[start : min(start + rows, end)]
            first, last = int(picked[0]), int(picked[-1]) + 1
            yield group, slice(first, last) if last - first == picked.size else picked
