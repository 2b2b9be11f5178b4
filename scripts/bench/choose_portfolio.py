"""Settings of boosting and of extra trees that complement each other, for contenders.yaml.

    python -m scripts.bench.choose_portfolio --cpu-minutes 40
    python -m scripts.bench.choose_portfolio --cpu-minutes 0   # from the stored losses alone

Each setting is validated in three folds of at most 3,000 rows, on the half of the suite to develop
on. A line of the CSV is a setting on a table, with its loss (log-loss or RMSE) and its CPU seconds.
Lines that are there are not measured again, so an interrupted run resumes. Then settings are
selected one after another: each one reduces most the geometric mean, over the tables, of the
smallest loss of boosting at its defaults and of the settings that are already selected. The
settings are printed in this order, as lines for contenders.yaml.
"""

from __future__ import annotations

import argparse
import itertools
import json
import textwrap
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from sklearn.model_selection import PredefinedSplit, cross_val_predict
from threadpoolctl import threadpool_limits

from rfbench import datasets, plugins
from rfbench.choosing.losses import compute_loss
from rfbench.choosing.rounds import CONTENDERS, draw_tree_settings
from rfbench.choosing.table import shuffle_within_classes
from scripts.bench.tables import append_line, list_tables

OUT = Path("results/bench/choose_portfolio.csv")
COLUMNS = ["table", "setting", "loss", "cpu_seconds"]
MOST_ROWS, FOLDS, SIZE = 3_000, 3, 10
SMALLEST_LOSS = 1e-6  # keeps the logarithm of a loss finite
DRAWN = {"boosting": 20, "extra trees": 6}


def list_settings() -> dict[str, dict[str, Any]]:
    """Return the settings by their text; the first one is boosting at its defaults."""
    drawn = {kind: draw_tree_settings(kind, count, 0) for kind, count in DRAWN.items()}
    ordered = [(0.0, "boosting", dict[str, Any]())]
    for kind, every in drawn.items():  # in turn, so that each part of the list has both kinds
        ordered += [((i + 1) / len(every), kind, each) for i, each in enumerate(every)]
    return {
        f"{kind} {json.dumps(parameters)}": {"kind": kind, "parameters": parameters}
        for _, kind, parameters in sorted(ordered, key=lambda each: each[0])
    }


def measure(name: str, kind: str, parameters: dict[str, Any]) -> tuple[float, float]:
    """Return the validation loss of a setting on a table, and its CPU seconds."""
    data = datasets.load(name)
    X, y, has_classes = np.asarray(data.X), data.y, data.task != "regression"
    codes = y if has_classes else np.zeros(len(y), dtype=np.int64)
    order = shuffle_within_classes(codes, 0)
    share = min(1.0, MOST_ROWS / len(y))
    counts = np.bincount(codes)
    kept = (order < np.maximum(FOLDS, np.round(share * counts))[codes]) & (counts[codes] >= FOLDS)
    X, y, folds = X[kept], y[kept], order[kept] % FOLDS
    if has_classes:
        y = np.unique(y, return_inverse=True)[1]
    path = CONTENDERS["estimators"][kind]["classes" if has_classes else "rmse"]
    estimator = plugins.load_class(path)(random_state=0, **parameters)
    parts = PredefinedSplit(folds)
    start = time.process_time()
    method = "predict_proba" if has_classes else "predict"
    said: Any = cross_val_predict(estimator, X, y, cv=parts, method=method)
    seconds, metric = time.process_time() - start, "log-loss" if has_classes else "rmse"
    return compute_loss(metric, np.asarray(y), said).value, seconds


def choose_settings(losses: pd.DataFrame, size: int = SIZE) -> list[tuple[str, float, float]]:
    """Return up to `size` settings that complement the first one, the most useful one first.

    `losses` has a row for each table and a column for each setting. Settings without a loss on a
    table are left out. Each setting is returned with two geometric means of ratios to the first
    setting: its own, and the one of the best setting up to it.
    """
    ratios: Any = np.log(losses.dropna(axis=1).clip(lower=SMALLEST_LOSS))
    ratios = ratios.sub(ratios.iloc[:, 0], axis=0)
    best, chosen = ratios.iloc[:, 0], list[tuple[str, float, float]]()
    for _ in range(size):
        means = ratios.clip(upper=best, axis=0).mean()
        if means.min() >= best.mean():  # the other settings are best on no table
            break
        text = str(means.idxmin())
        best = np.minimum(best, ratios[text])
        chosen.append((text, float(np.exp(ratios[text].mean())), float(np.exp(best.mean()))))
    return chosen


def read_losses(file: Path) -> pd.DataFrame:
    """Return the stored losses: a row for each table, a column for each setting in their order."""
    losses = pd.read_csv(file).pivot(index="table", columns="setting", values="loss")
    return losses[[text for text in list_settings() if text in losses]]


def main() -> None:
    """Measure the settings that have no line yet, and print the portfolio."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cpu-minutes", type=float, default=40.0, help="limit of this run")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    settings = list_settings()
    rows = pd.read_csv(args.out) if args.out.exists() else pd.DataFrame(columns=COLUMNS)
    done = set(zip(rows["table"], rows["setting"], strict=True))
    for text, table in itertools.product(settings, list_tables()):
        used = table.is_developed and not table.is_apart and table.file == table.twin
        late = time.process_time() >= 60 * args.cpu_minutes
        if not used or late or (table.file, text) in done:
            continue
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value, seconds = measure(table.name, **settings[text])
        line = [table.file, text, f"{value:.6g}", f"{seconds:.3g}"]
        append_line(args.out, dict(zip(COLUMNS, line, strict=True)))
    for text, alone, best in choose_settings(read_losses(args.out)):
        shown = yaml.safe_dump(settings[text], default_flow_style=True, width=100)
        print(f"  - {textwrap.indent(shown, '    ').strip()}  # {alone:.3f}, {best:.3f}")


if __name__ == "__main__":
    main()
