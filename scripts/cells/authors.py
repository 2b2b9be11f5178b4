"""The authors' cells: which of them qualify, and their configurations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from rfbench.results.cells import Cell, CellErrors, CellRow
from scripts.cells.measure import SOURCES

SCALINGS = {"standardised": "standardized", "minimum subtracted": "minimum", "none": "none"}
# Trees of these years were made by other implementations, which are not defined.
UNDEFINED_TREES = ("hier2021", "hier2022")
# Start of the flag of the rows whose map lacks the convolution of TensorSketch.
NO_CONVOLUTION = "product of count sketches"
# Number of columns of the sketches that are reduced, by the authors' protocol.
EXPANDED = 32_768


def read_cells_that_qualify(path: Path) -> list[CellRow]:
    """Return the authors' cells with whole data sets, defined methods and no trained parameters.

    Parameters
    ----------
    path : Path
        The table of all the authors' cells.

    Returns
    -------
    list of CellRow
        The cells.
    """
    table = pd.read_csv(path)
    table = table[(table["role"] == "main") & table["dataset"].isin(SOURCES)]
    table = table[(table["method"] != "srf") & ~table["tree_code"].isin(UNDEFINED_TREES)]
    table = table[~table["flag"].fillna("").str.startswith(NO_CONVOLUTION)]
    return [_make_row(row) for row in table.to_dict("records")]


def _make_row(row: dict[Any, Any]) -> CellRow:
    gaussian = row["kernel"] == "gaussian"
    cell = Cell(
        dataset=row["dataset"],
        scaling=SCALINGS[row["centering"]],
        kernel=row["kernel"],
        degree=0 if gaussian else int(row["degree"]),
        bias=0.0 if gaussian else float(row["bias"]),
        method=row["method"],
        projection=row["proj"],
        features="ctr" if row["complex_to_real"] else "complex" if row["complex"] else "real",
        full_cov=int(row["full_cov"]),
        tree=int(row["hierarchical"]),
        expanded=EXPANDED if row["craft"] else 0,
        least_degree=3 if row["folder"].endswith("_a4") else 2,
        D=int(row["D"]),
        norm="modulus" if row["norm"] == "complex modulus" else "real",
        n_seeds=int(row["n_seeds"]),
    )
    published = CellErrors(
        int(row["n_k"]), float(row["k_rel_frob_error_mean"]), float(row["k_rel_frob_error_sd"])
    )
    return CellRow(cell, row["folder"], published)
