"""Grids of texts, and how they are written for a terminal, in Markdown and in LaTeX."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from rfbench.report.summary import DASH

LATEX = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "±": r"$\pm$",
        "≤": r"$\le$",
        "•": r"$\bullet$",
        DASH: "--",
        "\n": " ",
    }
)
NARROW_HEAD = 24
MARKDOWN = str.maketrans({"|": r"\|", "*": r"\*", "<": r"\<", "\n": " "})


@dataclass(frozen=True)
class Grid:
    """A table of texts: a corner, the heads of the columns, and rows that begin with a head."""

    corner: str
    head: list[str]
    rows: list[tuple[str, list[str]]]

    def turned(self, corner: str) -> Grid:
        """Exchange rows and columns."""
        columns = zip(*(cells for _, cells in self.rows), strict=True)
        rows = [(head, list(cells)) for head, cells in zip(self.head, columns, strict=True)]
        return Grid(corner, [head for head, _ in self.rows], rows)


@dataclass(frozen=True)
class Section:
    """One data set: what the numbers are, and the grids that hold them."""

    heading: list[str]
    grids: list[Grid]


def text(title: str, sections: list[Section], notes: list[str], width: int) -> str:
    """Write for a terminal: what does not fit the width goes into a further block."""

    def wrap(text: str, indent: str = "  ") -> str:
        return textwrap.fill(" ".join(text.split()), width, subsequent_indent=indent)

    blocks = [wrap(title)]
    for section in sections:
        blocks.append("\n".join(map(wrap, section.heading)))
        blocks += [block for grid in section.grids for block in _blocks(grid, width)]
    if notes:
        blocks.append("\n".join(wrap(f"- {note}") for note in notes))
    return "\n\n".join(blocks) + "\n"


def _blocks(grid: Grid, width: int) -> list[str]:
    """Write a grid in as many blocks as its columns need; every block repeats the row heads.

    Where one block is not enough, long row heads go over several lines.
    """
    cells = list(zip(*(cells for _, cells in grid.rows), strict=True))
    columns = []
    for name, column in zip(grid.head, cells, strict=True):
        longest = max(map(len, column))
        word = max(map(len, name.split()), default=1)
        head = textwrap.wrap(name, max(longest, 12, min(word, 20)))
        columns.append((head, column, max(longest, *map(len, head))))
    heads = [grid.corner, *(head for head, _ in grid.rows)]
    first = max(map(len, heads))
    if first + sum(wide + 2 for _, _, wide in columns) > width:
        words = [word for head in heads for word in head.split()]
        first = min(first, max(NARROW_HEAD, len(grid.corner), *map(len, words)))
    blocks: list[list[tuple[list[str], tuple[str, ...], int]]] = []
    room = 0
    for entry in columns:
        if room < entry[2] + 2:
            blocks.append([])
            room = width - first
        blocks[-1].append(entry)
        room -= entry[2] + 2
    return [_block(grid, first, block) for block in blocks]


def _block(grid: Grid, first: int, block: list[tuple[list[str], tuple[str, ...], int]]) -> str:
    height = max(len(head) for head, _, _ in block)
    lines = []
    for i in range(height):
        line = f"{grid.corner if i == height - 1 else '':{first}}"
        for head, _, wide in block:
            padded = [""] * (height - len(head)) + head
            line += f"  {padded[i]:>{wide}}"
        lines.append(line)
    lines.append("─" * (first + sum(wide + 2 for _, _, wide in block)))
    for i, (name, _) in enumerate(grid.rows):
        said, *more = textwrap.wrap(name, first, break_on_hyphens=False) or [""]
        lines.append(f"{said:{first}}" + "".join(f"  {c[i]:>{wide}}" for _, c, wide in block))
        lines += more
    return "\n".join(line.rstrip() for line in lines)


def markdown(title: str, sections: list[Section], notes: list[str], width: int) -> str:
    """Write as a Markdown section; the width plays no part.

    A heading is a list; one line above a grid is a paragraph, so that it joins no list before it.
    """
    blocks = [f"**{title.translate(MARKDOWN)}**"]
    for section in sections:
        mark = "" if section.grids and len(section.heading) == 1 else "- "
        blocks.append("\n".join(mark + line.translate(MARKDOWN) for line in section.heading))
        blocks += map(markdown_table, section.grids)
    if notes:
        blocks.append("\n".join(f"- {note.translate(MARKDOWN)}" for note in notes))
    return "\n\n".join(blocks) + "\n"


def markdown_table(grid: Grid) -> str:
    """Write a grid as a Markdown table, numbers to the right."""
    rows = [(grid.corner, grid.head), ("---", ["---:"] * len(grid.head)), *grid.rows]
    lines = [[name, *cells] for name, cells in rows]
    return "\n".join(f"| {' | '.join(c.translate(MARKDOWN) for c in row)} |" for row in lines)


def latex(title: str, sections: list[Section], notes: list[str], width: int) -> str:
    """Write as LaTeX with booktabs rules, a float a grid; the width plays no part.

    What sections without a grid say, and the notes, stand in the caption of every section.
    """
    common = [line for section in sections if not section.grids for line in section.heading]
    floats = []
    for section in sections:
        for i, grid in enumerate(section.grids):
            whole = [title, *section.heading, *common, *notes]
            lines = [f"{title}, continued", *section.heading] if i else whole
            floats.append(_float(lines, grid))
    floats = floats or [_float([title, *common, *notes], None)]
    return "\n\n".join([r"% needs \usepackage{booktabs}", *floats]) + "\n"


def _float(caption: list[str], grid: Grid | None) -> str:
    """Write one grid, or none, with its caption."""

    def row(name: str, cells: list[str]) -> str:
        return " & ".join(cell.translate(LATEX) for cell in [name, *cells]) + r" \\"

    said = ". ".join(line.rstrip(".") for line in caption)
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{said.translate(LATEX)}.}}"]
    if grid:
        lines += [rf"\begin{{tabular}}{{l{'r' * len(grid.head)}}}", r"\toprule"]
        lines += [row(grid.corner, grid.head), r"\midrule"]
        lines += [row(name, cells) for name, cells in grid.rows]
        lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, r"\end{table}"])
