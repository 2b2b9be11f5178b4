"""Comparison of `choose` with FLAML and boosting on the suite, in the same time.

    python -m scripts.bench.choose_suite --budget 60 --seeds 3       # six hours on two quiet cores
    python -m scripts.bench.choose_suite --tables yacht airfoil --seeds 1 --budget 10
    python -m scripts.bench.choose_suite --seeds 0                   # the summary of earlier runs

A quarter of the rows of a table is held out. `choose`, FLAML 2.7.0 and boosting at its defaults are
fitted on the other rows. The first two have the same budget, number of cores and metric: log-loss
or RMSE. FLAML is installed into an environment of its own (`--environment`). A line of the CSV is
one seed of one table. Lines that are there are not measured again, so an interrupted run resumes.

The summary is over tables. The error of a table is the median over the seeds, and at least 0.001 of
the error of the constant. Twins count as one table, with the geometric mean of their ratios.
"""

from __future__ import annotations

import argparse
import itertools
import os
import subprocess
import tempfile
import time
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from rfbench import datasets
from rfbench.choosing.choice import choose
from rfbench.choosing.losses import compute_loss
from rfbench.choosing.table import LabeledTable, make_labeled_table
from scripts.bench.tables import SuiteTable, append_line, list_tables

NUMBER_MODELS = HistGradientBoostingRegressor, DummyRegressor
FLAML = "flaml[automl]==2.7.0"
METHODS = ("choose", "flaml", "boosting", "constant")
COLUMNS = ["table", "seed", "budget", "n_test", "metric", *METHODS]
COLUMNS += [f"{method}_wrong" for method in METHODS]  # misclassification in percent
COLUMNS += ["choose_seconds", "flaml_seconds", "choose_takes", "flaml_takes", "load"]
FLOOR, HELD_OUT, FAR, LEAST_TEST = 0.001, 0.25, 1.05, 1_000  # of the protocol
# The largest values of the four numbers on the half that is not developed on.
BARS = {"boosting": 0.90, "flaml": 0.96, "flaml without two": 1.00, "share above 1.05": 0.15}


