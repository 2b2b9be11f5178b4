"""Comparison of `rfbench choose` with boosting and linear models, on rows that it did not get.

    python -m scripts.bench.choose airfoil.csv:y digits.csv:y:classification --budget 30 --jobs 1

A quarter of the rows of each table is held out. The chosen model is compared with its own features
and its blend, with scikit-learn's boosting at its defaults, and with a linear model, all fitted on
the same rows.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from rfbench.choosing.choice import choose
from rfbench.choosing.losses import compare_losses, loss
from rfbench.choosing.table import LabelledTable, make_table
from rfbench.datasets.preparation import Preparation


def main() -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="+", metavar="FILE:TARGET[:TASK]")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-header", action="store_true", help="the files have no names")
    args = parser.parse_args()
    for name in args.tables:
        file, target, *task = name.split(":")
        reading: dict[str, Any] = {"header": False} if args.no_header else {}
        column = int(target) if target.lstrip("-").isdigit() else target
        table = make_table(file, target=column, task=(task or [None])[0], **reading)
        print(line(table, args.budget, args.jobs, args.seed), flush=True)


def line(table: LabelledTable, budget: float, jobs: int | None, seed: int) -> str:
    """Return the result for a table."""
    metric = "error" if table.n_classes else "rmse"
    ((given, unseen),) = replace(table, seed=1000 + seed, time=None).split(0.25)
    X, y = table.X.iloc[given], table.labels[given]
    begun = time.monotonic()
    with TemporaryDirectory() as folder:
        choice = choose(
            X, y, metric=metric, budget=budget, n_jobs=jobs, out=Path(folder), seed=seed
        )
    wall = time.monotonic() - begun
    models = {"taken": choice.model} | {
        family: choice.others[family] for family in ("features", "blend") if family in choice.others
    }
    models |= opponents(not table.n_classes)
    losses = {}
    # While other processes run, two OpenMP threads can wait for each other for minutes.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for name, model in models.items():
            fitted = model if name == "taken" else model.fit(X, y)
            predict = fitted.predict_proba if table.n_classes else fitted.predict
            losses[name] = loss(metric, table.y[unseen], predict(table.X.iloc[unseen]))
    rivals = [each for name, each in losses.items() if name != "taken"]
    best = min(rivals, key=lambda each: each.value)
    reported = choice.card["take"]
    taken, boosting = losses["taken"], losses["boosting"]
    apart = compare_losses(taken, best, metric)
    # both errors may be 0
    error = np.hypot(taken.standard_error, reported["standard_error"]) or 1.0
    values = " ".join(f"{name} {each.value:.4g}" for name, each in losses.items())
    held = taken.value <= 1.05 * best.value or apart.verdict != "worse"
    features = ratio(losses.get("features", boosting).value, boosting.value)
    return (
        f"{table.name} n {len(given)}: {values} | takes {reported['label']}: "
        f"{ratio(taken.value, best.value):.3f} of the best, {'holds' if held else 'FAILS'} | "
        f"features {features:.3f} of boosting | reported {reported['error']:.4g}, "
        f"{(taken.value - reported['error']) / error:+.1f} standard errors | {wall:.0f} s, "
        f"load {os.getloadavg()[0]:.1f}"
    )


def ratio(value: float, other: float) -> float:
    """Return the quotient of two losses; 1 if both are 0."""
    return value / other if other else (1.0 if value == 0 else float("inf"))


def opponents(regression: bool) -> dict[str, Any]:
    """Return boosting at its defaults and a linear model, including the preparation of tables."""
    if regression:
        boosting: Any = HistGradientBoostingRegressor(random_state=0)
        linear: Any = RidgeCV(alphas=np.logspace(-3, 5, 17))
    else:
        boosting = HistGradientBoostingClassifier(random_state=0)
        linear = LogisticRegressionCV(
            Cs=5, cv=3, max_iter=300, l1_ratios=(0.0,), use_legacy_attributes=False
        )
    return {
        "boosting": make_pipeline(Preparation(), boosting),
        "linear": make_pipeline(Preparation(), StandardScaler(), linear),
    }


if __name__ == "__main__":
    main()
