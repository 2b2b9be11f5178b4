"""Hand-made results in memory, without a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench.analysis.frame import of
from rfbench.analysis.selection import Selection
from rfbench.report.columns import INTEGER, NUMBER, TEXT
from rfbench.report.results import Results

ROW: dict[str, Any] = {
    "config": "quickstart", "protocol": "own", "dataset": "digits", "n_train": 1437, "n_test": 360,
    "d": 64, "sampler": "rks", "parameters": "{}", "kernel": "gaussian", "bandwidth": 3.25,
    "bandwidth_rule": "knn50", "feature_map": "offset", "M": 100, "columns": 100, "trial": 0,
    "solver": "ridge", "alpha": 0.1, "alpha_convention": "absolute", "alpha_scale_free": 0.01,
    "selection": "validation", "intercept": "true", "split": "random", "scaling": "standard",
    "dtype": "float64", "seed": "0", "error": 10.0, "t_pp": 0.25, "t_features": 0.5,
    "t_train": 1.25, "t_test": 0.125, "timing": "isolated", "threads": 1, "status": "ok",
    "data_hash": "1e5", "version": "0.1.0",
}  # fmt: skip


def results(
    rows: Iterable[Mapping[str, Any]],
    name: str = "quickstart",
    folder: Path | None = None,
    smoke: bool = False,
    **config: Any,
) -> Results:
    """Return results from dictionaries that say how a row differs from `ROW`.

    An empty text stands for a number that is not there. The folder need not exist.
    """
    lines = [{"label": row.get("sampler", "rks"), **ROW, **row} for row in rows]
    columns = {name: [line.get(name, "") for line in lines] for name in [*TEXT, *INTEGER, *NUMBER]}
    if not any(columns["trial_id"]):
        columns["trial_id"] = list(map(str, range(len(lines))))
    numbers = {
        name: pd.to_numeric(pd.Series([None if cell == "" else cell for cell in columns[name]]))
        for name in (*INTEGER, *NUMBER)
    }
    table = pd.DataFrame({**columns, **numbers}).astype(
        dict.fromkeys(TEXT, "str")
        | dict.fromkeys(NUMBER, "float64")
        | dict.fromkeys(INTEGER, "Int64")
    )
    manifest = {"config": {"name": name, **config}, "smoke": smoke}
    return Results(folder or Path("results") / name, name, table, manifest)


def selection(*every: Results) -> Selection:
    """Put results into one frame."""
    return Selection(of(every))
