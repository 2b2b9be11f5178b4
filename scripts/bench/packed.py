"""A made-up problem of the shape of HIGGS, packed, and a configuration that runs it.

    python -m scripts.bench.packed FOLDER [ROWS] > FOLDER.yaml

11,000,000 rows of 28 columns in float32 by default, 1.2 GB; `data/README.md` has what a run took.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rfbench.arrays import FloatArray
from rfbench.datasets import packed
from rfbench.datasets.columns import Parsed

ROWS, COLUMNS, AT_ONCE = 11_000_000, 28, 100_000
CONFIGURATION = """\
dataset: {{path: {folder}}}
split: {{test_size: 0.1}}
scaling: standard
dtype: float32
M: 1000
samplers: [rks]
solver: {{name: ridge, alphas: 1.0}}
trials: 1
"""


def make(folder: Path, rows: int = ROWS) -> None:
    """Write the problem: two classes, parted by a product and a sine of the columns, with noise."""
    labels = np.empty(rows, dtype=np.int64)

    def blocks() -> Iterator[FloatArray]:
        generator = np.random.default_rng(0)
        for start in range(0, rows, AT_ONCE):
            X = generator.standard_normal((min(AT_ONCE, rows - start), COLUMNS), dtype=np.float32)
            score = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + generator.standard_normal(len(X)) / 2
            labels[start : start + len(X)] = score > 0
            yield X

    about = {"task": "binary", "classes": {"0": None, "1": None}, "note": "Made up."}
    packed.write(folder, Parsed(blocks(), labels, about=about), dtype="float32")


if __name__ == "__main__":
    place = Path(sys.argv[1]).absolute()
    make(place, *map(int, sys.argv[2:3]))
    sys.stdout.write(CONFIGURATION.format(folder=place))
