"""Tables in the shape of the papers' own, filled with what was measured."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rfbench import papers
from rfbench.errors import ResultsError, nearest
from rfbench.report import rules
from rfbench.report.arms import Arm
from rfbench.report.evidence import Evidence
from rfbench.report.formats import Grid, Section, latex, markdown, text
from rfbench.report.marks import BASELINES, significant
from rfbench.report.verify import Board, Cell, board, stand_in_name

WRITERS: dict[str, Callable[[str, list[Section], list[str], int], str]] = {
    "text": text,
    "markdown": markdown,
    "latex": latex,
}
NAMES = {
    "rks": "RFF",
    "qmc": "QMC",
    "leverage-rff": "leverage-RFF",
    "surrogate-leverage": "surrogate",
}


@dataclass(frozen=True)
class Layout:
    """The columns of a paper's table whose rows are data sets: head, method, metrics."""

    caption: str
    columns: list[tuple[str, str, tuple[str, ...]]]


TIMED = "times in seconds, standard errors in parentheses"
LAYOUTS = {
    ("eerf2018", "table3"): Layout(
        TIMED,
        [
            ("eerf t_pp", "eerf", ("t_pp",)),
            ("eerf t_train", "eerf", ("t_train",)),
            ("eerf t_test", "eerf", ("t_test",)),
            ("rks t_train", "rks", ("t_train",)),
            ("rks t_test", "rks", ("t_test",)),
            ("eerf error (%)", "eerf", ("error",)),
            ("rks error (%)", "rks", ("error",)),
        ],
    ),
    ("eerf2018", "table5"): Layout(
        TIMED,
        [
            ("eerf t_pp", "eerf", ("t_pp",)),
            ("lkrf t_pp", "lkrf", ("t_pp",)),
            ("eerf t_train", "eerf", ("t_train",)),
            ("lkrf t_train", "lkrf", ("t_train",)),
            ("eerf error (%)", "eerf", ("error",)),
            ("lkrf error (%)", "lkrf", ("error",)),
        ],
    ),
    ("lkrf2016", "table1"): Layout(
        "best test error over the sizes that were run, chosen on the test rows (optimistic), and "
        "the time (with testing) at that size",
        [
            ("lkrf error (%), time (s)", "lkrf", ("error", "t_total")),
            ("rks error (%), time (s)", "rks", ("error", "t_total")),
        ],
    ),
    ("lkrf2016", "table2"): Layout(
        "5,000 training rows; training / test error, time with testing",
        [
            ("lkrf training / test (%), time (s)", "lkrf", ("train_error", "error", "t_total")),
            ("joint training / test (%), time (s)", "joint", ("train_error", "error", "t_total")),
        ],
    ),
}
SHAPES = (("liu2020", "table3"), *LAYOUTS)


def render(
    evidence: Evidence, paper: str, item: str, format: str = "text", width: int | None = None
) -> str:
    """Write a table of a paper with our numbers in the places of the published ones.

    A part a protocol that was run; places where nothing was measured stay empty, stand-ins have
    rows of their own that say so.

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
    ran = evidence.protocols(paper, [item])
    sections = [s for p in ran for s in sections_of(found, evidence, paper, item, p)]
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
    """Lay out what was measured for one table under one protocol; empty if nothing was."""
    every = [*found.cells, *found.stand_ins]
    place = (paper, item, protocol)
    here = [c for c in every if (c.number.paper, c.number.item, c.protocol) == place and c.trials]
    if not here:
        return []
    if paper == "liu2020":
        return _by_size(evidence, here, protocol)
    return [_by_dataset(LAYOUTS[paper, item], here, protocol)]


def _label(cell: Cell) -> str:
    """Name the data set as the paper does, and what stands in for it where something does."""
    name = cell.number.dataset
    return f"{name} (stand-in {cell.dataset})" if cell.stand_in else name


def _by_size(evidence: Evidence, cells: Sequence[Cell], protocol: str) -> list[Section]:
    """Lay out Table 3 of liu2020: a grid a data set, a row a size, accuracy and time."""
    sections = []
    for label in dict.fromkeys(map(_label, cells)):
        here = [cell for cell in cells if _label(cell) == label]
        places = {(c.number.M, c.number.method, c.number.metric): c for c in here}
        arms = _arms(evidence, here[0], protocol)
        rows = [
            (size, [_accuracy(places, size, method, arms) for method in NAMES])
            for size in dict.fromkeys(cell.number.M for cell in here)
        ]
        heading = [
            f"{label}, {protocol}: accuracy % ± standard deviation (seconds of making features)",
            "• significantly better than RFF and QMC: paired t-test at 5 %, first "
            f"{rules.MARKED_TRIALS} trials, as in the paper",
        ]
        sections.append(Section(heading, [Grid("s", list(NAMES.values()), rows)]))
    return sections


def _arms(evidence: Evidence, cell: Cell, protocol: str) -> list[Arm]:
    """Return the arms on the data set that a cell was measured on."""
    number = cell.number
    arms = evidence.select(number.paper, [number.item], number.dataset, protocol, cell.stand_in)
    return [arm for arm in arms if not cell.stand_in or stand_in_name(arm) == cell.dataset]


def _accuracy(
    places: dict[tuple[str, str, str], Cell], size: str, method: str, arms: list[Arm]
) -> str:
    accuracy = places.get((size, method, "accuracy"))
    time = places.get((size, method, "t_features"))
    if accuracy is None:
        return ""
    spread = accuracy.standard_error * math.sqrt(accuracy.trials)
    said = f"{accuracy.measured:.2f}" + ("" if math.isnan(spread) else f" ± {spread:.2f}")
    said += f" ({time.measured:.2f})" if time else ""
    marked = method not in BASELINES and significant(arms, accuracy.number)
    return said + "•" if marked else said


def _by_dataset(layout: Layout, cells: Sequence[Cell], protocol: str) -> Section:
    """Lay out a table whose rows are data sets."""
    rows = []
    for label in dict.fromkeys(map(_label, cells)):
        here = {(c.number.method, c.number.metric): c for c in cells if _label(c) == label}
        size = next(iter(here.values())).number.M
        first = [] if size in ("", "best") else [size]
        texts = [_joined([here.get((m, metric)) for metric in of]) for _, m, of in layout.columns]
        rows.append((label, [*first, *texts]))
    wide = len(rows[0][1]) > len(layout.columns)
    head = ["M"] * wide + [name for name, _, _ in layout.columns]
    return Section([f"protocol {protocol}: {layout.caption}"], [Grid("data set", head, rows)])


def _joined(cells: Sequence[Cell | None]) -> str:
    """Write errors and time of one method: ``16.22 / 16.36 (0.02), 1.8``."""
    errors = [_value(c) for c in cells if c is not None and c.number.unit == "%"]
    times = [_value(c) for c in cells if c is not None and c.number.unit == "s"]
    return ", ".join(filter(None, [" / ".join(errors), *times]))


def _value(cell: Cell) -> str:
    if cell.number.unit == "s":
        return f"{cell.measured:.3g}"
    error = cell.standard_error
    return f"{cell.measured:.2f}" + ("" if math.isnan(error) else f" ({error:.2g})")
