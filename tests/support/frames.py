"""Hand-made results in memory, without a file."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench.analysis.frame import build_collection
from rfbench.analysis.selection import Selection
from rfbench.analysis.verification import Verification
from rfbench.analysis.verification import build_verification as verify_selection
from rfbench.results import Results
from rfbench.results.schema import BOOLEAN, INTEGER, NUMBER, SCHEMA, STRING, TEXT
from tests.support.results import ROW

TYPES = {TEXT: STRING, INTEGER: "Int64", NUMBER: "float64", BOOLEAN: "boolean"}


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
    lines = [
        {"label": row.get("sampler", "rks"), "trial_id": str(number), **row}
        for number, row in enumerate(rows)
    ]
    table = _usual().take([0] * len(lines)).reset_index(drop=True)
    for column in {column for line in lines for column in line} & set(SCHEMA):
        table[column] = _typed(column, [line.get(column, ROW.get(column, "")) for line in lines])
    manifest = {"config": {"name": name, **config}, "smoke": smoke}
    return Results(folder or Path("results") / name, name, table, manifest)


@functools.cache
def _usual() -> pd.DataFrame:
    return pd.DataFrame({name: _typed(name, [ROW.get(name, "")]) for name in SCHEMA})


def _typed(name: str, cells: list[Any]) -> pd.Series[Any]:
    kind = SCHEMA[name].kind
    if kind == TEXT:
        return pd.Series(list(map(str, cells)), dtype=STRING)
    known = pd.Series([None if cell == "" else cell for cell in cells], dtype="object")
    return known.astype(TYPES[kind])


def selection(*every: Results) -> Selection:
    """Put results into one frame."""
    return Selection(build_collection(every))


def verification(*every: Results) -> Verification:
    """Hold the papers' numbers and claims against results."""
    return verify_selection(selection(*every))
