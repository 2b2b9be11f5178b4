"""Tables of a results folder: for a terminal, Markdown, LaTeX, CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from rfbench.analysis import faults, frame
from rfbench.analysis.checks import checks
from rfbench.analysis.frame import follows
from rfbench.analysis.naming import shown_name
from rfbench.analysis.summary import TIMES, axis, grouped, summarise
from rfbench.analysis.ties import LEVEL, best_or_tied
from rfbench.errors import ResultsError, nearest
from rfbench.escaping import as_csv
from rfbench.pages import sheet
from rfbench.pages.grids import Grid
from rfbench.pages.sheet import Passage, Sheet
from rfbench.pages.templates import lines
from rfbench.pages.words import DASH, absent, number, span, spread
from rfbench.registry import printed
from rfbench.results import Results
from rfbench.results.schema import METRICS

TEMPLATE = "summary_table.j2"
FORMATS = (*sheet.FORMATS, "csv")
SMOKE = "SMOKE RUN"
RANGES = ("M", "columns", "kept")
COSTS = (*RANGES, *TIMES, "alpha")
SAID = (
    "split", "scaling", "dtype", "kernel", "bandwidth_rule", "feature_map", "solver",
    "alpha_convention", "intercept", "protocol", "timing",
)  # fmt: skip

Line = Mapping[str, Any]


def render(
    results: Results | Sequence[Results],
    form: str = "text",
    width: int | None = None,
    *,
    methods: Sequence[str] = (),
    columns: Sequence[str] = (),
    brief: bool = False,
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
    methods : sequence of str
        Which methods, by the names that the table gives them; by default all.
    columns : sequence of str
        What is shown of each: a metric, and some of `COSTS`; by default all, and in LaTeX the
        metric alone. ``'csv'`` takes the columns of `summarise`.
    brief : bool
        Whether three lines above a table of ``'text'`` say how it was measured, in place of all.

    Raises ResultsError if the format, a method or a column is not a known one.
    """
    if form not in FORMATS:
        raise ResultsError(
            f"There is no table format '{form}'.",
            f"Known are {', '.join(FORMATS)}.",
            f"Name one of them.{nearest(form, list(FORMATS))}",
        )
    several = [results] if isinstance(results, Results) else list(results)
    asked = replace(_Asked.of(several, methods, columns, form), brief=brief and form == "text")
    if form == "csv":
        return _csv(several, asked)
    make = _article if form == "latex" else _sheet
    return "\n".join(sheet.write(make(table, asked), form, width) for table in several)


