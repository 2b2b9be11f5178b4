"""Tables and CSV files that compare the published numbers of a paper with our numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rfbench import papers
from rfbench.analysis import verdict_counts, verdicts
from rfbench.analysis.authors_rows import AuthorsRuns
from rfbench.analysis.published import Line
from rfbench.analysis.verdict_counts import OWN_SETTINGS
from rfbench.analysis.verification import Verification
from rfbench.escaping import Markdown, as_csv, escape_markdown
from rfbench.pages.additions import AddedColumn
from rfbench.pages.formatting import DASH, format_number, format_signed
from rfbench.pages.grids import Grid
from rfbench.pages.scoreboard import format_measured_mean, format_published_number
from rfbench.papers.models import PERCENT, PLAIN, PRINTED, SECONDS, TUNED_TO_MATCH
from rfbench.registry import find_displayed_name

# Maps each source of our settings to its label, which the glossary of the page defines.
SETTINGS_LABELS = {
    "text": "as printed",
    "cited": "as cited",
    "readings": "as printed",
    "corrected": "corrected",
    "code": "authors' code",
    "matched": "tuned to match",
    "rematched": "tuned to match, corrected",
    OWN_SETTINGS: "equally tuned",
}
# Limits that keep the page of a paper within 120 lines. Up to MAX_NUMBERS published numbers have a
# line each. Otherwise there is a line per data set and size, if there are at most MAX_LINES such
# lines. Longer tables have only counts. The values were chosen without a measurement. With both
# limits doubled, a page with 32 numbers would have 64 lines of errors.
MAX_NUMBERS, MAX_LINES = 20, 40
NEAR_VERDICTS = (verdicts.AGREES, verdicts.CLOSE)
NOT_COMPARED = " (not compared)"
# Number of significant digits of numbers without a unit, because papers print at most four digits.
# With half this value, different numbers would look equal.
SHORT_DIGITS = 4
SAME_ROWS, NEW_DRAWS, OTHER_ROWS, SHOWN_ROWS = "same rows", "new draws", "other rows", "not judged"
NUMBER_COLUMNS = {
    "item": "table",
    "dataset": "data_set",
    "used": "substitute",
    "method": "method",
    "M": "M",
    "metric": "measure",
    "unit": "unit",
    "protocol": "settings",
    "published": "published",
    "published_spread": "published_spread",
    "measured": "measured",
    "standard_error": "standard_error",
    "trials": "trials",
    "difference": "difference",
    "interval_low": "interval_low",
    "interval_high": "interval_high",
    "verdict": "verdict",
    "decidable": "decidable",
    "at_chance": "at_chance",
}


def find_settings_label(settings: str) -> str:
    """Return the displayed name of a source of our settings, such as "authors' code" for "code"."""
    return SETTINGS_LABELS.get(settings, settings)


def format_item(item: str) -> str:
    """Return the printed name of a table or figure.

    >>> format_item("table3"), format_item("figure2-arc-cosine-0"), format_item("folds")
    ('Table 3', 'Figure 2, arc-cosine-0', 'Folds')
    """
    name = re.sub(r"^(table|figure)(\d+\w?)-?", r"\1 \2, ", item).rstrip(", ")
    return name[:1].upper() + name[1:]


def join_items(items: Iterable[str]) -> str:
    """Return the names of tables or figures as text. Parts of one figure are combined.

    >>> join_items(["table3", "table5"]), join_items(["figure2-a", "figure2-b"])
    ('Tables 3 and 5', 'Figure 2')
    """
    names = list(dict.fromkeys(format_item(item).partition(",")[0] for item in items))
    kinds = {name.partition(" ")[0] for name in names}
    if len(names) < 2 or len(kinds) > 1:
        return " and ".join(names)
    (kind,) = kinds
    return f"{kind}s " + " and ".join(name.partition(" ")[2] for name in names)


def select_compared_numbers(own: Verification) -> pd.DataFrame:
    """Return the published numbers of a paper that have a verdict.

    The result has a row for each pair of a number and a source of our settings.
    """
    numbers = verdict_counts.list_published_numbers(own)
    return numbers[numbers["verdict"].isin(verdicts.COMPARED)]


def list_differing_method_names(own: Verification) -> list[str]:
    """Return texts such as "our X is called Y" for methods that the paper names differently."""
    numbers = select_compared_numbers(own)
    given = {} if numbers.empty else papers.find_paper(str(numbers["paper"].iloc[0])).methods
    called = {find_displayed_name(method): given.get(method) for method in numbers["method"]}
    return [
        f"our {name} is called {other}" for name, other in called.items() if other and other != name
    ]


def make_verdict_counts_grid(own: Verification) -> Grid:
    """Return a table with the number of published numbers per verdict.

    The table has one row for each source of our settings.
    """
    rows = []
    for each in verdict_counts.count_published_numbers(own):
        label, words = find_settings_label(each.of[1]), each.class_label[1]
        name = label if each.of[1] in (*TUNED_TO_MATCH, "code") else f"{label}: {words}"
        of = each.decidable_count
        seen = [each[verdict] for verdict in verdicts.COMPARED]
        decided = [
            of.n_compared,
            of.n_agreeing_or_close,
            of[verdicts.UNDECIDED],
            of[verdicts.DIFFERS],
        ]
        rows.append([name, *map(str, [each.n_compared, *seen, *decided, each.unspread])])
    head = ["our settings", "compared", *verdicts.COMPARED, "decidable"]
    decidable = [f"decidable: {word}" for word in ("near", "undecided", "differs")]
    return Grid([*head, *decidable, "unknown spread"], rows)


def list_reasons_for_no_comparison(own: Verification) -> list[tuple[str, int, list[str]]]:
    """Return the reasons why published numbers of a paper were not compared with ours.

    Each tuple has a reason, the number of published numbers, and the names of their data sets.
    """
    every = own.numbers
    every = every[(every["unit"] != SECONDS) & (every["same_as"] == "")]
    compared = set(select_compared_numbers(own)["number"])
    rest = every[~every["number"].isin(compared)]
    replaced = rest[rest["stand_in"] & (rest["trials"] > 0)].drop_duplicates("number")
    shown = rest[~rest["stand_in"] & (rest["trials"] > 0)].drop_duplicates("number")
    shown = shown[~shown["number"].isin(set(replaced["number"]))]
    absent = rest.drop_duplicates("number")
    absent = absent[~absent["number"].isin({*replaced["number"], *shown["number"]})]
    reasons = {
        "we measured a substitute instead of the paper's data": replaced,
        "we measured only under settings that are not compared": shown,
        "we did not measure these numbers": absent,
    }
    return [
        (reason, len(lines), list(dict.fromkeys(lines["dataset"])))
        for reason, lines in reasons.items()
        if len(lines)
    ]


def make_compared_numbers_grids(own: Verification) -> list[tuple[str, Grid]]:
    """Return tables that compare published numbers with ours, as pairs of a heading and a table.

    A few numbers have one row each. More numbers have a row per data set and number of features.
    The longest tables have only counts of verdicts.
    """
    numbers = select_compared_numbers(own)
    if numbers.empty:
        return []
    if numbers["number"].nunique() <= MAX_NUMBERS:
        return [("", _lay_out_each(own, numbers))]
    places = [numbers[name] for name in ("settings", "item", "dataset", "M")]
    if numbers.groupby(places).ngroups <= MAX_LINES:
        return [
            (find_settings_label(str(settings)).capitalize(), _lay_out_wide(here))
            for settings, here in numbers.groupby("settings", sort=False)
        ]
    return [("", _lay_out_counts(numbers))]


def _lay_out_each(own: Verification, numbers: pd.DataFrame) -> Grid:
    """Return a table that compares each published number with our means.

    The table has a row per published number and a column per source of our settings.
    """
    several = numbers["metric"].nunique() > 1
    every = own.numbers_on_own_data[
        own.numbers_on_own_data["number"].isin(set(numbers["number"]))
        & (own.numbers_on_own_data["trials"] > 0)
    ]
    shown = every[every["settings"] == OWN_SETTINGS]
    ordered = pd.concat([numbers, shown]).sort_values("number", kind="stable")
    classes = [*numbers["settings"].unique(), *shown["settings"].unique()]
    rows = []
    for _, here in ordered.groupby("number", sort=False):
        lines = {line["settings"]: line for line in here.to_dict("records")}
        first = next(iter(lines.values()))
        rows.append(
            [
                format_item(first["item"]),
                _name_place(first),
                find_displayed_name(first["method"]) + f", {first['metric']}" * several,
                format_published_number(
                    first["published"], first["published_spread"], first["unit"]
                ),
                *(_verdict_cell(lines.get(each)) for each in classes),
            ]
        )
    labels = [find_settings_label(each) + NOT_COMPARED * (each == OWN_SETTINGS) for each in classes]
    return Grid(["table", "data set, M", "method", "published", *labels], rows)


def _name_place(line: Line) -> str:
    return f"{line['dataset']}, {line['M']}" if line["M"] else str(line["dataset"])


def _verdict_cell(line: Line | None) -> str:
    if line is None:
        return DASH
    mean = str(escape_markdown(format_measured_mean(line)))
    if line["verdict"] == verdicts.NOT_JUDGED:
        return mean
    bold = "**" if line["verdict"] in NEAR_VERDICTS else ""
    return Markdown(f"{bold}{mean}{bold} {line['verdict']}")


def _lay_out_wide(numbers: pd.DataFrame) -> Grid:
    """Return a table that compares published numbers with ours, with a column per method.

    The table has a row for each data set and number of features. Rows of a data set are merged if
    no method beats a constant prediction and all numbers have the verdict "differs".
    """
    methods = list(dict.fromkeys(numbers.sort_values("number")["method"]))
    lost = numbers["at_chance"].astype(bool) & (numbers["verdict"] == verdicts.DIFFERS)
    places = [numbers[name] for name in ("item", "dataset", "M")]
    lost = lost.groupby(places).transform("all")
    rows = []
    for _, here in numbers.groupby(["item", "dataset", numbers["M"].mask(lost, "")], sort=False):
        lines = {str(method): each for method, each in here.groupby("method", sort=False)}
        sizes = list(dict.fromkeys(here["M"]))
        first = here.iloc[0].to_dict()
        name = f"{first['dataset']}, {sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else ""
        cells = [_pair_cell(lines.get(each)) for each in methods]
        rows.append([f"{name}: at chance" if name else _name_place(first), *cells])
    return Grid(["data set, M", *map(find_displayed_name, methods)], rows)


def _pair_cell(lines: pd.DataFrame | None) -> str:
    """Return a published and a measured number as the text of a cell.

    If `lines` has several numbers, their ranges are returned. A missing number is a dash.
    """
    if lines is None:
        return DASH
    unit, verdict = lines["unit"].iloc[0], lines["verdict"].iloc[0]
    published, measured = (
        DASH.join(dict.fromkeys(_format_short(x, unit) for x in (values.min(), values.max())))
        for values in (lines["published"], lines["measured"])
    )
    return _mark_pair(published, measured, verdict)


def _format_short(value: float, unit: str) -> str:
    return format_number(value, 2) if unit == PERCENT else f"{value:.{SHORT_DIGITS}g}"


def _mark_pair(published: str, measured: str, verdict: str) -> Markdown:
    """Return the text ``published → measured``, in which the measured number shows the verdict.

    The measured number is bold if the verdict is "agrees" or "close". A question mark is added if
    the verdict is "undecided".
    """
    marks = {verdicts.AGREES: "**{}**", verdicts.CLOSE: "**{}**", verdicts.UNDECIDED: "{} ?"}
    return Markdown(f"{published} → {marks.get(verdict, '{}').format(measured)}")


def _lay_out_counts(numbers: pd.DataFrame) -> Grid:
    """Return a table with the number of published numbers per verdict.

    The table has a row for each published table, data set and source of our settings.
    """
    plain = bool((numbers["unit"] == PLAIN).all())
    rows = []
    for (item, dataset, settings), here in numbers.groupby(
        ["item", "dataset", "settings"], sort=False
    ):
        seen = [str(int((here["verdict"] == verdict).sum())) for verdict in verdicts.COMPARED]
        ratio = (here["measured"] / here["published"]).median()
        size = format_number(ratio, 2) if plain else format_signed(here["difference"].median())
        methods = here["method"].unique()
        who = find_displayed_name(methods[0]) if len(methods) == 1 else f"{len(methods)} methods"
        name = f"{format_item(str(item))}, {dataset}"
        rows.append([name, find_settings_label(str(settings)), who, str(len(here)), *seen, size])
    median = "median ours / published" if plain else "median difference"
    head = ["data", "our settings", "methods", "compared", *verdicts.COMPARED, median]
    return Grid(head, rows)


def find_comparison_kind(runs: AuthorsRuns) -> str:
    """Return the kind of comparison between the authors' runs and our runs.

    The kind is "same rows" or "new draws" if the folds have the same rows. Runs with new draws have
    different random features. The kind is "other rows" if the folds differ. The kind is "not
    judged" if our settings differ from the authors' settings.
    """
    if runs.beside:
        return SHOWN_ROWS
    if not runs.same_rows:
        return OTHER_ROWS
    return SAME_ROWS if runs.draws == 1 else NEW_DRAWS


def make_authors_grids(every: Sequence[AuthorsRuns]) -> list[tuple[str, Grid]]:
    """Return tables that compare the mean scores of the authors' runs and of our runs.

    Each metric has a table, returned as a pair of a heading and the table.
    """
    judged = [runs for runs in every if not runs.beside]
    tables = []
    for metric in dict.fromkeys(runs.metric for runs in judged):
        here = [runs for runs in judged if runs.metric == metric]
        cells = {(runs.dataset, _name_runs(runs)): _authors_cell(runs) for runs in here}
        names = list(dict.fromkeys(name for _, name in cells))
        other = {runs.dataset for runs in here if not runs.same_rows}
        rows = [
            [f"{data} ({OTHER_ROWS})" if data in other else data]
            + [cells.get((data, name), DASH) for name in names]
            for data in dict.fromkeys(data for data, _ in cells)
        ]
        heading = {"rmse": "RMSE"}.get(metric, metric.capitalize())
        tables.append((heading, Grid(["data set", *names], rows)))
    return tables


def _name_runs(runs: AuthorsRuns) -> str:
    drawn = runs.draws > 1 or not runs.same_rows
    is_linear = runs.method in ("ridge", "logistic")
    name = find_displayed_name(runs.method)
    return name if is_linear else f"{name}, {NEW_DRAWS if drawn else 'their draws'}"


def _authors_cell(runs: AuthorsRuns) -> Markdown:
    unit = PERCENT if runs.metric == "accuracy" else PLAIN
    published, measured = (_format_short(x, unit) for x in (runs.published, runs.measured))
    return _mark_pair(published, measured, runs.verdict)


def render_numbers_csv(own: Verification, added: Sequence[AddedColumn] = ()) -> str | None:
    """Return the published numbers of a paper and our measurements as CSV.

    The file has a line for each measurement. Run times, and measurements on data that replace the
    paper's data, are included. A number without a measurement has one line. `added` are columns
    from optional components. The result is None if no number was measured.
    """
    every = own.numbers
    measured = every[every["trials"] > 0]
    if measured.empty:
        return None
    absent = every[~every["number"].isin(set(measured["number"]))].drop_duplicates("number")
    table = pd.concat([measured, absent.assign(protocol="")]).sort_values("number", kind="stable")
    low, high = (table["difference"] + sign * table["half_width"] for sign in (-1, 1))
    table = table.assign(interval_low=low, interval_high=high)
    written = table[list(NUMBER_COLUMNS)].rename(columns=NUMBER_COLUMNS)
    reading = ((table["protocol"] == PRINTED) & ~table["stand_in"]).to_numpy(bool)
    for column in added:
        for name, values in column.values.items():
            found = table["number"].map(values).to_numpy(float)
            written[name] = np.where(reading, found, np.nan)
    return _as_csv(written)


def render_authors_csv(own: Verification) -> str | None:
    """Return the comparisons between the authors' own runs and our runs as CSV.

    The result is None if the authors have published no runs.
    """
    if not own.authors:
        return None
    table = pd.DataFrame([_describe_runs(runs) for runs in own.authors])
    return _as_csv(table)


def _describe_runs(runs: AuthorsRuns) -> dict[str, Any]:
    return {
        "data_set": runs.dataset,
        "method": runs.method,
        "measure": runs.metric,
        "compared_on": find_comparison_kind(runs),
        "folds": runs.folds,
        "draws_per_fold": runs.draws,
        "published": runs.published,
        "published_spread": runs.published_sd,
        "measured": runs.measured,
        "measured_spread": runs.measured_sd,
        "folds_equal": runs.equal,
        "folds_near": runs.near,
        "difference": runs.difference,
        "interval_low": runs.difference - runs.half_width,
        "interval_high": runs.difference + runs.half_width,
        "verdict": "not judged" if runs.beside else runs.verdict,
        "our_run": runs.experiment,
        "how_it_differs": runs.beside,
    }


def _as_csv(table: pd.DataFrame) -> str:
    return as_csv(table, float_format="%.6g", lineterminator="\n")
