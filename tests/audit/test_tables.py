"""What came nearest in the audits among the results."""

import math
from dataclasses import replace

import numpy as np
import pytest

from rfbench import papers
from rfbench.analysis.comparisons import ClaimComparison, EffectRange
from rfbench.audit.tables import compute_effect_range, compute_number_ranges, read_audit_tables
from rfbench.audit.unprinted import make_audits_grid
from rfbench.papers.models import Claim

HEAD = (
    "place,scaling,weights,rms_choosing,rms_confirming,largest_difference,cells,trials,tried,"
    "stand_in,as_configured"
)
NEAREST = '1,row-standard,"kept, 1/sqrt(q)",0.5612,0.4831,0.94,16,2,9,False,False'
TIED = "1,row-standard,drawn,0.5612,1.4,2,16,2,9,False,False"
OTHER = "3,minmax,drawn,15.22,15.3,16,16,2,9,False,True"


def overview(root, *lines, name="audit_liu2020_table3+table4_cod-RNA", paper="liu2020"):
    """Write a table, and return the lines of its paper's page on audits."""
    folder = root / "results" / "audits" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "audit.csv").write_text("".join(f"{line}\n" for line in lines))
    return make_audits_grid(read_audit_tables([root / "results"]), paper, root / "results").rows


def test_overview_shows_the_first_row_of_the_audit_table(tmp_path):
    ((name, *cells),) = overview(tmp_path, HEAD, NEAREST, OTHER)
    assert name.startswith("[Tables 3 and 4, cod-RNA](audits/audit_liu2020_table3%2Btable4_")
    assert cells == ["9", "0.56", "0.48", "16", "2"]


def test_methods_tied_for_first_rank_are_counted(tmp_path):
    (cells,) = overview(tmp_path, HEAD, NEAREST, TIED, OTHER)
    assert cells[1:4] == ["9 (2 tie)", "0.56", "0.48\N{EN DASH}1.40"]


def test_overview_names_the_methods_if_only_some_are_audited(tmp_path):
    name = "audit_lkrf2016_table2_adult_lkrf+joint"
    (cells,) = overview(tmp_path, HEAD, NEAREST, name=name, paper="lkrf2016")
    assert cells[0].startswith("[Table 2, adult (lkrf+joint)](")
    assert overview(tmp_path, HEAD, NEAREST, name=name) == []


def test_overview_marks_substitute_data_and_a_single_number(tmp_path):
    line = NEAREST.replace("False,", "True,").replace("0.4831", "")
    (cells,) = overview(tmp_path, HEAD, line)
    assert "cod-RNA, substitute](" in cells[0]
    assert cells[3] == "\N{EN DASH}"


@pytest.mark.parametrize("lines", [(), ("a,b", "1,2"), (HEAD,)])
def test_folder_without_an_audit_is_skipped(tmp_path, lines):
    assert overview(tmp_path, *lines) == []


def test_audit_in_a_renamed_folder_is_skipped(tmp_path):
    assert len(overview(tmp_path, HEAD, NEAREST)) == 1
    (folder,) = (file.parent for file in tmp_path.rglob("audit.csv"))
    folder.rename(folder.with_name("mine"))
    assert read_audit_tables([tmp_path]) == []


def write(root, name, head, *lines):
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "audit.csv").write_text("\n".join([head, *lines, ""]))


PAIRED = "measured rks 28 accuracy,paired rks 28 accuracy,half rks 28 accuracy"


def test_range_uses_paired_differences_over_unstated_settings_only(tmp_path):
    """Scaling is printed; intercept is not: 61 contradicts the text and does not count."""
    head = "place,scaling,solver.intercept,rms_choosing,rms_confirming,largest_difference,cells"
    lines = [
        "1,minmax,true,1,1,1,32,4,4,False,False,printed,58.5,3.25,0.5",
        "2,none,false,1,1,1,32,4,4,False,False,printed,61.0,5.75,0.5",
        "3,minmax,false,2,2,2,32,4,4,False,True,printed,55.25,0,0",
    ]
    head += f",trials,tried,stand_in,as_configured,protocol,{PAIRED}"
    write(tmp_path, "audit_liu2020_table3_EEG", head, *lines)
    (line,) = compute_number_ranges(read_audit_tables([tmp_path])).values()
    number = papers.list_published_numbers()[line.number]
    assert (number.item, number.dataset, number.method, number.M) == ("table3", "EEG", "rks", "28")
    assert (line.low, line.half_low, line.high, line.half_high) == (0, 0, 3.25, 0.5)
    assert (line.combinations, line.trials, line.varied) == (2, 4, ["solver.intercept"])


