"""Sheets of lines and grids in the three formats."""

import re

import pytest

from rfbench.pages.grids import Grid
from rfbench.pages.sheet import FORMATS, Passage, Sheet, write

LONG = "a stand-in with a rather-long-name, 12345 rows"
GRID = Grid(["data", "one", "two"], [["short", "1.0", "2.0"], [LONG, "3.0", "4.0"]])


def test_long_names_go_over_lines_only_where_the_width_is_short() -> None:
    sheet = Sheet("T", [Passage([], [GRID])])
    wide, narrow = write(sheet, "text", 80), write(sheet, "text", 52)
    assert LONG in wide
    assert LONG not in narrow
    assert max(map(len, narrow.splitlines())) <= 52
    for text in (wide, narrow):
        assert re.search(r"3\.0  4\.0$", text, re.M)


def test_one_line_above_a_grid_is_no_list_in_markdown() -> None:
    passages = [Passage(["a", "b"]), Passage(["c"], [GRID]), Passage(["d", "e"], [GRID])]
    text = write(Sheet("T", passages, ["f"]), "markdown")
    assert "- a\n- b\n\nc\n\n|" in text
    assert "- d\n- e\n\n|" in text
    assert text.endswith("\n\n- f\n")


def test_latex_has_a_short_caption_and_the_lines_in_the_note() -> None:
    text = write(Sheet("T 5 %", [Passage(["A", "more"], [GRID])], ["a note"], "T 5"), "latex")
    assert re.findall(r"\\caption\{(.*)\}", text) == [r"T 5 \%."]
    assert re.findall(r"\\label\{(.*)\}", text) == ["tab:t-5"]
    assert re.findall(r"scriptsize (.*)\}", text) == ["A. more. a note."]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("passages", [[], [Passage(["empty"])]])
def test_without_a_grid_the_notes_are_still_there(form: str, passages: list[Passage]) -> None:
    text = write(Sheet("T", passages, ["a note"]), form, 80)
    assert "a note" in text
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == (form == "latex")
