"""The papers' tables, filled with hand-made results."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from rfbench.analysis import paper_table as facts
from rfbench.analysis.published import published
from rfbench.errors import ResultsError
from rfbench.pages import paper_table
from rfbench.pages.words import DASH
from rfbench.papers import tables
from tests.support.command_line import call
from tests.support.frames import results, selection
from tests.support.papers import A9A as ADULT
from tests.support.papers import EEG, trials
from tests.support.results import write_folder

A9A = ADULT | {"M": 100}
NEWS = {"dataset": "news-14k", "n_train": 9935, "n_test": 4893, "M": 200}
FAILED = {"status": "failed", "error": "", "accuracy": "", "t_pp": "", "t_features": "",
          "t_train": "", "t_test": ""}  # fmt: skip
Rows = list[dict[str, Any]]


def rows_of(rows: Rows, paper: str, item: str, protocol: str) -> list[facts.TableRow]:
    chosen = selection(results(rows, paper=paper, item=item))
    return facts.rows(chosen, published(chosen, paper), paper, item, protocol)


def rendered(rows: Rows, paper: str, item: str, form: str = "markdown", width: int = 80) -> str:
    chosen = selection(results(rows, paper=paper, item=item))
    return paper_table.render(chosen, paper, item, form, width)


def cells(text: str, name: str) -> list[str]:
    """Return the cells of the rows of Markdown tables that begin with a name, one after another."""
    table = [re.split(r" +\| +", line[2:-2].strip()) for line in text.splitlines() if "|" in line]
    return [cell for row in table if row[0] == name for cell in row[1:]]


def eerf(**changes: Any) -> Rows:
    given = json.dumps({"pool_size": 2000, "score_rows": 0.05})
    return trials(83.0, **A9A) + trials(84.0, **A9A | changes, sampler="eerf", parameters=given)


def test_rows_follow_the_paper_and_know_what_was_run() -> None:
    found = rows_of(eerf(), "eerf2018", "table3", "printed")
    assert [row.dataset for row in found] == ["buzz", "news", "adult", "mnist"]
    assert [bool(row.measured) for row in found] == [False, False, True, False]
    adult = found[2]
    assert {name: adult.span(name) for name in ("M", "n_train", "n_test", "d", "trials")} == {
        "M": (100, 100), "n_train": (32561, 32561), "n_test": (16281, 16281), "d": (64, 64),
        "trials": (10, 10),
    }  # fmt: skip
    assert adult.given("pool_size") == [2000]
    assert adult.given("score_rows") == [0.05]
    cell = adult.cell("eerf", "error")
    assert cell is not None
    assert cell["measured"] == pytest.approx(16)
    assert cell["standard_error"] == pytest.approx(0.5 / math.sqrt(10))
    assert adult.cell("lkrf", "error") is None


def test_a_stand_in_is_at_the_place_of_its_data_set() -> None:
    rows = trials(84.0, **A9A) + trials(50.0, **A9A | NEWS)
    found = rows_of(rows, "eerf2018", "table3", "printed")
    assert [(row.dataset, row.used) for row in found][1:3] == [("news", "news-14k"), ("adult", "")]
    assert found[1].used_rows == 9935
    names = [line.split(" | ")[0] for line in rendered(rows, "eerf2018", "table3").splitlines()]
    assert sum("stand-in news-14k" in name for name in names) == 1


def test_a_size_that_follows_another_method_is_a_range() -> None:
    rows = [row | {"M": 170 + row["trial"]} for row in trials(84.0, **A9A, sampler="lkrf")]
    chosen = selection(results(rows, paper="lkrf2016", item="table1", M={"follow": "lkrf"}))
    numbers = published(chosen, "lkrf2016")
    adult = facts.rows(chosen, numbers, "lkrf2016", "table1", "printed")[0]
    assert adult.span("M") == (170, 179)


def test_what_stands_in_the_cells_of_eerf2018() -> None:
    text = rendered(eerf(), "eerf2018", "table3")
    assert cells(text, "data set")[:4] == ["M", r"M_0", "N_0/N", "trials"]
    assert cells(text, "adult")[:6] == ["100", "2000", "5 %", "10", "0.25 ± 0", "1.75 ± 0"]
    assert cells(text, "adult")[-2:] == ["16.00 ± 0.16", "17.00 ± 0.16"]
    assert set(cells(text, "buzz")) == {DASH}
    assert "≤" not in text


def test_tables_of_lkrf2016_have_rows_dimension_and_the_best_size() -> None:
    rows = trials(84.0, **A9A, sampler="lkrf") + trials(83.0, **A9A | {"M": 200}, sampler="lkrf")
    rows += trials(82.0, **A9A | {"M": 300}, n=5)
    known = ["32561", "16281", "64", f"5{DASH}10"]
    lkrf, rks = ["100", "16.00 ± 0.16", "2.125 ± 0"], ["300", "18.00 ± 0.22", "2.125 ± 0"]
    assert cells(rendered(rows, "lkrf2016", "table1"), "adult") == [*known, *lkrf, *rks]


def test_table_2_of_lkrf2016_has_training_errors() -> None:
    rows = trials(84.0, **A9A | {"n_train": 5000, "M": 250}, sampler="lkrf")
    rows = [row | {"train_error": 15.0 + (row["trial"] % 2)} for row in rows]
    assert "15.50 ± 0.17 / 16.00 ± 0.16" in rendered(rows, "lkrf2016", "table2")


def test_a_regression_says_its_measure() -> None:
    changes = {"dataset": "news", "n_train": 26561, "n_test": 13083, "M": 200, "accuracy": "",
               "error": "", "relative_squared_error": 0.02}  # fmt: skip
    rows = [row | changes | {"sampler": s} for s in ("eerf", "rks") for row in trials(84.0, **A9A)]
    text = rendered(rows, "eerf2018", "table3")
    assert text.count("relative squared error") == 1
    assert cells(text, "news")[-2:] == ["2 ± 0"] * 2
    assert "relative squared error" not in rendered(eerf(), "eerf2018", "table3")


def test_failed_trials_are_no_dash() -> None:
    rows = trials(83.0, **A9A)
    rows += [row | FAILED | {"sampler": "eerf"} for row in rows]
    text = rendered(rows, "eerf2018", "table3")
    assert cells(text, "adult")[-2:] == ["failed", "17.00 ± 0.16"]
    assert "adult, eerf at M = 100: 10 trials" in text


def liu(**changes: Any) -> Rows:
    return [
        row | {"t_features": 0.0003 + 0.00001 * (row["trial"] % 2), "t_pp": 0.0001} | changes
        for size in (14, 28)
        for row in trials(68.0, **EEG | {"M": size})
    ]


def test_times_of_liu2020_have_a_spread() -> None:
    text = rendered(liu(), "liu2020", "table3")
    assert cells(text, "14 (d)")[0] == "68.00 ± 0.50 (0.4050 ± 0.0053)"
    assert cells(text, "28 (2d)")[1:] == [DASH] * 3
    assert "milliseconds" in text


def test_a_data_set_where_all_failed_is_not_called_not_run() -> None:
    magic04 = {"dataset": "magic04", "n_train": 9510, "n_test": 9510, "M": 10}
    rows = trials(68.0, **EEG) + [row | magic04 | FAILED for row in trials(68.0, **EEG)]
    text = rendered(rows, "liu2020", "table3")
    assert cells(text, "10 (d)")[:2] == ["failed", DASH]
    assert "magic04, protocol matched, 0 trials" in text


@pytest.mark.parametrize(("paper", "item"), tables())
def test_latex_is_balanced_and_escaped(paper: str, item: str) -> None:
    letter = {"dataset": "letter", "M": 32, "n_train": 1000}
    cpu = {"dataset": "cpu", "M": 2048, "rmse": 4.5, "n_train": 6554}
    of_paper = {"liu2020": EEG, "orf2016": A9A | letter, "fastfood2013": A9A | cpu}
    rows = trials(68.0, **of_paper.get(paper, A9A))
    rows += [row | {"sampler": "lkrf", "n_train": 5000} for row in rows]
    latex = rendered(rows, paper, item, "latex")
    plain = re.sub(r"\\[{}%_&$#]", "", latex.partition("\n")[2])
    assert plain.count("{") == plain.count("}")
    assert not set("%_#") & set(plain)
    assert plain.count("$") % 2 == 0
    assert latex.isascii()
    for columns, body in re.findall(r"\\begin{tabular}{(\w+)}(.*?)\\end{tabular}", plain, re.S):
        counts = {line.count("&") + 1 for line in body.splitlines() if line.endswith(r"\\")}
        assert counts == {len(columns)}


def test_wrong_tables_are_named(tmp_path: Path) -> None:
    for arguments in (("liu2020", "table4"), ("tefm2015", "table1"), ("liu2002", "table3")):
        with pytest.raises(ResultsError):
            paper_table.render(selection(), *arguments)
    for form in ("csv", "text"):  # no such format; and nothing was run
        with pytest.raises(ResultsError):
            paper_table.render(selection(), "liu2020", "table3", form)
    config = {"name": "liu", "paper": "liu2020", "item": "table3, figure1"}
    folder = write_folder(tmp_path / "liu", trials(68.0, **EEG), {"config": config})
    call("table", folder, "--paper", "liu2020", code=2)
    assert "68.00" in call("table", folder, "--paper", "liu2020", "--item", "table3")
