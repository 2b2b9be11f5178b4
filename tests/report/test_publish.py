"""The pages of `rfbench report`: each fact beside an independent computation from the rows."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pandas as pd
import pytest
from click.testing import CliRunner

from rfbench import papers
from rfbench.cli import main
from rfbench.errors import ResultsError, WriteError
from rfbench.report import evidence, rules
from rfbench.report.publish import publish
from rfbench.report.summary import DASH
from rfbench.report.verify import board

from .conftest import Write
from .test_choice import ERRORS, rows
from .test_verify import A9A, PAPER, trials


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rfbench.datasets.on_disk", lambda name: False)
    return tmp_path


def eeg(**means: float) -> list[dict[str, Any]]:
    """Rows of Table 3 of liu2020 at s = 14, by method (``_`` for ``-``)."""
    made: list[dict[str, Any]] = []
    for method, mean in means.items():
        made += trials(mean, sampler=method.replace("_", "-"))
    return made


def mixed(write: Write) -> None:
    """Write a little of everything below results/."""
    write(eeg(rks=68.5, qmc=69.2, leverage_rff=60.0, surrogate_leverage=69.0), "a.matched", **PAPER)
    tuned = [row | {"protocol": "tuned"} for row in eeg(rks=40.0, qmc=40.0)]
    write(tuned, "b.tuned", **PAPER)
    write(rows(ERRORS), "many")
    short = trials(69.0, n_train=1000, n_test=1000, sampler="rks")
    write(short, "short", **PAPER)
    write(trials(83.0, **A9A | {"M": 100}), "adult", paper="eerf2018", item="table3")


def page(out: str = "results") -> str:
    return Path(out, "README.md").read_text(encoding="utf-8")


def table_line(text: str, *starts: str) -> list[str]:
    found = [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in text.splitlines()
        if line.startswith("| " + " | ".join(starts) + " |")
    ]
    assert len(found) == 1, found
    return found[0]


def test_the_counts_and_differences_are_those_of_the_rows(write: Write) -> None:
    folder = write(eeg(rks=68.5, qmc=68.6, leverage_rff=60.0), "a.matched", **PAPER)
    publish(["results"], "results")
    text = page()
    read = pd.read_csv(folder / "trials.csv")
    printed = {
        n.method: n.value
        for n in papers.published()
        if (n.paper, n.dataset, n.M, n.unit) == ("liu2020", "EEG", "14", "%")
    }
    means = read.groupby("sampler")["accuracy"].agg(["mean", "sem"])
    gaps = means["mean"] - means.index.map(printed)
    line = table_line(text, "table3, EEG", "matched")
    assert line[2] == "3 of 32"
    agree, close, differ = map(int, line[3:6])
    assert differ == (gaps.abs() > 1).sum() == 1
    assert agree + close == 2
    worst = gaps.abs().idxmax()
    assert line[6] == f"{gaps[worst]:+.2f} ± {means.loc[worst, 'sem']:.2f} ({worst} 14)"
    assert line[7] == f"{gaps.abs().mean():.2f}"
    assert line[8] == "10"
    assert line[9] == "[a.matched](a.matched)"
    total = len({n for n in papers.published() if n.unit == "%"})
    assert f"Numbers: 3 of {total} compared: {agree} agree, {close} close, 1 differ" in text
    assert f"{gaps[worst]:+.2f} ± {means.loc[worst, 'sem']:.2f} points over 10 trials" in text
    assert f"Numbers: 0 of {total} compared." in text


def test_the_claims_are_those_of_the_scoreboard(write: Write) -> None:
    mixed(write)
    publish(["results"], "results")
    text, front = (Path("results") / name for name in ("claims.md", "README.md"))
    text, front = text.read_text(encoding="utf-8"), front.read_text(encoding="utf-8")
    found = board(evidence.gather(["results"]))
    for claim in papers.claims():
        outcomes = [o for o in found.outcomes if o.claim == claim]
        lines = text.split(f"- **{claim.id}**, ")
        assert len(lines) == 2
        told = re.split(r"\n- \*\*|\n\n", lines[1])[0].rstrip()
        assert claim.claim.replace("<", r"\<") in told
        seen = re.findall(r"^  - ([\w-]+): \*\*([\w ]+)\*\*", told, re.M)
        assert seen == [(o.protocol, o.verdict) for o in outcomes if o.protocol]
        assert told.endswith("**Not run.**") == (not seen)
        row = next(line for line in front.splitlines() if line.startswith(f"| {claim.id} |"))
        verdicts = [cell.split(" (")[0].strip() for cell in row.split("|")[-4:-1]]
        shown = {o.protocol: o.verdict for o in outcomes}
        assert verdicts == [shown.get(protocol, "") for protocol in papers.PROTOCOLS]
    words = {rules.HOLDS: "hold", rules.FAILS: "fail", rules.INCONCLUSIVE: "inconclusive"}
    told = {}
    for protocol in papers.PROTOCOLS:
        part = front.split(f"- **{protocol}**")[1].split("\n- **")[0]
        for verdict, word in words.items():
            place = (protocol, verdict)
            ids = [o.claim.id for o in found.outcomes if (o.protocol, o.verdict) == place]
            assert f"{len(ids)} {word}" + (f" ({', '.join(ids)})" if ids else "") in part
            told[place] = ids
    assert "S5" in told["matched", rules.FAILS]
    assert "S5" not in told["tuned", rules.FAILS]


def test_every_link_leads_to_something(write: Write) -> None:
    mixed(write)
    written = publish(["results"], "pages/deep")
    links = 0
    for file in written:
        if file.suffix != ".md":
            continue
        for target in re.findall(r"\]\(([^)]+)\)", file.read_text(encoding="utf-8")):
            links += 1
            assert not target.startswith("/")
            assert (file.parent / unquote(target)).exists(), target
    assert links > 10
    assert "](../../results/a.matched)" in page("pages/deep")


def test_the_same_results_give_the_same_bytes(write: Write) -> None:
    mixed(write)
    before = {file: file.read_bytes() for file in publish(["results"], "results")}
    assert {file.name for file in before} >= {
        "README.md", "scoreboard.md", "which_method.md", "which_method_M100.png",
        "liu2020_table3.matched.md", "eerf2018_table3.printed.md",
    }  # fmt: skip
    assert {file: file.read_bytes() for file in publish(["results"], "results")} == before


def test_tables_that_no_result_backs_are_removed_and_other_files_stay(write: Write) -> None:
    mixed(write)
    publish(["results"], "pages")
    Path("pages/tables/mine.md").write_text("kept")
    publish(["results/adult"], "pages")
    names = sorted(path.name for path in Path("pages").rglob("*") if path.is_file())
    assert names == [
        "README.md", "claims.md", "eerf2018_table3.printed.md", "mine.md", "scoreboard.md",
        "which_method.md",
    ]  # fmt: skip


def test_the_scoreboard_is_that_of_verify(write: Write) -> None:
    mixed(write)
    publish(["results/a.matched"], "pages")
    shown = CliRunner().invoke(main, ["verify", "results/a.matched", "--format", "markdown"])
    assert Path("pages/scoreboard.md").read_text(encoding="utf-8") == shown.output


def test_a_subset_stands_apart_under_its_own_name(write: Write) -> None:
    write(trials(68.5, n_train=1000, n_test=1000, sampler="rks"), "short", **PAPER)
    publish(["results"], "results")
    text = page()
    line = table_line(text, "liu2020 table3, EEG", "eeg, 1000 training rows")
    assert line[2:] == ["matched", "2", "10", "[short](short)"]
    assert "No printed number of this paper was compared." in text
    assert not re.search(r"[1-9]\d* of \d+ compared", text)


def test_what_was_not_run_says_why(write: Write, tmp_path: Path) -> None:
    made = eeg(rks=68.5)
    failed = [row | {"sampler": "qmc", "status": "failed", "accuracy": ""} for row in made]
    write(made + failed, "a.matched", **PAPER)
    publish(["results"], "results")
    line = table_line(page(), "liu2020 table3, EEG")
    assert line[1] == "no data"
    assert line[2] == "1 of 32 measured; 10 trials did not end well, not run"
    assert table_line(page(), "[a.matched](a.matched)")[5] == "10"


def test_smoke_runs_and_broken_rows_are_left_out_with_a_word(write: Write) -> None:
    write(eeg(rks=68.5), "smoky", smoke=True, **PAPER)
    broken = write(eeg(rks=68.5), "broken", **PAPER) / "trials.csv"
    broken.write_text(broken.read_text().replace("sampler,", "smplr,", 1))
    torn = write(rows(ERRORS), "torn") / "trials.csv"
    torn.write_bytes(torn.read_bytes()[:-20])
    publish(["results"], "results")
    text = page()
    assert "smoky is left out: it is a smoke run" in text
    assert "results/broken is left out" in text
    assert "torn: trials.csv, line 25: The row was cut" in text
    assert table_line(text, "[smoky](smoky)")[-1].startswith("SMOKE RUN")
    assert "No printed number of this paper was compared." in text


def test_one_trial_has_no_spread(write: Write) -> None:
    write(trials(68.5, n=1, sampler="rks"), "one", **PAPER)
    publish(["results"], "results")
    line = table_line(page(), "table3, EEG", "matched")
    assert line[6] == f"+0.05 ± {DASH} (rks 14)"
    assert line[8] == "1"


def test_the_total_time_is_the_sum_over_all_rows(write: Write) -> None:
    write(eeg(rks=68.5, qmc=68.5), "a.matched", **PAPER)
    write(rows(ERRORS), "many")
    publish(["results"], "results")
    n = 2 * 10 + 3 * 8
    total = n * (0.25 + 0.5 + 1.25 + 0.125)
    assert total < 120
    assert f"The {n} rows of the 2 folders below took {total:.3g} s of measured time" in page()
    assert table_line(page(), "[many](many)")[6] == f"{24 * 2.125:.3g} s"
    assert "a machine that no manifest describes (2 folders)" in page()


def test_a_run_that_is_not_finished_is_named(write: Write) -> None:
    folder = write(eeg(rks=68.5), "half", **PAPER)
    write(eeg(rks=68.5), "whole", **PAPER)
    for name in ("half", "whole"):
        ids = list(pd.read_csv(folder.parent / name / "trials.csv")["trial_id"])
        file = folder.parent / name / "manifest.json"
        planned = [*ids, "one-more"] if name == "half" else ids
        file.write_text(json.dumps(json.loads(file.read_text()) | {"trials": planned}))
    publish(["results"], "results")
    assert "not finished or run with fewer trials: half." in page()
    assert table_line(page(), "[half](half)")[3:5] == ["10", "11"]


def test_only_headers_make_a_page_that_compares_nothing(write: Write) -> None:
    write([], "nothing", **PAPER)
    publish(["results"], "results")
    assert "0 of 156 percentages" in page().replace(" the ", " ")
    assert "The 0 rows of the 1 folders" in page()


def test_nothing_at_all_is_an_error(tmp_path: Path, write: Write) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ResultsError, match="no results to report on"):
        publish(["empty"], "pages")
    with pytest.raises(ResultsError, match="nowhere"):
        publish(["nowhere"], "pages")
    broken = write(eeg(rks=68.5), "broken", **PAPER) / "trials.csv"
    broken.write_text("")
    with pytest.raises(ResultsError, match="is empty"):
        publish(["results"], "pages")
    assert not Path("pages").exists()
    write(rows(ERRORS), "many")
    Path("pages").write_text("a file")
    with pytest.raises(WriteError, match="cannot be written"):
        publish(["results"], "pages")


def test_the_command(write: Write, tmp_path: Path) -> None:
    run = CliRunner().invoke
    nothing = run(main, ["report"])
    assert nothing.exit_code == 2
    assert "There is no results" in nothing.output
    write(rows(ERRORS), "own")
    shown = run(main, ["report"])
    assert shown.exit_code == 0
    assert "results/README.md" in shown.output.splitlines()
    assert "[own](own)" in page()
    assert "`published/` holds" not in page()
    write(eeg(rks=68.5), "published/a.matched", **PAPER)
    assert run(main, ["report"]).exit_code == 0
    assert "[own](own)" not in page()
    assert "[a.matched](published/a.matched)" in page()
    assert "`published/` holds the runs that are published" in page()
    assert "rfbench report results/published --out results" in page()
    assert run(main, ["report", "results", "--out", "elsewhere"]).exit_code == 0
    assert "Your runs land here" not in page("elsewhere")


def test_a_page_by_hand_is_not_overwritten(write: Write) -> None:
    mixed(write)
    front = Path("results/README.md")
    front.write_text("# My notes\n", encoding="utf-8")
    with pytest.raises(ResultsError, match="would be overwritten.*--out"):
        publish(["results"], "results")
    assert front.read_text(encoding="utf-8") == "# My notes\n"
    assert not Path("results/claims.md").exists()


def test_the_page_of_an_earlier_call_and_the_shipped_one_are_overwritten(write: Write) -> None:
    mixed(write)
    front = Path("results/README.md")
    front.write_text("# Results\n\nYour runs land here.\n", encoding="utf-8")
    publish(["results"], "results")
    written = page()
    assert written.startswith("# The papers, reproduced\n")
    publish(["results"], "results")
    assert page() == written
