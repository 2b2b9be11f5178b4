"""What is printed: texts, JSON, and tables that fit the window."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import click

from rfbench.escaping import json_value, one_line, printable

if TYPE_CHECKING:
    from rich.console import Console

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
    rows: Sequence[Sequence[str]], head: Sequence[str] = (), numbers: Collection[int] = ()
) -> None:
    """Print a table, see `table`."""
    from rich.console import Console

    click.echo(table(rows, head, numbers, Console()), nl=False)  # its cells are escaped


def table(
    rows: Sequence[Sequence[str]],
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

    rows = [[one_line(cell) for cell in row] for row in rows]
    lines = [head, *rows] if head else rows
    least = [
        max(min(len(word), LONGEST_WORD) for cell in column for word in cell.split() or [""])
        for column in zip(*lines, strict=True)
    ]
    for i in {0, *numbers}:
        least[i] = max(len(row[i]) for row in lines)
    least[0] = min(least[0], console.width // 2)
    if sum(least) + GAP * (len(least) - 1) > console.width:
        rows = [[row[0], _joined(row[1:], head[1:])] for row in rows]
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
        grid.add_row(*map(Text, row))
    with console.capture() as captured:
        console.print(grid, crop=False, end="")
    return "".join(f"{line.rstrip(' ')}\n" for line in captured.get().split("\n")[:-1])


def _joined(cells: Sequence[str], head: Sequence[str]) -> str:
    """Return cells as one, each with the name of its column."""
    named = zip(head or [""] * len(cells), cells, strict=True)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)
