"""`rfbench choose` against a search by hand: the same methods, sizes and bandwidths, no budget.

    python -m scripts.bench.choose digits cpu eeg magic04 letter --budget 60
    python -m scripts.bench.choose prices.csv --target price

The hand takes every method at every size with five bandwidths, and the one with the smallest
cross-validated loss; its error is that of the same draws on the same held-out rows.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from rfbench import datasets, results
from rfbench.choosing import Choice, choose_for, middle, stages
from rfbench.config import DatasetSpec
from rfbench.experiment.context import Context
from rfbench.experiment.plan import plan
from rfbench.experiment.worker import Limits

SIZES = (100, 200, 400)
OUT = Path("results/bench/choose")


def main() -> None:
    """Print a line for each data set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", metavar="DATASET")
    parser.add_argument("--target", help="the column to predict, of a file")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    for name in given.names:
        spec: Any = {"file": name, "target": given.target} if given.target else name
        folder = given.out / Path(name).name
        begun = time.monotonic()
        chosen = choose_for(spec, budget=given.budget, out=folder)
        wall = time.monotonic() - begun
        label, M, error, cpu = by_hand(spec, chosen, folder)
        mine = chosen.features
        more = mine.error / error - 1
        print(
            f"{name}: {mine.label} {mine.M} {mine.error:.4g} | hand {label} {M} {error:.4g} | "
            f"{more:+.1%}, {(mine.error - error) / chosen.rows_error:+.2f} standard errors | "
            f"{wall:.0f} s, {chosen.start_up:.0f} s of them start-up; {cpu:.0f} CPU s by hand",
            flush=True,
        )


def by_hand(spec: Any, chosen: Choice, folder: Path) -> tuple[str, int, float, float]:
    """Return label, M and error of the best of the whole grid, and what it cost."""
    known = results.read(folder).rows.iloc[0]
    own = DatasetSpec.model_validate(spec)
    data = datasets.load(own.name, parameters=own.parameters or None)
    sparse = not isinstance(data.X, np.ndarray)
    shared = {
        "dataset": spec,
        "split": {"held_out": chosen.n_test, "train_size": chosen.n_train},
        "scaling": "none" if sparse else "standard",
        "target": "raw",
        "metric": chosen.metric,
        "timing": "isolated",
        "trials": 1,
        "seed": int(known["seed"]),
    }
    runs = stages.Runs(folder.with_name(f"{folder.name}-by-hand"), shared, 2, Limits(None, 120.0))
    probe = plan(runs.experiment(stages.PLAIN, 50, bandwidth=1.0))[0]
    median = middle(Context().prepared(probe))
    grid = [stages.rounded(median * factor) for factor in stages.FIRST_FACTORS]
    solver = {"alphas": stages.ALPHAS, "selection": "cv5"}
    wanted = [
        runs.experiment(label, M, bandwidth={"cv": grid}, solver=solver)
        for M in SIZES
        for label in stages.METHODS
        if chosen.n_train >= M
    ]
    never = time.monotonic() + 1e6
    rows = runs.run(wanted, "search", never)
    rows = rows[rows["status"] == "ok"]
    best = rows.iloc[int(rows["selection_loss"].argmin())]
    fixed = runs.experiment(
        best["label"],
        int(best["M"]),
        bandwidth=float(best["bandwidth"]),
        solver={"alphas": float(best["alpha"]), "selection": "fixed"},
        trials=5,
    )
    error = runs.run([fixed], "check", never)[chosen.metric].to_numpy().mean()
    cpu = sum(rows[name.replace("t_", "cpu_", 1)].sum() for name in stages.TIMES)
    return str(best["label"]), int(best["M"]), float(error), float(cpu)


if __name__ == "__main__":
    main()
