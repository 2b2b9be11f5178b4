"""Reader and writer of `cells.csv`: mean kernel errors, published by authors and measured by us.

A cell is one configuration: data set, scaling, kernel, feature map, number of features and norm.
The `id` of a cell is a hash of its configuration.
"""

from __future__ import annotations

import hashlib
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import pandas as pd

from rfbench import files
from rfbench.errors import DataError


class Cell(NamedTuple):
    """Configuration whose relative kernel error is measured.

    Attributes
    ----------
    dataset : str
    scaling : {'standardized', 'minimum', 'none'}
    kernel : {'gaussian', 'polynomial'}
    degree, bias : int, float
        Parameters of the polynomial kernel; 0 for the Gaussian kernel.
    method : {'rff', 'poly_sketch', 'maclaurin', 'maclaurin_p'}
    projection : {'gaussian', 'rademacher', 'srht', 'countsketch'}
    features : {'real', 'complex', 'ctr'}
        'real': D real features. 'complex': D complex features. 'ctr': the real and imaginary parts
        of D / 2 complex features.
    full_cov, tree, expanded, least_degree : int
        Options of the samplers; `expanded` is 0 if the sketch is not reduced.
    D : int
        Number of features.
    norm : {'real', 'modulus'}
        With 'modulus', imaginary parts of kernel values count as errors.
    n_seeds : int
        Number of random seeds of the authors. The number of rows from which the authors drew their
        sample depends on it.
    """

    dataset: str
    scaling: str
    kernel: str
    degree: int
    bias: float
    method: str
    projection: str
    features: str
    full_cov: int
    tree: int
    expanded: int
    least_degree: int
    D: int
    norm: str
    n_seeds: int

    @property
    def id(self) -> str:
        """Return the hash of the configuration as twelve hexadecimal digits."""
        return hashlib.sha256(repr(tuple(self)).encode()).hexdigest()[:12]


TYPES: dict[str, Any] = get_type_hints(Cell)
# Columns with errors in cells.csv. The first column is the file of the authors' runs. The next
# columns are the number, the mean and the standard deviation of the authors' errors, and then of
# our errors. The columns of our errors are empty if we have none.
COLUMNS_OF_ERRORS = ("folder", "published_n", "published_mean", "published_sd", "n", "mean", "sd")
COLUMNS_OF_CELLS = ["id", *Cell._fields, *COLUMNS_OF_ERRORS]


def list_cells(table: pd.DataFrame) -> list[Cell]:
    """Return the configuration in each line of a table of kernel errors, as a `Cell`.

    A configuration may occur several times.
    """
    return [Cell(*row) for row in table[list(Cell._fields)].itertuples(index=False, name=None)]


def read_cells(path: Path) -> pd.DataFrame:
    """Read a file `cells.csv` with mean kernel errors, one line per configuration.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    DataFrame
        The lines of the file, with the columns `COLUMNS_OF_CELLS`.

    Raises
    ------
    DataError
        If the id in a line is not the hash of the configuration in this line.
    """
    text = BytesIO(files.read(path))
    table = pd.read_csv(
        text,
        dtype={**TYPES, "id": str, "folder": str},
        keep_default_na=False,
        na_values=["", "nan"],
    )
    for line, (given, cell) in enumerate(zip(table["id"], list_cells(table), strict=True), 2):
        if given != cell.id:
            raise DataError(
                f"{path}, line {line}: the configuration does not have the hash {given}.",
                "The hash is computed from the configuration.",
            )
    return table


def write_cells(path: Path, table: pd.DataFrame) -> None:
    """Write a file `cells.csv` with mean kernel errors. An existing file is replaced.

    Parameters
    ----------
    path : Path
        The file.
    table : DataFrame
        The lines of the file, with the columns `COLUMNS_OF_CELLS`.
    """
    # Write the bias with all 17 digits, because the id of a cell is a hash that includes the exact
    # bias. All other numbers are rounded to six digits.
    table = table[COLUMNS_OF_CELLS].copy()
    for name in table.select_dtypes("float"):
        form = "{:.17g}" if name == "bias" else "{:.6g}"
        table[name] = table[name].map(form.format, na_action="ignore")
    files.replace(path, table.to_csv(index=False, lineterminator="\n").encode())
