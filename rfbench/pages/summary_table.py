"""Tables of a results folder as text for a terminal, Markdown, LaTeX or CSV."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from rfbench.analysis import data_issues, frame
from rfbench.analysis.best import TIE_LEVEL, compare_best_methods, is_best_or_tied
from rfbench.analysis.data_issues import evaluate_checks
from rfbench.analysis.frame import Collection, has_trial_dependent_size
from rfbench.analysis.naming import format_dataset_name, format_dataset_title
from rfbench.analysis.summary import TIME_COLUMNS, find_x_axis, summarize, summarize_collection
from rfbench.errors import ResultsError, make_unknown_error
from rfbench.escaping import as_csv, escape_latex, escape_markdown
from rfbench.pages import grids, latex
from rfbench.pages.formatting import DASH, format_number, format_span, format_spread, is_missing
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render_macro_lines
from rfbench.registry import find_displayed_name, find_internal_name
from rfbench.results import Results
from rfbench.results.schema import METRICS

TEMPLATE = "summary_table.j2"
TABLE_FORMATS = ("text", "markdown", "latex", "csv")
SMOKE = "SMOKE RUN"
SIZE_COLUMNS = ("M", "columns", "kept")
# Largest number of data sets that a caption names, chosen by eye. With twice this number, the
# caption is longer than a small table.
NAMED_DATASETS = 3
SHOWN_SETTINGS = (
    "split", "scaling", "dtype", "kernel", "bandwidth_rule", "feature_map", "solver",
    "alpha_convention", "intercept", "protocol", "timing", "threads",
)  # fmt: skip

Line = Mapping[Any, Any]


def render_summary_tables(
    results: Results | Sequence[Results],
    form: str = "text",
    width: int | None = None,
    *,
    methods: Sequence[str] = (),
    brief: bool = False,
) -> str:
    """Return the tables of one or several results folders as text.

    The text above each table describes the settings. Notes below the tables list problems of the
    files, failed trials and failed checks. Each mean is followed by its standard error over the
    trials.

    Parameters
    ----------
    results : Results or sequence of Results
        Results of one or several folders.
    form : {'text', 'markdown', 'latex', 'csv'}
        Format of the tables. ``'csv'`` has one line per data set, method and setting, and one
        header for all folders.
    width : int, optional
        Width in characters for the format ``'text'``; by default the width of the terminal. Columns
        that do not fit are written below in a second table.
    methods : sequence of str
        Names of the methods to include; by default all methods.
    brief : bool
        If True, the description above a table in the format ``'text'`` has at most three lines.

    Returns
    -------
    str
        Text of all tables.

    Raises
    ------
    ResultsError
        If the format or a method is not known.
    """
    if form not in TABLE_FORMATS:
        raise make_unknown_error("table format", form, TABLE_FORMATS, ResultsError)
    several = [results] if isinstance(results, Results) else list(results)
    if methods:
        known = dict.fromkeys(name for one in several for name in summarize(one).get("method", []))
        methods = [name if name in known else find_internal_name(name) for name in methods]
        for name in methods:
            if name not in known:
                raise make_unknown_error("method", name, known, ResultsError)
    if form == "csv":
        return _csv(several, methods)
    if form == "latex":
        return "\n".join(_latex(one, methods) for one in several)
    columns = 0 if form == "markdown" else width or shutil.get_terminal_size().columns
    return "\n".join(_page(one, methods, columns, brief) for one in several)


def describe_best_methods(collection: Collection, results: Results) -> list[str]:
    """Return sentences that compare the best method with another method, one per data set."""
    if results.is_smoke_run:
        return []
    facts = [
        (answer, METRICS[answer.metric]) for answer in compare_best_methods(collection, results)
    ]
    return render_macro_lines("first.j2", "lines", answers=facts)


def _of_methods(table: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """Return the rows of the summary `table` for the given methods, sorted like `methods`.

    If `methods` is empty, all rows are returned.
    """
    if not methods or table.empty:
        return table
    chosen = table[table["method"].isin(methods)]
    rank = {name: i for i, name in enumerate(methods)}
    by = ["dataset", "method", "x"]
    return chosen.sort_values(
        by, key=lambda c: c.map(rank) if c.name == "method" else c, ignore_index=True
    )


def _csv(several: Sequence[Results], methods: Sequence[str]) -> str:
    frames = []
    for table in several:
        summary = _of_methods(summarize(table), methods)
        summary.insert(0, "experiment", table.name)
        summary.insert(1, "run", SMOKE if table.is_smoke_run else "full")
        frames.append(summary)
    return as_csv(pd.concat(frames)) if frames else ""


def _page(results: Results, methods: Sequence[str], width: int, brief: bool) -> str:
    """Return the tables for a terminal of `width` characters, or as Markdown if `width` is 0."""

    def line(text: str, mark: str = "") -> str:
        if not width:
            return f"- {escape_markdown(text)}"
        return textwrap.fill(mark + " ".join(text.split()), width, subsequent_indent="  ")

    (title,) = render_macro_lines(TEMPLATE, "title", results=results)
    parts = [line(title) if width else f"**{escape_markdown(title)}**"]
    table = _of_methods(summarize(results), methods)
    for _, part in table.groupby("dataset", dropna=False) if len(table) else ():
        facts = _facts(part, results)
        heading = render_macro_lines(TEMPLATE, "heading", f=facts, brief=bool(width) and brief)
        parts.append("\n".join(map(line, heading)))
        parts += [
            grids.render_text(grid, width) if width else grids.render_markdown(grid)
            for grid in _grids(part, find_x_axis(results))
        ]
    parts.append("\n".join(line(note, "- ") for note in _notes(results)))
    return "\n\n".join(filter(None, parts)) + "\n"


def _notes(results: Results) -> list[str]:
    return render_macro_lines(
        TEMPLATE,
        "notes",
        read=results.notes,
        faults=data_issues.find_data_issues(results),
        checks=evaluate_checks(results),
    )


def _latex(results: Results, methods: Sequence[str]) -> str:
    """Return a LaTeX table with a row per method. Notes are LaTeX comments above the table."""
    collection = frame.build_collection([results])
    table = summarize_collection(collection, results)
    text = ""
    if len(table) and table["x"].notna().any():
        table = _of_methods(table.assign(best=is_best_or_tied(collection, table)), methods)
        grid = _across(table, find_x_axis(results))
        (caption,) = render_macro_lines(
            TEMPLATE,
            "caption",
            f=_facts(table, results),
            smoke=results.is_smoke_run,
            metrics=[METRICS[name] for name in dict.fromkeys(table["metric"])],
            datasets=[
                format_dataset_title(part) for _, part in table.groupby("dataset", sort=False)
            ]
            if table["dataset"].nunique() <= NAMED_DATASETS
            else [f"{table['dataset'].nunique()} data sets"],
        )
        note = "".join(render_macro_lines(TEMPLATE, "bold", level=TIE_LEVEL)) if grid.best else ""
        text = latex.render_latex_table(
            grid, f"{caption}.", latex.make_latex_label(results.name), note
        )
    comments = [f"% {escape_latex(note)}" for note in _notes(results)]
    return "\n".join([latex.PREAMBLE, *comments, "", text])


def _across(table: pd.DataFrame, varied: str) -> Grid:
    """Return a table of mean scores for all data sets, with a row per method.

    The table has a column for each value of the setting `varied`, such as the number of features.
    """
    places = list(dict.fromkeys(table["x"].dropna().sort_values()))
    usual = int(table["trials"].max())
    lines_of = {
        (line["dataset"], line["method"], line["x"]): line for line in table.to_dict("records")
    }
    pairs = list(dict.fromkeys(zip(table["dataset"], table["method"], strict=True)))
    rows: list[list[str]] = []
    best, parts = set(), set()
    ended = table[table["trials"] > 0]
    # Mark no method as the best if all methods are tied with the best.
    differ = ~ended.groupby(["dataset", "x"])["best"].all()
    several = table["dataset"].nunique() > 1
    for i, (dataset, method) in enumerate(pairs):
        if several and (i == 0 or pairs[i - 1][0] != dataset):
            parts.add(len(rows))
            rows.append(
                [format_dataset_title(table[table["dataset"] == dataset])] + [""] * len(places)
            )
        of_method = [lines_of.get((dataset, method, x)) for x in places]
        best |= {
            (len(rows), j)
            for j, line in enumerate(of_method, 1)
            if line and line["best"] and differ[dataset, line["x"]]
        }
        rows.append(
            [
                find_displayed_name(str(method)),
                *(format_mean_and_error(line, usual) for line in of_method),
            ]
        )
    return Grid(
        ["method", *map(_format_cell, places)],
        rows,
        over=["", *[varied] * len(places)],
        best=frozenset(best),
        parts=frozenset(parts),
    )


def _grids(table: pd.DataFrame, varied: str) -> list[Grid]:
    """Return the tables of one data set: mean scores, and costs such as times.

    `varied` is the setting that was varied, such as the number of features. Costs are shown for the
    largest value of this setting that has completed trials.
    """
    methods = list(dict.fromkeys(table["method"]))
    places = list(dict.fromkeys(table["x"].dropna().sort_values()))
    if not places:
        return []
    by_place: dict[Any, Line] = {
        (line["method"], line["x"]): line for line in table.to_dict("records")
    }
    usual = int(table["trials"].max())
    last = max(table.loc[table["trials"] > 0, "x"], default=places[-1])
    costs = _costs([by_place.get((method, last)) for method in methods], varied)
    # If no setting was varied, the value on the axis is a dash, and the heading of the first column
    # contains no value.
    corner = "method" if last == DASH else f"at {varied} = {_format_cell(last)}"
    if len(places) == 1:
        scores = [format_mean_and_error(by_place.get((method, last)), usual) for method in methods]
        columns = {METRICS[table["metric"].iloc[0]]: scores} | costs
        rows = [[method, *cells] for method, *cells in zip(methods, *columns.values(), strict=True)]
        return [Grid([corner, *columns], rows)]
    kept = table.groupby("method")["kept_min"].count()
    keeping = [method for method in methods if kept[method]]
    rows = [
        [_format_cell(x)]
        + [format_mean_and_error(by_place.get((method, x)), usual) for method in methods]
        + [_range(by_place.get((method, x)), "kept") for method in keeping]
        for x in places
    ]
    head = [varied, *methods, *(f"{method}: kept" for method in keeping)]
    of_costs = Grid([corner, *methods], [[name, *cells] for name, cells in costs.items()])
    return [Grid(head, rows), *([of_costs] if costs else [])]


def _costs(last_lines: Sequence[Line | None], varied: str) -> dict[str, list[str]]:
    """Return the rows of a table of costs, such as numbers of columns, times and penalties.

    The result maps the name of a row to its cells, one cell per method. `last_lines` has a line of
    the summary per method, for the largest value of the setting `varied`. A row without values is
    omitted.
    """
    rows = {
        name: [_range(line, name) for line in last_lines] for name in SIZE_COLUMNS if name != varied
    }
    times = [line["t_total"] for line in last_lines if line and not is_missing(line["t_total"])]
    fast = max(times, default=1) < 1
    scale, unit = (1000, "ms") if fast else (1, "s")
    for name in TIME_COLUMNS:
        rows[f"{name} ({unit})"] = [
            format_spread(scale * line[name], scale * line[f"{name}_se"]) if line else ""
            for line in last_lines
        ]
    penalties = [line["alpha_scale_free"] if line else None for line in last_lines]
    rows["scale-free alpha, median"] = [DASH if is_missing(x) else f"{x:.4g}" for x in penalties]
    return {name: cells for name, cells in rows.items() if set(cells) - {"", DASH}}


def _range(line: Line | None, name: str) -> str:
    if line is None or is_missing(line[f"{name}_min"]):
        return ""
    return format_span(line[f"{name}_min"], line[f"{name}_max"])


def format_mean_and_error(line: Line | None, usual: int) -> str:
    """Return a mean and its standard error as text.

    The number of trials is added if this number is smaller than `usual`. If all trials failed, the
    text is the number of failures.
    """
    if line is None:
        return ""
    if not line["trials"]:
        return f"failed ({line['failed']})"
    unusual = f" (n = {line['trials']})" if line["trials"] < usual else ""
    decimals = 3 if METRICS[line["metric"]].endswith("(%)") else 4
    return format_spread(line["mean"], line["se"], decimals) + unusual


def _facts(table: pd.DataFrame, results: Results) -> dict[str, Any]:
    """Return the values that a template writes above the table of a data set."""
    ranges = {
        name: format_span(table[f"{name}_min"].min(), table[f"{name}_max"].max())
        for name in ("n_train", "n_test", "M", "bandwidth")
    }
    numeric = pd.to_numeric(table["bandwidth_rule"], errors="coerce").notna().all()
    if numeric or ranges["bandwidth"] == DASH:
        ranges["bandwidth"] = ""
    ranges["d"] = (
        format_span(table["d"].min(), table["d"].max()) if table["d"].notna().any() else ""
    )
    return {
        "dataset": format_dataset_name(table),
        "ranges": ranges,
        "follows": has_trial_dependent_size(results),
        # A protocol belongs to a paper. If settings of the paper were changed, the protocol is
        # omitted.
        "settings": {name: _setting(table, name) for name in SHOWN_SETTINGS}
        | ({"protocol": {}} if results.changed_settings else {}),
        "selections": list(filter(None, dict.fromkeys(table["selection"]))),
        "trials": table["trials"].max(),
        "unequal": table["trials"].nunique() > 1,
        "metric": METRICS[table["metric"].iloc[0]],
    }


def _setting(table: pd.DataFrame, column: str) -> dict[str, list[str]]:
    """Return a dictionary from each value of a setting to the methods that have this value.

    `column` is the name of the setting. The lists of methods are empty if the setting has only one
    value, or if every method has all values.
    """
    texts = table[column].map(_format_cell).str.replace(r'[{}"]', "", regex=True)
    values = [value for value in dict.fromkeys(texts) if value]
    of = {value: list(dict.fromkeys(table.loc[texts == value, "method"])) for value in values}
    common = all(len(methods) == table["method"].nunique() for methods in of.values())
    return {value: [] for value in values} if common or len(values) == 1 else of


def _format_cell(value: Any) -> str:
    """Return a value of the summary as text; a missing value is an empty string.

    Integers are written without a decimal point.
    """
    if isinstance(value, str):
        return value
    if pd.api.types.is_bool(value):
        return str(value).lower()
    return "" if is_missing(value) else format_number(value)
