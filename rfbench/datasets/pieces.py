"""Files of one's own read piece by piece, so that their size does not matter."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from rfbench.datasets import columns, files
from rfbench.errors import DataError

PIECE_BYTES = 2**25


def pieces(
    path: Path, *, header: bool = True, separator: str | None = None, rows: int | None = None
) -> Iterator[files.Table]:
    """Yield what `rfbench.datasets.files.read` returns, of so many rows at a time (None: 32 MiB).

    CSV, Parquet, svmlight and NPY are read piece by piece; other formats are one piece. Raises
    DataError: the file cannot be read, or is svmlight and mostly zeros.
    """
    with files.answered(path):
        form = files.format_of(path)
        if form in ("csv", "tsv"):
            for table in files.csv_pieces(path, header, separator, rows or _lines(path)):
                yield table, None
        elif form == "parquet":
            file = files.parquet_file(path)
            rows = rows or _rows(8 * file.metadata.num_columns)
            for batch in file.iter_batches(batch_size=rows):
                yield batch.to_pandas(), None
        elif form == "npy":
            array = np.load(path, mmap_mode="r", allow_pickle=False)
            rows = rows or _rows(8 * array.shape[-1])
            for start in range(0, len(array), rows):
                yield pd.DataFrame(array[start : start + rows]), None
        elif form == "svmlight":
            rows = rows or _lines(path)
            first, width = _svmlight_columns(path, rows)
            for X, y in _svmlight(path, rows):
                held = (X.data, X.indices - first, X.indptr)
                yield columns.tabled(path.name, sparse.csr_array(held, (len(y), width)), y)
        else:
            yield files.read(path, header=header, separator=separator)


def _rows(row_bytes: int) -> int:
    return max(1, PIECE_BYTES // row_bytes)


def _lines(path: Path) -> int:
    with files.opened(path) as stream:
        return _rows(max(1, *(len(stream.readline()) for _ in range(2))))


def _svmlight(path: Path, rows: int) -> Iterator[tuple[Any, Any]]:
    from sklearn.datasets import load_svmlight_file

    with files.opened(path) as stream:
        while lines := list(islice(stream, rows)):
            X, y = load_svmlight_file(io.BytesIO(b"".join(lines)), zero_based=True)
            if len(y):
                yield X, y


@cache
def _svmlight_columns(path: Path, rows: int) -> tuple[int, int]:
    """Return the first index that is used (0 or 1) and the number of columns."""
    least, most, stored, n = 1, 0, 0, 0
    for X, _ in _svmlight(path, rows):
        least = min(least, int(X.indices.min(initial=1)))
        most = max(most, X.shape[1])
        stored, n = stored + X.nnz, n + X.shape[0]
    if stored < n * (most - least) / columns.DENSE:
        raise DataError(
            f"{path.name} is sparse: {stored / n:.0f} values per row, of {most - least} columns.",
            "Packed rows are dense.",
            "Use the file as it is: `dataset: {file: ...}`.",
        )
    return least, most - least
