"""Tables for an article: booktabs and siunitx, as wide as a column or a page."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rfbench.escaping import in_latex
from rfbench.pages.grids import Grid
from rfbench.pages.words import DASH

PREAMBLE = r"% needs \usepackage{booktabs,siunitx}"
# In points: one and both columns of an article of two (those of `article`; most are wider).
COLUMN, PAGE = 229.0, 469.0
# At \footnotesize: a usual letter of a name, a bold digit (cmbx8), the space between two columns.
LETTER, DIGIT, SPACE = 4.4, 4.9, 6.0
NAME = 34  # letters of the first column before it is broken over lines
NUMBER = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?: ?± ?(\d+)(?:\.(\d+))?)?")
SETTINGS = r"\sisetup{detect-weight=true,mode=text}"


def table(grid: Grid, caption: str = "", label: str = "", note: str = "") -> str:
    """Write a float: ``table``, or ``table*`` where one column of an article is too narrow.

    Numbers are aligned at their points, ``0.398 ± 0.009`` is written ``0.398(9)``. What is wider
    than a page goes on below, with the names of the rows again. Cells in `Grid.best` are bold.

    Parameters
    ----------
    caption, label, note : str
        One line above, the name for ``\\ref``, and what stands beneath in small letters.
    """
    columns = [_Column(grid, j) for j in range(1, len(grid.head))]
    first = min(NAME, max(map(len, [grid.head[0], *(row[0] for row in grid.rows)]), default=0))
    names = first * LETTER + SPACE
    width = names + sum(column.width for column in columns)
    wide = width > COLUMN
    float_ = "table*" if wide else "table"
    limit = PAGE if wide else COLUMN
    blocks: list[list[_Column]] = [[]]
    room = limit - names
    for column in columns:
        if blocks[-1] and room < column.width:
            blocks.append([])
            room = limit - names
        blocks[-1].append(column)
        room -= column.width
    longest = max((len(row[0]) for row in grid.rows), default=0)
    names_column = f"p{{{names - SPACE:.0f}pt}}" if longest > NAME else "l"
    lines = [rf"\begin{{{float_}}}", r"\centering"]
    lines += [rf"\caption{{{in_latex(caption)}}}"] if caption else []
    lines += [rf"\label{{{label}}}"] if label else []
    lines += [r"\footnotesize", r"\setlength{\tabcolsep}{3pt}", SETTINGS]
    for i, block in enumerate(blocks):
        lines += [r"\par\medskip"] if i else []
        lines += _tabular(grid, block, names_column)
    if note:
        lines.append(rf"\par\smallskip\parbox{{\linewidth}}{{\scriptsize {in_latex(note)}}}")
    return "\n".join([*lines, rf"\end{{{float_}}}", ""])


def label_of(text: str) -> str:
    """Return a name for ``\\label``: letters, digits and hyphens.

    >>> label_of("mine_table3, MNIST 5%")
    'tab:mine-table3-mnist-5'
    """
    return "tab:" + re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


class _Column:
    """A column of numbers aligned at their points, or of texts."""

    def __init__(self, grid: Grid, position: int) -> None:
        self.position, self.head = position, grid.head[position]
        cells = [row[position] for i, row in enumerate(grid.rows) if i not in grid.parts]
        matches = [NUMBER.fullmatch(cell) for cell in cells]
        numbers = [match for match in matches if match]
        self.aligned = bool(numbers)
        if not numbers:
            self.width = max(map(len, [*self.head.split(), *cells]), default=1) * LETTER + SPACE
            self.format = "r"
            return
        others = [cell for cell, match in zip(cells, matches, strict=True) if not match]
        whole = max(len(match[1]) + len(match[2]) for match in numbers)
        decimals = max(len(match[3] or "") for match in numbers)
        spread = max(len(_last_digits(match)) for match in numbers)
        sign = "-" if any(match[1] for match in numbers) else ""
        digits = whole - len(sign)
        self.format = f"S[table-format={sign}{digits}.{decimals}{f'({spread})' if spread else ''}]"
        size = whole + (decimals + 0.5 if decimals else 0) + (spread + 1.5 if spread else 0)
        texts = max(map(len, [*self.head.split(), *others]), default=0)
        self.width = max(size * DIGIT, texts * LETTER) + SPACE

    def title(self) -> str:
        words, room = self.head.split(), max(self.width - SPACE, 1) / LETTER
        lines: list[str] = []
        for word in words:
            if lines and len(lines[-1]) + 1 + len(word) <= room:
                lines[-1] += f" {word}"
            else:
                lines.append(word)
        cells = [in_latex(line) for line in lines]
        if len(cells) > 1:
            stacked = r"\\".join(cells)
            return rf"{{\shortstack[r]{{{stacked}}}}}"
        return f"{{{''.join(cells)}}}"

    def cell(self, text: str, best: bool) -> str:
        if not self.aligned:
            return in_latex(text)
        match = NUMBER.fullmatch(text)
        if not match:
            return f"{{{in_latex(text)}}}" if text else ""
        spread = _last_digits(match)
        number = match[1] + match[2] + (f".{match[3]}" if match[3] else "")
        bold = r"\bfseries " if best else ""
        return f"{bold}{number}" + (f"({spread})" if spread else "")


def _last_digits(match: re.Match[str]) -> str:
    """Return a standard error in units of the last digit: 12 of ``17.37 ± 0.12``; '' without."""
    if match[4] is None:
        return ""
    return (match[4] + (match[5] or "")).lstrip("0") or "0"


def _tabular(grid: Grid, columns: Sequence[_Column], names: str) -> list[str]:
    count = 1 + len(columns)
    lines = [rf"\begin{{tabular}}{{@{{}}{names}{''.join(c.format for c in columns)}@{{}}}}"]
    head = [in_latex(grid.head[0]), *(column.title() for column in columns)]
    over, spanned = grid.over
    first = columns[0].position
    spanned -= first - 1  # those that stand in an earlier block
    lines.append(r"\toprule")
    if (shown := min(spanned, len(columns))) > 0:
        lines.append(rf" & \multicolumn{{{shown}}}{{c}}{{{in_latex(over)}}} \\")
        lines.append(rf"\cmidrule(l){{2-{shown + 1}}}")
    lines += [" & ".join(head) + r" \\", r"\midrule"]
    for i, row in enumerate(grid.rows):
        if i in grid.parts:
            lines += [r"\addlinespace"] if i else []
            lines.append(rf"\multicolumn{{{count}}}{{@{{}}l}}{{\emph{{{in_latex(row[0])}}}}} \\")
            continue
        cells = [column.cell(row[column.position], (i, column.position) in grid.best)
                 for column in columns]  # fmt: skip
        lines.append(" & ".join([in_latex(row[0].replace(DASH, "-")), *cells]) + r" \\")
    return [*lines, r"\bottomrule", r"\end{tabular}"]
