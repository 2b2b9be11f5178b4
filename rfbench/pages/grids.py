"""Layout of tables for a terminal and in Markdown. For LaTeX, see `rfbench.pages.latex`."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TypeVar

from rfbench.escaping import Markdown, escape_line, escape_markdown

Column = TypeVar("Column")
# NARROW and ENDLESS are numbers of characters. If a table is wider than the screen, names of rows
# are broken at NARROW characters. With twice NARROW, a screen of 80 characters has space for two
# columns of numbers. ENDLESS is more than the width of any table, so twice this value changes
# nothing.
NARROW, ENDLESS = 24, 10_000


@dataclass(frozen=True)
class Grid:
    """A table of strings, with a heading for each column and a name for each row."""

    # heading of each column; the first column has the names of the rows
    head: Sequence[str]
    # rows of the table, each as long as `head`
    rows: Sequence[Sequence[str]]
    # positions (row, column) of the cells that are bold in LaTeX
    best: frozenset[tuple[int, int]] = frozenset()
    # second heading above each heading; equal neighbors are merged
    over: Sequence[str] = ()
    # positions of rows that are headings of the rows below them
    parts: frozenset[int] = frozenset()


def render_markdown(grid: Grid) -> Markdown:
    """Return a table in Markdown; text is aligned left, and numbers are aligned right.

    The result is empty if the table has no rows.
    """
    if not grid.rows:
        return Markdown("")
    columns: list[list[str]] = []
    rule = []
    for column in zip(grid.head, *grid.rows, strict=True):
        cells = [str(escape_markdown(cell)) for cell in column]
        width = max([len(cells[0]) + 2, *map(len, cells[1:])])
        left = not columns or any(cell[:1].isalpha() for cell in column[1:])
        columns.append([cell.ljust(width) if left else cell.rjust(width) for cell in cells])
        rule.append(":" + "-" * (width + 1) if left else "-" * (width + 1) + ":")
    head, *rows = ("| " + " | ".join(cells) + " |" for cells in zip(*columns, strict=True))
    return Markdown("\n".join([head, "|" + "|".join(rule) + "|", *rows]))


def render_text(grid: Grid, width: int) -> str:
    """Return a table as text for a terminal of `width` characters, without colors.

    Columns that do not fit are in a further block, which repeats the first column. Headings and
    names may be broken into two lines; numbers are never broken. The result is empty if the table
    has no rows.
    """
    if not grid.rows:
        return ""
    lines = [list(map(escape_line, line)) for line in (grid.head, *grid.rows)]
    first, *others = zip(*lines, strict=True)
    columns = [[_wrapped(head, cells), *cells] for head, *cells in others]
    wide = [
        max(len(line) for cell in column for line in cell.split("\n")) + 2 for column in columns
    ]
    names = max(map(len, first))
    if names + sum(wide) > width:
        longest = max(len(word) for name in first for word in name.split() or [""])
        names = min(names, max(NARROW, longest))
    blocks = pack_columns(columns, wide, width - names)
    return "\n\n".join(_block([first, *block], names) for block in blocks)


def pack_columns(
    columns: Sequence[Column], widths: Sequence[float], limit: float
) -> list[list[Column]]:
    """Split columns into blocks of adjacent columns whose width is at most `limit`.

    A single column that is wider than `limit` is a block of its own.
    """
    blocks: list[list[Column]] = [[]]
    room = limit
    for column, width in zip(columns, widths, strict=True):
        if blocks[-1] and room < width:
            blocks.append([])
            room = limit
        blocks[-1].append(column)
        room -= width
    return blocks


def _wrapped(head: str, cells: Sequence[str]) -> str:
    """Break the heading of a column into lines if the cells below are shorter than the heading."""
    longest = max(map(len, head.split()), default=1)
    return textwrap.fill(head, max(*map(len, cells), 12, min(longest, 20)))


def _block(columns: Sequence[Sequence[str]], names: int) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 0, 0, 1))
    for i, (head, *_) in enumerate(columns):
        table.add_column(
            head,
            justify="right" if i else "left",
            no_wrap=i > 0,
            width=None if i else names,
            vertical="bottom",
        )
    for cells in zip(*(column[1:] for column in columns), strict=True):
        table.add_row(*cells)
    out = StringIO()
    Console(file=out, width=ENDLESS, no_color=True, markup=False, highlight=False).print(table)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return "\n".join(filter(None, lines))
