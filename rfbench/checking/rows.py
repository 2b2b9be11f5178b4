"""What is published of maps: a row per map and kernel, in results/published/maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench.checking.bias import MapClaim, measure
from rfbench.checking.causes import causes_of

FOLDER = Path("results/published/maps")
COLUMNS = (
    "code", "option", "map", "kernel", "how", "version", "file", "date", "M", "columns", "seeds",
    "at", "exact", "bias", "error", "z", "largest_z", "limit", "relative_error", "rate",
    "further_out", "verdict", "cause", "said", "mend",
)  # fmt: skip
KEY = ["code", "option", "map", "kernel"]
RIGHT, BIASED, SLOW = "no bias", "biased", "no gain from M"


def row_of(claim: MapClaim, facts: Mapping[str, Any], most: int | None = None) -> dict[str, Any]:
    """Measure a map, and return its row; `facts` are those that are not measured."""
    found = measure(claim, most=most, seconds=600.0)
    i, causes = found.shown, causes_of(found)
    return {
        **{name: facts[name] for name in COLUMNS if name in facts},
        "kernel": found.kernel.name,
        "M": found.M,
        "columns": found.columns,
        "seeds": found.seeds,
        "at": found.pairs.names[i],
        "exact": found.exact[i],
        "bias": found.bias[i],
        "error": found.spread[i],
        "z": found.z[i],
        "largest_z": found.z[found.worst],
        "limit": found.limit,
        "relative_error": found.relative_error,
        "rate": found.rate,
        "further_out": found.further_out,
        "verdict": BIASED if found.biased else RIGHT if found.falls else SLOW,
        "cause": causes[0].what if causes else "",
    }


def read(file: Path) -> pd.DataFrame:
    """Read published rows; texts that are absent are empty."""
    table = pd.read_csv(file, dtype={"version": str}).reindex(columns=list(COLUMNS))
    texts = ["option", "map", "kernel", "file", "date", "at", "verdict", "cause", "said", "mend"]
    table[texts] = table[texts].astype(object).fillna("")
    return table


def write(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows in the place of those of the same code, and keep the others."""
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    if file.exists():
        old = read(file)
        table = pd.concat([old[~old["code"].isin(table["code"])], table])
    file.parent.mkdir(parents=True, exist_ok=True)
    table = table.sort_values(KEY, kind="stable", key=lambda column: column.astype(str))
    table.to_csv(file, index=False, float_format="%.6g")
