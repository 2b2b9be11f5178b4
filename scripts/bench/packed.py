"""Generate a problem with the shape of HIGGS in a folder of arrays, and print a configuration.

    python -m scripts.bench.packed FOLDER [ROWS] > FOLDER.yaml

The default is 11,000,000 rows of 28 columns in float32, 1.2 GB; `data/README.md` has the time of a
run.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

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
    """Write two classes that are separated by a product and a sine of columns, with noise."""
    folder.mkdir()
    X: Any = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (rows, COLUMNS))
    labels, generator = np.empty(rows, dtype=np.int64), np.random.default_rng(0)
    for start in range(0, rows, AT_ONCE):
        block = generator.standard_normal((min(AT_ONCE, rows - start), COLUMNS), dtype=np.float32)
        score = block[:, 0] * block[:, 1] + np.sin(2 * block[:, 2])
        X[start : start + len(block)] = block
        labels[start : start + len(block)] = score + generator.standard_normal(len(block)) / 2 > 0
    np.save(folder / "y.npy", labels)


if __name__ == "__main__":
    place = Path(sys.argv[1]).absolute()
    make(place, *map(int, sys.argv[2:3]))
    sys.stdout.write(CONFIGURATION.format(folder=place))
