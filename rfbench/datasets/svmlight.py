"""The svmlight format to sparse rows, and the RCV1 topics."""

from __future__ import annotations

import math
from array import array

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from rfbench.datasets.tables import broken


def parse(
    content: bytes, name: str, columns: int
) -> tuple[csr_array, NDArray[np.float64], list[int]]:
    """Read rows of ``label index:value ...``; return rows, labels, and the rows' lines, from 1.

    `name` is that of the file, for errors. Indices count from 1; the largest one may be below
    `columns`. DataError if there is no row, or if a line does not fit the format.
    """
    values, indices, ends = array("d"), array("i"), array("i", [0])
    labels, lines = array("d"), []
    for number, line in enumerate(content.split(b"\n"), start=1):
        text, before = line.split(b"#")[0], 0
        label, *pairs = text.split() or [b""]
        if not label:
            continue
        try:
            if b"_" in text:
                raise ValueError("Python's 1_000 is no number here.")
            labels.append(float(label))
            for pair in pairs:
                left, right = pair.split(b":")
                index, value = int(left), float(right)
                if not before < index <= columns:
                    reason = f"index {index} is not in order, or not within 1..{columns}"
                    raise broken(name, number, reason)
                if not math.isfinite(value):
                    raise broken(name, number, f"the value of index {index} is not finite")
                indices.append(index - 1)
                values.append(value)
                before = index
        except ValueError:
            raise broken(name, number, "not of the form 'label index:value ...'") from None
        if not math.isfinite(labels[-1]):
            raise broken(name, number, "the label is not a finite number")
        ends.append(len(indices))
        lines.append(number)
    if not lines:
        raise broken(name, None, "no rows")
    arrays = (np.frombuffer(values), np.frombuffer(indices, "i4"), np.frombuffer(ends, "i4"))
    return csr_array(arrays, shape=(len(lines), columns)), np.frombuffer(labels), lines


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
