"""What the core's commands and pages say of audits among the results."""

from pathlib import Path

import pytest

from tests.support.command_line import call
from tests.support.papers import PAPER, trials
from tests.support.results import write_folder

HEAD = (
    "place,solver.intercept,rms_choosing,rms_confirming,largest_difference,cells,trials,"
    "tried,stand_in,as_configured,protocol,measured rks 14 accuracy,"
    "paired rks 14 accuracy,half rks 14 accuracy"
)
LINES = [
    f"{n},{on},1,1,1,1,2,2,False,{own},printed,{value}"
    for n, on, own, value in ((1, "true", False, "60.5,1.25,0.5"), (2, "false", True, "59.25,0,0"))
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of results, and audits of the same paper beside it."""
    monkeypatch.chdir(tmp_path)
    made = trials(80.0, protocol="printed")
    write_folder(Path("as-printed"), made, {"config": {"name": "as-printed", **PAPER}})
    for name in ("gaps_liu2020_table3_EEG", "audit_liu2020_table3_EEG", "audit_orf2016_figure1_x"):
        folder = Path("audits") / name
        folder.mkdir(parents=True)
        (folder / "audit.csv").write_text("\n".join([HEAD, *LINES]) + "\n")


def test_verification_uses_ranges_from_audits_in_a_neighboring_folder() -> None:
    """What `verify` prints of a folder is what the scoreboard of all of them says."""
    printed = call("verify", "as-printed")
    assert "0.00 ± 0.00 to +1.25 ± 0.50, off by 11.55" in printed
    assert "2 combinations" in printed.replace("\n", " ")


def test_page_of_an_audited_paper_links_to_the_audit() -> None:
    call("report", "as-printed", "--out", "pages")
    pages = {file.stem: file.read_text() for file in Path("pages/papers").glob("*.md")}
    assert set(pages) == {"liu2020", "orf2016"}
    assert all("## Audits" in page for page in pages.values())
    assert "](../../audits/audit_liu2020_table3_EEG/audit.md)" in pages["liu2020"]
    assert "audit_orf2016" not in pages["liu2020"]
