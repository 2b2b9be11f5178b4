"""Output on the terminal: text, JSON, and tables that fit into the window."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import click

from rfbench.escaping import escape_controls, escape_line, to_json_value

if TYPE_CHECKING:
    from rich.console import Console

# Number of spaces between two columns of a printed table. With twice this number, fewer columns fit
# into 80 characters.
GAP = 2


def echo(
    text: object = "",
    *,
    err: bool = False,
    nl: bool = True,
    mark: str = "",
    color: str | None = "red",
) -> None:
    """Print a text on the terminal. Control characters in the text are escaped.

    `mark` is printed before the text, in color on a terminal.
    """
    start = click.style(mark, fg=color) if mark else ""
    click.echo(start + escape_controls(text), err=err, nl=nl)


class Printable(logging.Formatter):
    """Formatter of log messages that escapes control characters in the messages."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a log record, with escaped control characters."""
        return escape_controls(super().format(record))


def echo_json(value: Any, indent: int | None = 1) -> None:
    """Print a value as JSON. NaN and infinity become null."""
    text = json.dumps(to_json_value(value), indent=indent, ensure_ascii=False, allow_nan=False)
    click.echo("".join(c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1] for c in text))


def print_table(
    rows: Sequence[Sequence[str]], head: Sequence[str] = (), numbers: Collection[int] = ()
) -> None:
    """Print a table that fits into the width of the terminal.

    Long cells are wrapped, except in the columns whose positions are in `numbers`.
    """
    from rich.console import Console

    # Control characters in cells are not escaped here, because `format_table` escapes them.
    click.echo(format_table(rows, head, numbers, Console()), nl=False)


def format_table(
    rows: Sequence[Sequence[str]], head: Sequence[str], numbers: Collection[int], console: Console
) -> str:
    """Return the text of a table that fits into the width of the console.

    Long cells are wrapped, except in the columns whose positions are in `numbers`.
    """
    from rich.table import Table
    from rich.text import Text

    rows = [[escape_line(cell) for cell in row] for row in rows]
    grid = Table(
        box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="", show_header=bool(head)
    )
    for i in range(len(rows[0])):
        grid.add_column(
            head[i] if head else "",
            justify="right" if i in numbers else "left",
            no_wrap=i in numbers,
            overflow="fold",
        )
    for row in rows:
        grid.add_row(*map(Text, row))
    with console.capture() as captured:
        console.print(grid, crop=False, end="")
    return "".join(f"{line.rstrip(' ')}\n" for line in captured.get().split("\n")[:-1])