@pytest.mark.parametrize(
    ("old", "new"),
    [(",True,", ",False,"), (",printed,", ",matched,"), (",3.25,0.5", ",,"), (",protocol", ",p")],
    ids=["no reading", "of other settings", "other splits", "of before"],
)
def test_range_needs_our_interpretation_on_the_same_splits(tmp_path, old, new):
    head = "place,solver.intercept,rms_choosing,rms_confirming,largest_difference,cells,trials"
    head += f",tried,stand_in,as_configured,protocol,{PAIRED}"
    lines = [
        "1,true,1,1,1,32,4,4,False,False,printed,58.5,3.25,0.5",
        "3,false,2,2,2,32,4,4,False,True,printed,55.25,0,0",
    ]
    write(tmp_path / "with", "audit_liu2020_table3_EEG", head, *lines)
    assert len(compute_number_ranges(read_audit_tables([tmp_path / "with"]))) == 1
    changed = [line.replace(old, new) for line in (head, *lines)]
    write(tmp_path / "without", "audit_liu2020_table3_EEG", *changed)
    assert compute_number_ranges(read_audit_tables([tmp_path / "without"])) == {}


def test_difference_of_methods_has_a_range_over_unstated_settings(tmp_path):
    """By hand; of two audits that of more combinations; None where nothing of it was varied."""
    head = "place,scaling,solver.intercept,rms_choosing,rms_confirming,largest_difference,cells"
    head += ",trials,tried,stand_in,as_configured,protocol,paired a 7 error,paired b 7 error"
    own = "2,minmax,false,1,1,1,2,4,4,False,True,printed,0,0"
    other = "1,minmax,true,1,1,1,2,4,4,False,False,printed,-2.0,2.0"
    write(tmp_path, "gaps_liu2020_table3_EEG", head, other, own)
    write(tmp_path, "gaps_liu2020_table3_EEG_a", head, own)
    every = read_audit_tables([tmp_path])
    one = ClaimComparison(np.zeros(3), x=7, against="b", target="EEG")
    fixed = ("features_in_folds", "scaled", "rows")  # of open_choices.yaml, without samplers'
    assert compute_effect_range(every, claim(), one) == EffectRange(
        -4.0, 0.0, 2, ("solver.intercept",), fixed
    )
    assert compute_effect_range(every, claim(), replace(one, against="c")) is None
    assert compute_effect_range(every, claim(), replace(one, x=14)) is None
    assert compute_effect_range(every, claim(items=["table4"]), one) is None
    assert compute_effect_range(every, claim(along="columns"), one) is None


def claim(**changes):
    """A claim of liu2020 that compares the errors of a with others."""
    part = {"says": "", "items": ["table3"], "datasets": ["EEG"], "metric": "error", "method": "a",
            "against": ["b"], "at": "each", "low": 0, **changes}  # fmt: skip
    return Claim(id="S1", paper="liu2020", where="", claim="", source="", parts=[part])


def test_ratio_of_methods_has_a_range_over_unstated_settings(tmp_path):
    """By hand: 3 / 2 as read, 8 / 4 with the intercept."""
    head = "place,scaling,solver.intercept,rms_choosing,rms_confirming,largest_difference,cells"
    head += ",trials,tried,stand_in,as_configured,protocol,measured a 7 error,measured b 7 error"
    write(
        tmp_path, "gaps_liu2020_table3_EEG", head,
        "1,minmax,true,1,1,1,2,4,4,False,False,printed,8.0,4.0",
        "2,minmax,false,1,1,1,2,4,4,False,True,printed,3.0,2.0",
        "3,none,false,1,1,1,2,4,4,False,False,printed,9.0,1.0",
    )  # fmt: skip
    one = ClaimComparison(np.zeros(3), x=7, against="b", target="EEG")
    found = compute_effect_range(read_audit_tables([tmp_path]), claim(scale="ratio"), one)
    assert (found.low, found.high) == (0.0, pytest.approx(math.log(2 / 1.5)))


def test_claim_audit_gives_the_range_of_each_comparison(tmp_path):
    """Along columns, or of the claim's own function: by the name that the comparison has."""
    head = "place,solver.intercept,rms_choosing,rms_confirming,largest_difference,cells,trials"
    head += ",tried,stand_in,as_configured,protocol,paired 1 b 7,paired 1 b slope over d"
    write(
        tmp_path, "gaps_liu2020_S1_EEG_run", head,
        "1,true,,,,2,4,4,False,False,printed,-2.0,0.5",
        "1,false,,,,2,4,4,False,True,printed,0.0,0.0",
    )  # fmt: skip
    every = read_audit_tables([tmp_path])
    one = ClaimComparison(np.zeros(3), x=7, against="b", target="EEG")
    columns = claim(along="columns", scale="ratio")
    assert compute_effect_range(every, columns, one).low == -2.0
    slope = ClaimComparison(np.zeros(3), joint="slope over d", against="b", target="EEG")
    assert compute_effect_range(every, claim(along="d", at="own"), slope).high == 0.5
    assert compute_effect_range(every, columns, replace(one, against="c")) is None
    assert compute_effect_range(every, columns, replace(one, target="magic04")) is None
    assert compute_number_ranges(every) == {}
