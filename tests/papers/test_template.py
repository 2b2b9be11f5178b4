"""The paper that `rfbench new --paper` writes follows the rules for papers of rfbench."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rfbench import config, papers
from rfbench.pages import paper
from tests.support import paper_rules as rules
from tests.support.command_line import call
from tests.support.frames import results, verification
from tests.support.papers import read_from, trials

NAME = "mine2026"


@pytest.fixture
def template(tmp_path: Path) -> Iterator[Path]:
    """Return the folder of a written paper, which is the only paper of rfbench in the test."""
    call("new", "--paper", tmp_path / NAME)
    with read_from(tmp_path):
        assert papers.list_papers() == [NAME]
        yield tmp_path / NAME


@pytest.mark.usefixtures("template")
def test_numbers_and_data_sets_of_the_template_follow_the_rules() -> None:
    rules.check_numbers()
    assert rules.list_unknown_datasets() == set()


@pytest.mark.usefixtures("template")
def test_claims_of_the_template_follow_the_rules() -> None:
    rules.check_sources_of_claims()
    for claim in papers.list_claims():
        rules.check_parts(claim)
    assert rules.list_unanswered_claims() == set()


@pytest.mark.usefixtures("template")
def test_result_sentence_of_the_paper_template_names_its_claims() -> None:
    rules.check_result(NAME)
    assert "{C1}" in papers.find_paper(NAME).result


def test_configuration_of_the_template_names_its_paper_and_tables(template: Path) -> None:
    (run,) = config.read_run_documents(template / f"{NAME}_table1.yaml").values()
    items = {number.item for number in papers.find_paper_files(NAME).published}
    assert (run.value["paper"], {run.value["item"]}) == (NAME, items)


@pytest.mark.usefixtures("template")
def test_page_of_the_template_paper_begins_with_the_result() -> None:
    """With rows, in which ORF has an error one half point below the error of RFF."""
    rows = [
        row
        for method, accuracy in (("rks", 93.0), ("orf", 93.5))
        for row in trials(
            accuracy, sampler=method, dataset="digits", protocol="printed", M=100, n_train=1258,
            n_test=539,
        )
    ]  # fmt: skip
    held = verification(results(rows, f"{NAME}_table1", paper=NAME, item="table1"))
    lines = paper.render_paper_page(held, NAME, Path()).splitlines()
    assert len(lines) <= 120
    assert lines[2].startswith("**Result.** ")
    page = " ".join(lines)
    assert "in 1 of 1 comparison." in page
    assert "the median distance of the training rows" in page
    assert not re.search(r"{\w", page)
