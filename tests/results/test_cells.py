import math

import pandas as pd
import pytest

from rfbench.errors import DataError
from rfbench.results.cells import COLUMNS_OF_CELLS, Cell, list_cells, read_cells, write_cells

CELL = Cell(
    *("Yacht", "minimum", "polynomial", 7, 0.5, "poly_sketch", "srht", "ctr"),
    *(1, 0, 0, 2, 16, "real", 20),
)
OTHER = CELL._replace(D=32, kernel="gaussian", bias=0.0, scaling="none")


def write(path, *rows):
    lines = [(cell.id, *cell, *errors) for cell, *errors in rows]
    write_cells(path, pd.DataFrame(lines, columns=COLUMNS_OF_CELLS))
    return path


def test_cells_file_is_read_as_written(tmp_path):
    path = write(
        tmp_path / "cells.csv",
        (CELL, "a folder", 20, 0.25, 0.125, 5, 0.5, 0.0625),
        (OTHER, "another", 1, 0.5, *[math.nan] * 4),
    )
    table = read_cells(path)
    assert list_cells(table) == [CELL, OTHER]
    assert list(table.columns) == COLUMNS_OF_CELLS
    first, second = table.to_dict("records")
    assert [first[name] for name in COLUMNS_OF_CELLS[16:]] == [
        "a folder",
        20,
        0.25,
        0.125,
        5,
        0.5,
        0.0625,
    ]
    assert (second["folder"], second["published_n"], second["published_mean"]) == (
        "another",
        1,
        0.5,
    )
    assert all(math.isnan(second[name]) for name in ("published_sd", "n", "mean", "sd"))
    before = path.read_bytes()
    write_cells(path, table)
    assert path.read_bytes() == before


def test_numeric_looking_ids_and_long_fractions_are_read_as_written(tmp_path):
    """The id of the first cell looks like a number, and the hash contains the exact bias."""
    digits = next(
        cell for D in range(10**5) if (cell := CELL._replace(D=D)).id.replace("e", "0", 1).isdigit()
    )
    third = CELL._replace(bias=1 / 3)
    for cell in (digits, third):
        path = write(tmp_path / f"{cell.id}.csv", (cell, "7", 20, 0.25, 0.125, 5, 0.5, 0.0625))
        assert list_cells(read_cells(path)) == [cell]


def test_cell_id_depends_on_each_part_of_its_configuration():
    others = [CELL._replace(**{name: "x"}) for name in Cell._fields]
    assert len({CELL.id, *(other.id for other in others)}) == 1 + len(Cell._fields)


def test_cell_with_changed_configuration_is_rejected(tmp_path):
    path = write(
        tmp_path / "cells.csv",
        (CELL, "a", 2, 1.0, 1.0, *[math.nan] * 3),
        (OTHER, "a", 2, 1.0, 1.0, *[math.nan] * 3),
    )
    path.write_text(path.read_text().replace("Yacht,none", "Boston,none"))
    with pytest.raises(DataError, match="line 3"):
        read_cells(path)
