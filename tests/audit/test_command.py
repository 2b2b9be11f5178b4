"""`rfbench audit`: what it runs, ranks and writes."""

import shlex
import shutil
from pathlib import Path

import pandas as pd
import pytest

from rfbench.cli import running
from rfbench.experiment import runner
from tests.audit.invented import AIM, HIDDEN, VARY, found
from tests.support import command_line

PUBLISHED = Path(__file__).parents[2] / "results" / "published" / "audits"


def call(*words, code=0):
    return " ".join(command_line.call("audit", *words, code=code).split())


@pytest.fixture
def here(invented, tmp_path, monkeypatch):
    """The configuration and the results of the audit, in a folder of the test's own."""
    shutil.copytree(invented / "configs", tmp_path / "configs")
    shutil.copytree(invented / "results", tmp_path / "results")
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMAND = ["configs/invented.yaml", "--target", AIM, "--jobs", 1]
AGAIN = [*COMMAND, *(word for text in VARY for word in ("--vary", text))]
PART = ["--set", "feature_map=paired", "--set", "M=10", "--set", "split.test_size=0.3"]


def test_repeated_audit_runs_nothing_and_writes_the_same_page(here):
    assert "0 run, 0 failed, 72 measured before" in call(*AGAIN)
    table = pd.read_csv(found(here) / "audit.csv", dtype={"bandwidth": str})
    assert (len(table), set(table["tried"])) == (6, {6})
    assert {name: table[name][0] for name in HIDDEN} == HIDDEN
    content = (found(here) / "audit.md").read_text()
    assert str(here) not in content
    program, command, *words = shlex.split(content.splitlines()[-1])
    assert (program, command) == ("rfbench", "audit")
    (found(here) / "audit.md").unlink()
    assert "0 run" in call(*words, "--jobs", 1)
    assert (found(here) / "audit.md").read_text() == content


def test_number_of_tried_combinations_includes_earlier_audits(here):
    call(*COMMAND, *PART, "--vary", "bandwidth=4,20", "--trials", 1)
    assert set(pd.read_csv(found(here) / "audit.csv")["tried"]) == {6 + 2}
    call(*AGAIN, "--most", 3)
    part = pd.read_csv(found(here) / "audit.csv")
    assert (len(part), set(part["tried"])) == (3, {6 + 2})


def ended(monkeypatch, **summary):
    """Let nothing be run, and every run end like this."""

    def run(work, *others, **keywords):
        return runner.Summary(work.folder, **summary)

    monkeypatch.setattr(running, "run_missing_trials", run)


def test_dry_run_and_smoke_run_give_no_ranking(here, monkeypatch):
    assert "6 of 6 combinations" in call(*AGAIN, "--dry-run")
    ended(monkeypatch, done=6)
    call(*AGAIN, "--smoke")
    assert not list(here.rglob("audit.*"))


def test_interrupted_audit_is_not_ranked(here, monkeypatch):
    ended(monkeypatch, done=1, left=71, interrupted=True)
    assert "not run: 71" in call(*AGAIN, code=1)
    assert not list(here.rglob("audit.*"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target", "invented2026/table1/digits"], "'Digits'"),
        (["--set", "paper=''"], "not a configuration of invented2026"),
        (["--set", "samplers=[qmc]"], "does not measure any method"),
        (["--set", "M=7"], "M = 10, 40. The configuration has 7"),
        (["--set", "seed=1", "--vary", "seed=1,2"], "both fixed (--set) and varied (--vary)"),
        (["--set", "rows=9", "--vary", "max_train_rows=8,9"], "The key rows is both fixed"),
        (["--set", "max_train_rows=9", "--vary", "rows=8,9"], "The key rows is both fixed"),
        (["--vary", "samplers.control.bandwidth=1,2"], "any measured sampler"),
        (["--vary", "scaling=none,sideways"], "'sideways'"),
        (["--vary", "M=10,7"], "has a published number in"),
        (["--set", "dataset=letter"], "measures letter"),
        (["--vary", "dataset=digits,letter"], "measures letter"),
        (["--only", "M=10"], "--only"),
    ],
)
def test_wrong_audit_arguments_exit_with_code_2_and_one_sentence(here, words, said):
    target = [] if "--target" in words else ["--target", AIM]
    assert said in call("configs/invented.yaml", *target, *words, "--jobs", 1, code=2)


def test_page_is_rebuilt_from_its_table_and_its_command(here):
    call(*AGAIN)
    page, table = found(here) / "audit.md", found(here) / "audit.csv"
    first, command = pd.read_csv(table, dtype=str).iloc[0], page.read_text().splitlines()[-1]
    (found(here) / "trials.csv").unlink()
    page.write_text(f"# An older layout\n\n{command}\n")
    command_line.call("report", "results", "--audits")
    content = page.read_text()
    (nearest,) = [line for line in content.splitlines() if line.startswith("| 1 ")]
    assert all(f" {first[name]} " in nearest for name in HIDDEN)
    assert content.splitlines()[-1] == command
    table.unlink()
    assert "not the table of an audit" in command_line.call("report", "results", "--audits", code=2)
    page.write_text("nothing")
    assert "does not state the command" in command_line.call(
        "report", "results", "--audits", code=2
    )


@pytest.mark.parametrize("file", sorted(PUBLISHED.glob("*/audit.md")), ids=lambda f: f.parent.name)
def test_shipped_pages_are_built_from_the_stored_tables(file, tmp_path):
    copy = tmp_path / file.parent.name
    copy.mkdir()
    for name in ("audit.csv", "audit.md"):
        shutil.copy(file.with_name(name), copy)
    command_line.call("report", tmp_path, "--audits")
    assert (copy / "audit.md").read_bytes() == file.read_bytes()


def test_audits_of_a_missing_folder_raise_error():
    assert "nosuch does not exist" in command_line.call("report", "nosuch", "--audits", code=2)
