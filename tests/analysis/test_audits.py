"""What came nearest in the audits among the results."""

import math
from pathlib import Path

import pytest

from rfbench.analysis.audits import COLUMNS, audits
from rfbench.pages.templates import render

HEAD = (
    "place,scaling,weights,rms_choosing,rms_confirming,largest_difference,cells,agree,close,"
    "differ,trials,tried"
)
NEAREST = '1,row-standard,"kept, 1/sqrt(q)",0.5612,0.4831,0.94,16,2,14,0,2,9'
TIED = "1,row-standard,drawn,0.5612,1.4,2,16,0,0,16,2,9"
OTHER = "3,minmax,drawn,15.22,15.3,16,16,0,0,16,2,9"


def overview(root, *lines, name="audit_liu2020_table3+table4_cod-RNA"):
    folder = root / "results" / "audits" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "audit.csv").write_text("".join(f"{line}\n" for line in lines))
    return audits([root / "results"])


def test_the_first_row_of_the_table_counts(tmp_path):
    (line,) = overview(tmp_path, HEAD, NEAREST, OTHER).to_dict("records")
    page = Path("results/audits/audit_liu2020_table3+table4_cod-RNA/audit.md")
    assert line.pop("page") == tmp_path / page
    assert line == {
        "paper": "liu2020",
        "items": "table3+table4",
        "dataset": "cod-RNA",
        "methods": "",
        "combinations": 9,
        "tied": 1,
        "chosen": 0.5612,
        "low": 0.4831,
        "high": 0.4831,
        "numbers": 16,
        "trials": 2,
        "stand_in": False,
        "choices": {"scaling": ["row-standard"], "weights": ["kept, 1/sqrt(q)"]},
    }


def test_those_that_tie_for_the_first_place_are_counted(tmp_path):
    (line,) = overview(tmp_path, HEAD, NEAREST, TIED, OTHER).to_dict("records")
    assert (line["tied"], line["low"], line["high"]) == (2, 0.4831, 1.4)
    assert line["choices"]["weights"] == ["kept, 1/sqrt(q)", "drawn"]


def test_the_methods_of_a_part_of_the_row_are_named(tmp_path):
    name = "audit_lkrf2016_table2_adult_lkrf+joint"
    (line,) = overview(tmp_path, HEAD, NEAREST, name=name).to_dict("records")
    assert (line["items"], line["dataset"], line["methods"]) == ("table2", "adult", "lkrf+joint")


def test_a_stand_in_and_a_single_number(tmp_path):
    line = NEAREST.replace(",2,14,0,2,", ",,,,2,").replace("0.4831", "")
    (line,) = overview(tmp_path, HEAD, line).to_dict("records")
    assert line["stand_in"]
    assert math.isnan(line["low"])


@pytest.mark.parametrize("lines", [(), ("a,b", "1,2"), (HEAD,)])
def test_what_is_no_audit_is_passed_over(tmp_path, lines):
    found = overview(tmp_path, *lines)
    assert (list(found), len(found)) == (list(COLUMNS), 0)
    assert render("audits.md.j2", audits=found, out=tmp_path).strip() == ""


@pytest.mark.parametrize(("numbers", "trials", "few"), [(8, 2, False), (7, 2, True), (8, 1, True)])
def test_the_page_links_each_audit_and_doubts_few_numbers(tmp_path, numbers, trials, few):
    line = NEAREST.replace("0.94,16,2,14,0,2", f"0.94,{numbers},2,14,0,{trials}")
    found = overview(tmp_path, HEAD, line)
    text = render("audits.md.j2", audits=found, out=tmp_path / "results")
    assert "(audits/audit_liu2020_table3%2Btable4_cod-RNA/audit.md): nearest of 9 " in text
    assert ("confirm nothing" in text) == few
