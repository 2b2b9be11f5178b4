"""Tables of the command line in windows of several widths; colours only where they are wanted."""

from io import StringIO

import pytest
from rich.console import Console

from rfbench.cli import show, terminal
from tests.support.command_line import call

RED, GREEN = "\x1b[31m", "\x1b[32m"
NUMBERS = ["12,345,678.901", "581,012 x 54"]
NAME = "results/published/some-paper_table3_covtype.printed"


def console(width: int = 80, **kind: bool) -> Console:
    return Console(file=StringIO(), width=width, **kind)


def plain(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("width", [40, 60, 160])
@pytest.mark.parametrize("head", [("name", "first", "second", "a text"), ()])
def test_a_table_fits_its_window_and_no_number_is_broken(width: int, head: tuple[str, ...]) -> None:
    text = "words that go on and on, so that they are wrapped, " * 3
    said = terminal.table([(NAME, *NUMBERS, text)] * 2, head, (1, 2), console(width))
    assert max(map(len, said.splitlines())) <= width
    assert said.count("12,345,678.901") == 2
    assert plain(text)[-8:] in plain(said)
    assert (NAME in said) == (2 * len(NAME) <= width)
    assert "\x1b" not in said
    assert not any(line.endswith(" ") for line in said.splitlines())


@pytest.mark.parametrize("width", [60, 160])
@pytest.mark.parametrize("what", [*show.LISTS, "data"])
def test_every_list_fits_the_window(width: int, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = call(*(["data", "list"] if what == "data" else ["list", what])).splitlines()
    assert lines
    assert max(map(len, lines)) <= width


def test_colours_are_for_a_terminal_that_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = "rks 14   69.64 ± 0.38 differs\nrks 28   – agrees\nit differs\n  printed: FAILS; so\n"
    on = terminal.with_verdicts(text, console(30, force_terminal=True))
    assert (on.count(RED), on.count(GREEN)) == (2, 1)
    assert f"it {RED}" not in on
    cells = [("a", terminal.failures(3)), ("b", terminal.failures(0))]
    assert terminal.table(cells, (), (1,), console(force_terminal=True)).count(RED) == 1
    off = [console(30), console(30, force_terminal=True, no_color=True)]
    assert {terminal.with_verdicts(text, one) for one in off} == {text}
