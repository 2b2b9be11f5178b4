"""How numbers and tables are written."""

import math

import pytest

from rfbench.pages import grids, words

GRID = grids.Grid(
    ["method", "error_rate", "t (s)"],
    [["rks | plain", "17.37 ± 0.12", "3"], ["eerf_10%", "16.20 ± 0.05", "≤4"]],
    "Errors & times",
)


@pytest.mark.parametrize("value", [None, math.nan])
def test_what_is_absent_is_a_dash(value):
    writers = (words.number, words.signed, words.p_value, words.seconds)
    assert {write(value) for write in writers} == {words.DASH}
    assert words.spread(value, 1.0) == words.DASH


def test_a_pipe_in_a_cell_does_not_break_a_markdown_table():
    lines = grids.markdown(GRID).splitlines()
    assert len(lines) == 4
    assert all(line.replace(r"\|", "").count("|") == 4 for line in lines)


@pytest.mark.parametrize("width", [30, 80, 200])
def test_text_fits_the_width_and_breaks_no_number(width):
    text = grids.text(GRID, width)
    assert max(map(len, text.splitlines())) <= width
    for row in GRID.rows:
        assert all(cell in text for cell in row[1:])


def test_columns_that_do_not_fit_go_into_a_further_block():
    wide = grids.Grid(["x", *"abcdef"], [["row", *["1234567890"] * 6]])
    assert grids.text(wide, 40).count("row") > 1
    assert grids.text(wide, 200).count("row") == 1