def make_environment(folder: Path) -> Path:
    """Install FLAML into a new environment, and return its Python."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    if subprocess.run([python, "-c", "import flaml.automl"], check=False).returncode:
        subprocess.run([python, "-m", "pip", "install", "--quiet", FLAML], check=True)
    return python


def fit_flaml(
    python: Path, X: Any, y: NDArray[Any], test: Any, metric: str, args: Sequence[object]
) -> tuple[NDArray[Any], NDArray[Any], str]:
    """Return the predictions of FLAML, the classes of its columns, and its best estimator."""
    with tempfile.TemporaryDirectory() as name:
        rows, made = Path(name) / "rows.npz", Path(name) / "made.npz"
        named = {"log-loss": "log_loss", "rmse": "rmse"}[metric]
        np.savez(rows, X=X, y=y, test=test, metric=named)
        script = Path(__file__).with_name("flaml_fit.py")
        subprocess.run([python, script, rows, made, *map(str, args)], check=True)
        said = np.load(made)
        return said["said"], said["classes"], str(said["best"])


def measure(
    table: LabeledTable, budget: float, seed: int, jobs: int, python: Path
) -> dict[str, Any]:
    """Return the errors of all methods on rows that none of them got."""
    K, metric = table.n_classes, "log-loss" if table.n_classes else "rmse"
    order = np.random.default_rng(1000 + seed).permutation(len(table.y))
    unseen, given = np.split(order, [round(HELD_OUT * len(order))])
    X, y, test = table.X.iloc[given], table.labels[given], table.X.iloc[unseen]
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        choice = choose(X, y, metric=metric, budget=budget, n_jobs=jobs, seed=seed, out=name)
    middle = time.monotonic()
    words = (budget, seed, jobs)
    *flaml, best = fit_flaml(python, X.to_numpy(), y, test.to_numpy(), metric, words)
    boosting, constant = (HistGradientBoostingClassifier, DummyClassifier) if K else NUMBER_MODELS
    line: dict[str, Any] = {
        "n_test": len(unseen), "metric": metric, "load": round(os.getloadavg()[0], 1),
        "choose_seconds": round(middle - start, 1), "choose_takes": choice.card["take"]["label"],
        "flaml_seconds": round(time.monotonic() - middle, 1), "flaml_takes": best,
    }  # fmt: skip
    said = {"flaml": flaml}
    models = {"boosting": boosting(random_state=0).fit(X, y), "constant": constant().fit(X, y)}
    for name, model in {"choose": choice.model, **models}.items():
        said[name] = (
            [model.predict_proba(test), model.classes_] if K else [model.predict(test), np.empty(0)]
        )
    for name, (scores, classes) in said.items():
        if K:  # a method may not know a class
            every = np.zeros((len(unseen), K))
            every[:, np.searchsorted(table.classes, classes)] = scores
            line[f"{name}_wrong"] = compute_loss("error", table.y[unseen], every).value
            scores = every
        line[name] = compute_loss(metric, table.y[unseen], scores).value
    return line


def compute_ratios(rows: pd.DataFrame, tables: Sequence[SuiteTable]) -> pd.DataFrame:
    """Return the ratios of the errors of each table, with its half; twins have equal `twin`."""
    errors = rows.groupby("table")[[*METHODS, "n_test"]].median()
    errors = errors.clip(lower=FLOOR * errors["constant"], axis=0)
    known = pd.DataFrame(tables).set_index("file")
    found = known.join(errors, how="inner")
    for other in ("boosting", "flaml"):
        found[f"to {other}"] = found["choose"] / found[other]
    return found


def summarize(ratios: pd.DataFrame) -> dict[str, float]:
    """Return the numbers that have bars, for the tables of one half."""
    logarithms: Any = np.log(ratios[["to boosting", "to flaml"]])
    means = logarithms.groupby(ratios["twin"]).mean()
    flaml = means["to flaml"].sort_values()
    large = ratios[ratios["n_test"] >= LEAST_TEST]
    return {
        "boosting": float(np.exp(means["to boosting"].mean())),
        "flaml": float(np.exp(flaml.mean())),
        "flaml without two": float(np.exp(flaml.iloc[2:].mean())),
        "share above 1.05": float((large["to flaml"] > FAR).mean()),
    }


def main() -> None:
    """Measure the tables that have no line yet, and print the summary of both halves."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", nargs="+", metavar="FILE", help="names of files (default: all)")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--environment", type=Path, default=Path("build/flaml"))
    parser.add_argument("--out", type=Path, default=Path("results/bench/choose_suite.csv"))
    args = parser.parse_args()
    tables = [table for table in list_tables() if table.file in (args.tables or [table.file])]
    rows = pd.read_csv(args.out) if args.out.exists() else pd.DataFrame(columns=COLUMNS)
    done = set(zip(rows["table"], rows["seed"], rows["budget"], strict=True))
    for seed, table in itertools.product(range(args.seeds), tables):
        if (table.file, seed, args.budget) not in done:
            python, data = make_environment(args.environment), datasets.load(table.name)
            y = data.y if data.task != "regression" else data.y.astype(float)
            whole = make_labeled_table(pd.DataFrame(np.asarray(data.X)).add_prefix("x"), y)
            line = measure(whole, args.budget, seed, args.jobs, python)
            line |= {"table": table.file, "seed": seed, "budget": args.budget}
            append_line(args.out, {key: line.get(key) for key in COLUMNS})
    rows = pd.read_csv(args.out)
    ratios = compute_ratios(rows[rows["budget"] == args.budget], tables)
    print(ratios.drop(columns="name").to_string(float_format="{:.4g}".format))
    for words, developed in (("to develop on", True), ("to judge on", False)):
        half = ratios[~ratios["is_apart"] & (ratios["is_developed"] == developed)]
        for name, value in summarize(half).items():
            print(f"{len(half)} tables {words}: {name} {value:.3f}, bar {BARS[name]:.2f}")
        for ratio in ("to boosting", "to flaml"):
            print(f"{len(half)} tables {words}: median {ratio} {half[ratio].median():.3f}")


if __name__ == "__main__":
    main()
