"""Every published number beside what was measured for it, data set by data set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import papers
from rfbench.analysis import audits, verdicts
from rfbench.analysis.published import BEST
from rfbench.analysis.verification import Verification
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render
from rfbench.pages.words import DASH, number, plus_minus, span

TABLE = ["paper", "item", "dataset"]
APART = (verdicts.AT_CHANCE, verdicts.DISPUTED)
DECIMALS = {"%": 2, "s": 3}
PRINTED, RANGE = "printed", "range over the unprinted keys"


@dataclass(frozen=True)
class Gaps:
    """What was varied of the keys that the paper does not print, and what was not."""

    varied: list[str]
    fixed: list[str]
    combinations: int
    trials: int
    page: Path | None


@dataclass(frozen=True)
class TablePart:
    """One data set of a published table, or what stands in for it, with what was measured."""

    paper: str
    item: str
    dataset: str  # as the paper calls it
    used: str  # the name in the rows, where it is another
    rows: float  # training rows
    stand_in: bool
    spreads: set[str]  # that the paper prints: sd, se
    trials: dict[str, str]  # by protocol, a range
    failed: dict[str, int]  # by protocol: trials that did not end well
    measures: list[str]  # what stands for the error where that is no misclassification
    best: bool  # whether a number is the best over all sizes
    chance: dict[str, list[str]]  # by protocol with numbers at chance: why
    repeated: list[str]  # where numbers that are not counted here stand first
    disputed: list[str]  # who contests numbers, and why
    gaps: Gaps | None  # None where nothing was run as printed
    grids: list[Grid]  # percentages and times, a column per protocol
    folders: list[Path]


def measured(found: Verification, ranges: pd.DataFrame | None = None) -> list[TablePart]:
    """Lay out every data set of which anything was measured, each before its stand-ins.

    With the `rfbench.analysis.audits.ranges` of numbers over the keys that are not printed.
    """
    ranges = audits.ranges([]) if ranges is None else ranges
    numbers = found.numbers[found.numbers["trials"] > 0]
    parts: dict[Any, list[pd.DataFrame]] = {}  # own data come first in the frame
    for key, lines in numbers.groupby([*TABLE, "used", "used_rows"], sort=False, dropna=False):
        parts.setdefault(key[:3], []).append(lines)
    return [
        _measured(lines, whole, ranges[ranges["number"].isin(lines["number"])])
        for key, whole in found.own.groupby(TABLE, sort=False)
        for lines in parts.get(key, ())
    ]


def _measured(lines: pd.DataFrame, whole: pd.DataFrame, ranges: pd.DataFrame) -> TablePart:
    paper, item, dataset, used, rows, stand_in = lines.iloc[0][
        [*TABLE, "used", "used_rows", "stand_in"]
    ]
    catalogue = papers.sources()[paper][dataset].dataset
    kept, printed = whole.drop_duplicates("number"), papers.published()
    by_protocol = {str(name): here for name, here in lines.groupby("protocol", sort=False)}
    failed = {p: here.drop_duplicates("group")["failed"].sum() for p, here in by_protocol.items()}
    reasons = [one for one in papers.paper(paper).undecidable if one.dataset == dataset]
    return TablePart(
        paper,
        item,
        dataset,
        used if stand_in else ("" if catalogue == dataset.lower() else catalogue),
        rows,
        bool(stand_in),
        {printed[place].spread_kind for place in kept["number"]} - {""},
        {p: span(here["trials"].min(), here["trials"].max()) for p, here in by_protocol.items()},
        {p: int(n) for p, n in failed.items() if n},
        sorted(set(lines["error_metric"][lines["metric"] == "error"]) - {"", "error"}),
        BEST in set(lines["M"]),
        {
            p: [one.reason for one in reasons if p in one.protocols]
            for p in lines["protocol"][lines["verdict"] == verdicts.AT_CHANCE].unique()
        },
        list(lines["same_as"][lines["verdict"] == verdicts.REPEATED].unique()),
        list(lines["disputed"][lines["disputed"] != ""].unique()),
        _gaps(paper, item, dataset, ranges) if PRINTED in by_protocol else None,
        [
            _grid(kept[kept["unit"] == unit], lines, list(by_protocol), ranges)
            for unit in DECIMALS
            if (lines["unit"] == unit).any()
        ],
        list(map(Path, sorted(set(lines["folder"])))),
    )


def _gaps(paper: str, item: str, dataset: str, ranges: pd.DataFrame) -> Gaps:
    here: dict[str, Any] = {}
    entries = papers.open_choices()
    for place in sorted(entries, key=lambda place: place.count("/")):
        its, items, data = [*place.split("/"), "", ""][:3]
        if its == paper and item in (items or item).split(",") and data in ("", dataset):
            here |= entries[place]
    names = [name for name in papers.gaps(paper) if here.get(name)]
    if ranges.empty:
        return Gaps([], names, 0, 0, None)
    one = ranges.iloc[0]
    fixed = [name for name in names if name not in one["varied"]]
    return Gaps(one["varied"], fixed, one["combinations"], one["trials"], one["page"])


def range_of(line: Mapping[Any, Any], published: float) -> str:
    """Write a range, and how far the published number lies outside of it."""
    away = audits.off(published, line["low"], line["high"])
    ends = f"{number(line['low'], 2)} to {number(line['high'], 2)}"
    return f"{ends}, off by {number(away, 2)}" if away else ends


def _grid(
    numbers: pd.DataFrame, lines: pd.DataFrame, protocols: list[str], ranges: pd.DataFrame
) -> Grid:
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
    head = [numbers["unit" if several else "metric"].iloc[0], "published", *protocols]
    over = ranges.set_index("number").to_dict("index")
    values = dict(zip(numbers["number"], numbers["published"], strict=True))
    if PRINTED in protocols and over.keys() & values.keys():
        at = head.index(PRINTED) + 1
        head.insert(at, RANGE)
        for row, (place, value) in zip(rows, values.items(), strict=True):
            row.insert(at, range_of(over[place], value) if place in over else DASH)
    return Grid(head, rows)


def _cell(line: dict[Any, Any]) -> str:
    mean = plus_minus(line["measured"], line["standard_error"], DECIMALS[line["unit"]])
    return mean if line["verdict"] == verdicts.NOT_JUDGED else f"{mean} {line['verdict']}"


def printed(value: float, spread: float) -> str:
    """Write a published number with its spread, as printed."""
    return number(value) if pd.isna(spread) else f"{number(value, 2)} ± {number(spread)}"


def counts(found: Verification) -> pd.DataFrame:
    """Count the percentages by verdict, each number once, by table, data set and protocol.

    Returns
    -------
    DataFrame
        Index paper, item, dataset, protocol. A column for each of `verdicts.COMPARED` and `APART`;
        ``numbers``, ``compared``, ``distance`` (the mean size of the differences of those in
        points, NaN without any) and ``stand_in``, how many were measured on stand-ins instead.
    """
    percent = found.numbers[found.numbers["unit"] == "%"]
    key = [*TABLE, "protocol"]
    own, others = percent[~percent["stand_in"]], percent[percent["stand_in"]]
    by = [own[name] for name in key]
    counted = pd.DataFrame({v: own["verdict"] == v for v in (*verdicts.COMPARED, *APART)})
    compared = counted[list(verdicts.COMPARED)].any(axis=1)
    table = counted.assign(numbers=own["same_as"] == "", compared=compared)
    table = table.groupby(by, sort=False).sum()
    table["distance"] = own["difference"].abs().where(compared).groupby(by, sort=False).mean()
    beside = others.groupby(key, sort=False)["number"].nunique()
    return table.assign(stand_in=beside.reindex(table.index, fill_value=0))


def numbers_grid(found: Verification, linked: bool = False) -> Grid:
    """Lay out how each table and data set came out, a column per protocol.

    A cell counts the verdicts and gives the mean size of the differences in points; with `linked`
    the names lead to ``scoreboard.md``.
    """
    table = counts(found)
    protocols = list(dict.fromkeys(table.index.get_level_values("protocol")))
    others = found.numbers[found.numbers["stand_in"]].drop_duplicates(TABLE)
    used = others.set_index(TABLE)["used"].to_dict()
    rows = []
    for (paper, item, dataset), here in table.groupby(TABLE, sort=False):
        lines = here.reset_index(TABLE).to_dict("index")
        cells = [_outcome(lines[one]) if one in lines else DASH for one in protocols]
        name = f"{paper} {item}, {dataset}"
        own = any(cell not in {DASH, "stand-in"} for cell in cells)
        if linked and (own or "stand-in" in cells):
            heading = name if own else f"{name}: stand-in {used[paper, item, dataset]}"
            name = f"[{name}](scoreboard.md#{anchor(heading)})"
        rows.append([name, str(here["numbers"].iloc[0]), *cells])
    return Grid(["table, data set", "numbers", *protocols], rows)


def _outcome(line: Mapping[Any, Any]) -> str:
    seen = " / ".join(str(line[verdict]) for verdict in verdicts.COMPARED)
    apart = [f"{line[verdict]} {verdict}" for verdict in APART if line[verdict]]
    said = [f"{seen}, {number(line['distance'], 2)}" if line["compared"] else "", *apart]
    return ", ".join(filter(None, said)) or ("stand-in" if line["stand_in"] else DASH)


def anchor(heading: str) -> str:
    """Return what Markdown pages make of a heading for links to it."""
    kept = [c for c in heading.lower() if c.isalnum() or c in "-_ "]
    return "".join(kept).replace(" ", "-")


def page(found: Verification, out: Path, ranges: pd.DataFrame | None = None) -> str:
    """Write ``scoreboard.md`` for a folder."""
    return render("scoreboard.md.j2", **facts(found, ranges), out=out)


def facts(found: Verification, ranges: pd.DataFrame | None = None) -> dict[str, Any]:
    """Gather what both the page and the terminal show."""
    shown = set(found.numbers["paper"])
    idle = counts(found).groupby(TABLE, sort=False).max()
    idle = idle[idle[["compared", *APART, "stand_in"]].sum(axis=1) == 0]
    return {
        "every": measured(found, ranges),
        "idle": list(idle["numbers"].reset_index().itertuples(index=False, name=None)),
        "doubts": [doubt for doubt in papers.doubts() if doubt.paper in shown],
        "collection": found.selection.collection,
    }
