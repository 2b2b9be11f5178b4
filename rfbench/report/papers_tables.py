"""Tables in the shape of the papers' own, filled with what was measured."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Callable, Sequence

from rfbench import papers
from rfbench.errors import ResultsError, nearest
from rfbench.papers import Published
from rfbench.report.evidence import Evidence
from rfbench.report.formats import Grid, Section, latex, markdown, text
from rfbench.report.marks import BASELINES, significant
from rfbench.report.papers_layouts import (
    ABSENT,
    BY_SIZE,
    LAYOUTS,
    METHODS,
    SIZE,
    Layout,
    caption,
    heading,
)
from rfbench.report.papers_rows import FACTS, Place, Row, rows_of, size, trials
from rfbench.report.papers_values import PARENTHESES, PLUS_MINUS, percent, seconds
from rfbench.report.summary import DASH
from rfbench.report.verify import Board, board

WRITERS: dict[str, Callable[[str, list[Section], list[str], int], str]] = {
    "text": text,
    "markdown": markdown,
    "latex": latex,
}
SHAPES = (BY_SIZE, *LAYOUTS)
FAILED = "failed"


def render(
    evidence: Evidence, paper: str, item: str, format: str = "text", width: int | None = None
) -> str:
    """Write a table of a paper with our numbers in the places of the published ones.

    A part a protocol that was run, in the paper's order of data sets; where nothing was measured
    stands a dash, and stand-ins have rows of their own that say so.

    Parameters
    ----------
    evidence : Evidence
        See `rfbench.report.evidence.gather`.
    paper, item : str
        As in `published.csv`: liu2020 table3, eerf2018 table3 and table5, lkrf2016 table1 and
        table2.
    format : {'text', 'markdown', 'latex'}
    width : int, optional
        Width of ``'text'`` in characters; by default the terminal's.

    Raises
    ------
    ResultsError
        If there is no such paper, table or format, or nothing of it was run.
    """
    papers.check_paper(paper)
    items = [known for name, known in SHAPES if name == paper]
    if item not in items:
        raise ResultsError(
            f"{paper} has no table '{item}' here.{nearest(item, items)}",
            f"There are {', '.join(items) or 'none: it prints figures only'}.",
        )
    if format not in WRITERS:
        raise ResultsError(
            f"A table of a paper is not written as '{format}'.",
            f"Known are {', '.join(WRITERS)}.",
            "`rfbench verify --format csv` has the numbers as CSV.",
        )
    found = board(evidence, paper, has_data=lambda name: True)
    sections = _sections(found, evidence, paper, item, evidence.protocols(paper, [item]))
    if not sections:
        raise ResultsError(
            f"Nothing of {paper}, {item} is in these results.",
            "",
            f"Run a configuration that says `paper: {paper}` and `item: {item}`.",
        )
    width = width or shutil.get_terminal_size().columns
    return WRITERS[format](title(paper, item), sections, found.notes, width)


def title(paper: str, item: str) -> str:
    """Name the table: ``liu2020, Table 3, measured``."""
    return f"{paper}, Table {item.removeprefix('table')}, measured"


def sections_of(
    found: Board, evidence: Evidence, paper: str, item: str, protocol: str
) -> list[Section]:
    """Lay out one table under one protocol; empty if nothing was measured.

    The first section has no grid: it is what the caption says of the others.
    """
    return _sections(found, evidence, paper, item, [protocol])


def _sections(
    found: Board, evidence: Evidence, paper: str, item: str, protocols: Sequence[str]
) -> list[Section]:
    every: list[Row] = []
    sections = []
    for protocol in protocols:
        rows = rows_of(found, evidence, paper, item, protocol)
        if not any(row.measured for row in rows):
            continue
        every += rows
        if (paper, item) == BY_SIZE:
            sections += [_by_size(row, protocol) for row in rows]
        else:
            sections.append(_by_dataset(LAYOUTS[paper, item], rows, protocol))
    if not sections:
        return []
    cells = {cell for s in sections for grid in s.grids for _, cells in grid.rows for cell in cells}
    said = caption(paper, item, every) + [ABSENT] * (DASH in cells)
    return [Section(said, []), *sections]


def _by_size(row: Row, protocol: str) -> Section:
    """Lay out Table 3 of liu2020 on a data set: a row a size, accuracy and time."""
    heads = list(METHODS.values())
    if not row.arms:
        empty = Grid("s", heads, [(DASH, [DASH] * len(heads))])
        return Section([f"{row.name}, protocol {protocol}: not run here"], [empty])
    sizes = {number.M: _size(number) for number in row.numbers}
    rows = [
        (name, [_accuracy(row, method, size) for method in METHODS]) for size, name in sizes.items()
    ]
    count = trials(row)
    first, *others = heading(protocol, [row], f"{count} trial{'s' * (count != '1')}")
    return Section([f"{row.name}, {first}", *others], [Grid("s", heads, rows)])


def _size(number: Published) -> str:
    """Write a size with its multiple of the number of columns: ``14 (d)``, ``28 (2d)``."""
    times = re.search(r"\bs=(\d+)d\b", number.note)
    if times is None:
        return number.M
    return f"{number.M} (d)" if times[1] == "1" else f"{number.M} ({times[1]}d)"


def _accuracy(row: Row, method: str, size: str) -> str:
    """Write ``•84.97±0.50 (12.3±0.2)``: accuracy, and time in milliseconds."""
    place, time = row.place(method, "accuracy", size), row.place(method, "t_features", size)
    if place is None or not place.measured:
        return _absent(place)
    said = percent(place.cell.measured, _deviation(place), PLUS_MINUS)
    if time is not None and time.measured:
        said += f" ({seconds(1000 * time.cell.measured, 1000 * _deviation(time), time.shared)})"
    marked = method not in BASELINES and significant(row.arms, place.cell.number)
    return "•" * bool(marked) + said


def _deviation(place: Place) -> float:
    """Return the standard deviation over the trials."""
    return place.cell.standard_error * math.sqrt(place.cell.trials)


def _absent(place: Place | None) -> str:
    return FAILED if place is not None and place.arm is not None and place.arm.failed else DASH


def _by_dataset(layout: Layout, rows: Sequence[Row], protocol: str) -> Section:
    """Lay out a table whose rows are data sets."""
    lines = []
    for row in rows:
        texts = [FACTS[name](row) for name in layout.facts]
        texts += [_texts(row, method, metrics) for _, method, metrics in layout.columns]
        lines.append((row.name, texts))
    head = [*layout.facts, *(name for name, _, _ in layout.columns)]
    first, *others = heading(protocol, rows)
    return Section([first[0].upper() + first[1:], *others], [Grid("data set", head, lines)])


def _texts(row: Row, method: str, metrics: Sequence[str]) -> str:
    """Write the metrics of one method: ``14.75 (0.20) / 16.30 (0.22)``."""
    if metrics == (SIZE,):
        place = row.place(method, "error")
        return size([place.arm]) if place and place.arm and place.measured else DASH
    texts = [_value(row.place(method, metric)) for metric in metrics]
    return DASH if set(texts) == {DASH} else " / ".join(texts)


def _value(place: Place | None) -> str:
    if place is None or not place.measured:
        return _absent(place)
    cell = place.cell
    if cell.number.unit == "s":
        return seconds(cell.measured, shared=place.shared)
    return percent(cell.measured, cell.standard_error, PARENTHESES)
