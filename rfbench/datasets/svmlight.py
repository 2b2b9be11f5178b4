"""The svmlight format to sparse rows, and the RCV1 topics."""

from __future__ import annotations

import io
import math

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rfbench.datasets.tables import broken
from rfbench.errors import DataError


def parse(content: bytes, name: str, columns: int) -> tuple[csr_array, NDArray[np.float64]]:
    """Read rows of ``label index:value ...``, indices counted from 1; return rows and labels.

    `name` is that of the file, for errors; the largest index in a file may be below `columns`.
    DataError if there is no row, or if a line does not fit the format.
    """
    from sklearn.datasets import load_svmlight_file

    try:
        X, labels = load_svmlight_file(io.BytesIO(content), n_features=columns, zero_based=False)
    except (ValueError, OverflowError, IndexError) as error:
        raise _diagnose(content, name, columns) from error
    if X.shape[0] == 0:
        raise broken(name, None, "no rows")
    if not (np.isfinite(X.data).all() and np.isfinite(labels).all()):
        raise _diagnose(content, name, columns)
    return csr_array(X), np.asarray(labels, dtype=np.float64)


def line_of(content: bytes, row: int) -> int:
    """Return the number of the line that a row (from 0) stands on."""
    lines = enumerate(content.split(b"\n"), start=1)
    return [number for number, line in lines if line.split(b"#")[0].strip()][row]


def _diagnose(content: bytes, name: str, columns: int) -> DataError:
    """Find the first line that does not fit the format."""
    for number, line in enumerate(content.split(b"\n"), start=1):
        label, *pairs = line.split(b"#")[0].split() or [b"0"]
        before = 0
        try:
            if not math.isfinite(float(label)):
                return broken(name, number, "the label is not a finite number")
            for pair in pairs:
                index, value = pair.split(b":", 1)
                if not before < int(index) <= columns:
                    reason = f"index {int(index)} is not in order, or not within 1..{columns}"
                    return broken(name, number, reason)
                if not math.isfinite(float(value)):
                    return broken(name, number, f"the value of index {int(index)} is not finite")
                before = int(index)
        except ValueError:
            return broken(name, number, "not of the form 'label index:value ...'")
    return broken(name, None, "not in the svmlight format")


def parse_topics(content: bytes, name: str, topic: str) -> dict[int, bool]:
    """Read lines of ``topic document 1`` and say for each document whether it has the topic."""
    has: dict[int, bool] = {}
    for number, line in enumerate(content.splitlines(), start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 3 or not fields[1].isdigit():
            raise broken(name, number, "not of the form 'topic document 1'")
        document = int(fields[1])
        has[document] = has.get(document, False) or fields[0].decode("latin-1") == topic
    return has
