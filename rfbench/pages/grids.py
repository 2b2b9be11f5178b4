"""Layout of tables for a terminal and in Markdown; for LaTeX, see `rfbench.pages.latex`."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TypeVar

from rfbench.escaping import Markdown, escape_line, escape_markdown

Column = TypeVar("Column")
# Numbers of characters. If a table is wider than the screen, names of rows are broken at NARROW
# characters. With twice this value, 80 characters leave space for two columns of numbers. ENDLESS
# is more than any table has, so twice this value changes nothing.
NARROW, ENDLESS = 24, 10_000


@dataclass(frozen=True)
class Grid:
    """A table whose cells are strings."""

    head: Sequence[str]  # one name per column; the first column has the names of the rows
    rows: Sequence[Sequence[str]]  # each row is as long as the head
    # cells, as (row, column), that are bold in LaTeX
    best: frozenset[tuple[int, int]] = frozenset()
    over: Sequence[str] = ()  # a head above each head; equal neighbors are merged
    parts: frozenset[int] = frozenset()  # rows that are headings of the rows below


def render_markdown(grid: Grid) -> Markdown:
    """Return a Markdown table, with text aligned left and numbers right; empty without rows."""
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
    """Return the table as text for a terminal of `width` characters, without colors.

    Columns that do not fit go into a further block that repeats the first column. Heads and names
    may be broken over two lines, numbers are not. Without rows, the result is empty.
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
    """Split columns into blocks of neighbors; each block is within the limit if possible."""
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
    """Break the head of a column into lines if the cells below are shorter."""
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
