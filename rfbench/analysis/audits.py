"""The audits among the results: what came nearest in each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

TABLE = "audit.csv"
MEASURES = (
    "place", "rms_choosing", "rms_confirming", "largest_difference", "cells", "agree", "close",
    "differ", "trials", "tried",
)  # fmt: skip
COLUMNS = (
    "page", "paper", "items", "dataset", "methods", "combinations", "tied", "chosen", "low", "high",
    "numbers", "trials", "stand_in", "choices",
)  # fmt: skip


def audits(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Sum up every ``audit.csv`` at or below the paths; what is no such table is passed over.

    Returns
    -------
    DataFrame
        One line per audit: ``page``, its Markdown file; ``paper``, ``items``, ``dataset``, and
        ``methods`` where only some were measured; ``combinations`` that were tried; ``tied``,
        how many share the first place; ``chosen``, their root mean square difference in points on
        the half that chose, and ``low`` and ``high``, the least and the largest on the other one,
        NaN where there is none; ``numbers`` and ``trials`` behind it; ``stand_in``; ``choices``,
        the options that those in the first place have.
    """
    files = sorted({file for path in paths for file in Path(path).rglob(TABLE)})
    return pd.DataFrame([found for file in files if (found := _first(file))], columns=COLUMNS)


def _first(file: Path) -> dict[str, Any]:
    try:
        table = pd.read_csv(file, dtype=str, keep_default_na=False)
    except (OSError, ValueError):
        return {}
    if table.empty or not set(MEASURES) <= set(table):
        return {}
    first = table.iloc[0]
    nearest = table[table["place"] == first["place"]]
    confirming = pd.to_numeric(nearest["rms_confirming"])
    paper, _, rest = file.parent.name.removeprefix("audit_").partition("_")
    items, _, rest = rest.partition("_")
    dataset, _, methods = rest.partition("_")
    return {
        "page": file.with_name("audit.md"),
        "paper": paper,
        "items": items,
        "dataset": dataset,
        "methods": methods,
        "combinations": int(first["tried"]),
        "tied": len(nearest),
        "chosen": float(first["rms_choosing"]),
        "low": confirming.min(),
        "high": confirming.max(),
        "numbers": int(first["cells"]),
        "trials": int(first["trials"]),
        "stand_in": not first["agree"],
        "choices": {name: list(nearest[name].unique()) for name in table if name not in MEASURES},
    }
