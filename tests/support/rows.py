"""Rows on disk for the tests."""

import numpy as np

from rfbench.rows import RowSource


def source_of(folder, X):
    """Write rows into a file; return their source."""
    np.save(folder / "rows.npy", X)
    return RowSource(folder / "rows.npy", X.shape[1], np.arange(len(X)))
