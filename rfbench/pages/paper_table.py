"""Tables in the shape of the papers' own, filled with what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from rfbench import papers
from rfbench.analysis.paper_table import TableRow
from rfbench.analysis.paper_table import rows as rows_of
from rfbench.analysis.published import published
from rfbench.analysis.selection import Selection
from rfbench.errors import ResultsError, nearest
from rfbench.pages import sheet
from rfbench.pages.grids import Grid
from rfbench.pages.sheet import Passage, Sheet
from rfbench.pages.templates import lines
from rfbench.pages.words import DASH, span, spread
from rfbench.papers.models import SECONDS, SIZE, Layout, Paper, TableColumn
from rfbench.results.schema import METRICS

TEMPLATE = "paper_table.j2"
FAILED = "failed"
SPANS = {"M": "M", "n": "n_train", "n_test": "n_test", "d": "d", "trials": "trials"}
PARAMETERS = {"M_0": "pool_size", "N_0/N": "score_rows"}


def render(
    selection: Selection, paper: str, item: str, form: str = "text", width: int | None = None
) -> str:
    """Write a table of a paper with our numbers in the places of the published ones.

    A part per protocol that was run, in the paper's order of data sets; where nothing was measured
    stands a dash, and stand-ins have rows of their own that say so. Form and width are those of
    `rfbench.pages.sheet.write`.

    Raises ResultsError if there is no such paper, table or format, or nothing of it was run.
    """
    papers.check_paper(paper)
    items = list(papers.paper(paper).tables)
    if item not in items:
        raise ResultsError(
            f"{paper} has no table '{item}' here.{nearest(item, items)}",
            f"There are {', '.join(items) or 'none: it prints figures only'}.",
        )
    if form not in sheet.FORMATS:
        raise ResultsError(
            f"A table of a paper is not written as '{form}'.",
            f"Known are {', '.join(sheet.FORMATS)}.",
            "`rfbench verify --format csv` has the numbers as CSV.",
        )
    numbers = published(selection, paper)
    paper_sheet = sheet_of(selection, numbers, paper, item, selection.protocols(paper, [item]))
    if paper_sheet is None:
        raise ResultsError(
            f"Nothing of {paper}, {item} is in these results.",
            "",
            f"Run a configuration that says `paper: {paper}` and `item: {item}`.",
        )
    notes = lines(TEMPLATE, "notes", collection=selection.collection, paper=paper)
    return sheet.write(Sheet(paper_sheet.title, paper_sheet.passages, notes), form, width)


def sheet_of(
    selection: Selection, numbers: pd.DataFrame, paper: str, item: str, protocols: Sequence[str]
) -> Sheet | None:
    """Lay out one table under some protocols; None if nothing was measured."""
    layout = papers.tables()[paper, item]
    every: list[TableRow] = []
    passages: list[Passage] = []
    for protocol in protocols:
        rows = rows_of(selection, numbers, paper, item, protocol)
        if not any(row.measured for row in rows):
            continue
        every += rows
        if layout.rows == "sizes":
            passages += [_by_size(layout, papers.paper(paper), row, protocol) for row in rows]
        else:
            passages.append(_by_dataset(layout, rows, protocol))
    if not passages:
        return None
    cells = {cell for p in passages for grid in p.grids for row in grid.rows for cell in row}
    caption = lines(
        TEMPLATE,
        "caption",
        layout=layout,
        regressions=_regressions(every),
        timed=_timed(every),
        absent=DASH in cells,
    )
    (title,) = lines(TEMPLATE, "title", paper=paper, item=item)
    return Sheet(title, [Passage(caption), *passages])


def _timed(rows: Sequence[TableRow]) -> bool:
    return any(cell["unit"] == "s" for row in rows for cell in row.measured)


def _regressions(rows: Sequence[TableRow]) -> dict[str, str]:
    """Return what the error of each regression is."""
    return {
        row.dataset: METRICS[cell["error_metric"]]
        for row in rows
        for cell in row.measured
        if cell["metric"] == "error" and cell["error_metric"] != "error"
    }


def _by_size(layout: Layout, paper: Paper, row: TableRow, protocol: str) -> Passage:
    """Lay out a table whose rows are sizes, on one data set."""
    head = [paper.sizes.symbol, *(column.head for column in layout.columns)]
    heading = lines(TEMPLATE, "heading_of_sizes", row=row, protocol=protocol)
    if not row.cells:
        return Passage(heading, [Grid(head, [[DASH] * len(head)])])
    cells = [
        [_size(paper, row.dataset, size)]
        + [_at_size(layout, row, column, size) for column in layout.columns]
        for size in row.sizes
    ]
    return Passage(heading, [Grid(head, cells)])


def _size(paper: Paper, dataset: str, size: str) -> str:
    """Write a size, where the paper does so with its multiple of the columns: ``28 (2d)``."""
    d = paper.datasets[dataset].d
    if not paper.sizes.over_d or not size.isdigit() or d is None:
        return size
    return f"{size} ({int(size) / d:g}d)".replace("(1d)", "(d)")


def _at_size(layout: Layout, row: TableRow, column: TableColumn, size: str) -> str:
    """Write a cell: ``84.97 ± 0.50 (12.30 ± 0.20)``, others than the first metric in brackets."""
    first, *more = (row.cell(column.method, metric, size) for metric in column.metrics)
    value = _value(layout, first)
    if first is None or not first["trials"]:
        return value
    others = [_value(layout, cell) for cell in more if cell and cell["trials"]]
    return " ".join([value, *(f"({other})" for other in others)])


def _by_dataset(layout: Layout, rows: Sequence[TableRow], protocol: str) -> Passage:
    """Lay out a table whose rows are data sets."""
    cells = []
    for row in rows:
        (name,) = lines(TEMPLATE, "name", row=row)
        facts = [_fact(row, name) for name in layout.facts]
        cells.append([name, *facts, *(_texts(layout, row, column) for column in layout.columns)])
    head = ["data set", *layout.facts, *(column.head for column in layout.columns)]
    heading = lines(TEMPLATE, "heading_of_datasets", rows=rows, protocol=protocol)
    return Passage(heading, [Grid(head, cells)])


def _fact(row: TableRow, name: str) -> str:
    if name in SPANS:
        return span(*row.span(SPANS[name]))
    return " / ".join(_setting(name, value) for value in row.given(PARAMETERS[name])) or DASH


def _setting(name: str, value: Any) -> str:
    if value is None:
        return "default"
    return f"{100 * value:g} %" if name == "N_0/N" and isinstance(value, float) else str(value)


def _texts(layout: Layout, row: TableRow, column: TableColumn) -> str:
    """Write the metrics of one method: ``14.75 ± 0.20 / 16.30 ± 0.22``."""
    if column.metrics == [SIZE]:
        cell = row.cell(column.method, "error")
        return span(*row.sizes_of(cell["group"])) if cell and cell["trials"] else DASH
    cells = [row.cell(column.method, metric) for metric in column.metrics]
    texts = [_value(layout, cell) for cell in cells]
    return DASH if set(texts) == {DASH} else " / ".join(texts)


def _value(layout: Layout, cell: dict[str, Any] | None) -> str:
    if cell is None or not cell["trials"]:
        return FAILED if cell and cell["failed"] else DASH
    error = cell["standard_error"] * (math.sqrt(cell["trials"]) if layout.spread == "sd" else 1)
    scale = 1000 if cell["unit"] == SECONDS and layout.time_unit == "ms" else 1
    return spread(scale * cell["measured"], scale * error)
