"""Find out for your own table how many random features it needs, and which are better.

python scripts/examples/table.py [FILE.csv TARGET]
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import rfbench

OUT = Path("results/examples")
if len(sys.argv) > 2:
    file, target = Path(sys.argv[1]), sys.argv[2]
else:  # 500 flats that do not exist
    random = np.random.default_rng(0)
    area, year = random.uniform(20, 120, 500), random.integers(1900, 2020, 500)
    price = 3000 * area * (1.5 + np.sin(year / 20)) + 9000 * random.standard_normal(500)
    OUT.mkdir(parents=True, exist_ok=True)
    file, target = OUT / "flats.csv", "price"
    pd.DataFrame({"area": area, "year": year, "price": price}).to_csv(file, index=False)

config = {
    "dataset": {"file": str(file.absolute()), "target": target},
    "split": {"test_size": 0.25},
    "scaling": "standard",
    "kernel": "gaussian",
    "bandwidth": "median",
    "M": [20, 100],
    "samplers": ["rks", "nystroem"],
    "solver": {"name": "ridge", "alphas": "log:1e-6:1e2:9", "selection": "cv5"},
    "trials": 5,
}
results = rfbench.run(config, out=OUT, name="table")
compared = rfbench.compare(results, "nystroem", "rks")
print(compared[["M", "metric", "mean_first", "mean_second", "low", "high"]].to_string(index=False))
