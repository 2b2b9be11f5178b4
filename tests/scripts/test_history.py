"""history.csv of the papers beside the history of git, and the order of commits on made ones."""

from __future__ import annotations

import csv
import io
import lzma
import re
import subprocess

import pytest

from rfbench import papers
from rfbench.papers.models import Change, Committed
from scripts.history import forms, git
from scripts.history.__main__ import list_uncommitted
from scripts.history.records import History


@pytest.fixture(scope="module")
def history() -> History:
    skip_without_git()
    return History()  # An object that git does not have is an error if the history is complete.


def skip_without_git() -> None:
    """Skip a test if git does not have the whole history."""
    try:
        git.check()
    except git.NoHistory as error:
        pytest.skip(f"the history is not complete: {error}")


def test_first_rows_in_history_belong_to_folders_with_a_manifest(history: History) -> None:
    """At one commit, the folder of the cells had a table of kept trials and no manifest."""
    found = {each.folder for each in history.rows}
    assert len(found) > 30
    assert "dotproduct2022" not in found


def test_files_listed_at_a_commit_equal_those_of_git() -> None:
    skip_without_git()
    found = git.list_files(["HEAD:rfbench/papers", "HEAD:no_folder"])
    lines = git.ask("ls-tree", "-r", "HEAD", "rfbench/papers").splitlines()
    expected = {name: entry.split()[2] for entry, _, name in (x.partition("\t") for x in lines)}
    assert found == {"HEAD:rfbench/papers": expected, "HEAD:no_folder": {}}
    assert len(expected) > 50


def by_key(paper: str, lines: list[Committed]) -> dict[tuple[str, ...], Committed]:
    return {
        (paper, line.kind, line.name, key): line for line in lines for key in line.keys.split("; ")
    }


def test_history_files_list_the_commits_of_git(history: History) -> None:
    """A form that the newest commit changed may have no commit in the file yet."""
    found: dict[tuple[str, ...], Committed] = {}
    for lines in (history.of_papers(), history.of_settings()):
        for paper, line in lines:
            found |= by_key(paper, [line])
    written: dict[tuple[str, ...], Committed] = {}
    for paper in papers.list_papers():
        written |= by_key(paper, list(papers.find_paper_files(paper).history))
    assert written.keys() == found.keys()
    for key, line in found.items():
        assert (written[key].order, written[key].rows) == (line.order, line.rows), key
        assert written[key].form in ("", line.form), key


def test_first_commit_of_a_claim_equals_a_search_over_all_commits(history: History) -> None:
    """L1 by reading its file in every commit, oldest first: the last change of its parts."""
    import yaml

    names = ("rfbench/papers/claims.yaml", "rfbench/papers/lkrf2016/claims.yaml")
    commits = git.ask("log", "--reverse", "--topo-order", "--format=%H", "--", *names).split()
    last, since = None, ""
    for commit in commits:
        for name in names:
            if name not in git.ask("ls-tree", "-r", "--name-only", commit, "--", name):
                continue
            content = yaml.safe_load(git.ask("show", f"{commit}:{name}"))["claims"]
            (claim,) = [c for c in content if c["id"] == "L1"]
            part = {
                word: claim["parts"][0].get(word)
                for word in ("metric", "low", "high", "values", "datasets", "items", "at")
            }
            if part != last:
                last, since = part, commit
    (line,) = [
        x
        for x in papers.find_paper_files("lkrf2016").history
        if (x.kind, x.name) == ("claim", "L1")
    ]
    assert since.startswith(line.form)
    assert line.order == "after"


def test_commit_order_follows_ancestry(history: History) -> None:
    newest = next(iter(git.parents()))
    older = git.parents()[newest][0]
    assert git.order(older, newest) == "before"
    assert git.order(newest, older) == "after"
    assert git.order(newest, newest) == "same commit"
    assert git.order(newest, "") == "no rows"
    assert git.order("", newest) == "after"
    branches = [each for each in git.parents().values() if len(each) == 2]
    one, other = next(
        (a, b) for a, b in branches if a not in git.ancestors(b) and b not in git.ancestors(a)
    )
    assert git.order(one, other) == "unknown"


CLAIM = """
claims:
  - id: A1
    where: here
    claim: "{words}"
    parts:
      - says: "{words}"
        items: [table2, table1]
        datasets: [x]
        metric: error
        method: m
        at: each
        high: {high}
"""


def form(text: str) -> str:
    ((_, _, _, found),) = forms._of_file("claims.yaml", text)
    return found


