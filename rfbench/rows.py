"""Rows that stay on disk and are read, scaled and cast block by block."""

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
    """Some rows of a table in an `.npy` file, as a method sees them; shape (n, n_columns).

    ``source[picked]`` reads rows into an array, ``source.take(picked)`` is the source of some of
    them. The file does not stay mapped, so that what was read counts in no process's memory. A
    source can be pickled: it is a path, row numbers and functions.
    """

    path: Path
    n_columns: int
    numbers: NDArray[np.int64]  # which rows of the file these are, in their order
    dtype: np.dtype[Any] = DOUBLE  # of what is read
    # Functions applied in turn to each block, a float64 array of shape (b, n_columns).
    steps: tuple[Callable[[FloatArray], FloatArray], ...] = ()

    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return len(self.numbers), self.n_columns

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, picked: Picked) -> FloatArray:
        rows = np.load(self.path, mmap_mode="r")[self.numbers[picked]]
        block: FloatArray = np.asarray(rows, dtype=np.float64)
        for step in self.steps:
            block = step(block)
        return block.astype(self.dtype, copy=False)

    def take(self, picked: Picked) -> RowSource:
        """Return the source of some of the rows."""
        return replace(self, numbers=self.numbers[picked])

    def mapped(self, step: Callable[[FloatArray], FloatArray]) -> RowSource:
        """Return the source of the same rows with one more step made of each block."""
        return replace(self, steps=(*self.steps, step))

    def astype(self, dtype: Any) -> RowSource:
        """Return the source of the same rows in another type."""
        return replace(self, dtype=np.dtype(dtype))

    def __array__(self, *_: Any, **__: Any) -> FloatArray:
        raise MethodError(
            f"A method needs all {len(self):,} rows in memory.",
            "Rows on disk are read block by block.",
            "Set `rows:` to a number of rows that memory holds, or take another method.",
        )


def select_rows(X: Rows, chosen: Picked) -> Rows:
    """Return some rows: of rows on disk their source, of others the rows themselves."""
    return X.take(chosen) if isinstance(X, RowSource) else X[chosen]
