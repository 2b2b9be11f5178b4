"""Reader and writer of `cells.csv`: means of kernel errors per cell, by the authors and by us.

A cell is one configuration: data set, scaling, kernel, map, number of features and norm. Its
`id` is a hash of them.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, get_type_hints

from rfbench import files
from rfbench.errors import DataError


class Cell(NamedTuple):
    """A configuration whose relative kernel error is measured.

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
        Complex features with D columns, or real and imaginary parts of D / 2 of them (ctr).
    full_cov, tree, expanded, least_degree : int
        Options of the samplers; `expanded` is 0 if the sketch is not reduced.
    D : int
    norm : {'real', 'modulus'}
        With 'modulus', imaginary parts count as errors.
    n_seeds : int
        Number of the authors' seeds, on which the size of their pool of rows depends.
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
        """Return the hash of the configuration, twelve hexadecimal digits."""
        return hashlib.sha256(repr(tuple(self)).encode()).hexdigest()[:12]

    @property
    def group(self) -> tuple[str, str, str, int, float, int]:
        """Return the settings shared by all cells with the same exact kernel matrices."""
        return (*self[:5], self.n_seeds)


class CellErrors(NamedTuple):
    """Number, mean and standard deviation of relative kernel errors; sd is NaN for one value."""

    n: int
    mean: float
    sd: float


class CellRow(NamedTuple):
    """A line of the file: a cell, the folder of the authors' file, their errors and ours."""

    cell: Cell
    folder: str
    published: CellErrors
    measured: CellErrors | None = None


TYPES = get_type_hints(Cell)
COLUMNS_OF_CELLS = ("id", *Cell._fields, "folder", "published_n", "published_mean", "published_sd")
MEASURED = ("n", "mean", "sd")


def read_cells(path: Path) -> list[CellRow]:
    """Read a file of cells.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    list of CellRow
        Its lines.

    Raises
    ------
    DataError
        If a line does not have the hash of its configuration.
    """
    found = []
    reader = csv.DictReader(files.read(path).decode().splitlines())
    for line, row in enumerate(reader, 2):
        cell = Cell(**{name: kind(row[name]) for name, kind in TYPES.items()})
        if cell.id != row["id"]:
            raise DataError(
                f"{path}, line {line}: the configuration does not have the hash {row['id']}.",
                "The hash is computed from the configuration.",
            )
        published, measured = (
            CellErrors(int(row[f"{start}n"]), float(row[f"{start}mean"]), float(row[f"{start}sd"]))
            if row[f"{start}n"]
            else None
            for start in ("published_", "")
        )
        assert published is not None
        found.append(CellRow(cell, row["folder"], published, measured))
    return found


def write_cells(path: Path, rows: Iterable[CellRow]) -> None:
    """Write a file of cells.

    Parameters
    ----------
    path : Path
        The file, which is replaced.
    rows : iterable of CellRow
        Its lines.
    """
    lines = [",".join((*COLUMNS_OF_CELLS, *MEASURED))]
    for row in rows:
        values = [row.cell.id, *row.cell, row.folder, *_to_text(row.published)]
        values += _to_text(row.measured) if row.measured else ["", "", ""]
        lines.append(",".join(map(str, values)))
    files.replace(path, ("\n".join(lines) + "\n").encode())


def _to_text(summary: CellErrors) -> list[str]:
    return [str(summary.n), f"{summary.mean:.6g}", f"{summary.sd:.4g}"]
