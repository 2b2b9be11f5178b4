"""Tables of a results folder: for a terminal, Markdown, LaTeX, CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from rfbench.analysis.checks import checks
from rfbench.analysis.faults import faults
from rfbench.analysis.frame import follows
from rfbench.analysis.summary import TIMES, axis, summarise
from rfbench.errors import ResultsError, nearest
from rfbench.escaping import as_csv
from rfbench.pages import sheet
from rfbench.pages.grids import Grid
from rfbench.pages.sheet import Passage, Sheet
from rfbench.pages.templates import lines
from rfbench.pages.words import DASH, absent, number, span, spread
from rfbench.results import Results
from rfbench.results.schema import METRICS

TEMPLATE = "summary_table.j2"
FORMATS = (*sheet.FORMATS, "csv")
SMOKE = "SMOKE RUN"
RANGES = ("M", "columns", "kept")
SAID = (
    "split", "scaling", "dtype", "kernel", "bandwidth_rule", "feature_map", "solver",
    "alpha_convention", "intercept", "protocol", "timing",
)  # fmt: skip

Line = Mapping[str, Any]


def render(
    results: Results | Sequence[Results], form: str = "text", width: int | None = None
) -> str:
    """Write the tables of one or several results folders.

    Above the numbers stands what they are, beneath the notes of the reader, the failures and the
    checks. Means stand with the standard error of the mean over the trials.

    Parameters
    ----------
    form : {'text', 'markdown', 'latex', 'csv'}
        ``'csv'`` is the long form, `rfbench.analysis.summary.summarise`, one header for all.
    width : int, optional
        Width of ``'text'`` in characters; by default the terminal's. Columns that do not fit go
        into a further block; numbers are never broken.

    Raises ResultsError if the format is not a known one.
    """
    if form not in FORMATS:
        raise ResultsError(
            f"There is no table format '{form}'.",
            f"Known are {', '.join(FORMATS)}.",
            f"Name one of them.{nearest(form, list(FORMATS))}",
        )
    several = [results] if isinstance(results, Results) else list(results)
    if form == "csv":
        return _csv(several)
    return "\n".join(sheet.write(_sheet(table), form, width) for table in several)


def _csv(several: Sequence[Results]) -> str:
    frames = []
    for table in several:
        frame = summarise(table)
        frame.insert(0, "experiment", table.name)
        frame.insert(1, "run", SMOKE if table.smoke else "full")
        frames.append(frame)
    return as_csv(pd.concat(frames)) if frames else ""


def _sheet(results: Results) -> Sheet:
    table = summarise(results)
    parts = table.groupby("dataset", dropna=False) if len(table) else ()
    (title,) = lines(TEMPLATE, "title", results=results)
    notes = lines(
        TEMPLATE, "notes", read=results.notes, faults=faults(results), checks=checks(results)
    )
    return Sheet(title, [_passage(part, results) for _, part in parts], notes)


def _passage(table: pd.DataFrame, results: Results) -> Passage:
    heading = lines(TEMPLATE, "heading", **_facts(table, results))
    methods, varied = list(dict.fromkeys(table["method"])), axis(results)
    places = list(dict.fromkeys(table["x"].dropna().sort_values()))
    if not places:
        return Passage(heading)
    by_place: dict[Any, Line] = {(line["method"], line["x"]): line for line in records(table)}
    usual = int(table["trials"].max())
    last = max(table.loc[table["trials"] > 0, "x"], default=places[-1])
    costs = _costs([by_place.get((method, last)) for method in methods], varied)
    corner = f"at {varied} = {plain(last)}"
    if len(places) == 1:
        scores = [score(by_place.get((method, last)), usual) for method in methods]
        columns = {METRICS[table["metric"].iloc[0]]: scores, **costs}
        rows = [[method, *cells] for method, *cells in zip(methods, *columns.values(), strict=True)]
        return Passage(heading, [Grid([corner, *columns], rows)])
    kept = table.groupby("method")["kept_min"].count()
    keeping = [method for method in methods if kept[method]]
    rows = [
        [plain(x)]
        + [score(by_place.get((method, x)), usual) for method in methods]
        + [_range(by_place.get((method, x)), "kept") for method in keeping]
        for x in places
    ]
    grids = [Grid([varied, *methods, *(f"{method}: kept" for method in keeping)], rows)]
    if costs:
        grids.append(Grid([corner, *methods], [[name, *cells] for name, cells in costs.items()]))
    return Passage(heading, grids)


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as dictionaries."""
    return [{str(key): value for key, value in line.items()} for line in table.to_dict("records")]


