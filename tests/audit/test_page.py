"""The page and the table of an audit."""

from pathlib import Path

import pandas as pd
import pytest

from rfbench.audit import page
from rfbench.audit.plan import AuditRequest
from rfbench.audit.tables import PLACE_COLUMNS
from rfbench.audit.target import Target
from tests.audit.invented import TWO, number, ranked, tied

NUMBERS = tuple(number("eerf", size) for size in range(8))
EIGHT = ranked([(1,) * 8], ["scaling=a"], NUMBERS)
COMMAND = "rfbench audit made.yaml --target p/t/D --trials 2 --most 300"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "audit_p_t_D"


def cells(content, head):
    """Return the cells of the rows of the tables that begin with a text."""
    rows = [line for line in content.splitlines() if line.startswith(f"| {head}")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def made(folder, ranking):
    page.save_audit(*ranking, folder)
    return (folder / page.PAGE).read_text()


def test_audit_page_shows_the_nearest_combinations_of_varied_settings(folder, monkeypatch):
    monkeypatch.setattr(page, "NEAREST", 3)
    content = made(folder, tied())
    assert cells(content, "place")[0][4:] == ["scaling", "samplers.lkrf.estimator"]
    assert [row[:3] for row in cells(content, "1 ")] == [
        ["1", "1.00", "4.00"],
        ["1", "1.00", "2.00"],
    ]
    assert [row[3:] for row in cells(content, "3 ")] == [["3.00", "standard", "top"]]
    assert "shows the 3 combinations nearest to the published numbers" in content


@pytest.mark.parametrize(
    ("one", "other", "more"),
    [
        (ranked([(1, 4), (2, 2)], ["scaling=a,b"]), tied(), "share the first place"),
        (EIGHT, ranked([(1,) * 8], ["scaling=a"], NUMBERS, trials=2), "due to chance"),
        (tied(), tied(stand_in=True), "cannot confirm or refute"),
        (tied(), tied(as_it_stands=3), "Our own configuration has place"),
        (EIGHT, tied(), "cannot confirm"),
    ],
)
def test_audit_page_reports_the_limitations_of_the_audit(folder, one, other, more):
    assert more not in made(folder, one)
    assert more in made(folder, other)


def test_audit_writes_a_csv_table_and_a_markdown_page(folder):
    paths = page.save_audit(*tied(in_folder=9), folder)
    assert [path.name for path in paths] == ["audit.csv", "audit.md"]
    table = pd.read_csv(paths[0])
    assert list(table["place"]) == [1, 1, 3, 3]
    assert list(table.columns) == [
        "place", "scaling", "samplers.lkrf.estimator", "rms_choosing", "rms_confirming",
        "largest_difference", "cells", "trials", "tried", "stand_in", "as_configured",
        "protocol",
        "measured eerf 10 error", "measured lkrf 10 error",
    ]  # fmt: skip
    assert set(PLACE_COLUMNS) <= set(table)
    first = ["none", "top", 1.0, 4.0, 4.0, 2, 4, 9, False, False, "own", 11.0, 14.0]
    assert table.iloc[0].to_list()[1:] == first
    assert paths[1].read_text().endswith(f"\n\n    {COMMAND}\n")


@pytest.mark.parametrize(
    ("options", "end"),
    [
        ({"gaps": True}, "--gaps --trials 2 --most 300"),
        ({"run": "", "gaps": False}, "--trials 2 --most 300"),
        (
            {"overrides": ("M=1,2", "a.b=2*M"), "most": 7},
            "--set M=1,2 --set 'a.b=2*M' --trials 2 --most 7",
        ),
    ],
)
def test_command_on_the_audit_page_contains_the_given_options(options, end):
    target = Target("p", ("t",), "D", TWO)
    for path, said in (("x/configs/a.yaml", "configs/a.yaml"), ("x/a.yaml", "a.yaml")):
        asked = AuditRequest(Path("/somewhere") / path, target, **options)
        assert asked.command == f"rfbench audit {said} --target p/t/D {end}"
