from pathlib import Path

import pytest

from rfbench.report import audits

TABLE = """\
place,scaling,weights,rms_choosing,rms_confirming,largest_difference,cells,agree,close,differ,trials
1,row-standard,"kept, 1/sqrt(q)",0.5612,0.4831,0.94,16,2,14,0,2
2,minmax,drawn,15.22,{second},16,16,0,0,16,2
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    folder = tmp_path / "results" / "audits" / "audit_liu2020_table3+table4_cod-RNA"
    folder.mkdir(parents=True)
    (folder / "audit.csv").write_text(TABLE.format(second=15.3))
    (folder / "audit.md").write_text("")
    return folder / "audit.csv"


def test_a_sentence_has_the_first_row_of_the_table(table: Path, tmp_path: Path) -> None:
    text = audits.section([tmp_path / "results"], tmp_path / "results")
    (line,) = [line for line in text.splitlines() if line.startswith("- ")]
    assert line == (
        "- [liu2020 table3+table4, cod-RNA](audits/audit_liu2020_table3%2Btable4_cod-RNA/audit.md)"
        ": nearest of 2 combinations: 0.56 on the half that chose, 0.48 on the other (16 numbers, "
        "2 trials), with scaling row-standard, weights kept, 1/sqrt(q)."
    )


def test_the_methods_of_a_part_of_the_row_are_named(table: Path, tmp_path: Path) -> None:
    part = table.parent.with_name("audit_lkrf2016_table2_adult_lkrf+joint")
    table.parent.rename(part)
    assert "- [lkrf2016 table2, adult (lkrf+joint)](" in audits.section([tmp_path], tmp_path)


def test_all_that_were_tried_count(table: Path, tmp_path: Path) -> None:
    lines = [
        f"{line},{word}" for line, word in zip(TABLE.splitlines(), ("tried", 9, 9), strict=True)
    ]
    table.write_text("\n".join(lines).format(second=15.3) + "\n")
    text = audits.section([tmp_path], tmp_path)
    assert "nearest of 9 combinations" in text
    assert "tried" not in text


def test_a_stand_in_is_called_one(table: Path, tmp_path: Path) -> None:
    table.write_text(TABLE.format(second=15.3).replace(",2,14,0,2", ",,,,2"))
    assert "(16 numbers, 2 trials, on a stand-in)" in audits.section([tmp_path], tmp_path)


@pytest.mark.parametrize(("cells", "few"), [(7, True), (8, False)])
def test_few_numbers_are_called_few(table: Path, tmp_path: Path, cells: int, few: bool) -> None:
    table.write_text(TABLE.format(second=15.3).replace("0.94,16,2", f"0.94,{cells},2"))
    said = audits.section([tmp_path], tmp_path)
    assert ("So few numbers or trials confirm nothing." in said) == few


def test_a_single_number_has_none_to_confirm(table: Path, tmp_path: Path) -> None:
    table.write_text(table.read_text().replace("0.4831", ""))
    assert "on the half that chose, none to confirm (16" in audits.section([tmp_path], tmp_path)


def test_those_that_tie_for_the_first_place_are_counted(table: Path, tmp_path: Path) -> None:
    lines = TABLE.splitlines()[:2]
    lines += ["2,row-standard,drawn,0.5612,1.4,2,16,0,0,16,2"]  # an older page: no shared places
    lines += ["3,minmax,drawn,0.5613,9,9,16,0,0,16,2"]
    table.write_text("\n".join(lines) + "\n")
    text = audits.section([tmp_path], tmp_path)
    assert (
        "nearest of 3 combinations (2 share the first place): 0.56 on the half that chose" in text
    )
    assert "chose, 0.48 to 1.40 on the other (16" in text
    assert text.endswith("with scaling row-standard, weights kept, 1/sqrt(q) or drawn.")


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", TABLE.splitlines()[0] + "\n"])
def test_what_is_no_audit_is_passed_over(table: Path, tmp_path: Path, content: str) -> None:
    table.write_text(content)
    assert audits.section([tmp_path], tmp_path) == ""


def test_without_audits_there_is_no_section(tmp_path: Path) -> None:
    assert audits.section([tmp_path, tmp_path / "not there"], tmp_path) == ""