def test_canonical_form_of_a_claim_includes_bounds_but_not_wording() -> None:
    given = form(CLAIM.format(words="one", high=0))
    assert form(CLAIM.format(words="other", high=0)) == given
    assert form(CLAIM.format(words="one", high=1)) != given
    text = CLAIM.format(words="one", high=0)
    assert form(text.replace("[table2, table1]", "[table1, table2]")) == given
    assert form(text.replace("[x]", "[x, y]")) != given
    assert form(text + "        values: 1\n") == given
    assert form(text.replace("at: each", "at: slope")) == form(text.replace("each", "own"))


CONFIG = """
title: "{title}"
paper: p
samplers: [rks, {{eerf: {{pool_size: {pool}}}}}]
M: 10:30:10
protocols:
  printed: {{scaling: standard}}
datasets:
  a: {{split: given}}
"""


def test_settings_are_compared_by_key_and_lists_by_value() -> None:
    ((run, (paper, keys)),) = forms.of_config(CONFIG.format(title="x", pool=9), "p_t").items()
    assert (run, paper) == ("p_t_a.printed", "p")
    assert keys["M"] == "[10, 20, 30]"
    assert keys["samplers.eerf.pool_size"] == "9"
    ((_, (_, other)),) = forms.of_config(CONFIG.format(title="y", pool=8), "p_t").items()
    assert {key for key in keys if keys[key] != other[key]} == {"samplers.eerf.pool_size"}
    assert forms.renamed("a_b.as-run") == "a_b.matched"


def recorded_verdicts(change: Change) -> dict[str, str]:
    """Return the verdicts on a claim that a file of a commit has, by protocol as now called."""
    place = f"{change.recorded.commit}:{change.recorded.file}"
    command = ["git", "-C", str(git.ROOT), "show", place]
    content = subprocess.run(command, capture_output=True, check=True).stdout
    if place.endswith(".xz"):
        lines = csv.DictReader(io.StringIO(lzma.decompress(content).decode()))
        return {line["protocol"]: line["verdict"] for line in lines if line["id"] == change.id}
    text = content.decode()
    if found := re.search(rf"^- \*\*{change.id}\*\*.*?(?=^- \*\*|\Z)", text, re.M | re.S):
        verdicts = dict(re.findall(r"^  - ([\w-]+): \*\*(.*?)\*\*", found[0], re.M))
        return {forms.RENAMED.get(protocol, protocol): said for protocol, said in verdicts.items()}
    section = text.partition(f"### {change.id}\n")[2].partition("\n### ")[0]
    return dict(re.findall(r"^\| *(printed|matched|tuned) *\| *([a-z ]+?) *[(|]", section, re.M))


def test_first_verdicts_equal_verdicts_in_the_recorded_commits(history: History) -> None:
    for paper in papers.list_papers():
        for change in papers.find_paper_files(paper).changes:
            found = recorded_verdicts(change)
            named = {p: said for p, said in found.items() if p in change.first_verdicts}
            assert named == change.first_verdicts, (paper, change.id)


def test_each_changed_or_withdrawn_claim_is_listed(history: History) -> None:
    """By git, of all commits: forms that are not the present one, once rows were there."""
    written = {
        (paper, c.id): c
        for paper in papers.list_papers()
        for c in papers.find_paper_files(paper).changes
    }
    present = history.forms[""]
    ever = {key for forms_of_one in history.forms.values() for key in forms_of_one}
    for kind, paper, name in ever - present.keys():
        if kind == "claim":
            assert written[paper, name].withdrawn, (paper, name)
    for paper in papers.list_papers():
        for line in papers.find_paper_files(paper).history:
            several = {f.get(("claim", paper, line.name)) for f in history.forms.values()} - {None}
            if line.kind == "claim" and line.order == "after" and len(several) > 1:
                assert (paper, line.name) in written
    for change in written.values():
        assert all(each in {c[:8] for c in git.parents()} for each in change.changed_by)


def test_papers_with_uncommitted_claims_are_reported() -> None:
    line = papers.find_paper_files("lkrf2016").history[0]
    added = line.model_copy(update={"form": "", "form_date": ""})
    (said,) = list_uncommitted({"old": [line], "new": [line, added, added]})
    assert said.startswith("new: 2 lines have no commit yet.")


def test_no_page_says_that_claims_precede_the_measured_rows() -> None:
    for file in [*(git.ROOT / "results").rglob("*.md"), git.ROOT / "README.md"]:
        if "published" not in file.parts and file.name != "errata.md":  # which quotes it
            assert "before rows were seen" not in file.read_text(), file
