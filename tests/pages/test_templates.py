"""Every template is rendered, on a little of everything and on nothing."""

import re
from pathlib import Path

import pytest

import rfbench
from rfbench.analysis.verdicts import AGREES, CLOSE, DIFFERS, JUDGED, UNDECIDED, UNVARIED
from rfbench.analysis.verification import Verification
from rfbench.cli.verify import render_rules
from rfbench.pages import index_page, paper, verify
from tests.support.frames import results, verification
from tests.support.papers import A9A, PAPER, eeg, trials
from tests.support.verdicts import CLAIM_VERDICTS, NUMBER_VERDICTS


@pytest.fixture(scope="module")
def everything() -> Verification:
    """Claims that hold, fail and are open; a stand-in, failures, a smoke run, a sweep, checks."""
    failed = [row | {"status": "failed", "trial": 99} for row in eeg(rks=1)]
    news = {"dataset": "news", "n_train": 26561, "n_test": 13083, "M": 200, "sampler": "eerf"}
    blank = {"accuracy": "", "error": "", "relative_squared_error": 0.0163, "r2": 0.01}
    check = {"column": "t_pp", "below": 0.1, "at_each": "M", "source": "Table 3"}
    methods = eeg(rks=68.5, qmc=69.2, leverage_rff=60.0, surrogate_leverage=69.0)
    return verification(
        results(methods + failed, "a", checks=[check, {"column": "kept", "above": 1}], **PAPER),
        results(trials(69.0, n=1, n_train=1000, n_test=1000), "short", **PAPER),
        results(trials(69.0, M=28), "smoky", smoke=True, **PAPER),
        results(trials(69.0, M=28, variant="x=1"), "swept", **PAPER),
        results(trials(83, **A9A | {"M": 100}), "adult", paper="lkrf2016", item="table1"),
        results(trials(0, **news, **blank), "news", paper="eerf2018", item="table3"),
        results([{}], "own"),
    )


@pytest.mark.parametrize("what", ["everything", "nothing"])
def test_each_template_renders_without_placeholders_or_blank_lines(
    everything: Verification, what: str, tmp_path: Path
) -> None:
    found = everything if what == "everything" else verification()
    for page in (
        paper.render_paper_page(found, "liu2020", tmp_path),
        index_page.render_index_page(found, [tmp_path], tmp_path, ["liu2020"]),
        verify.render_verification(found, width=100),
        verify.render_verification(found, claims_only=True, width=40),
    ):
        assert "{" not in page
        assert "None" not in page
        assert "nan" not in page.split()
        assert page.endswith("\n")
        assert not page.endswith("\n\n")
        assert "\n\n\n" not in page


def test_glossary_defines_each_verdict_and_each_page_links_to_it() -> None:
    results = Path(rfbench.__file__).parents[1] / "results"
    words = re.findall(
        r"^\| ([\w ]+?)(?: \(`\w+`\))? \|", (results / "glossary.md").read_text(), re.M
    )
    words = [word for word in words if word != "Term"]
    assert len(words) == len(set(words)) > 30
    judged = {
        word.removesuffix(UNVARIED).removesuffix(" on what is not printed") for word in JUDGED
    }
    assert {AGREES, CLOSE, UNDECIDED, DIFFERS, *judged} <= set(words)
    pages = [page for page in results.rglob("*.md") if "published" not in page.parts]
    by_hand = {"errata.md", "glossary.md", "bench.md"}
    missing = [p for p in pages if "glossary.md" not in p.read_text() and p.name not in by_hand]
    assert not missing


def test_printed_rules_define_each_verdict() -> None:
    for word in (*NUMBER_VERDICTS, *CLAIM_VERDICTS):
        assert f"  {word.removesuffix(UNVARIED)}: " in render_rules()
    assert f'"{UNVARIED.strip(", ")}" marks' in render_rules()
    assert "{" not in render_rules()


def test_verify_output_fits_the_terminal_width(everything: Verification) -> None:
    lines = verify.render_verification(everything, width=60).splitlines()
    assert max(map(len, lines)) <= 60
