"""Papers outside of rfbench: found, read, verified, and in none of its totals."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from rfbench import papers
from rfbench.errors import ResultsError
from scripts.walk import AUTHOR, write_paper
from tests.support.command_line import call
from tests.support.invented import CLAIMS, PAPER, write
from tests.support.papers import PAPER as OURS
from tests.support.papers import trials
from tests.support.results import write_folder

pytestmark = pytest.mark.usefixtures("no_pictures")
CODE = """\
from pathlib import Path

Path("ran").touch()
CLAIMS = {"D1": lambda *_: 1 / 0}
"""
OWN = CLAIMS.replace("at: each", "at: own")


def results(name: str = "doe2030_table7", **config: object) -> None:
    """Write six rows of the paper, with an error of 10 %."""
    sizes = {"n_train": 1258, "n_test": 539, "M": 40, "dataset": "digits", "sampler": "rks"}
    rows = trials(90.0, 0.5, 6, protocol="printed", **sizes)
    asked = {"name": name, "paper": "doe2030", "item": "table7", **config}
    write_folder(Path("results") / name, rows, {"config": asked})


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("theirs"))
    results()


def test_external_paper_is_known_only_inside_its_context_manager() -> None:
    shipped = papers.list_papers()
    names = [papers.format_claim_name(claim) for claim in papers.list_claims()]
    with papers.include_external_papers([Path("theirs")]) as problems:
        assert problems == []
        assert (papers.list_papers(), papers.list_external_papers()) == (shipped, ["doe2030"])
        assert papers.find_paper("doe2030").year == 2030
        assert list(papers.read_known_papers())[-1] == "doe2030"
        ours = [claim for claim in papers.list_claims() if claim.paper in shipped]
        assert [papers.format_claim_name(claim) for claim in ours] == names
    with papers.include_external_papers([Path("theirs/doe2030"), Path("theirs")]) as problems:
        assert (problems, papers.list_external_papers()) == ([], ["doe2030"]), "once, named twice"
    assert papers.list_external_papers() == []
    with (
        pytest.raises(ResultsError, match=r"no paper in results"),
        papers.include_external_papers([Path("results")]),
    ):
        pass


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("liu2020", {}, "There is already a paper with the name liu2020"),
        ("a paper", {}, "cannot be the name"),
        (
            "roe2031",
            {"paper": PAPER.replace("year: 2030", "year: soon")},
            "roe2031/paper.yaml, line 4",
        ),
        ("roe2031", {"published": "item\n\xff"}, r"published.csv, line 2"),
    ],
)
def test_broken_folder_does_not_stop_the_others(
    name: str, changes: dict[str, str], message: str
) -> None:
    write(Path("theirs"), name, **changes)
    with papers.include_external_papers([Path("theirs")]) as problems:
        assert papers.list_external_papers() == ["doe2030"]
        (problem,) = problems
        assert re.search(message, problem)
    assert "99.50" in call("verify", "results", "--papers", "theirs")
    assert "left out: " in call("list", "papers", "--papers", "theirs")


def test_entry_point_names_a_folder_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "theirpackage"
    write(package / "papers")
    (package / "__init__.py").write_text("raise SystemExit('imported')")
    about = tmp_path / "site" / "theirpackage-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirpackage\nVersion: 1.0\n")
    points = [
        "mine = theirpackage.papers.doe2030",
        "gone = theirpackage.nowhere",
        "no = nopackage.x",
    ]
    (about / "entry_points.txt").write_text("\n".join(["[rfbench.papers]", *points]))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    with papers.include_external_papers([]) as problems:
        assert papers.list_external_papers() == ["doe2030"]
        assert [problem.partition(": ")[2] for problem in problems] == [
            "The folder does not contain the file paper.yaml. An entry point names this folder."
        ] * 2
    assert "theirpackage" not in sys.modules
    assert "99.50" in call("verify", "results")


@pytest.mark.parametrize("words", [["results", "--papers", "theirs"], ["theirs/doe2030"]])
def test_verify_compares_an_external_paper_and_labels_it_external(words: list[str]) -> None:
    said = " ".join(call("verify", *words).split())
    assert "not part of rfbench" in said
    assert re.search(r"RKS 40 99.50 ± 0.5 10.00 ± 0.20 differs", said)
    assert "D1, doe2030, Table 7: Less than nine" in said
    assert "liu2020" not in said
    assert "doe2030" not in call("verify", "results", "--format", "json")
    assert "doe2030,table7" in call("verify", *words, "--format", "csv")
    assert "printed: holds" in call("verify", *words, "--claim", "doe2030/D1")


def test_claim_of_several_papers_needs_the_name_of_its_paper() -> None:
    """Of two claims with the name D1, `verify` explained one without a warning."""
    write(Path("theirs"), "roe2031")
    results("roe2031_table7", paper="roe2031")
    words = ("verify", "results", "--papers", "theirs", "--claim")
    said = " ".join(call(*words, "D1", code=2).split())
    assert "The papers doe2030, roe2031 have a claim with this name." in said
    assert "--claim doe2030/D1" in said
    assert "D1, roe2031" in call(*words, "roe2031/D1")
    assert "D1, roe2031" in call(*words, "D1", "--paper", "roe2031")


def test_verify_shows_only_papers_of_the_given_folders() -> None:
    for name in ("roe2031", "poe2032"):
        write(Path("more" if name == "roe2031" else "less"), name)
        results(name, paper=name)
    write_folder(Path("results/ours"), trials(80.0), {"config": {"name": "ours", **OURS}})
    words = ("theirs/doe2030", "more/roe2031", "--papers", "less")
    for form in ("text", "csv"):
        said = call("verify", *words, "--format", form)
        assert {"doe2030", "roe2031"} <= set(re.findall(r"\w+20\d\d", said))
        assert not re.search(r"liu2020|poe2032 table7|poe2032,table7", said)


def test_sweep_of_an_external_configuration_runs() -> None:
    path = Path("theirs/doe2030/small.yaml")
    path.write_text(CONFIG.format(paper="doe2030"))
    assert "2 trials" in call("sweep", path, "--M", "40", "--dry-run")


def test_external_paper_has_a_page_but_is_in_no_total() -> None:
    write_folder(Path("results/ours"), trials(80.0), {"config": {"name": "ours", **OURS}})
    alone = call("report", "results/ours", "--out", "alone")
    listed = call("report", "results", "--papers", "theirs", "--out", "pages")
    assert "doe2030.md" in listed
    assert "doe2030.md" not in alone
    first, second = (
        json.loads(Path(each, "ledger.json").read_text()) for each in ("alone", "pages")
    )
    assert first == second
    assert "not part of rfbench" in Path("pages/papers/doe2030.md").read_text()
    pages = [Path(each, "README.md").read_text() for each in ("alone", "pages")]
    added = set(pages[1].splitlines()) - set(pages[0].splitlines())
    assert [line for line in added if "doe2030" in line.replace("\\", "")] == [
        "- A paper that is not part of rfbench, and is not included in any total: "
        "[doe2030](papers/doe2030.md), Doe & Roe, JOKE 2030."
    ]
    call("report", "results/ours", "--papers", "theirs", "--out", "pages")
    assert not Path("pages/papers/doe2030.md").exists(), "it has no results any more"


def test_code_of_an_external_paper_needs_permission() -> None:
    folder = Path("theirs/doe2030")
    (folder / "claims.yaml").write_text(OWN)
    (folder / "claims.py").write_text(CODE)
    words = ("--papers", "theirs")
    said = call("verify", "results", *words)
    assert "99.50" in said
    assert "not judged (claims.py of the paper needs --allow-imports)" in " ".join(said.split())
    call("report", "results", *words, "--out", "pages")
    assert "needs --allow-imports" in Path("pages/papers/doe2030.md").read_text().replace("\\", "")
    call("list", "papers", *words)
    call("list", "papers", "theirs/doe2030")
    call("table", "results", *words)
    assert not Path("ran").exists()
    assert "claims.py" not in call("list", "papers", *words, "--allow-imports")
    assert Path("ran").exists()
    (folder / "claims.py").write_text("CLAIMS = {}")
    assert "does not define a function" in call("list", "papers", *words, "--allow-imports")
    (folder / "claims.py").write_text(CODE)
    said = call("verify", "results", *words, "--allow-imports")
    assert "99.50" in said, "an error in its code does not stop the numbers"
    assert "not judged (division by zero)" in " ".join(said.split())


def test_list_and_table_accept_a_paper_folder() -> None:
    every = call("list", "papers", "--papers", "theirs")
    assert "invented paper (not part of rfbench)" in " ".join(every.split())
    assert "liu2020" in every
    for words in (["theirs/doe2030"], ["doe2030", "--papers", "theirs"]):
        assert "an invented paper" in call("list", "papers", *words)
    write_folder(Path("results/ours"), trials(80.0), {"config": {"name": "ours", **OURS}})
    for words in (["theirs/doe2030"], ["results/doe2030_table7", "--papers", "theirs"]):
        said = call("table", *words)
        assert "digits" in said
        assert "eeg" not in said
    assert "no paper in nowhere" in call("list", "papers", "--papers", "nowhere", code=2)


CONFIG = """\
paper: {paper}
item: table7
protocol: printed
dataset: digits
rows: 100
split: {{test_size: 0.3}}
M: 40
samplers: [rks]
trials: 2
"""


def test_run_accepts_a_paper_folder_and_reports_changed_settings(tmp_path: Path) -> None:
    folder = Path("theirs/doe2030")
    (folder / "small.yaml").write_text(CONFIG.format(paper="doe2030"))
    missing = call("run", "theirs", "--jobs", "1", code=2)
    assert "theirs" in missing
    for words in ([folder], [folder / "small.yaml"], [folder / "small.yaml", "--papers", "theirs"]):
        said = call("run", *words, "--jobs", "1")
        assert "protocol printed" in " ".join(said.split())
    assert "10.00 ± 0.20" in call("verify", folder), "the folder with more trials counts"
    said = call("run", folder, "--set", "solver.alphas=3", "--jobs", "1", "--out", "other")
    joined = " ".join(said.split())
    assert "changed settings: solver.alphas = 3 (small)" in joined
    assert "protocol printed" not in joined
    assert "protocol printed" not in " ".join(call("table", "other", "-v").split())
    said = " ".join(call("verify", "other", "--papers", "theirs").split())
    assert "with changed settings (solver.alphas = 3), so they were not compared" in said
    assert "without --set" in said
    (tmp_path / "empty" / "bare2030").mkdir(parents=True)
    (tmp_path / "empty" / "bare2030" / "paper.yaml").write_text(PAPER.partition("gains:")[0])
    assert "does not contain a configuration" in call("run", "empty/bare2030", code=2)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"paper": ""}, "mine: the configuration does not name a paper, so nothing was compared."),
        ({"paper": "roe2031"}, "the paper roe2031 is unknown"),
        (
            {"item": "table8"},
            "doe2030 has no number and no claim for these methods and sizes of table8",
        ),
    ],
)
def test_verify_states_the_reason_if_nothing_was_compared(
    config: dict[str, str], said: str
) -> None:
    results("mine", **config)
    assert said in " ".join(call("verify", "results/mine", "--papers", "theirs").split())


def test_paper_without_numbers_and_claims_is_reported() -> None:
    for file in ("published.csv", "claims.yaml", "open_choices.yaml"):
        Path("theirs/doe2030", file).unlink()
    Path("theirs/doe2030/paper.yaml").write_text(PAPER.partition("gains:")[0])
    assert "doe2030 has no number and no claim" in " ".join(
        call("verify", "theirs/doe2030").split()
    )
    assert "doe2030.md" in call("report", "--papers", "theirs", "--out", "pages")


def test_verify_gives_no_reason_about_papers_that_were_not_requested() -> None:
    write_folder(Path("results/ours"), trials(80.0), {"config": {"name": "ours", **OURS}})
    results("mine", paper="")
    said = call("verify", "results", "--papers", "theirs", "--paper", "doe2030")
    assert "nothing was compared" not in said
    assert "99.50" in said


def test_verify_names_unknown_data_sets_and_stale_rows() -> None:
    rows = trials(80.0, dataset="letter", protocol="printed")
    write_folder(Path("letters"), rows, {"config": {"name": "letters", **OURS}})
    said = " ".join(call("verify", "letters").split())
    assert "liu2020 has no data set letter, so nothing was compared." in said
    assert "The data sets of the paper are eeg," in said
    name = "liu2020_table3_eeg.printed"
    rows = trials(80.0, protocol="printed", setting="0123")
    write_folder(Path("old"), rows, {"config": {"name": name, **OURS}})
    said = " ".join(call("verify", "old").split())
    assert f"{name}: the configuration has changed since these rows were measured" in said
    assert "Run the configuration again" in said


def test_verify_shows_external_results_without_published_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = tmp_path / "results" / "published"
    write_folder(published / "ours", trials(80.0), {"config": {"name": "ours", **OURS}})
    monkeypatch.setattr("rfbench.shipped.find_published_folder", lambda: published)
    said = call("verify", "results", "--papers", "theirs")
    assert "99.50" in said
    assert "liu2020" not in said
    assert "rfbench verify results/published" in said
    for folder in ("results/published", "results/published/ours"):
        assert "liu2020" in call("verify", folder)
    assert "80.00" in call("verify", "results", "--paper", "liu2020")
    assert "liu2020" in call("verify", "results", "--format", "csv", "--papers", "theirs")


def test_paper_folder_written_by_new_runs_unchanged() -> None:
    said = call("new", "--paper", "papers/mine2026")
    assert "rfbench run papers/mine2026" in said
    assert call("list", "papers", "papers/mine2026").startswith("name: mine2026")
    call("run", "papers/mine2026", "--trials", "6", "--jobs", "1", "--out", "own")
    said = " ".join(call("verify", "own", "--papers", "papers").split())
    assert len(re.findall(r"(?:RFF|ORF|RKS) (?:50|100) [\d.]+ ± [\d.]+ [\d.]+ ± [\d.]+", said)) == 4
    assert re.search(r"C1, mine2026, Table 1: On Digits.* - printed: holds", said)
    for name, why in (
        ("papers/mine2026", "exists already"),
        ("liu2020", "a paper with the name liu2020"),
        ("a b", "name"),
    ):
        assert why in call("new", "--paper", name, code=2)
        assert not Path("liu2020").exists()


def test_external_paper_with_ten_numbers_and_a_claim_gets_a_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    said = []
    for place, (command, text) in enumerate(AUTHOR):
        said.append(" ".join(call(*shlex.split(command)[1:]).split()))
        assert text in said[-1]
        if not place:
            write_paper(Path("doe2031"))
    numbers = call("verify", "doe2031", "--format", "csv").splitlines()
    measured = [line for line in numbers if ",printed," in line and ",6," in line]
    assert len(measured) == 10
    assert "4 trials to run" in said[5], "those that the run before has not"
    assert re.search(r"C1, doe2031, Table 1: .* - printed: (holds|fails|not clear)", said[3])
