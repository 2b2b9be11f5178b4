"""The authors' cells: which of them qualify, and their configurations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from rfbench.results.cells import COLUMNS_OF_CELLS, TYPES, list_cells
from scripts.cells.measure import SOURCES

SCALINGS = {"standardised": "standardized", "minimum subtracted": "minimum", "none": "none"}
# Trees of these years were made by other implementations, which are not defined.
UNDEFINED_TREES = ("hier2021", "hier2022")
# Start of the flag of the rows whose map lacks the convolution of TensorSketch.
NO_CONVOLUTION = "product of count sketches"
# Number of columns of the sketches that are reduced, by the authors' protocol.
EXPANDED = 32_768


def read_cells_that_qualify(path: Path) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return the authors' cells with whole data sets, defined methods and no trained parameters.

    Parameters
    ----------
    path : Path
        The table of all the authors' cells.

    Returns
    -------
    DataFrame
        The cells, with the columns `COLUMNS_OF_CELLS`, and `degrees_used`: the recorded numbers
        of features per degree, as a JSON list.
    dict
        Number of cells by data set, for the data sets that are not in `SOURCES`.
    """
    table = pd.read_csv(path)
    table = table[table["role"] == "main"]
    table = table[(table["method"] != "srf") & ~table["tree_code"].isin(UNDEFINED_TREES)]
    table = table[~table["flag"].fillna("").str.startswith(NO_CONVOLUTION)]
    whole = table["dataset"].isin(list(SOURCES))
    others = table.loc[~whole, "dataset"].value_counts().to_dict()
    table = table[whole]
    # The rows of the Gaussian kernel record parameters that it does not have.
    table.loc[table["kernel"] == "gaussian", ["degree", "bias"]] = 0
    parts = [table["complex_to_real"] == 1, table["complex"] == 1]
    table = table.assign(
        scaling=table["centering"].map(SCALINGS),
        projection=table["proj"],
        features=np.select(parts, ["ctr", "complex"], "real"),
        tree=table["hierarchical"],
        expanded=EXPANDED * table["craft"],
        least_degree=2 + table["folder"].str.endswith("_a4"),
        norm=np.where(table["norm"] == "complex modulus", "modulus", "real"),
        **dict.fromkeys(["n", "mean", "sd"], np.nan),
    ).astype(TYPES)
    errors = {"n_k": "n", "k_rel_frob_error_mean": "mean", "k_rel_frob_error_sd": "sd"}
    table = table.assign(id=[cell.id for cell in list_cells(table)])
    published = {f"published_{new}": table[name] for name, new in errors.items()}
    return table.assign(**published)[[*COLUMNS_OF_CELLS, "degrees_used"]], others
