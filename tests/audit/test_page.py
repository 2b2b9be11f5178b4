"""The page and the table of an audit."""

from pathlib import Path

import pandas as pd
import pytest

from rfbench import __version__
from rfbench.audit import page
from rfbench.audit.plan import Question
from rfbench.audit.tables import MEASURES
from rfbench.audit.target import Target
from rfbench.pages.words import DASH
from tests.audit.invented import TWO, number, ranked, tied


def cells(content, head):
    """Return the cells of the rows of the tables that begin with a text."""
    rows = [line for line in content.splitlines() if line.startswith(f"| {head}")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def bullets(content):
    return [line for line in content.splitlines() if line.startswith("- ")]


def test_the_nearest_are_shown_with_what_was_varied():
    content = page.render(tied(top=3), "markdown")
    assert cells(content, "place")[0][4:] == ["scaling", "samplers.lkrf.estimator"]
    assert [row[:3] for row in cells(content, "1 ")] == [
        ["1", "1.00", "4.00"],
        ["1", "1.00", "2.00"],
    ]
    assert [row[3:] for row in cells(content, "3 ")] == [["3.00", "standard", "top"]]


def test_a_choice_that_no_number_depends_on_is_worth_a_dash():
    content = page.render(tied(), "markdown")
    assert cells(content, "samplers.lkrf.estimator:")[0][1:] == [DASH] * 3
    assert cells(content, "scaling:") == [
        ["scaling: none", "1.00", "2.00\N{EN DASH}4.00", "1"],
        ["scaling: standard", "3.00", "1.00\N{EN DASH}3.00", "3"],
    ]


def test_a_stand_in_has_no_verdict():
    content = page.render(tied(stand_in=True), "markdown")
    assert [row[-1] for row in cells(content, "eerf 10 error")] == [DASH]
    assert [row[-1] for row in cells(page.render(tied(), "markdown"), "eerf 10")] == ["close"]


@pytest.mark.parametrize("width", [60, 200])
def test_the_terminal_has_the_same_numbers(width):
    words = set(page.render(tied(), "text", width=width).split())
    for row in cells(page.render(tied(), "markdown"), "1 "):
        assert set(" ".join(row).split()) <= words


@pytest.mark.parametrize(
    ("one", "other", "more"),
    [
        (ranked([(1, 4), (2, 2)], ["scaling=a,b"]), tied(), "first place"),
        (tied(trials=3), tied(trials=2), "luck"),
        (tied(), tied(drawn=True), "random"),
        (tied(), tied(refused=["scaling sideways: wrong"]), "cannot be run"),
        (tied(), tied(stand_in=True), "no verdict"),
        (tied(error=float("nan")), tied(), "spread of both"),
    ],
)
def test_what_limits_an_audit_is_said_where_it_is_so(one, other, more):
    assert not any(more in line for line in bullets(page.render(one, "markdown")))
    assert any(more in line for line in bullets(page.render(other, "markdown")))


@pytest.mark.parametrize(("sizes", "few"), [(1, True), (3, True), (4, False)])
def test_fewer_than_four_numbers_in_a_half_cannot_confirm(sizes, few):
    numbers = tuple(number(m, s) for s in range(1, sizes + 1) for m in ("eerf", "lkrf"))
    gaps = [[1.0] * len(numbers), [2.0] * len(numbers)]
    content = page.render(ranked(gaps, ["scaling=a,b"], numbers), "markdown")
    assert ("so few numbers" in content) == few
    assert ("eerf against lkrf" in content) == (sizes == 1)


def test_the_keys_that_a_named_choice_sets_are_listed():
    ranking = tied()
    yes, no = ({"samplers.eerf.center_target": value} for value in (True, False))
    ranking.audit.choices["scaling"] = {"none": no, "standard": yes}
    assert page.facts(ranking)["settings"] == [
        ("scaling", "none", {"samplers.eerf.center_target": "false"}),
        ("scaling", "standard", {"samplers.eerf.center_target": "true"}),
    ]


def test_what_was_measured_leaves_out_what_is_varied():
    assert page.facts(tied())["measured"] == {"M": "10", "trials": 4, "seed": 0}
    varied = ranked([(1, 1), (2, 2)], ["seed=1,2"])
    assert page.facts(varied)["measured"] == {"M": "10", "trials": 4}
    assert f"rfbench {__version__}" in page.render(varied, "markdown")


def test_table_and_page_are_saved(tmp_path):
    paths = page.save(tied(in_folder=9), tmp_path)
    assert [path.name for path in paths] == ["audit.csv", "audit.md"]
    table = pd.read_csv(paths[0])
    assert list(table["place"]) == [1, 1, 3, 3]
    assert list(table.columns) == [
        "place", "scaling", "samplers.lkrf.estimator", "rms_choosing", "rms_confirming",
        "largest_difference", "cells", "trials", "tried", "stand_in", "as_configured",
        "measured eerf 10 error", "measured lkrf 10 error",
    ]  # fmt: skip
    assert set(MEASURES) <= set(table)
    first = ["none", "top", 1.0, 4.0, 4.0, 2, 4, 9, False, False, 11.0, 14.0]
    assert table.iloc[0].to_list()[1:] == first
    assert (
        paths[1]
        .read_text()
        .endswith("\n\n    rfbench audit made.yaml --target p/t/D --trials 2 --most 300\n")
    )


def test_the_range_over_the_gaps_has_the_reading_and_what_is_off():
    ranking = tied(gaps=True, as_it_stands=2)
    assert page.facts(ranking)["ranges"] == [
        ["eerf 10 error", "10", "11.00", "13.00", "13.00", "1.00"],
        ["lkrf 10 error", "10", "11.00", "13.00", "14.00", "1.00"],
    ]
    assert page.facts(tied())["ranges"] == []


@pytest.mark.parametrize(
    ("options", "end"),
    [
        ({"gaps": True}, "--gaps --trials 2 --most 300"),
        ({"confirm": ("p/t/E",)}, "--confirm p/t/E --trials 2 --most 300"),
        ({"confirm": (), "run": "", "gaps": False, "top": 5}, "--trials 2 --most 300 --top 5"),
        (
            {"overrides": ("M=1,2", "a.b=2*M"), "most": 7},
            "--set M=1,2 --set 'a.b=2*M' --trials 2 --most 7",
        ),
    ],
)
def test_the_command_has_the_options_that_were_given(options, end):
    target = Target("p", ("t",), "D", TWO)
    for path, said in (("x/configs/a.yaml", "configs/a.yaml"), ("x/a.yaml", "a.yaml")):
        asked = Question(Path("/somewhere") / path, target, **options)
        assert asked.command == f"rfbench audit {said} --target p/t/D {end}"
