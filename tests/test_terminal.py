"""Tables of the command line in windows of several widths."""

from io import StringIO

import pytest
from rich.console import Console

from rfbench.cli import listing, terminal
from tests.support.command_line import call

NUMBERS = ["12,345,678.901", "581,012 x 54"]
NAME = "results/published/some-paper_table3_covtype.printed"


def console(width: int = 80, **kind: bool) -> Console:
    return Console(file=StringIO(), width=width, **kind)


def plain(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("width", [60, 160])
@pytest.mark.parametrize("head", [("name", "first", "second", "a text"), ()])
def test_table_fits_its_window_and_no_number_is_broken(width: int, head: tuple[str, ...]) -> None:
    text = "words that go on and on, so that they are wrapped, " * 3
    said = terminal.format_table([(NAME, *NUMBERS, text)] * 2, head, (1, 2), console(width))
    assert max(map(len, said.splitlines())) <= width
    assert said.count("12,345,678.901") == 2
    assert plain(text)[-8:] in plain(said)
    assert not any(line.endswith(" ") for line in said.splitlines())


@pytest.mark.parametrize("what", [*listing.LISTS, "data"])
def test_each_list_fits_the_window(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = call(*(["data", "list"] if what == "data" else ["list", what])).splitlines()
    assert lines
    assert max(map(len, lines)) <= 60
