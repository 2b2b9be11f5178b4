"""Hand-made results folders."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rfbench.report.columns import INTEGER, NUMBER, TEXT

HEADER = [*TEXT, *INTEGER, *NUMBER]
ROW: dict[str, Any] = {
    "config": "quickstart",
    "protocol": "own",
    "dataset": "digits",
    "n_train": 1437,
    "n_test": 360,
    "d": 64,
    "sampler": "rks",
    "parameters": "{}",
    "kernel": "gaussian",
    "bandwidth": 3.25,
    "bandwidth_rule": "knn50",
    "feature_map": "offset",
    "M": 100,
    "columns": 100,
    "trial": 0,
    "solver": "ridge",
    "alpha": 0.1,
    "alpha_convention": "absolute",
    "alpha_scale_free": 0.01,
    "selection": "validation",
    "intercept": "true",
    "split": "random",
    "scaling": "standard",
    "dtype": "float64",
    "seed": 0,
    "error": 10.0,
    "t_pp": 0.25,
    "t_features": 0.5,
    "t_train": 1.25,
    "t_test": 0.125,
    "timing": "isolated",
    "threads": 1,
    "status": "ok",
    "data_hash": "1e5",
    "version": "0.1.0",
}

Write = Callable[..., Path]


def line(**changes: Any) -> dict[str, Any]:
    row = ROW | changes
    row.setdefault("label", row["sampler"])
    named = ("sampler", "label", "variant", "dataset", "d", "M", "trial", "parameters", "kernel")
    row.setdefault("trial_id", "/".join(str(row.get(name, "")) for name in named))
    return row


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a results folder from dictionaries that say how a row differs from `ROW`."""

    def write(
        rows: list[dict[str, Any]], name: str = "quickstart", smoke: bool = False, **config: Any
    ) -> Path:
        folder = tmp_path / "results" / name
        folder.mkdir(parents=True)
        with (folder / "trials.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, HEADER, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(line(**row) for row in rows)
        manifest = {"config": {"name": name, **config}, "smoke": smoke}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        return folder

    return write
