import math

import pytest

from rfbench.errors import DataError
from rfbench.results.cells import Cell, CellErrors, CellRow, read_cells, write_cells

CELL = Cell(
    *("Yacht", "minimum", "polynomial", 7, 0.5, "poly_sketch", "srht", "ctr"),
    *(1, 0, 0, 2, 16, "real", 20),
)


def test_cells_are_read_as_written(tmp_path):
    rows = [
        CellRow(CELL, "a folder", CellErrors(20, 0.25, 0.125), CellErrors(5, 0.5, 0.0625)),
        CellRow(CELL._replace(D=32, bias=0.875), "another", CellErrors(1, 0.5, math.nan)),
    ]
    write_cells(tmp_path / "cells.csv", rows)
    first, second = read_cells(tmp_path / "cells.csv")
    assert first == rows[0]
    assert second[:2] == rows[1][:2]
    assert math.isnan(second.published.sd)
    assert second.measured is None


def test_hash_depends_on_each_part_of_the_configuration():
    others = [CELL._replace(**{name: "x"}) for name in Cell._fields]
    assert len({CELL.id, *(other.id for other in others)}) == 1 + len(Cell._fields)


def test_changed_configuration_is_refused(tmp_path):
    write_cells(tmp_path / "cells.csv", [CellRow(CELL, "a", CellErrors(2, 1.0, 1.0))])
    text = (tmp_path / "cells.csv").read_text()
    (tmp_path / "cells.csv").write_text(text.replace("Yacht", "Boston"))
    with pytest.raises(DataError, match="line 2"):
        read_cells(tmp_path / "cells.csv")
