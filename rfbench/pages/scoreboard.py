"""Every published number beside what was measured for it, data set by data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import papers
from rfbench.analysis import verdicts
from rfbench.analysis.frame import Collection
from rfbench.analysis.published import BEST
from rfbench.analysis.verification import Verification
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render
from rfbench.pages.words import DASH, number, plus_minus, span

TABLE = ["paper", "item", "dataset"]
DECIMALS = {"%": 2, "s": 3}


@dataclass(frozen=True)
class TablePart:
    """One data set of a published table, or what stands in for it, with what was measured.

    Attributes
    ----------
    paper, item, dataset : str
        As the paper calls it.
    used : str
        The name in the rows, where it is another; `rows`, its training rows, of a stand-in.
    stand_in : bool
    spreads : tuple of str
        What the paper prints beside its numbers: ``sd``, ``se``.
    trials, failed : dict
        By protocol: the number of trials (a range), and of those that did not end well.
    measures : tuple of str
        What stands for the error where that is no misclassification.
    best : bool
        Whether a number is the best over all sizes.
    grids : tuple of Grid
        The percentages, the times; a column per protocol.
    folders : tuple of Path
    """

    paper: str
    item: str
    dataset: str
    used: str
    rows: float
    stand_in: bool
    spreads: tuple[str, ...]
    trials: dict[str, str]
    failed: dict[str, int]
    measures: tuple[str, ...]
    best: bool
    grids: tuple[Grid, ...]
    folders: tuple[Path, ...]


def measured(found: Verification) -> list[TablePart]:
    """Lay out every data set of which anything was measured, each before its stand-ins."""
    numbers = found.numbers[found.numbers["trials"] > 0]
    numbers = numbers.assign(used=numbers["used"].where(numbers["stand_in"], ""))
    by = [*TABLE, "used", "used_rows"]
    places = [lines for _, lines in numbers.groupby(by, sort=False, dropna=False)]
    return [
        _measured(lines, whole)
        for key, whole in found.own.groupby(TABLE, sort=False)
        for lines in places  # own data come first in the frame
        if tuple(lines[TABLE].iloc[0]) == key
    ]


def _measured(lines: pd.DataFrame, whole: pd.DataFrame) -> TablePart:
    paper, item, dataset, stand_in = lines[[*TABLE, "stand_in"]].iloc[0]
    protocols = list(dict.fromkeys(lines["protocol"]))
    by_protocol = lines.groupby("protocol", sort=False)
    catalogue = papers.sources()[paper][dataset].dataset
    other = "" if catalogue == dataset.lower() else catalogue
    spreads = {papers.published()[place].spread_kind for place in whole["number"]}
    kept = whole.drop_duplicates("number")
    return TablePart(
        paper,
        item,
        dataset,
        lines["used"].iloc[0] if stand_in else other,
        lines["used_rows"].iloc[0],
        bool(stand_in),
        tuple(sorted(spreads - {""})),
        {str(name): span(here["trials"].min(), here["trials"].max()) for name, here in by_protocol},
        {
            str(name): int(n)
            for name, here in by_protocol
            if (n := here.drop_duplicates("group")["failed"].sum())
        },
        tuple(sorted(set(lines["error_metric"][lines["metric"] == "error"]) - {"", "error"})),
        BEST in set(lines["M"]),
        tuple(
            _grid(kept[kept["unit"] == unit], lines, protocols)
            for unit in DECIMALS
            if (lines["unit"] == unit).any()
        ),
        tuple(map(Path, sorted(set(lines["folder"])))),
    )


def _grid(numbers: pd.DataFrame, lines: pd.DataFrame, protocols: Sequence[str]) -> Grid:
    several = numbers["metric"].nunique() > 1
    cells = {(line["number"], line["protocol"]): _cell(line) for line in lines.to_dict("records")}
    rows = [
        [
            " ".join(filter(None, [one["method"], one["M"], one["metric"] if several else ""])),
            printed(one["published"], one["published_spread"]),
            *(cells.get((one["number"], protocol), DASH) for protocol in protocols),
        ]
        for one in numbers.to_dict("records")
    ]
    corner = numbers["unit" if several else "metric"].iloc[0]
    return Grid([corner, "published", *protocols], rows)


def _cell(line: dict[Any, Any]) -> str:
    mean = plus_minus(line["measured"], line["standard_error"], DECIMALS[line["unit"]])
    return mean if line["verdict"] == verdicts.NOT_JUDGED else f"{mean} {line['verdict']}"


def printed(value: float, spread: float) -> str:
    """Write a published number with its spread, as printed."""
    return number(value) if pd.isna(spread) else f"{number(value, 2)} ± {number(spread)}"


def counts(found: Verification) -> pd.DataFrame:
    """Count the verdicts on the percentages, a line per table, data set and protocol.

    Returns
    -------
    DataFrame
        Index paper, item, dataset, protocol. A column per verdict on a number that was compared;
        ``numbers``, ``compared``, ``distance`` (the mean size of the differences in points, NaN
        without any) and ``stand_in``, how many were measured on stand-ins instead.
    """
    percent = found.numbers[found.numbers["unit"] == "%"]
    key = [*TABLE, "protocol"]
    own, others = percent[~percent["stand_in"]], percent[percent["stand_in"]]
    by = [own[name] for name in key]
    table = pd.DataFrame({v: (own["verdict"] == v) for v in verdicts.COMPARED})
    table = table.assign(numbers=1).groupby(by, sort=False).sum()
    table["compared"] = table[list(verdicts.COMPARED)].sum(axis=1)
    table["distance"] = own["difference"].abs().groupby(by, sort=False).mean()
    beside = others.groupby(key, sort=False)["number"].nunique()
    return table.assign(stand_in=beside.reindex(table.index, fill_value=0))


def numbers_grid(found: Verification, linked: bool = False) -> Grid:
    """Lay out how each table and data set came out, a column per protocol.

    A cell counts the verdicts and gives the mean size of the differences in points; with `linked`
    the names lead to ``scoreboard.md``.
    """
    table = counts(found)
    protocols = list(dict.fromkeys(table.index.get_level_values("protocol")))
    rows = []
    for key, here in table.groupby(TABLE, sort=False):
        paper, item, dataset = map(str, key)
        lines = here.reset_index(TABLE).to_dict("index")
        cells = [_outcome(lines[one]) if one in lines else DASH for one in protocols]
        name = f"{paper} {item}, {dataset}"
        if linked and any(cell != DASH for cell in cells):
            name = f"[{name}](scoreboard.md#{anchor(name)})"
        rows.append([name, str(next(iter(lines.values()))["numbers"]), *cells])
    return Grid(["table, data set", "numbers", *protocols], rows)


def _outcome(line: Mapping[Any, Any]) -> str:
    if not line["compared"]:
        return "stand-in" if line["stand_in"] else DASH
    seen = " / ".join(str(line[verdict]) for verdict in verdicts.COMPARED)
    return f"{seen}, {number(line['distance'], 2)}"


def anchor(heading: str) -> str:
    """Return what Markdown pages make of a heading for links to it."""
    kept = [c for c in heading.lower() if c.isalnum() or c in "-_ "]
    return "".join(kept).replace(" ", "-")


@dataclass(frozen=True)
class LeftOut:
    """What plays no part although it lies among the results.

    Attributes
    ----------
    notes : tuple of str
        Of the reader, each with the name of its results.
    smoke : tuple of str
        Names of smoke runs.
    swept : dict
        By the name of the results: the number of rows of a sweep.
    """

    notes: tuple[str, ...]
    smoke: tuple[str, ...]
    swept: dict[str, int]


def left_out(collection: Collection) -> LeftOut:
    """List what was left out while reading, and what bears on no paper."""
    every = collection.experiments
    of_papers = [one for one in every if one.config.get("paper")]
    swept = {one.name: int((one.rows["variant"] != "").sum()) for one in of_papers}
    return LeftOut(
        (*collection.notes, *(f"{one.name}: {note}" for one in every for note in one.notes)),
        tuple(one.name for one in of_papers if one.smoke),
        {name: rows for name, rows in swept.items() if rows},
    )


def page(found: Verification, out: Path) -> str:
    """Write ``scoreboard.md`` for a folder."""
    return render("scoreboard.md.j2", **facts(found), out=out)


def facts(found: Verification) -> dict[str, Any]:
    """Gather what both the page and the terminal show."""
    table = counts(found)
    shown = set(found.numbers["paper"])
    idle = table.groupby(TABLE, sort=False)[["compared", "stand_in", "numbers"]].max()
    idle = idle[(idle["compared"] == 0) & (idle["stand_in"] == 0)]
    return {
        "every": measured(found),
        "idle": list(idle["numbers"].reset_index().itertuples(index=False, name=None)),
        "doubts": [doubt for doubt in papers.doubts() if doubt.paper in shown],
        "left_out": left_out(found.selection.collection),
    }
