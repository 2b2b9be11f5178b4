"""Tables in the shape of the papers' own, filled with what was measured."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Sequence

from rfbench import papers
from rfbench.errors import ResultsError, nearest
from rfbench.papers import SIZE, Layout, Paper, Published, TableColumn
from rfbench.report.evidence import Evidence
from rfbench.report.formats import Grid, Section, latex, markdown, text
from rfbench.report.marks import significant
from rfbench.report.papers_layouts import ABSENT, caption, heading
from rfbench.report.papers_rows import FACTS, Place, Row, rows_of, size, trials
from rfbench.report.papers_values import PARENTHESES, PLUS_MINUS, percent, seconds
from rfbench.report.summary import DASH
from rfbench.report.verify import Board, board

WRITERS: dict[str, Callable[[str, list[Section], list[str], int], str]] = {
    "text": text,
    "markdown": markdown,
    "latex": latex,
}
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
        Those of `rfbench.papers.tables`.
    format : {'text', 'markdown', 'latex'}
    width : int, optional
        Width of ``'text'`` in characters; by default the terminal's.

    Raises
    ------
    ResultsError
        If there is no such paper, table or format, or nothing of it was run.
    """
    papers.check_paper(paper)
    items = list(papers.paper(paper).tables)
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
    """Name the table by its paper and number."""
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
    layout = papers.tables()[paper, item]
    every: list[Row] = []
    sections = []
    for protocol in protocols:
        rows = rows_of(found, evidence, paper, item, protocol)
        if not any(row.measured for row in rows):
            continue
        every += rows
        if layout.rows == "sizes":
            sections += [_by_size(layout, papers.paper(paper), row, protocol) for row in rows]
        else:
            sections.append(_by_dataset(layout, rows, protocol))
    if not sections:
        return []
    cells = {cell for s in sections for grid in s.grids for _, cells in grid.rows for cell in cells}
    said = caption(layout, every) + [ABSENT] * (DASH in cells)
    return [Section(said, []), *sections]


def _by_size(layout: Layout, paper: Paper, row: Row, protocol: str) -> Section:
    """Lay out a table whose rows are sizes, on one data set."""
    symbol, heads = paper.sizes.symbol, [column.head for column in layout.columns]
    if not row.arms:
        empty = Grid(symbol, heads, [(DASH, [DASH] * len(heads))])
        return Section([f"{row.name}, protocol {protocol}: not run here"], [empty])
    sizes = {number.M: _size(number, paper) for number in row.numbers}
    rows = [
        (name, [_at_size(layout, row, column, size) for column in layout.columns])
        for size, name in sizes.items()
    ]
    count = trials(row)
    first, *others = heading(protocol, [row], f"{count} trial{'s' * (count != '1')}")
    return Section([f"{row.name}, {first}", *others], [Grid(symbol, heads, rows)])


def _size(number: Published, paper: Paper) -> str:
    """Write a size, where the paper does so with its multiple of the columns: ``28 (2d)``."""
    d = paper.datasets[number.dataset].d
    if not paper.sizes.over_d or number.size is None or d is None:
        return number.M
    times = number.size / d
    return f"{number.M} (d)" if times == 1 else f"{number.M} ({times:g}d)"


def _at_size(layout: Layout, row: Row, column: TableColumn, size: str) -> str:
    """Write a cell: ``•84.97±0.50 (12.3±0.2)``, the first metric and the others in brackets."""
    place, *more = (row.place(column.method, metric, size) for metric in column.metrics)
    if place is None or not place.measured:
        return _absent(place)
    said = " ".join(
        [_value(layout, place, PLUS_MINUS)]
        + [f"({_value(layout, other, PLUS_MINUS)})" for other in more if other and other.measured]
    )
    number = place.cell.number
    marked = layout.marks and significant(row.arms, number, layout.marks)
    return "•" * bool(marked) + said


def _spread(layout: Layout, place: Place) -> float:
    """Return the standard error, or the standard deviation over the trials."""
    trials = place.cell.trials if layout.spread == "sd" else 1
    return place.cell.standard_error * math.sqrt(trials)


def _absent(place: Place | None) -> str:
    return FAILED if place is not None and place.arm is not None and place.arm.failed else DASH


def _by_dataset(layout: Layout, rows: Sequence[Row], protocol: str) -> Section:
    """Lay out a table whose rows are data sets."""
    lines = []
    for row in rows:
        texts = [FACTS[name](row) for name in layout.facts]
        texts += [_texts(layout, row, column) for column in layout.columns]
        lines.append((row.name, texts))
    head = [*layout.facts, *(column.head for column in layout.columns)]
    first, *others = heading(protocol, rows)
    return Section([first[0].upper() + first[1:], *others], [Grid("data set", head, lines)])


def _texts(layout: Layout, row: Row, column: TableColumn) -> str:
    """Write the metrics of one method: ``14.75 (0.20) / 16.30 (0.22)``."""
    if column.metrics == [SIZE]:
        place = row.place(column.method, "error")
        return size([place.arm]) if place and place.arm and place.measured else DASH
    places = [row.place(column.method, metric) for metric in column.metrics]
    texts = [_value(layout, place, PARENTHESES) for place in places]
    return DASH if set(texts) == {DASH} else " / ".join(texts)


def _value(layout: Layout, place: Place | None, form: str) -> str:
    if place is None or not place.measured:
        return _absent(place)
    mean, spread = place.cell.measured, _spread(layout, place)
    if place.cell.number.unit == "%":
        return percent(mean, spread, form)
    scale = 1000 if layout.time_unit == "ms" else 1
    with_spread = layout.spread == "sd"
    return seconds(scale * mean, scale * spread if with_spread else math.nan, place.shared)
