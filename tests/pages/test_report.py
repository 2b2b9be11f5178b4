"""What `rfbench report` writes: files, links, errors."""

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import pytest

from rfbench import papers, results
from rfbench.errors import ResultsError, WriteError
from rfbench.pages import paper
from rfbench.pages.report import publish_pages as write
from rfbench.pages.scoreboard import make_heading_anchor
from tests.support.command_line import call
from tests.support.frames import results as results_of
from tests.support.frames import verification
from tests.support.papers import A9A, PAPER, eeg, trials, tuned
from tests.support.results import write_folder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def folder(rows: list[dict[str, object]], name: str, **config: object) -> Path:
    manifest = {"config": {"name": name, **config}}
    return write_folder(Path("results") / name, rows, manifest)


def mixed() -> None:
    """Write a little of everything below results/."""
    methods = eeg(rks=68.5, qmc=69.2, leverage_rff=60.0, surrogate_leverage=69.0)
    folder(methods, "a.matched", **PAPER)
    folder(trials(69.0, n_train=1000, n_test=1000), "short", **PAPER)
    folder(trials(83.0, **A9A | {"M": 100}), "adult", paper="eerf2018", item="table3")
    folder(tuned(), "many")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A folder with results and their pages, the files that were written, and those read."""
    read: list[Path] = []
    lines = results.reader._lines

    def counted(file: Path) -> object:
        read.append(file)
        return lines(file)

    def refuse(*_: object) -> None:
        raise AssertionError("what is on the disk plays no part")

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("whole"))
        mixed()
        patch.setattr("rfbench.datasets.is_on_disk", refuse)
        patch.setattr(results.reader, "_lines", counted)
        written = write(["results"], "pages/deep")
        yield SimpleNamespace(top=Path.cwd(), written=written, read=read)


def test_each_link_has_a_target(whole: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(whole.top)
    links = 0
    for file in whole.written:
        if file.suffix != ".md":
            continue
        for link in re.findall(r"\]\(([^)]+)\)", file.read_text(encoding="utf-8")):
            links += 1
            if link.startswith("https:"):
                assert file.parent.name == "papers"  # the paper itself
                continue
            target, _, place = link.partition("#")
            assert not target.startswith("/")
            there = file.parent / unquote(target) if target else file
            assert there.exists(), target
            if place:
                heads = re.findall(r"^#+ (.*)$", there.read_text(encoding="utf-8"), re.M)
                assert place in map(make_heading_anchor, heads)
    assert links > 15


def test_page_of_a_paper_lists_trials_added_later() -> None:
    (name,) = papers.find_paper("eerf2018").provenance.trials
    rows = [{"M": M, "trial": t} for M, n in ((100, 10), (450, 12)) for t in range(n)]
    held = verification(results_of(rows, name, paper="eerf2018"))
    page = paper.render_paper_page(held, "eerf2018", Path())
    (line,) = re.findall("^- Some trials were added after .*", page, re.M)
    assert line.endswith(f": 2 trials of the method rks at M = 450 in the run {name}.")


def test_page_reports_that_the_text_of_the_paper_is_unavailable() -> None:
    held = verification(results_of([{"trial": 0}], "quickstart"))
    unread = {name for name in papers.list_papers() if not papers.find_paper(name).text_at_hand}
    said = {
        n
        for n in papers.list_papers()
        if "not checked against" in paper.render_paper_page(held, n, Path())
    }
    assert said == unread == {"quadrature2018", "simrf2023", "rfrboost2025"}


def test_report_reads_each_results_file_once(whole: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(whole.top)
    assert sorted(whole.read) == sorted(Path("results").rglob("trials.csv"))


def test_repeated_report_over_existing_pages_is_byte_identical(
    whole: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(whole.top)
    before = {file: file.read_bytes() for file in whole.written}
    assert {file.name for file in before} >= {"README.md", "totals.md", "liu2020.md", "eerf2018.md"}
    again = write(["results"], "pages/deep")
    assert {file: file.read_bytes() for file in again} == before


def test_pages_without_results_are_removed_and_other_files_kept() -> None:
    folder(eeg(rks=68.5), "a.matched", **PAPER)
    folder(trials(83.0, **A9A | {"M": 100}), "adult", paper="eerf2018", item="table3")
    write(["results"], "pages")
    Path("pages/papers/mine.md").write_text("of somebody else")
    write(["results/adult"], "pages")
    names = {path.name for path in Path("pages").rglob("*") if path.is_file()}
    assert {"README.md", "eerf2018.md", "eerf2018_numbers.csv", "mine.md"} <= names
    assert not {"liu2020.md", "liu2020.png", "liu2020_numbers.csv", "liu2020_claims.csv"} & names


def test_damaged_rows_are_left_out_and_reported() -> None:
    broken = folder(eeg(rks=68.5), "broken", **PAPER) / "trials.csv"
    broken.write_text(broken.read_text().replace("sampler,", "smplr,", 1))
    torn = folder(eeg(rks=68.5), "torn", **PAPER) / "trials.csv"
    torn.write_bytes(torn.read_bytes()[:-20])
    write(["results"], "results")
    text = Path("results/README.md").read_text(encoding="utf-8")
    assert "results/broken is left out" in text
    assert "torn: trials.csv, line 11" in Path("results/totals.md").read_text(encoding="utf-8")


def test_report_without_results_raises_error() -> None:
    Path("empty").mkdir()
    with pytest.raises(ResultsError, match="No results found"):
        write(["empty"], "pages")
    with pytest.raises(ResultsError, match="nowhere"):
        write(["nowhere"], "pages")
    file = folder(eeg(rks=68.5), "broken", **PAPER) / "trials.csv"
    file.write_text("")
    with pytest.raises(ResultsError, match="is empty"):
        write(["results"], "pages")
    assert not Path("pages").exists()
    folder(eeg(rks=68.5), "whole", **PAPER)
    Path("pages").write_text("a file")
    with pytest.raises(WriteError, match="could not be written"):
        write(["results"], "pages")


def test_report_command_writes_the_pages_and_its_own_command() -> None:
    call("report", code=2)
    folder(eeg(rks=68.5), "own")
    assert "results/README.md" in call("report").splitlines()
    page = Path("results/README.md")
    assert "(published)" not in page.read_text(encoding="utf-8")
    folder(eeg(rks=68.5), "published/a.matched", **PAPER)
    call("report")
    assert "(published)" in page.read_text(encoding="utf-8")
    assert "rfbench report results/published --out results" in page.read_text(encoding="utf-8")


def test_handwritten_page_is_not_overwritten() -> None:
    Path("results").mkdir()
    front = Path("results/README.md")
    front.write_text("# My notes\n", encoding="utf-8")
    with pytest.raises(ResultsError, match="would be overwritten.*--out"):
        write(["results"], "results")
    assert front.read_text(encoding="utf-8") == "# My notes\n"
    assert not Path("results/papers").exists()


def test_report_overwrites_the_default_readme_of_the_results_folder() -> None:
    front = folder(eeg(rks=68.5), "own").parent / "README.md"
    front.write_text("# Results\n\nYour runs land here.\n", encoding="utf-8")
    write(["results"], "results")
    assert front.read_text(encoding="utf-8").startswith("# Do published numbers agree with ours?\n")
