"""Grids of texts in the three formats."""

import pytest

from rfbench.report.formats import Grid, Section, latex, markdown, text

LONG = "a stand-in with a rather-long-name, 12345 rows"
GRID = Grid("data", ["one", "two"], [("short", ["1.0", "2.0"]), (LONG, ["3.0", "4.0"])])


def test_long_row_heads_go_over_lines_only_where_the_width_is_short() -> None:
    section = [Section([], [GRID])]
    wide, narrow = text("T", section, [], 80), text("T", section, [], 52)
    assert f"{LONG}  3.0  4.0" in wide
    assert "a stand-in with a         3.0  4.0\nrather-long-name, 12345\nrows\n" in narrow
    assert max(map(len, narrow.splitlines())) <= 52


def test_a_heading_of_one_line_above_a_grid_is_no_list() -> None:
    legend, one, two = ["a", "b"], ["c"], ["d", "e"]
    sections = [Section(legend, []), Section(one, [GRID]), Section(two, [GRID])]
    said = markdown("T", sections, ["f"], 0)
    assert "- a\n- b\n\nc\n\n|" in said
    assert "- d\n- e\n\n|" in said
    assert said.endswith("\n\n- f\n")


def test_a_float_a_grid_with_the_common_lines_in_every_caption() -> None:
    sections = [Section(["legend"], []), Section(["A"], [GRID, GRID]), Section(["B"], [GRID])]
    floats = latex("T", sections, ["a note"], 0).split(r"\begin{table}")[1:]
    assert [one.split("\n")[2] for one in floats] == [
        r"\caption{T. A. legend. a note.}",
        r"\caption{T, continued. A.}",
        r"\caption{T. B. legend. a note.}",
    ]
    assert all(one.count(r"\end{tabular}") == 1 for one in floats)


@pytest.mark.parametrize("sections", [[], [Section(["empty"], [])]])
def test_latex_without_a_grid_still_says_the_notes(sections: list[Section]) -> None:
    said = latex("T", sections, ["a note"], 0)
    assert "a note.}" in said
    assert said.count(r"\begin{table}") == said.count(r"\end{table}") == 1


def test_signs_are_commands_in_latex() -> None:
    grid = Grid("", ["x"], [("≤ ± • & % _", ["1"])])
    assert r"$\le$ $\pm$ $\bullet$ \& \% \_ & 1 \\" in latex("T", [Section([], [grid])], [], 0)
