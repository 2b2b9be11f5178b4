"""The tables of results folders, on hand-made rows."""

import inspect
import io
import random
import re
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from rfbench.analysis import data_issues
from rfbench.analysis.data_issues import DataIssue
from rfbench.analysis.summary import summarize
from rfbench.errors import ResultsError
from rfbench.pages.formatting import format_spread
from rfbench.pages.grids import Grid, render_markdown
from rfbench.pages.summary_table import TABLE_FORMATS, TEMPLATE, render_summary_tables
from rfbench.pages.templates import render_macro_lines
from rfbench.results.reader import EXACT
from tests.support.frames import results

DASH = "\N{EN DASH}"


def cells(text: str) -> list[list[str]]:
    """Return the cells of every row of Markdown tables."""
    return [
        [cell.strip() for cell in line[1:-1].split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]


def many(methods: int, sizes: int) -> list[dict[str, Any]]:
    rng = random.Random(0)
    return [
        {"sampler": f"method-{i}", "M": 100 * m, "trial": t, "error": rng.uniform(9, 11)}
        for i in range(methods)
        for m in range(1, sizes + 1)
        for t in range(3)
    ]


def test_summary_table_has_methods_as_columns_and_a_heading() -> None:
    rows = [
        {"sampler": s, "M": m, "trial": t, "error": base + m / 100 + t}
        for s, base in (("rks", 10), ("eerf", 5))
        for m in (100, 200)
        for t in (0, 1, 2)
    ]
    text = render_summary_tables(results(rows, title="Two methods"), width=200)
    lines = [re.split(r"\s{2,}", line) for line in text.splitlines()]
    assert ["M", "rks", "eerf"] in lines
    assert ["100", "12.00 ± 0.58", "7.00 ± 0.58"] in lines
    assert ["200", "13.00 ± 0.58", "8.00 ± 0.58"] in lines
    assert ["t_total (s)", "2 ± 0", "2 ± 0"] in lines
    assert text.startswith("Two methods\n")
    for said in (
        "digits: 1437 training, 360 test rows, d = 64, 3 trials, protocol own, split",
        "timing isolated, threads 1\n",
        "kernel gaussian, bandwidth knn50 (3.25), feature map offset, solver ridge",
        "alpha convention absolute, intercept true, penalty selected on validation",
        "test error (%): mean ± standard error of the mean over the trials; times are wall times",
    ):
        assert said in text


def test_differing_setting_is_reported_with_its_methods() -> None:
    rows = [{}, {"sampler": "lkrf", "kernel": "linear"}]
    assert "kernel gaussian (rks); linear (lkrf)" in render_summary_tables(results(rows), width=200)


def test_summary_for_a_single_m_has_one_row_per_method() -> None:
    text = render_summary_tables(results(many(8, 1)), "markdown")
    assert cells(text)[0][:4] == ["at M = 100", "test error (%)", "columns", "t_pp (s)"]
    assert sum(row[0].startswith("method-") for row in cells(text)) == 8


@pytest.mark.parametrize(("width", "blocks"), [(80, 2), (200, 1)])
def test_numbers_are_never_broken_across_lines(width: int, blocks: int) -> None:
    found = results(many(8, 20))
    text = render_summary_tables(found, width=width)
    assert max(map(len, text.splitlines())) <= width
    for line in summarize(found).to_dict("records"):
        assert text.count(format_spread(line["mean"], line["se"], 3)) >= 1
    assert len(re.findall(r"^\d+00 ", text, re.M)) == 20 * blocks


def test_short_times_are_in_milliseconds() -> None:
    row = {"t_pp": 0.002, "t_features": 0.001}
    rows = [row | {"t_train": t / 500, "trial": t} for t in (0, 1)]
    head, _, line = cells(render_summary_tables(results(rows), "markdown"))
    assert head[3:6] == ["t_pp (ms)", "t_features (ms)", "t_train (ms)"]
    assert line[3:6] == ["2 ± 0", "1 ± 0", "1.0 ± 1.0"]


def test_failed_trials_are_shown() -> None:
    failed = {"status": "timeout", "error": "", "message": "longer than 60 s"}
    rows = many(2, 2)
    rows = [
        row | failed if row["M"] == 200 and row["sampler"] == "method-0" else row for row in rows
    ]
    rows = [row | failed if (row["M"], row["trial"]) == (100, 2) else row for row in rows]
    text = render_summary_tables(results(rows), width=80)
    assert "failed (3)" in text
    assert text.count("(n = 2)") == 2
    assert "fewer where n = is given" in " ".join(text.split())
    assert "4 trials of method-0 failed (timeout, most often: longer than 60 s)." in text


def test_kept_features_and_checks_are_in_the_table() -> None:
    rows = [
        {"sampler": s, "d": d, "trial": t, "M": 170 + t, "kept": 170 + t if s == "lkrf" else ""}
        for s in ("rks", "lkrf")
        for d in (2, 3)
        for t in (0, 1)
    ]
    checks = [{"column": "kept", "sampler": "lkrf", "below": 250}]
    text = render_summary_tables(results(rows, M={"follow": "lkrf"}, checks=checks), width=80)
    assert re.search(r"^2 .* 170\N{EN DASH}171$", text, re.M)
    assert "M as many as another method keeps (170\N{EN DASH}171)" in " ".join(text.split())
    assert "- kept of lkrf below 250: holds; observed 170\N{EN DASH}171, 4 rows." in text


def test_setting_that_varies_between_trials_is_not_a_table_axis() -> None:
    rows = [{"sampler": "rks", "trial": t, "M": 170 + t} for t in (0, 1)]
    text = render_summary_tables(results(rows, M={"follow": "lkrf"}), "markdown")
    assert "variant" not in text
    assert cells(text)[0][0] == "method"


@pytest.mark.parametrize("format", TABLE_FORMATS)
def test_each_format_reports_smoke_run_spread_trials_and_protocol(format: str) -> None:
    text = render_summary_tables(results(many(2, 2), smoke=True), format, width=80)
    assert "SMOKE RUN" in text
    assert "trials" in text
    for word in ("own", "protocol", "se") if format != "latex" else ():
        assert word in text


@pytest.mark.parametrize("format", ["text", "markdown", "latex"])
def test_penalty_chosen_on_test_rows_is_reported(format: str) -> None:
    text = render_summary_tables(results([{"selection": "test"}]), format, width=200)
    assert "penalty selected on the test rows, which is optimistic" in text


def test_summary_csv_can_be_read_back() -> None:
    first, second = results(many(2, 2), name="a"), results(many(1, 1), name="b")
    back = pd.read_csv(io.StringIO(render_summary_tables([first, second], "csv")), **EXACT)
    assert list(back["experiment"]) == ["a"] * 4 + ["b"]
    assert list(back["mean"][:4]) == list(summarize(first)["mean"])
    assert list(back["se"][:4]) == list(summarize(first)["se"])


def test_latex_is_escaped() -> None:
    rows = [{"label": r"50%_a&b #$~^{}\<", "M": m} for m in (1, 2)]
    text = render_summary_tables(results(rows, title="90 % & more_"), "latex")
    named = r"50\%\_a\&b \#\$\textasciitilde \textasciicircum \{\}\textbackslash \textless{}"
    assert text.count(named) == 1
    assert r"& 10 $\pm$ -- " in text
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == 1
    assert r"\label{tab:quickstart}" in text
    assert text.isascii()


@pytest.mark.parametrize("format", TABLE_FORMATS)
def test_table_without_trials_shows_the_notes(format: str) -> None:
    text = render_summary_tables(
        replace(results([]), notes=["trials.csv has no trials yet"]), format
    )
    assert format == "csv" or "no trials yet" in text


def test_summary_times_are_those_of_the_largest_m_with_times() -> None:
    failed = {"status": "memory", "error": "", "t_pp": ""}
    rows = [{"M": 10}, {"M": 20}, failed | {"M": 30}, failed | {"M": "", "trial": 1}]
    text = render_summary_tables(results(rows), width=80)
    assert "at M = 20" in text
    assert "failed (1)" in text


@pytest.mark.parametrize("format", TABLE_FORMATS)
def test_table_with_only_failures_shows_their_number(format: str) -> None:
    rows = [{"status": "failed", "error": "", "t_pp": "", "columns": "", "n_train": "", "d": ""}]
    rows += [rows[0] | {"M": 200}, rows[0] | {"dataset": "eeg", "M": ""}]
    text = render_summary_tables(results(rows), format, width=100)
    assert format == "csv" or "failed (1)" in text


@pytest.mark.parametrize("count", [1, 3])
def test_each_kind_of_data_issue_has_a_sentence(count: int) -> None:
    kinds = re.findall(r'DataIssue\(\s*"([a-z ]+)"', inspect.getsource(data_issues))
    assert len(kinds) >= 6
    every = [DataIssue(kind, count, "rks", "timeout", "two\nlines") for kind in kinds]
    said = render_macro_lines(TEMPLATE, "notes", read=[], faults=every, checks=[])
    assert len(set(said)) == len(kinds)
    assert not any("Fault(" in line for line in said)


def test_latex_table_has_methods_as_rows_and_data_sets_as_parts() -> None:
    rows = [
        {"sampler": s, "M": m, "dataset": d, "trial": t, "error": 1 + (s == "orf") + t / 10}
        for s in ("rks", "orf")
        for m in (50, 100)
        for d in ("eeg", "digits")
        for t in (0, 1, 2)
    ]
    text = render_summary_tables(results(rows), "latex")
    lines_of_cells = [line.split(" & ") for line in text.splitlines() if line.count(" & ") == 2]
    assert [line[0] for line in lines_of_cells] == ["{method}", "RKS", "ORF", "RKS", "ORF"]
    assert lines_of_cells[0] == ["{method}", "{50}", r"{100} \\"]
    headings = re.findall(r"\\itshape (.*)}", text)
    assert headings == ["Small handwritten digits of scikit-learn", "EEG eye state"]
    assert r"\multicolumn{2}{c}{M} \\" in text
    assert text.count(r"\bfseries") == 4
    of = "Small handwritten digits of scikit-learn, EEG eye state"
    caption = f"{of}: mean and standard error over 3 trials, penalty selected on validation"
    assert rf"\caption{{Test error (\%) on {caption} rows.}}" in text
    assert len(re.findall(r"\\scriptsize (.*)}", text)) == 1


def test_selected_methods_keep_the_given_order() -> None:
    read = results(many(3, 2))
    text = render_summary_tables(read, "markdown", methods=["method-2", "method-0"])
    assert cells(text)[0] == ["M", "method-2", "method-0"]
    with pytest.raises(ResultsError, match="no method 'method_0'.*Did you mean 'method-0'"):
        render_summary_tables(read, methods=["method_0"])


def test_unknown_format_raises_error_with_a_suggestion() -> None:
    with pytest.raises(ResultsError, match=r"no table format 'latx'.*Did you mean 'latex'"):
        render_summary_tables(results([{}]), "latx")


def test_markdown_text_is_left_aligned_and_numbers_right_aligned() -> None:
    table = render_markdown(Grid(["name", "kernel", "error"], [["rks", "gaussian", "1.5"]]))
    assert table.splitlines()[1].split("|")[1:-1] == [":-------", ":---------", "--------:"]
