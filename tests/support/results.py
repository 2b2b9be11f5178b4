"""Hand-made results folders."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from rfbench.results.lines import compute_checksum
from rfbench.results.schema import COLUMNS, TRIAL_ID
from rfbench.results.store import Store

Write = Callable[..., Path]
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
    "intercept": True,
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


def named(word: str) -> str:
    """Return an identity that a row can have; one stays as it is."""
    return word if TRIAL_ID.fullmatch(word) else hashlib.sha256(word.encode()).hexdigest()[:16]


def line(**changes: Any) -> dict[str, Any]:
    """Return `ROW` with changes, and an identity of its own."""
    row = ROW | changes
    row.setdefault("label", row["sampler"])
    told = ("sampler", "label", "variant", "dataset", "d", "M", "trial", "parameters", "kernel")
    row.setdefault("trial_id", "/".join(str(row.get(name, "")) for name in told))
    return row | {"trial_id": named(row["trial_id"])}


def write_folder(folder: Path, rows: Iterable[dict[str, Any]], manifest: dict[str, Any]) -> Path:
    """Write a results folder from dictionaries that say how a row differs from `ROW`."""
    store = Store(folder)
    folder.mkdir(parents=True)
    store.csv.write_bytes(HEADER)
    for row in rows:
        store.append(line(**row))
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def with_cell(line: bytes, old: bytes, new: bytes) -> bytes:
    """Change a line of a CSV file, and give it the right checksum, as another program may."""
    text = line.rpartition(b",")[0].replace(old, new, 1)
    return text + b"," + compute_checksum(text)


HEADER = ",".join(COLUMNS).encode() + b"\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a results folder from dictionaries that say how a row differs from the usual one."""

    def write(
        rows: list[dict[str, Any]], name: str = "quickstart", smoke: bool = False, **config: Any
    ) -> Path:
        manifest = {"config": {"name": name, **config}, "smoke": smoke}
        return write_folder(tmp_path / "results" / name, rows, manifest)

    return write
