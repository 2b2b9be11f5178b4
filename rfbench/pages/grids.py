"""Tables of strings, and their layout in Markdown and for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from rich.cells import cell_len

from rfbench.escaping import Markdown, escape_line, escape_markdown

Column = TypeVar("Column")
# Largest width, in characters, of the first column of a table that is wider than the screen. With
# twice this value, a screen of 80 characters has space for only two columns of numbers.
NARROW = 24
# Text that separates two columns of a table in the terminal.
SPACES = "  "


@dataclass(frozen=True)
class Grid:
    """A table of strings, with a heading for each column and a name for each row."""

    # heading of each column of the table; the first column has the names of the rows
    head: Sequence[str]
    # cells of the table, as a sequence of rows; each row has one cell per heading
    rows: Sequence[Sequence[str]]
    # positions (row, column) of the cells that are printed in bold in LaTeX
    best: frozenset[tuple[int, int]] = frozenset()
    # Additional headings above the headings of the columns. Equal headings of adjacent columns are
    # merged.
    over: Sequence[str] = ()
    # positions of the rows that are headings for the rows below them
    parts: frozenset[int] = frozenset()


def render_markdown(grid: Grid) -> Markdown:
    """Return a table in Markdown; empty if the table has no rows.

    Columns of text are aligned left, and columns of numbers are aligned right.
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
    """Return a table as plain text for a terminal of `width` characters.

    Columns that do not fit are written below in a second table, which repeats the first column.
    Headings and names of rows can be broken into several lines, but numbers are never broken. The
    result is empty if the table has no rows.
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
    """Split columns into blocks of adjacent columns whose total width is at most `limit`.

    `widths` are the widths of the columns. A column that is wider than `limit` has its own block.
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
    """Break a column heading into several lines if the cells of the column are narrower.

    `head` is the heading, and `cells` are the cells of the same column.
    """
    longest = max(map(len, head.split()), default=1)
    return textwrap.fill(head, max(*map(len, cells), 12, min(longest, 20)))


def _block(columns: Sequence[Sequence[str]], names: int) -> str:
    """Return the given columns as a table in plain text.

    The first column has the width `names`. If the cells of a row have different numbers of lines,
    their last lines are aligned.
    """
    first, *others = columns
    cells = [[_wrap_name(name, names) for name in first]]
    cells += [[cell.split("\n") for cell in column] for column in others]
    widths = [max(cell_len(line) for cell in column for line in cell) for column in cells]
    widths[0] = names
    lines = []
    for i, row in enumerate(zip(*cells, strict=True)):
        height = max(map(len, row))
        padded = [[""] * (height - len(cell)) + cell for cell in row]
        for name, *numbers in zip(*padded, strict=True):
            texts = [name.ljust(names + len(name) - cell_len(name))]
            for text, width in zip(numbers, widths[1:], strict=True):
                texts.append(" " * (width - cell_len(text)) + text)
            lines.append(SPACES.join(texts).rstrip())
        if i == 0:
            lines.append("─" * (sum(widths) + len(SPACES) * len(others)))
    return "\n".join(filter(None, lines))


def _wrap_name(name: str, width: int) -> list[str]:
    lines = textwrap.wrap(name, max(width, 1), break_on_hyphens=False, replace_whitespace=False)
    return lines or [""]
