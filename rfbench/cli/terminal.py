"""What is printed for people: tables that fit the window, and colours for verdicts and failures."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import click

from rfbench.escaping import json_value, one_line, printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    Cell = str | Text

GAP = 2
LONGEST_WORD = 20


def echo(
    text: object = "",
    *,
    err: bool = False,
    nl: bool = True,
    mark: str = "",
    colour: str | None = "red",
) -> None:
    """Print a text, the one way to the terminal: what would steer it is written out.

    The `mark` stands before the text, in colour on a terminal.
    """
    start = click.style(mark, fg=colour) if mark else ""
    click.echo(start + printable(text), err=err, nl=nl)


class Printable(logging.Formatter):
    """Messages of logs, as `echo` writes them."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        return printable(super().format(record))


def echo_json(value: Any, indent: int | None = 1) -> None:
    """Print a value for machines; what is no number, infinity among them, is null."""
    click.echo(json.dumps(json_value(value), indent=indent, ensure_ascii=False, allow_nan=False))


def print_table(
    rows: Sequence[Sequence[Cell]], head: Sequence[str] = (), numbers: Collection[int] = ()
) -> None:
    """Print a table, see `table`; without colours where the output is no terminal."""
    click.echo(table(rows, head, numbers, _console()), nl=False)  # its cells are escaped


def print_text(text: str) -> None:
    """Print a text of our pages, its verdicts and failures in colour on a terminal."""
    console, text = _console(), printable(text)
    coloured = console.is_terminal and not console.no_color
    click.echo(with_verdicts(text, console) if coloured else text, nl=False)


def failures(count: int) -> Cell:
    """Return a number that is red unless it is 0."""
    from rich.text import Text

    return Text(str(count), "red" if count else "")


def table(
    rows: Sequence[Sequence[Cell]],
    head: Sequence[str],
    numbers: Collection[int],
    console: Console,
) -> str:
    """Lay out rows as wide as a console.

    Columns of words are wrapped, those of `numbers` and the names in the first one never are. Where
    that leaves too little room, all columns but the first become one.
    """
    from rich.table import Table
    from rich.text import Text

    rows = [[one_line(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    lines = [head, *rows] if head else rows
    least = [
        max(min(len(word), LONGEST_WORD) for cell in column for word in str(cell).split() or [""])
        for column in zip(*lines, strict=True)
    ]
    for i in {0, *numbers}:
        least[i] = max(len(str(row[i])) for row in lines)
    least[0] = min(least[0], console.width // 2)
    if sum(least) + GAP * (len(least) - 1) > console.width:
        rows = [(row[0], _joined(row[1:], head[1:])) for row in rows]
        head, numbers, least = (), (), least[:1]
    grid = Table(
        box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="", show_header=bool(head)
    )
    for i in range(len(rows[0])):
        grid.add_column(
            head[i] if head else "",
            justify="right" if i in numbers else "left",
            no_wrap=i in numbers,
            width=None if i else least[0],
            overflow="fold",
        )
    for row in rows:
        grid.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    return _captured(console, grid)


def with_verdicts(text: str, console: Console) -> str:
    """Return a text with colours: green for what agrees or holds, red for what does not."""
    from rich.text import Text

    from rfbench.analysis import verdicts
    from rfbench.pages.words import DASH

    marked = Text(text)
    for pattern in (  # a group is named after its colour
        rf"(?<=[\d{DASH}] )(?P<green>{verdicts.AGREES})\b",
        rf"(?<=[\d{DASH}] )(?P<red>{verdicts.DIFFERS})\b",
        rf"(?m)^  [^:\n]+: (?P<green>{verdicts.HOLDS.upper()})\b",
        rf"(?m)^  [^:\n]+: (?P<red>{verdicts.FAILS.upper()})\b",
        r"(?P<red>\bfailed \(\d+\))",
    ):
        marked.highlight_regex(pattern)
    return _captured(console, marked, soft_wrap=True)


def _console() -> Console:
    from rich.console import Console

    return Console()


def _captured(console: Console, content: RenderableType, soft_wrap: bool = False) -> str:
    with console.capture() as captured:
        console.print(content, crop=False, soft_wrap=soft_wrap, end="")
    return "".join(f"{line.rstrip(' ')}\n" for line in captured.get().split("\n")[:-1])


def _joined(cells: Sequence[Cell], head: Sequence[str]) -> Text:
    """Return cells as one, each with the name of its column."""
    from rich.text import Text

    named = [Text(f"{name}: ") for name in head] or [Text()] * len(cells)
    pairs = zip(named, cells, strict=True)
    return Text("; ").join(name + cell for name, cell in pairs if str(cell))
