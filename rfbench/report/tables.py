"""Tables of a results folder: for a terminal, Markdown, LaTeX, CSV."""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from typing import Any

import pandas as pd

from rfbench.analysis.frame import follows
from rfbench.analysis.summary import TIMES, axis, summarise
from rfbench.errors import ResultsError, nearest
from rfbench.report.formats import Grid, Section, latex, markdown, text
from rfbench.report.summary import DASH, evaluate_checks, spread, warnings
from rfbench.results import Results
from rfbench.results.schema import METRICS

RANGES = ("M", "columns", "kept")
FORMATS = ("text", "markdown", "latex", "csv")
SMOKE = "SMOKE RUN"
SELECTION = {
    "test": "penalty chosen on the test rows, as the paper may have: optimistic",
    "validation": "penalty chosen on validation rows",
    "cv5": "penalty chosen by 5-fold cross-validation",
    "fixed": "penalty fixed",
}


def render(
    results: Results | Sequence[Results], format: str = "text", width: int | None = None
) -> str:
    """Write the tables of one or several results folders.

    Each has, above the numbers, what they are (data, kernel, solver, protocol, trials, unit) and,
    beneath, the notes of the reader, the failures and the checks. Means stand with the standard
    error of the mean over the trials.

    Parameters
    ----------
    results : Results or sequence of Results
        What `rfbench.results.read` returned.
    format : {'text', 'markdown', 'latex', 'csv'}
        ``'csv'`` is the long form, `rfbench.analysis.summary.summarise`, one header for all.
    width : int, optional
        Width of ``'text'`` in characters; by default the terminal's. Columns that do not fit go
        into a further block; numbers are never broken.

    Raises
    ------
    ResultsError
        If the format is not a known one.
    """
    if format not in FORMATS:
        raise ResultsError(
            f"There is no table format '{format}'.",
            f"Known are {', '.join(FORMATS)}.",
            f"Name one of them.{nearest(format, list(FORMATS))}",
        )
    several = [results] if isinstance(results, Results) else list(results)
    if format == "csv":
        return _csv(several)
    width = width or shutil.get_terminal_size().columns
    return "\n".join(_page(one, format, width) for one in several)


def _csv(several: list[Results]) -> str:
    frames = []
    for one in several:
        frame = summarise(one)
        frame.insert(0, "experiment", one.name)
        frame.insert(1, "run", SMOKE if one.smoke else "full")
        frames.append(frame)
    return pd.concat(frames).to_csv(index=False) if frames else ""


def _page(results: Results, format: str, width: int) -> str:
    title = str(results.config.get("title") or results.name)
    if results.smoke:
        title = f"{SMOKE}, the numbers mean nothing: {title}"
    notes = [*results.notes, *warnings(results), *map(str, evaluate_checks(results))]
    table = summarise(results)
    sections = []
    if not table.empty:
        sections = [_section(part, results) for _, part in table.groupby("dataset", dropna=False)]
    write = {"text": text, "markdown": markdown, "latex": latex}[format]
    return write(title, sections, notes, width)


def _section(table: pd.DataFrame, results: Results) -> Section:
    heading = _heading(table, results)
    methods = list(dict.fromkeys(table["method"]))
    varied = axis(results)
    usual = int(table["trials"].max())
    places = list(dict.fromkeys(table["x"].dropna().sort_values()))
    if not places:
        return Section(heading, [])
    last = max(table.loc[table["trials"] > 0, "x"], default=places[-1])
    lines = {(line["method"], line["x"]): line for line in _records(table)}
    extra = [method for method in methods if _kept(table[table["method"] == method])]
    main = Grid(
        varied,
        [*methods, *(f"{method}: kept" for method in extra)],
        [
            (
                _plain(x),
                [score(lines.get((method, x)), usual) for method in methods]
                + [_range(lines.get((method, x)), "kept") for method in extra],
            )
            for x in places
        ],
    )
    costs = _costs([lines.get((method, last)) for method in methods], methods, varied)
    if len(places) > 1:
        return Section(heading, [main, costs] if costs.rows else [main])
    scores = [score(lines.get((method, places[0])), usual) for method in methods]
    name = METRICS[table["metric"].iloc[0]]
    both = Grid("", methods, [(name, scores), *costs.rows])
    return Section(heading, [both.turned(costs.corner.removesuffix(", s"))])


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in line.items()} for line in table.to_dict("records")]


def _costs(lines: list[dict[str, Any] | None], methods: list[str], varied: str) -> Grid:
    """Lay out number of columns, times and penalty at one value of what is varied."""
    x = next((_plain(line["x"]) for line in lines if line), "")
    rows = [(name, [_range(line, name) for line in lines]) for name in RANGES if name != varied]
    fast = max((line["t_total"] for line in lines if line), default=1) < 1
    scale, unit = (1000, "ms") if fast else (1, "s")
    rows += [
        (f"{name} ({unit})", [_time(line, name, scale) if line else "" for line in lines])
        for name in TIMES
    ]
    penalty = [_significant(line["alpha_scale_free"]) if line else "" for line in lines]
    rows.append(("scale-free alpha, median", penalty))
    rows = [(name, cells) for name, cells in rows if set(cells) - {"", DASH}]
    return Grid(f"at {varied} = {x}", methods, rows)


