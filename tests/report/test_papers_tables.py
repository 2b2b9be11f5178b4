"""The papers' tables, filled with hand-made results."""

import json
import math
import re
from functools import partial
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from rfbench import papers
from rfbench.cli import main
from rfbench.errors import ResultsError
from rfbench.report import evidence, papers_tables, rules
from rfbench.report.papers_values import PARENTHESES, percent, seconds
from rfbench.report.summary import DASH
from rfbench.report.verify import board

from .conftest import Write
from .test_verify import A9A, EEG, PAPER, trials


def test_table_3_of_liu2020_has_its_bullets(write: Write) -> None:
    rng = np.random.default_rng(0)
    rows = []
    for t in range(10):
        shared = rng.normal()
        for method, mean in (
            ("rks", 68),
            ("qmc", 68),
            ("leverage-rff", 70),
            ("surrogate-leverage", 68),
        ):
            accuracy = mean + shared + 0.1 * rng.normal()
            rows.append({**EEG, "sampler": method, "trial": t, "accuracy": accuracy, "error": ""})
    gathered = evidence.gather([write(rows, **PAPER)])
    text = papers_tables.render(gathered, "liu2020", "table3", width=120)
    line = next(line for line in text.splitlines() if line.startswith("14 "))
    assert line.count("•") == 1
    assert line.index("•") < line.rindex("(")
    latex = papers_tables.render(gathered, "liu2020", "table3", "latex")
    assert r"$\bullet$" in latex
    assert "| 14 (d) |" in papers_tables.render(gathered, "liu2020", "table3", "markdown")


def test_table_3_of_eerf2018_has_standard_errors(write: Write) -> None:
    rows = trials(83.0, **A9A | {"M": 100}) + trials(84.0, **A9A | {"M": 100}, sampler="eerf")
    rows += trials(90.0, **A9A | {"M": 100, "dataset": "adult"})
    gathered = evidence.gather([write(rows, paper="eerf2018", item="table3")])
    text = papers_tables.render(gathered, "eerf2018", "table3", width=170)
    assert "17.00 (0.16)" in text
    assert "adult (stand-in adult, 32561 training rows)" in text
    with pytest.raises(ResultsError, match="Nothing of eerf2018"):
        papers_tables.render(gathered, "eerf2018", "table5")


