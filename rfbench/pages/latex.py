"""LaTeX tables for an article with two columns, with the packages booktabs and siunitx."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rfbench.escaping import escape_latex
from rfbench.pages.formatting import DASH
from rfbench.pages.grids import Grid, pack_columns

PREAMBLE = r"% needs \usepackage{booktabs,siunitx}"
# Widths in points in the LaTeX class `article` with two columns: one column (COLUMN) and the whole
# page (PAGE). Most other classes are wider.
COLUMN, PAGE = 229.0, 469.0
# Widths in points: LETTER is a character of 8 points (\footnotesize in LaTeX). SPACE is the space
# between two columns, which is twice \tabcolsep (3 points).
LETTER, SPACE = 4.6, 6.0
NUMBER = re.compile(r"(-?)(\d+)(?:\.(\d+))?(?: ?± ?(\d+)(?:\.(\d+))?)?")
# Space below the caption of a table, because the LaTeX class `article` has no space there. With
# half this space, the rule of the table touches the caption.
CAPTION_SPACE = r"\setlength{\belowcaptionskip}{4pt}"
TABLE_SETTINGS = r"\footnotesize\setlength{\tabcolsep}{3pt}\sisetup{detect-weight=true,mode=text}"


def render_latex_table(grid: Grid, caption: str = "", label: str = "", note: str = "") -> str:
    """Return a table as LaTeX code.

    The environment is ``table``, or ``table*`` if the table is wider than a column of an article.
    Numbers are aligned at the decimal point, and ``0.398 ± 0.009`` is written as ``0.398(9)``.
    Columns that do not fit on a page are written below as a second table with the same row names.
    Cells in `Grid.best` are bold.

    Parameters
    ----------
    grid : Grid
        The table.
    caption, label, note : str
        Caption above the table, name for ``\\ref``, and small text below the table.

    Returns
    -------
    str
        LaTeX code.
    """
    rows = [i for i in range(len(grid.rows)) if i not in grid.parts]
    columns = [_Column(grid, j, rows) for j in range(1, len(grid.head))]
    names = LETTER * max((len(grid.rows[i][0]) for i in rows), default=0) + SPACE
    headings = LETTER * max((len(grid.rows[i][0]) for i in grid.parts), default=0)
    widths = [column.width for column in columns]
    wide = max(names + sum(widths), headings) > COLUMN
    blocks = pack_columns(columns, widths, (PAGE if wide else COLUMN) - names)
    kind = "table*" if wide else "table"
    lines = [rf"\begin{{{kind}}}", r"\centering"]
    lines += [CAPTION_SPACE, rf"\caption{{{escape_latex(caption)}}}"] if caption else []
    lines += [rf"\label{{{label}}}"] if label else []
    lines += [
        TABLE_SETTINGS,
        "\\par\\medskip\n".join(_tabular(grid, rows, block) for block in blocks),
    ]
    if note:
        lines.append(rf"\par\smallskip\parbox{{\linewidth}}{{\scriptsize {escape_latex(note)}}}")
    return "\n".join([*lines, rf"\end{{{kind}}}", ""])


def make_latex_label(text: str) -> str:
    """Return a name for the LaTeX command ``\\label``, such as ``tab:my-run`` for ``My run``."""
    return "tab:" + re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


class _Column:
    """A column of a LaTeX table: strings, or numbers that are aligned at the decimal point."""

    def __init__(self, grid: Grid, position: int, rows: Sequence[int]) -> None:
        self.heads = [
            escape_latex(level[position]) for level in (grid.over, grid.head) if any(level)
        ]
        cells = [grid.rows[i][position] for i in rows]
        matches = [NUMBER.fullmatch(cell) for cell in cells]
        self.format = _format([match for match in matches if match])
        texts = [
            _number(match) if match else cell for match, cell in zip(matches, cells, strict=True)
        ]
        self.width = LETTER * max(map(len, [grid.head[position], *texts])) + SPACE
        self.cells = []
        for i, match, text in zip(rows, matches, texts, strict=True):
            bold = r"\bfseries " if (i, position) in grid.best else ""
            braced = (
                f"{{{escape_latex(text)}}}"
                if self.format[0] == "S" and text
                else escape_latex(text)
            )
            self.cells.append(bold + text if match else braced)


def _tabular(grid: Grid, rows: Sequence[int], columns: Sequence[_Column]) -> str:
    """Return a LaTeX ``tabular`` with the given columns of a table.

    The names of the rows and all headings are included. `rows` are the positions of the rows with
    numbers in `grid`.
    """
    import pandas as pd

    heads = [*zip(*(column.heads for column in columns), strict=True)]
    corner = [*[""] * (len(heads) - 1), escape_latex(grid.head[0])]
    frame = pd.DataFrame([*zip(*(column.cells for column in columns), strict=True)])
    frame.index = pd.Index([escape_latex(grid.rows[i][0].replace(DASH, "-")) for i in rows])
    frame.columns = (
        pd.MultiIndex.from_arrays(heads, names=corner)
        if any(grid.over)
        else pd.Index(heads[0], name=corner[0])
    )
    formats = "".join(["l", *(column.format for column in columns)])
    text = frame.style.to_latex(
        hrules=True,
        siunitx=True,  # with this option, pandas puts braces around headings
        column_format=f"@{{}}{formats}@{{}}",
        multicol_align="c",
    ).rstrip()
    before, rule, body = text.partition("\\midrule\n")
    lines = body.split("\n")  # one line per row of the table, followed by the rule at the bottom
    for part in sorted(grid.parts, reverse=True):
        place = sum(i < part for i in rows)
        title = escape_latex(grid.rows[part][0])
        heading = rf"\multicolumn{{{len(columns) + 1}}}{{@{{}}l@{{}}}}{{\itshape {title}}} \\"
        lines[place:place] = [r"\addlinespace", heading] if place else [heading]
    return before + rule + "\n".join(lines)


def _format(numbers: Sequence[re.Match[str]]) -> str:
    if not numbers:
        return "r"
    parts = ((m[1], m[2], m[3] or "", _last_digits(m)) for m in numbers)
    sign, whole, decimals, spread = (max(map(len, texts)) for texts in zip(*parts, strict=True))
    return f"S[table-format={'-' * sign}{whole}.{decimals}{f'({spread})' if spread else ''}]"


def _number(match: re.Match[str]) -> str:
    spread = _last_digits(match)
    number = match[1] + match[2] + (f".{match[3]}" if match[3] else "")
    return number + (f"({spread})" if spread else "")


def _last_digits(match: re.Match[str]) -> str:
    """Return a standard error in units of the last digit, such as ``"12"`` for ``17.37 ± 0.12``.

    The result is an empty string if the matched number has no standard error.
    """
    if match[4] is None:
        return ""
    return (match[4] + (match[5] or "")).lstrip("0") or "0"