@dataclass(frozen=True)
class _Asked:
    """Which methods and which columns of them are shown."""

    methods: tuple[str, ...] = ()
    metric: str | None = None
    costs: tuple[str, ...] | None = None  # of `COSTS`; None for those that the format has usually
    columns: tuple[str, ...] = ()  # as they were named
    brief: bool = False

    @classmethod
    def of(
        cls, several: Sequence[Results], methods: Sequence[str], columns: Sequence[str], form: str
    ) -> _Asked:
        """Check names against what there is."""
        tables = [summarise(results) for results in several] if methods or form == "csv" else []
        measured = pd.concat(tables) if tables else pd.DataFrame()
        if methods:
            _check("method", methods, list(dict.fromkeys(measured.get("method", []))))
        if form == "csv":
            _check("column", columns, ["experiment", "run", *map(str, measured)])
            return cls(tuple(methods), columns=tuple(columns))
        _check("column", columns, [*METRICS, *COSTS])
        named = [name for name in columns if name in METRICS]
        if len(named) > 1:
            raise ResultsError(
                f"A table has one metric, and {', '.join(named)} are several.",
                todo="Name one; `--format csv` has rows for machines.",
            )
        costs = tuple(name for name in columns if name in COSTS) if columns else None
        return cls(tuple(methods), named[0] if named else None, costs, tuple(columns))

    def of_methods(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the lines of the methods, in the order in which they were named."""
        if not self.methods or table.empty:
            return table
        chosen = table[table["method"].isin(self.methods)]
        rank = chosen["method"].map({name: i for i, name in enumerate(self.methods)})
        return chosen.assign(rank=rank).sort_values(
            ["dataset", "rank", "x"], ignore_index=True
        ).drop(columns="rank")  # fmt: skip

    @property
    def scores(self) -> bool:
        """Whether the metric is shown."""
        return not self.columns or self.metric is not None


def _check(what: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise ResultsError(
                f"There is no {what} '{name}' in these results.{nearest(name, list(known))}",
                f"Known are {', '.join(known)}." if known else "They have no rows yet.",
            )


def _csv(several: Sequence[Results], asked: _Asked) -> str:
    frames = []
    for table in several:
        summary = asked.of_methods(summarise(table))
        summary.insert(0, "experiment", table.name)
        summary.insert(1, "run", SMOKE if table.smoke else "full")
        frames.append(summary[list(asked.columns)] if asked.columns else summary)
    return as_csv(pd.concat(frames)) if frames else ""


def _sheet(results: Results, asked: _Asked) -> Sheet:
    table = asked.of_methods(summarise(results, asked.metric))
    parts = table.groupby("dataset", dropna=False) if len(table) else ()
    return Sheet(
        _title(results), [_passage(part, results, asked) for _, part in parts], _notes(results)
    )


def _title(results: Results) -> str:
    (title,) = lines(TEMPLATE, "title", results=results)
    return title


def _notes(results: Results) -> list[str]:
    return lines(
        TEMPLATE, "notes", read=results.notes, faults=faults.faults(results), checks=checks(results)
    )


def _article(results: Results, asked: _Asked) -> Sheet:
    """Lay out one table for an article: a row per method, a column per place on the axis."""
    collection = frame.of([results])
    table = grouped(collection, results, asked.metric)
    if table.empty or table["x"].isna().all():
        return Sheet(_title(results), [], _notes(results))
    table = asked.of_methods(table.assign(best=best_or_tied(collection, table)))
    varied, grid = axis(results), _across(table, results, asked)
    headings = [
        line
        for _, part in table.groupby("dataset")
        for line in lines(TEMPLATE, "heading", **_facts(part, results))
    ]
    (caption,) = lines(
        TEMPLATE,
        "caption",
        results=results,
        metrics=[METRICS[name] for name in dict.fromkeys(table["metric"])],
        datasets=[shown_name(part) for _, part in table.groupby("dataset", sort=False)],
        varied=varied,
        trials=table["trials"].max(),
        scores=asked.scores,
    )
    rule = lines(TEMPLATE, "bold", level=LEVEL) if grid.best else []
    details = [*rule, *dict.fromkeys(headings)]
    passages = [Passage(details, [replace(grid, title=caption)])]
    return Sheet(_title(results), passages, _notes(results), name=results.name)


def _across(table: pd.DataFrame, results: Results, asked: _Asked) -> Grid:
    """Return a grid of methods by places, the data sets beneath one another."""
    varied = axis(results)
    places = list(dict.fromkeys(table["x"].dropna().sort_values()))
    last = max(table.loc[table["trials"] > 0, "x"], default=places[-1])
    shown = places if asked.scores else []
    heads = [plain(x) for x in shown]
    usual = int(table["trials"].max())
    lines_of = {(line["dataset"], line["method"], line["x"]): line for line in records(table)}
    pairs = list(dict.fromkeys(zip(table["dataset"], table["method"], strict=True)))
    at_last = [lines_of.get((*pair, last)) for pair in pairs]
    costs = _costs(at_last, varied, asked.costs or ())
    rows: list[list[str]] = []
    best, parts = set(), set()
    several = table["dataset"].nunique() > 1
    for i, (dataset, method) in enumerate(pairs):
        if several and (i == 0 or pairs[i - 1][0] != dataset):
            parts.add(len(rows))
            own = table[table["dataset"] == dataset]
            rows.append([shown_name(own)] + [""] * (len(heads) + len(costs)))
        of_method = [lines_of.get((dataset, method, x)) for x in shown]
        best |= {(len(rows), j) for j, line in enumerate(of_method, 1) if line and line["best"]}
        scores = [score(line, usual) for line in of_method]
        rows.append([printed(str(method)), *scores, *(cells[i] for cells in costs.values())])
    at = f"at {varied} = {plain(last)}" if len(places) > 1 else ""
    return Grid(
        ["method", *heads, *costs],
        rows,
        over=["", *[varied] * len(heads), *[at] * len(costs)],
        best=frozenset(best),
        parts=frozenset(parts),
    )


def _passage(table: pd.DataFrame, results: Results, asked: _Asked) -> Passage:
    macro = "brief" if asked.brief else "heading"
    heading = lines(TEMPLATE, macro, **_facts(table, results))
    methods, varied = list(dict.fromkeys(table["method"])), axis(results)
    places = list(dict.fromkeys(table["x"].dropna().sort_values()))
    if not places:
        return Passage(heading)
    by_place: dict[Any, Line] = {(line["method"], line["x"]): line for line in records(table)}
    usual = int(table["trials"].max())
    last = max(table.loc[table["trials"] > 0, "x"], default=places[-1])
    costs = _costs([by_place.get((method, last)) for method in methods], varied, asked.costs)
    # Settings that differ from trial to trial have no place on an axis.
    corner = "method" if last == DASH else f"at {varied} = {plain(last)}"
    if len(places) == 1:
        scores = [score(by_place.get((method, last)), usual) for method in methods]
        columns = {METRICS[table["metric"].iloc[0]]: scores} if asked.scores else {}
        columns |= costs
        rows = [[method, *cells] for method, *cells in zip(methods, *columns.values(), strict=True)]
        return Passage(heading, [Grid([corner, *columns], rows)])
    kept = table.groupby("method")["kept_min"].count()
    keeping = [method for method in methods if kept[method] and asked.costs is None]
    rows = [
        [plain(x)]
        + [score(by_place.get((method, x)), usual) for method in methods]
        + [_range(by_place.get((method, x)), "kept") for method in keeping]
        for x in places
    ]
    head = [varied, *methods, *(f"{method}: kept" for method in keeping)]
    grids = [Grid(head, rows)] if asked.scores else []
    if costs:
        grids.append(Grid([corner, *methods], [[name, *cells] for name, cells in costs.items()]))
    return Passage(heading, grids)


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as dictionaries."""
    return [{str(key): value for key, value in line.items()} for line in table.to_dict("records")]


def _costs(
    last_lines: Sequence[Line | None], varied: str, asked: Sequence[str] | None = None
) -> dict[str, list[str]]:
    """Return number of columns, times and penalty at one place, by name, a cell per method.

    Those of `COSTS` that were asked for, in that order; by default all that have a value.
    """
    rows = {name: [_range(line, name) for line in last_lines] for name in RANGES if name != varied}
    times = [line["t_total"] for line in last_lines if line and not absent(line["t_total"])]
    fast = max(times, default=1) < 1
    scale, unit = (1000, "ms") if fast else (1, "s")
    names = {name: name for name in RANGES} | {name: f"{name} ({unit})" for name in TIMES}
    for name in TIMES:
        rows[names[name]] = [
            spread(scale * line[name], scale * line[f"{name}_se"]) if line else ""
            for line in last_lines
        ]
    names["alpha"] = "scale-free alpha, median"
    rows[names["alpha"]] = [
        _penalty(line["alpha_scale_free"]) if line else "" for line in last_lines
    ]
    if asked is not None:
        rows = {names[name]: rows[names[name]] for name in asked if names[name] in rows}
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
        "dataset": shown_name(table),
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