def cells(text: str, name: str) -> list[str]:
    """Return the cells of the rows of Markdown tables that begin with a name, one after another."""
    rows = [line[2:-2].split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [cell for row in rows if row[0] == name for cell in row[1:]]


def test_tables_of_lkrf2016_have_rows_dimension_and_the_best_size(write: Write) -> None:
    rows = trials(84.0, **A9A | {"M": 100}, sampler="lkrf")
    rows += trials(83.0, **A9A | {"M": 200}, sampler="lkrf")
    rows += trials(82.0, **A9A | {"M": 300}, n=5)
    gathered = evidence.gather([write(rows, paper="lkrf2016", item="table1")])
    text = papers_tables.render(gathered, "lkrf2016", "table1", "markdown")
    facts = ["32561", "16281", "64", "5\N{EN DASH}10"]
    lkrf, rks = ["100", "16.00 (0.16)", "2.12"], ["300", "18.00 (0.22)", "2.12"]
    assert cells(text, "adult") == [*facts, *lkrf, *rks]
    assert "standard errors in parentheses" in text
    assert "wall seconds on our machine, not to be compared" in text


def test_wrong_tables_are_named(write: Write) -> None:
    gathered = evidence.gather([])
    for arguments in (("liu2020", "table4"), ("tefm2015", "table1"), ("liu2002", "table3")):
        with pytest.raises(ResultsError):
            papers_tables.render(gathered, *arguments)
    with pytest.raises(ResultsError, match="written as"):
        papers_tables.render(gathered, "liu2020", "table3", "csv")
    folder = str(write(trials(68.0), **PAPER))
    run = CliRunner().invoke
    assert run(main, ["table", folder, "--paper", "liu2020"]).exit_code == 2
    shown = run(main, ["table", folder, "--paper", "liu2020", "--item", "table3"])
    assert shown.exit_code == 0
    assert "68.00" in shown.output


def test_table_2_of_lkrf2016_has_training_errors(write: Write) -> None:
    sampled = A9A | {"protocol": "printed", "n_train": 5000, "M": 250, "sampler": "lkrf"}
    rows = trials(84.0, **sampled)
    rows = [row | {"train_error": 15.0 + (row["trial"] % 2)} for row in rows]
    gathered = evidence.gather([write(rows, paper="lkrf2016", item="table2")])
    text = papers_tables.render(gathered, "lkrf2016", "table2", width=120)
    assert "15.50 (0.17) / 16.00 (0.16)" in text
    assert "n: training rows, a sample as in the paper" in text
    cells = board(gathered, "lkrf2016", lambda name: True).cells
    (cell,) = (c for c in cells if c.trials and c.number.metric == "train_error")
    assert (cell.measured, cell.number.value, cell.number.method) == (15.5, 16.22, "lkrf")
    assert cell.verdict in (rules.CLOSE, rules.DIFFERS)


EERF = {"pool_size": 2000, "score_rows": 0.05}
FAILED = {"status": "failed", "error": "", "accuracy": "", "t_pp": "", "t_features": "",
          "t_train": "", "t_test": ""}  # fmt: skip
ADULT = A9A | {"M": 100, "protocol": "printed"}


def eerf_table(write: Write, format: str = "markdown", **changes: Any) -> str:
    """Write Table 3 of eerf2018 from rks and eerf on a9a, changed as told."""
    rows = trials(83.0, **ADULT)
    rows += trials(84.0, **ADULT | changes, sampler="eerf", parameters=json.dumps(EERF))
    gathered = evidence.gather([write(rows, paper="eerf2018", item="table3")])
    return papers_tables.render(gathered, "eerf2018", "table3", format, 160)


def test_every_data_set_of_the_paper_has_a_row_in_its_order(write: Write) -> None:
    text = eerf_table(write)
    names = re.findall(r"^\| (buzz|news|adult|mnist) \|", text, re.M)
    assert names == ["buzz", "news", "adult", "mnist"]
    assert set(cells(text, "buzz")) == {DASH}
    assert "A dash: not run here" in text


def test_a_stand_in_is_at_the_place_of_its_data_set(write: Write) -> None:
    news = {"dataset": "news-14k", "n_train": 9935, "n_test": 4893, "M": 200}
    rows = trials(84.0, **ADULT) + trials(50.0, **ADULT | news)
    gathered = evidence.gather([write(rows, paper="eerf2018", item="table3")])
    text = papers_tables.render(gathered, "eerf2018", "table3", "markdown")
    names = [line.split(" | ")[0][2:] for line in text.splitlines() if line.startswith("| ")]
    stand_in = "news (stand-in news-14k, 9935 training rows)"
    assert names == ["data set", "---", "buzz", stand_in, "adult", "mnist"]
    assert names.count("news") == 0


def test_pool_scored_rows_and_trials_are_columns(write: Write) -> None:
    text = eerf_table(write)
    assert cells(text, "data set")[:4] == ["M", "M_0", "N_0/N", "trials"]
    assert cells(text, "adult")[:4] == ["100", "2000", "5 %", "10"]


def test_times_timed_alone_are_plain(write: Write) -> None:
    text = eerf_table(write)
    assert "Protocol printed, timed alone\n" in text
    assert "≤" not in text
    assert cells(text, "adult")[4:7] == ["0.250", "1.75", "0.125"]


def test_shared_times_are_upper_bounds_in_every_format(write: Write) -> None:
    text = eerf_table(write, timing="shared")
    assert cells(text, "adult")[4:9] == ["≤0.250", "≤1.75", "≤0.125", "1.75", "0.125"]
    assert text.count("upper bound") == 1
    assert "timed alone, or shared (≤)" in text


def test_shared_times_in_latex(write: Write) -> None:
    latex = eerf_table(write, "latex", timing="shared")
    assert r"$\le$0.250 & $\le$1.75" in latex
    assert latex.isascii()


def test_a_regression_says_its_measure(write: Write) -> None:
    news = {"dataset": "news", "n_train": 26561, "n_test": 13083, "M": 200}
    made = [
        row | news | {"accuracy": "", "error": "", "relative_squared_error": 0.02, "sampler": s}
        for s in ("eerf", "rks")
        for row in trials(84.0, **ADULT)
    ]
    gathered = evidence.gather([write(made, paper="eerf2018", item="table3")])
    text = papers_tables.render(gathered, "eerf2018", "table3", width=200)
    assert "news is a regression: its error (%) is 100 times the relative squared error" in text
    assert "2.00 (0.00)" in text
    assert "regression" not in eerf_table(partial(write, name="other"))


def test_failed_trials_are_no_dash(write: Write) -> None:
    rows = trials(83.0, **ADULT)
    rows += [row | FAILED | {"sampler": "eerf"} for row in rows]
    gathered = evidence.gather([write(rows, paper="eerf2018", item="table3")])
    text = papers_tables.render(gathered, "eerf2018", "table3", "markdown")
    assert cells(text, "adult")[-2:] == ["failed", "17.00 (0.16)"]
    assert "adult, eerf at M = 100: 10 trials did not end well" in text


def liu_table(write: Write, format: str, **changes: Any) -> str:
    """Write Table 3 of liu2020 from two sizes on EEG, changed as told."""
    rows = [
        {**row, "t_features": 0.0003 + 0.00001 * (row["trial"] % 2), "t_pp": 0.0001} | changes
        for size in (14, 28)
        for row in trials(68.0, **EEG | {"M": size})
    ]
    gathered = evidence.gather([write(rows, **PAPER)])
    return papers_tables.render(gathered, "liu2020", "table3", format, 80)


def test_times_of_liu2020_have_three_digits_and_a_spread(write: Write) -> None:
    text = liu_table(write, "markdown")
    assert cells(text, "14 (d)")[0] == "68.00±0.50 (0.405±0.005)"
    assert cells(text, "28 (2d)")[1:] == [DASH] * 3
    assert "EEG, protocol matched, 10 trials, timed alone\n" in text
    assert "there called Ours" in text
    assert "wall milliseconds on our machine" in text


def test_shared_times_of_liu2020(write: Write) -> None:
    text = liu_table(write, "markdown", timing="shared")
    assert cells(text, "14 (d)")[0] == "68.00±0.50 (≤0.405±0.005)"
    assert "10 trials, shared timing (≤)" in text


def test_a_data_set_of_liu2020_where_all_failed_is_not_called_not_run(write: Write) -> None:
    magic04 = {"dataset": "magic04", "n_train": 9510, "n_test": 9510, "M": 10}
    rows = trials(68.0, **EEG) + [row | magic04 | FAILED for row in trials(68.0, **EEG)]
    gathered = evidence.gather([write(rows, **PAPER)])
    text = papers_tables.render(gathered, "liu2020", "table3", "markdown")
    assert cells(text, "10 (d)")[:2] == ["failed", DASH]
    assert "magic04, protocol matched, 0 trials" in text
    assert "magic04, rks at M = 10: 10 trials did not end well" in text


def test_the_legend_stands_once_and_without_a_second_bullet(write: Write) -> None:
    for format in ("text", "markdown"):
        text = liu_table(partial(write, name=format), format)
        assert text.count("significantly") == 1
        assert not re.search(r"^- •", text, re.M)
        assert "covtype, protocol matched: not run here" in text


def test_the_text_of_liu2020_fits_two_methods_a_line(write: Write) -> None:
    methods = ("rks", "qmc", "leverage-rff", "surrogate-leverage")
    quick = EEG | {"M": 1792, "t_pp": 0.0001, "t_features": 0.0003}
    rows = [row for method in methods for row in trials(68.0, **quick, sampler=method)]
    gathered = evidence.gather([write(rows, **PAPER)])
    lines = papers_tables.render(gathered, "liu2020", "table3", width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.split() == ["s", "RFF", "QMC"] for line in lines)


def test_every_grid_of_liu2020_is_a_float_with_a_caption(write: Write) -> None:
    latex = liu_table(write, "latex")
    floats = latex.split(r"\begin{table}")[1:]
    assert len(floats) == 4
    for one, name in zip(floats, ("EEG", "cod-RNA", "covtype", "magic04"), strict=True):
        for word in (r"\end{table}", r"\caption{", r"\begin{tabular}", r"\end{tabular}"):
            assert one.count(word) == 1
        assert f"measured. {name}, protocol matched" in one
        assert "wall milliseconds" in one


@pytest.mark.parametrize(("paper", "item"), papers.tables())
def test_latex_is_balanced_and_escaped(write: Write, paper: str, item: str) -> None:
    rows = trials(84.0, **ADULT) if paper != "liu2020" else trials(68.0, **EEG)
    rows += [row | {"sampler": "lkrf", "timing": "shared", "n_train": 5000} for row in rows]
    gathered = evidence.gather([write(rows, paper=paper, item=item)])
    latex = papers_tables.render(gathered, paper, item, "latex")
    plain = re.sub(r"\\[{}%_&$#]", "", latex.partition("\n")[2])
    assert plain.count("{") == plain.count("}")
    assert not set("%_#") & set(plain)
    assert plain.count("$") % 2 == 0
    assert latex.isascii()
    for one in re.findall(r"\\begin{tabular}{(\w+)}(.*?)\\end{tabular}", plain, re.S):
        counts = {line.count("&") + 1 for line in one[1].splitlines() if line.endswith(r"\\")}
        assert counts == {len(one[0])}


@pytest.mark.parametrize(
    ("value", "spread", "said"),
    [
        (16.14, 0.06, "16.14 (0.06)"),
        (17.2, 0.097, "17.20 (0.10)"),
        (14.75, 0.2, "14.75 (0.20)"),
        (6.14, 0.0027, "6.140 (0.003)"),
        (5.0, 0.0, "5.00 (0.00)"),
        (5.0, 1e-9, "5.0000 (0.0000)"),
        (5.0, math.nan, "5.00"),
    ],
)
def test_an_error_has_the_decimals_of_its_value(value: float, spread: float, said: str) -> None:
    assert percent(value, spread, PARENTHESES) == said


@pytest.mark.parametrize(
    ("value", "spread", "said"),
    [
        (0.457, 0.0213, "0.457±0.021"),
        (12.34, 0.41, "12.3±0.4"),
        (1660.7, 54.6, "1661±55"),
        (0.00002, math.nan, "0.0000200"),
        (38.0, math.nan, "38.0"),
        (0.0, math.nan, "0.00"),
    ],
)
def test_a_time_has_three_digits(value: float, spread: float, said: str) -> None:
    assert seconds(value, spread) == said
    assert seconds(value, spread, shared=True) == f"≤{said}"
