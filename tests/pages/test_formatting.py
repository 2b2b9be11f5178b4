"""How numbers and tables are written."""

import math

import pytest

from rfbench.pages import formatting, grids

GRID = grids.Grid(
    ["method", "error_rate", "t (s)"],
    [["rks | plain", "17.37 ± 0.12", "3"], ["eerf_10%", "16.20 ± 0.05", "≤4"]],
    "Errors & times",
)


@pytest.mark.parametrize("value", [None, math.nan])
def test_missing_value_is_a_dash(value):
    writers = (
        formatting.format_number,
        formatting.format_signed,
        formatting.format_p_value,
        formatting.format_seconds,
    )
    assert {write(value) for write in writers} == {formatting.DASH}
    assert formatting.format_spread(value, 1.0) == formatting.DASH


def test_pipe_in_a_cell_does_not_break_a_markdown_table():
    lines = grids.render_markdown(GRID).splitlines()
    assert len(lines) == 4
    assert all(line.replace(r"\|", "").count("|") == 4 for line in lines)
