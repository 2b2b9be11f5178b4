"""Rows on disk for the tests."""

import numpy as np

from rfbench.rows import RowSource


def source_of(folder, X, sizes=(7, 1)):
    """Write rows into parts of these sizes and one with the rest; return their source."""
    parts = np.split(X, np.cumsum(sizes))
    paths = tuple(folder / f"{number}.npy" for number in range(len(parts)))
    for path, part in zip(paths, parts, strict=True):
        np.save(path, part)
    ends = np.cumsum([len(part) for part in parts])
    return RowSource(paths, ends, X.shape[1], np.arange(len(X)))
