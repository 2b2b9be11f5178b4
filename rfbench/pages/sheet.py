"""A page of tables: a title, sections of lines and grids, notes; for every format of a `Grid`."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from rfbench.escaping import in_latex, in_markdown
from rfbench.pages import grids, latex
from rfbench.pages.grids import Grid

FORMATS = (*grids.WRITERS, "latex")


@dataclass(frozen=True)
class Passage:
    """Lines that say what the grids beneath them hold; without a grid, what all of them hold."""

    lines: Sequence[str]
    grids: Sequence[Grid] = ()


@dataclass(frozen=True)
class Sheet:
    """A page of tables."""

    title: str
    passages: Sequence[Passage]
    notes: Sequence[str] = ()  # what stands beneath
    name: str = ""  # what a reference in LaTeX calls it, see `rfbench.pages.latex.label_of`


def write(sheet: Sheet, form: str, width: int | None = None) -> str:
    """Write a sheet in one of `FORMATS`; the width is that of text, by default the terminal's."""
    if form == "markdown":
        return _markdown(sheet)
    if form == "latex":
        return _latex(sheet)
    return _text(sheet, width or shutil.get_terminal_size().columns)


def _text(sheet: Sheet, width: int) -> str:
    def wrap(line: str) -> str:
        return textwrap.fill(" ".join(line.split()), width, subsequent_indent="  ")

    parts = [wrap(sheet.title)]
    for passage in sheet.passages:
        parts.append("\n".join(map(wrap, passage.lines)))
        parts += [grids.text(grid, width) for grid in passage.grids]
    parts.append("\n".join(wrap(f"- {note}") for note in sheet.notes))
    return "\n\n".join(filter(None, parts)) + "\n"


def _markdown(sheet: Sheet) -> str:
    """Write one line above a grid as a paragraph, so that it joins no list before it."""
    parts = [f"**{in_markdown(sheet.title)}**"]
    for passage in sheet.passages:
        mark = "" if passage.grids and len(passage.lines) == 1 else "- "
        parts.append("\n".join(mark + in_markdown(line) for line in passage.lines))
        parts += map(grids.markdown, passage.grids)
    parts.append("\n".join(f"- {in_markdown(note)}" for note in sheet.notes))
    return "\n\n".join(filter(None, parts)) + "\n"


def _latex(sheet: Sheet) -> str:
    """Write the float of the one grid of a sheet; beneath it stand all lines and notes."""
    said = [*(line for passage in sheet.passages for line in passage.lines), *sheet.notes]
    grid = next((grid for passage in sheet.passages for grid in passage.grids), None)
    if grid is None:
        caption = in_latex(_sentences([sheet.title, *said]))
        text = f"\\begin{{table}}\n\\caption{{{caption}}}\n\\end{{table}}\n"
    else:
        label = latex.label_of(sheet.name)
        text = latex.table(grid, f"{grid.title or sheet.title}.", label, _sentences(said))
    return "\n".join([latex.PREAMBLE, "", text])


def _sentences(lines: Sequence[str]) -> str:
    return ". ".join(line.rstrip(".") for line in lines) + "." if lines else ""