def _time(line: dict[str, Any], name: str, scale: int) -> str:
    return with_spread(scale * line[name], scale * line[f"{name}_se"])


def _heading(table: pd.DataFrame, results: Results) -> list[str]:
    def say(column: str) -> str:
        """Give the one value, or each value with its methods."""
        texts = table[column].map(_plain).str.replace(r'[{}"]', "", regex=True)
        values = [value for value in dict.fromkeys(texts) if value]
        if len(values) < 2:
            return "".join(values)
        if len(table.groupby([texts, table["method"]])) == len(values) * table["method"].nunique():
            return ", ".join(values)
        of = {v: ", ".join(dict.fromkeys(table.loc[texts == v, "method"])) for v in values}
        return "; ".join(f"{value} ({methods})" for value, methods in of.items())

    def span(column: str) -> str:
        low, high = table[f"{column}_min"].min(), table[f"{column}_max"].max()
        return "" if pd.isna(low) else spread(float(low), float(high))

    trials = _count(table["trials"].max(), "trial")
    if table["trials"].nunique() > 1:
        trials += ", fewer where n = is given"
    d = spread(float(table["d"].min()), float(table["d"].max())) if table["d"].notna().any() else ""
    known = pd.to_numeric(table["bandwidth_rule"], errors="coerce").notna().all()
    bandwidth = "" if known or not span("bandwidth") else f" ({span('bandwidth')})"
    selection = "; ".join(
        SELECTION.get(value, f"penalty chosen by {value}")
        for value in dict.fromkeys(table["selection"])
        if value
    )
    parts = [
        [
            f"{table['dataset'].iloc[0]}: {span('n_train')} training, {span('n_test')} test rows",
            f"d = {d}",
            f"split {say('split')}",
            f"scaling {say('scaling')}",
            say("dtype"),
        ],
        [
            f"kernel {say('kernel')}",
            f"bandwidth {say('bandwidth_rule')}{bandwidth}",
            f"map {say('feature_map')}",
            f"M as many as another method keeps ({span('M')})" if follows(results) else "",
        ],
        [
            f"solver {say('solver')}",
            f"penalty convention {say('alpha_convention')}",
            f"intercept {say('intercept')}",
            selection,
        ],
        [
            f"protocol {say('protocol')}",
            trials,
            f"{say('timing')} timing",
            " and ".join(_count(n, "thread") for n in table["threads"].dropna().unique()),
        ],
    ]
    spoken = [", ".join(part for part in line if part and part[-1] != " ") for line in parts]
    spoken = [line for line in spoken if line]
    metric = METRICS[table["metric"].iloc[0]]
    times = "times are wall times, t_total = t_pp + t_features + t_train"
    return [*spoken, times, f"{metric}: mean ± standard error of the mean over the trials"]


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _kept(table: pd.DataFrame) -> bool:
    return bool(table["kept_min"].notna().any())


def _range(line: dict[str, Any] | None, name: str) -> str:
    if line is None or pd.isna(line[f"{name}_min"]):
        return ""
    return spread(float(line[f"{name}_min"]), float(line[f"{name}_max"]))


def score(line: dict[str, Any] | None, usual: int) -> str:
    """Write mean and standard error, and the number of trials where it is not the usual one."""
    if line is None:
        return ""
    if not line["trials"]:
        return f"failed ({line['failed']})"
    decimals = 3 if METRICS[line["metric"]].endswith("(%)") else 4
    unusual = f" (n = {line['trials']})" if line["trials"] < usual else ""
    return with_spread(line["mean"], line["se"], decimals) + unusual


def with_spread(mean: float, se: float, most: int = 4) -> str:
    """Write ``17.37 ± 0.12``, with two digits of the standard error and at most so many decimals.

    A standard error that is not known (one trial) is a dash; where so few decimals would show
    nothing but zeros, both are written with an exponent.
    """
    if math.isnan(mean):
        return DASH
    if math.isnan(se) or se == 0:
        return f"{_significant(mean)} ± {DASH if math.isnan(se) else 0}"
    decimals = 1 - math.floor(math.log10(se))
    if decimals > most + 1 or abs(mean) >= 1e7:
        return f"{mean:.2e} ± {se:.1e}"
    decimals = min(max(decimals, 0), most)
    return f"{mean:.{decimals}f} ± {se:.{decimals}f}"


def _significant(value: float) -> str:
    return DASH if math.isnan(value) else f"{value:.4g}"


def _plain(value: Any) -> str:
    """Write a cell of the summary: whole numbers without a point, missing ones as nothing."""
    if isinstance(value, str):
        return value
    if pd.api.types.is_bool(value):
        return str(value).lower()
    return "" if pd.isna(value) else f"{float(value):.6g}"