def _costs(last_lines: Sequence[Line | None], varied: str) -> dict[str, list[str]]:
    """Return number of columns, times and penalty at one place, by name, a cell per method."""
    rows = {name: [_range(line, name) for line in last_lines] for name in RANGES if name != varied}
    times = [line["t_total"] for line in last_lines if line and not absent(line["t_total"])]
    fast = max(times, default=1) < 1
    scale, unit = (1000, "ms") if fast else (1, "s")
    for name in TIMES:
        rows[f"{name} ({unit})"] = [
            spread(scale * line[name], scale * line[f"{name}_se"]) if line else ""
            for line in last_lines
        ]
    rows["scale-free alpha, median"] = [
        _penalty(line["alpha_scale_free"]) if line else "" for line in last_lines
    ]
    return {name: cells for name, cells in rows.items() if set(cells) - {"", DASH}}


def _penalty(value: float) -> str:
    return DASH if absent(value) else f"{value:.4g}"


def _range(line: Line | None, name: str) -> str:
    if line is None or absent(line[f"{name}_min"]):
        return ""
    return span(line[f"{name}_min"], line[f"{name}_max"])


def score(line: Line | None, usual: int) -> str:
    """Write mean and standard error, and the number of trials where it is not the usual one."""
    if line is None:
        return ""
    if not line["trials"]:
        return f"failed ({line['failed']})"
    unusual = f" (n = {line['trials']})" if line["trials"] < usual else ""
    decimals = 3 if METRICS[line["metric"]].endswith("(%)") else 4
    return spread(line["mean"], line["se"], decimals) + unusual


def _facts(table: pd.DataFrame, results: Results) -> dict[str, Any]:
    """Gather what the heading of a data set says."""
    ranges = {
        name: span(table[f"{name}_min"].min(), table[f"{name}_max"].max())
        for name in ("n_train", "n_test", "M", "bandwidth")
    }
    numeric = pd.to_numeric(table["bandwidth_rule"], errors="coerce").notna().all()
    if numeric or ranges["bandwidth"] == DASH:
        ranges["bandwidth"] = ""
    ranges["d"] = span(table["d"].min(), table["d"].max()) if table["d"].notna().any() else ""
    return {
        "dataset": table["dataset"].iloc[0],
        "ranges": ranges,
        "follows": follows(results),
        "settings": {name: _setting(table, name) for name in SAID},
        "selections": list(filter(None, dict.fromkeys(table["selection"]))),
        "trials": table["trials"].max(),
        "unequal": table["trials"].nunique() > 1,
        "threads": list(table["threads"].dropna().unique()),
        "metric": METRICS[table["metric"].iloc[0]],
    }


def _setting(table: pd.DataFrame, column: str) -> dict[str, list[str]]:
    """Return the values of a setting, each with its methods unless every method has every value."""
    texts = table[column].map(plain).str.replace(r'[{}"]', "", regex=True)
    values = [value for value in dict.fromkeys(texts) if value]
    of = {value: list(dict.fromkeys(table.loc[texts == value, "method"])) for value in values}
    common = all(len(methods) == table["method"].nunique() for methods in of.values())
    return {value: [] for value in values} if common or len(values) == 1 else of


def plain(value: Any) -> str:
    """Write a cell of the summary: whole numbers without a point, missing ones as nothing."""
    if isinstance(value, str):
        return value
    if pd.api.types.is_bool(value):
        return str(value).lower()
    return "" if absent(value) else number(value)
