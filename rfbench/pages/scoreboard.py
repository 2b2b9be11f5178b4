"""Tables of published numbers and our measured means, for each data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rfbench import papers, slices
from rfbench.analysis import verdicts
from rfbench.analysis.published import BEST, Line, group_by_data_set
from rfbench.analysis.verdict_counts import TABLE_KEYS, count_verdicts_by_table
from rfbench.analysis.verification import Verification
from rfbench.pages.additions import AddedColumn
from rfbench.pages.formatting import (
    DASH,
    format_number,
    format_plus_minus,
    format_span,
    format_spread,
    is_missing,
)
from rfbench.pages.grids import Grid
from rfbench.papers.models import PERCENT, PLAIN, SECONDS
from rfbench.registry import find_displayed_name

UNITS = (PERCENT, PLAIN, SECONDS)
# UNIT_DECIMALS is the number of decimals for each unit, as in most papers. MAX_VALUES is the
# largest number of decimals of a number without a unit. By definition, float64 has 15 digits, so
# any value up to 15 is possible.
UNIT_DECIMALS = {PERCENT: 2, SECONDS: 3}
MAX_VALUES = 9
# mark of a table whose numbers were measured only on substitutes for the paper's data
SUBSTITUTE = "substitute"


@dataclass(frozen=True)
class TablePart:
    """The published numbers of a table for one data set, with our measured means.

    Our means can be measured on different data that replace the paper's data.
    """

    paper: str
    item: str
    dataset: str  # name of the data set in the paper
    used: str  # name of the data set in our rows, if the names differ
    rows: float  # number of training rows of a substitute, else NaN
    stand_in: bool
    source: str  # origin of the numbers: table, figure or repository
    # kinds of spread that the paper prints: ``sd`` (standard deviation) or ``se`` (standard error)
    spreads: set[str]
    # smallest and largest number of trials of a number, for each protocol
    trials: dict[str, str]
    # number of trials that failed, for each protocol
    failed: dict[str, int]
    # name of the error metric; empty if the metric is the misclassification
    measures: list[str]
    # True if a published number is the best value over all numbers of features
    best: bool
    # protocols with errors at chance level, which are not better than a constant prediction
    chance: list[str]
    # names of earlier tables that print the same numbers, which are judged only there
    repeated: list[str]
    # remarks of optional components: the name of a Jinja template, and the value of its variable
    # `remark`
    remarks: list[tuple[str, Any]]
    # Up to three tables: percentages, numbers without a unit, and times. Each table has a column
    # per protocol.
    grids: list[Grid]

    @property
    def heading(self) -> str:
        """Heading above the tables of this data set."""
        name = f"{self.paper} {self.item}, {self.dataset}"
        return f"{name}: substitute data {self.used}" if self.stand_in else name


def arrange_tables_by_data_set(verification: Verification) -> list[TablePart]:
    """Return a `TablePart` for each measured data set of each published table.

    If we also measured data that replace the data set, their `TablePart` follows.
    """
    columns: list[AddedColumn] = slices.call_hooks("make_numbers_column", verification)
    parts = group_by_data_set(verification.numbers[verification.numbers["trials"] > 0])
    return [
        _measured(lines, numbers, columns)
        for key, (numbers,) in group_by_data_set(
            verification.numbers_on_own_data.drop_duplicates("number")
        ).items()
        for lines in parts.get(key, ())
    ]


def _measured(lines: list[Line], numbers: list[Line], columns: Sequence[AddedColumn]) -> TablePart:
    first, entries = lines[0], papers.list_published_numbers()
    paper, item, dataset = (first[name] for name in TABLE_KEYS)
    source = papers.list_data_sets_of_papers()[paper][dataset]
    catalog_name = source.dataset
    by_protocol: dict[str, list[Line]] = {}
    for line in lines:
        by_protocol.setdefault(line["protocol"], []).append(line)
    trials = {p: [line["trials"] for line in here] for p, here in by_protocol.items()}
    failed = {
        p: sum({line["group"]: line["failed"] for line in here}.values())
        for p, here in by_protocol.items()
    }
    at_chance = [line["protocol"] for line in lines if line["at_chance"]]
    return TablePart(
        paper,
        item,
        dataset,
        first["used"] or ("" if catalog_name == dataset.lower() else catalog_name),
        first["used_rows"],
        bool(first["stand_in"]),
        str(first["source"]),
        {str(entries[line["number"]].spread_kind) for line in numbers} - {""},
        {p: format_span(min(many), max(many)) for p, many in trials.items()},
        {p: int(n) for p, n in failed.items() if n},
        sorted({line["error_metric"] for line in lines if line["metric"] == "error"} - {"error"}),
        any(line["M"] == BEST for line in lines),
        list(dict.fromkeys(at_chance)),
        list(dict.fromkeys(n["same_as"] for n in lines if n["verdict"] == verdicts.REPEATED)),
        [found for column in columns if (found := column.remark(lines))],
        [
            _grid([n for n in numbers if n["unit"] == unit], lines, list(by_protocol), columns)
            for unit in UNITS
            if any(line["unit"] == unit for line in lines)
        ],
    )


def _grid(
    numbers: list[Line], lines: list[Line], protocols: list[str], added: Sequence[AddedColumn]
) -> Grid:
    several = len({entry["metric"] for entry in numbers}) > 1
    cells = {(line["number"], line["protocol"]): _cell(line) for line in lines}
    asked = {entry["number"] for entry in numbers}
    columns = list(protocols)
    for column in added:
        here = {n: text for n, text in column.cells(lines).items() if n in asked}
        if here and column.after in columns:
            cells |= {(n, column.name): text for n, text in here.items()}
            columns.insert(columns.index(column.after) + 1, column.name)
    rows = [
        [
            " ".join(
                filter(
                    None,
                    [
                        find_displayed_name(entry["method"]),
                        entry["M"],
                        entry["metric"] if several else "",
                    ],
                )
            ),
            format_published_number(entry["published"], entry["published_spread"], entry["unit"]),
            *(cells.get((entry["number"], column), DASH) for column in columns),
        ]
        for entry in numbers
    ]
    unit = "number" if numbers[0]["unit"] == PLAIN else numbers[0]["unit"]
    return Grid([unit if several else numbers[0]["metric"], "published", *columns], rows)


def format_measured_mean(line: Line) -> str:
    """Return the measured mean and its standard error as text."""
    value, error = line["measured"], line["standard_error"]
    if line["unit"] == PLAIN:
        return format_spread(value, error, MAX_VALUES)
    return format_plus_minus(value, error, UNIT_DECIMALS[line["unit"]])


def _cell(line: Line) -> str:
    mean = format_measured_mean(line)
    return mean if line["verdict"] == verdicts.NOT_JUDGED else f"{mean} {line['verdict']}"


def format_published_number(value: float, error: float, unit: str = PERCENT) -> str:
    """Return a published number as text, with ``± error`` if the paper prints a spread."""
    if unit == PLAIN and not pd.isna(error):
        return f"{value:.3g} ± {error:.2g}"
    return (
        format_number(value)
        if pd.isna(error)
        else f"{format_number(value, 2)} ± {format_number(error)}"
    )


def make_numbers_by_protocol_grid(verification: Verification) -> Grid:
    """Return a table with the number of published numbers per verdict.

    The table has a row for each data set of a published table, and a column for each protocol
    (source of a run's settings). A cell also has the mean absolute difference from the published
    numbers, in points or in percent.
    """
    table = count_verdicts_by_table(verification)
    protocols = list(dict.fromkeys(table.index.get_level_values("protocol")))
    rows = []
    for (paper, item, dataset), here in table.groupby(TABLE_KEYS, sort=False):
        lines = here.reset_index(TABLE_KEYS).to_dict("index")
        cells = [_outcome(lines[protocol]) if protocol in lines else DASH for protocol in protocols]
        name = f"{paper} {item}, {dataset}"
        rows.append([name, str(here["numbers"].iloc[0]), *cells])
    return Grid(["table, data set", "numbers", *protocols], rows)


def _outcome(line: Mapping[Any, Any]) -> str:
    seen = " / ".join(str(line[verdict]) for verdict in verdicts.COMPARED)
    remarks = [] if line["decidable"] == line["compared"] else [f"{line['decidable']} decidable"]
    remarks += [f"{line['at_chance']} at chance"] if line["at_chance"] else []
    sizes = {"distance": "", "away": " %"}
    written = [
        f"{line[name]:.2f}{unit}" for name, unit in sizes.items() if not is_missing(line[name])
    ]
    distance = ", ".join(written)
    shown = f"{line['shown']} shown, {distance}" if line["shown"] else ""
    parts = [f"{seen}, {distance}" if line["compared"] else shown, *remarks]
    return ", ".join(filter(None, parts)) or (SUBSTITUTE if line["stand_in"] else DASH)


def make_heading_anchor(heading: str) -> str:
    """Return the anchor of a heading, such as ``two-words`` for ``Two words``."""
    kept = [c for c in heading.lower() if c.isalnum() or c in "-_ "]
    return "".join(kept).replace(" ", "-")
