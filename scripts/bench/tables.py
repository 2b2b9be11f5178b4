"""The tables of the suite in two halves: one to develop `choose` on, the other one to judge it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from rfbench.datasets import find_entry, list_names

# File names of tables on which contenders.yaml was developed before the halves were defined.
DEVELOPED = {
    *("218_house_8L", "225_puma8NH", "537_houses", "airfoil", "connect_4", "segmentation"),
    *("sleep", "sml", "wine"),
}
# Each of these tables has the rows or the generator of another table, which comes first by name.
TWINS = {"splice": "dna", "mfeat_zernike": "mfeat_factors", "pumadyn32nm": "225_puma8NH"}
# Boosting at its defaults diverges on the first table. On the other tables nothing is learned.
APART = {"krkopt", "forest", "solar", "tamielectric"}


class SuiteTable(NamedTuple):
    """A table of the suite, and its place in the comparison."""

    name: str  # name in the catalog
    file: str  # name of its file without endings, which determines the half
    twin: str  # the file that stands for this table and its twin in a mean
    is_developed: bool  # True for the half to develop on
    is_apart: bool  # True if the table is reported apart from the means


def list_tables() -> list[SuiteTable]:
    """Return all tables of the suite, in the order of the catalog."""
    tables = []
    for name in list_names():
        entry = find_entry(name)
        if entry.suite == "tables":
            file = entry.downloads[0].name.split(".")[0]
            twin = TWINS.get(file, file)
            is_even = hashlib.sha256(twin.encode()).digest()[-1] % 2 == 0
            tables.append(SuiteTable(name, file, twin, twin in DEVELOPED or is_even, file in APART))
    return tables


def append_line(file: Path, line: dict[str, Any]) -> None:
    """Append a line to a CSV, which gets a header if it is new, and print the line."""
    pd.DataFrame([line]).to_csv(file, mode="a", header=not file.exists(), index=False)
    print(*line.values(), flush=True)
