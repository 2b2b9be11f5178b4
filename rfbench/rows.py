"""Rows on disk, which are read, scaled and converted in blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rfbench.arrays import FloatArray, Rows
from rfbench.errors import MethodError

DOUBLE = np.dtype(np.float64)
Picked = slice | NDArray[np.integer[Any]] | NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class RowSource:
    """Rows of an `.npy` file that are read from disk on demand, with shape (n, n_columns).

    ``source[picked]`` reads rows into an array, and applies the functions in `steps` to them.
    ``source.select_rows(picked)`` returns a source with a subset of the rows. The file is mapped
    only while rows are read, so that it does not add to the memory of the process.
    """

    path: Path
    n_columns: int
    # row numbers in the file, in the order in which the rows are returned
    numbers: NDArray[np.int64]
    # dtype of the arrays that are returned
    dtype: np.dtype[Any] = DOUBLE
    # Functions that convert a block of rows, in this order. A block is a float64 array of shape (b,
    # n_columns).
    steps: tuple[Callable[[FloatArray], FloatArray], ...] = ()

    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of columns."""
        return len(self.numbers), self.n_columns

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, picked: Picked) -> FloatArray:
        rows = np.load(self.path, mmap_mode="r")[self.numbers[picked]]
        block: FloatArray = np.asarray(rows, dtype=np.float64)
        for step in self.steps:
            block = step(block)
        return block.astype(self.dtype, copy=False)

    def select_rows(self, picked: Picked) -> RowSource:
        """Return a source that contains only the rows `picked`."""
        return replace(self, numbers=self.numbers[picked])

    def map_blocks(self, step: Callable[[FloatArray], FloatArray]) -> RowSource:
        """Return a source of the same rows that applies `step` to each block of rows after reading.

        Functions that were added earlier are applied first.
        """
        return replace(self, steps=(*self.steps, step))

    def astype(self, dtype: Any) -> RowSource:
        """Return a source of the same rows that returns arrays with a different data type."""
        return replace(self, dtype=np.dtype(dtype))

    def __array__(self, *_: Any, **__: Any) -> FloatArray:
        raise MethodError(
            f"The method needs all {len(self):,} rows in memory.",
            "Rows on disk are only read in blocks.",
            "Set `rows:` to a number of rows that fits into memory, or use another method.",
        )


def select_rows(X: Rows, chosen: Picked) -> Rows:
    """Return a subset of the rows X: a `RowSource` for rows on disk, else an array."""
    return X.select_rows(chosen) if isinstance(X, RowSource) else X[chosen]
