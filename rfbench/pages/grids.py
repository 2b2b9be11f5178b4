"""One look of tables: for a terminal, in Markdown, in LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO

from rfbench.pages.words import DASH

LATEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"\\": r"\textbackslash ", "~": r"\textasciitilde ", "^": r"\textasciicircum "}
)
SIGNS = str.maketrans({"±": r"$\pm$", "≤": r"$\le$", "≥": r"$\ge$", "•": r"$\bullet$", DASH: "--"})
MARKDOWN = str.maketrans({"|": r"\|", "*": r"\*", "<": r"\<", "\n": " "})


@dataclass(frozen=True)
class Grid:
    """A table of texts.

    Attributes
    ----------
    head : sequence of str
        One name per column; the first column names the rows.
    rows : sequence of sequence of str
        Each as long as the head.
    title : str
        What stands above it.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""


def markdown(grid: Grid) -> str:
    """Write a Markdown table, numbers to the right; the title is not written."""
    from tabulate import tabulate

    rows = [[cell.translate(MARKDOWN) for cell in row] for row in grid.rows]
    head = [name.translate(MARKDOWN) for name in grid.head]
    align = ["left"] + ["right"] * (len(grid.head) - 1)
    return tabulate(rows, head, "pipe", colalign=align, disable_numparse=True)


def latex(grid: Grid) -> str:
    """Write a LaTeX float with booktabs rules, the title as its caption."""
    import pandas as pd

    frame = pd.DataFrame([list(row) for row in grid.rows], columns=list(grid.head))
    style = (
        frame.style.hide(axis="index").format(escape="latex").format_index(escape="latex", axis=1)
    )
    text = style.to_latex(
        hrules=True,
        column_format="l" + "r" * (len(grid.head) - 1),
        caption=grid.title.translate(LATEX) or None,
        position_float="centering",
        environment="table",
    )
    return text.translate(SIGNS)


def text(grid: Grid, width: int) -> str:
    """Write for a terminal of so many characters, without colours.

    Columns that do not fit go into a further block that repeats the first column; no number is
    ever broken over two lines.
    """
    first, *others = zip(*([list(grid.head)] + [list(row) for row in grid.rows]), strict=True)
    blocks: list[list[Sequence[str]]] = []
    room = 0
    for column in others:
        wide = max(max(map(len, column[1:]), default=0), *map(len, column[0].split() or [""])) + 2
        if room < wide or not blocks:
            blocks.append([])
            room = width - min(max(map(len, first)), max(24, width // 3)) - 2
        blocks[-1].append(column)
        room -= wide
    return "\n\n".join(_block([first, *block], width) for block in blocks or [[]])


def _block(columns: Sequence[Sequence[str]], width: int) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for i, column in enumerate(columns):
        table.add_column(column[0], justify="right" if i else "left", no_wrap=i > 0)
    for cells in zip(*(column[1:] for column in columns), strict=True):
        table.add_row(*cells)
    out = StringIO()
    Console(file=out, width=width, no_color=True, markup=False, highlight=False).print(table)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    return "\n".join(filter(None, lines))


WRITERS: dict[str, Callable[[Grid, int], str]] = {
    "text": text,
    "markdown": lambda grid, width: markdown(grid),
    "latex": lambda grid, width: latex(grid),
}
