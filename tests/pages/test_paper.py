"""The page of each paper: short, said once, and nothing that is judged is missing."""

import io
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rfbench import papers
from rfbench.analysis import verdict_counts, verdicts
from rfbench.analysis.verification import Verification
from rfbench.pages import paper, paper_numbers
from rfbench.pages.claims import format_verdict
from tests.support.frames import results, verification
from tests.support.paper_rules import check_result
from tests.support.papers import PAPER, eeg, trials

FOLDER = Path(__file__).parents[2] / "results" / "papers"
PAGES = sorted(FOLDER.glob("*.md"))
# From the issue that asked for short pages.
MAX_PAGE, MAX_WORDS = 120, 8
named = pytest.mark.parametrize("name", papers.list_papers())


def read_table(page: str, head: str) -> list[list[str]]:
    """Return the cells of the table whose head begins with a text, without the head."""
    lines = page.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {head}"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return rows


def read_csv(name: str) -> pd.DataFrame:
    return pd.read_csv(FOLDER / name, keep_default_na=False, na_values=[""])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_of_each_paper_is_short_and_begins_with_the_result(page: Path) -> None:
    assert {each.stem for each in PAGES} == set(papers.list_papers())
    lines = page.read_text().splitlines()
    assert len(lines) <= MAX_PAGE
    assert lines[2].startswith("**Result.** ")
    assert not re.search(
        r"Unjudged comparisons|Not compared on|\bt_(pp|test|train)\b \|", str(lines)
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_of_a_paper_repeats_no_sentence(page: Path) -> None:
    text = page.read_text()
    parts = re.split(r"(?<=[.;:!?])\s+|\n|(?<!\\)\|", text)
    said = Counter(part.strip(" .;:*-") for part in parts if len(part.split()) >= MAX_WORDS)
    assert not [part for part, n in said.items() if n > 1]


@named
def test_each_judged_number_is_in_the_csv_of_the_page(
    name: str, every_published: Verification
) -> None:
    """With its interval and its verdict, as the ledger counts it."""
    entries = verdict_counts.list_published_numbers(every_published)
    own = entries[(entries["paper"] == name) & entries["verdict"].isin(verdicts.COMPARED)]
    if own.empty:
        assert name in {"rfrboost2025", "simrf2023", "tefm2015"}
        return
    key = ["table", "data_set", "method", "M", "measure", "settings"]
    file = pd.read_csv(FOLDER / f"{name}_numbers.csv", dtype={"M": str}, keep_default_na=False)
    file = file[file["substitute"] == ""].set_index(key)
    assert file.index.is_unique
    for line in own.to_dict("records"):
        found = file.loc[
            tuple(line[k] for k in ("item", "dataset", "method", "M", "metric", "protocol"))
        ]
        assert found["verdict"] == line["verdict"]
        wanted = [line["published"], line["measured"], line["difference"]]
        written = [float(found[k]) for k in ("published", "measured", "difference")]
        np.testing.assert_allclose(written, wanted, rtol=1e-5, atol=1e-9)
        ends = float(found["interval_low"]), float(found["interval_high"])
        if not np.isnan(line["half_width"]):
            assert np.mean(np.diff(ends)) / 2 == pytest.approx(line["half_width"], rel=1e-3)
    page = (FOLDER / f"{name}.md").read_text()
    assert f"]({name}_numbers.csv)" in page


@named
def test_each_published_number_has_a_line_in_the_csv(name: str) -> None:
    numbers = [n for n in papers.list_published_numbers() if n.paper == name]
    if numbers:
        file = read_csv(f"{name}_numbers.csv").astype({"M": str})
        lines = set(
            zip(file["table"], file["data_set"], file["method"], file["measure"], strict=True)
        )
        assert {(n.item, n.dataset, n.method, n.metric) for n in numbers} == lines


def test_csv_of_a_paper_contains_all_runs_of_its_authors(every_published: Verification) -> None:
    authors = every_published.authors
    file = read_csv("rfrboost2025_numbers.csv")
    assert len(file) == len(authors) > 60
    assert list(file["verdict"]) == ["not judged" if a.beside else a.verdict for a in authors]
    same = file["compared_on"] == "same rows"
    page = (FOLDER / "rfrboost2025.md").read_text()
    of = f"**{file['folds_equal'][same].sum():.0f} of {file['folds'][same].sum()} folds**"
    assert of in page.splitlines()[2]


@named
def test_totals_of_a_page_equal_those_of_the_ledger(
    name: str, every_published: Verification
) -> None:
    entries = verdict_counts.list_published_numbers(every_published)
    counts = [
        each
        for paper, each in verdict_counts.count_by_paper(entries, verdict_counts.OF_NUMBERS)
        if paper == name
    ]
    page = (FOLDER / f"{name}.md").read_text()
    rows = read_table(page, "our settings") if counts else []
    assert len(rows) == len(counts)
    for (label, *cells), each in zip(rows, counts, strict=True):
        assert label.startswith(paper_numbers.find_settings_label(each.of[1]))
        of = each.decidable_count
        wanted = [
            each.n_compared,
            *(each[v] for v in verdicts.COMPARED),
            of.n_compared,
            of.n_agreeing_or_close,
        ]
        wanted += [of["undecided"], of["differs"], each.unspread]
        assert list(map(int, cells)) == wanted
        assert f"**{each.n_agreeing_or_close} of {each.n_compared}**" in page.splitlines()[2]


@named
def test_each_claim_has_a_line_with_its_verdicts(name: str, every_published: Verification) -> None:
    page = (FOLDER / f"{name}.md").read_text()
    rows = {row[0].partition(":")[0].split()[0]: row for row in read_table(page, "claim")}
    outcomes = [o for o in every_published.outcomes if o.claim.paper == name]
    assert {o.claim.id for o in outcomes} == {key.rpartition(" ")[2] for key in rows}
    for outcome in outcomes:
        if outcome.claim.is_judged and outcome.protocol and outcome.comparisons:
            line = " ".join(rows[outcome.claim.id])
            if outcome.verdict != verdicts.SHOWN:
                assert format_verdict(outcome) in line
                counted = f"{outcome.n_inside_bounds} inside, {outcome.n_outside_bounds} outside"
                assert counted in line
    (summary,) = re.findall(r"^\*\*Claims\.\*\* .*", page, re.M)
    entries = verdict_counts.list_judged_claims(outcomes)
    for each in verdict_counts.count_claims(outcomes):
        assert paper_numbers.find_settings_label(each.of[2]) in summary
    ran = entries[entries["verdict"] != verdicts.NOT_RUN]
    counted = [int(n) for n in re.findall(r" for (\d+) claims?\b", summary)]
    assert sum(counted) == len(ran)


@named
def test_each_comparison_of_a_claim_is_in_the_csv(name: str, every_published: Verification) -> None:
    outcomes = [o for o in every_published.outcomes if o.claim.paper == name]
    file = read_csv(f"{name}_claims.csv")
    for outcome in outcomes:
        here = file[(file["claim"] == outcome.claim.id) & (file["settings"] == outcome.protocol)]
        assert len(here) == len(outcome.comparisons)
        if outcome.claim.is_judged:
            sides = Counter(here["side"])
            assert (sides["inside"], sides["outside"]) == (
                outcome.n_inside_bounds,
                outcome.n_outside_bounds,
            )
            assert set(here["verdict"]) <= {outcome.label}


@named
def test_page_names_the_unstated_settings_that_an_audit_kept_fixed(
    name: str, every_published: Verification
) -> None:
    """A verdict had the mark "not varied", and the row of its audit named no setting."""
    page = (FOLDER / f"{name}.md").read_text()
    for outcome in every_published.outcomes:
        if outcome.claim.paper != name or outcome.protocol != papers.PRINTED:
            continue
        for comparison in outcome.comparisons:
            fixed = comparison.over_gaps.fixed if comparison.over_gaps else ()
            label = f"[claim {outcome.claim.id}, {comparison.target}]"
            for line in page.splitlines():
                if label in line:
                    assert all(setting in line.split("|")[3] for setting in fixed)


def of_sizes(*sizes: int, **accuracies: float) -> list[dict[str, object]]:
    """Return rows of EEG as printed."""
    return [row | {"M": M, "protocol": "printed"} for M in sizes for row in eeg(**accuracies)]


def test_numbers_of_one_feature_count_share_a_line_on_the_paper_page() -> None:
    """24 numbers of EEG: a line per size; a subset of EEG has none."""
    sizes = (14, 28, 56, 112, 224, 448)
    made = of_sizes(*sizes, rks=68.6, qmc=75.0, leverage_rff=69.0, surrogate_leverage=69.0)
    other = results(trials(60.0, n_test=9), "part", **PAPER)
    page = paper.render_paper_page(
        verification(results(made, "a", **PAPER), other), "liu2020", Path()
    )
    rows = read_table(page, "data set, M")
    assert [row[0] for row in rows] == [f"EEG, {M}" for M in sizes]
    assert rows[0][1:3] == ["68.45 → **68.60**", "67.83 → 75.00"]
    assert "60.00" not in page


def test_feature_counts_at_chance_level_share_one_line() -> None:
    made = of_sizes(14, 28, rks=55.2, qmc=56.0) + of_sizes(1792, rks=79.6, qmc=79.4)
    every = ("leverage_rff", "surrogate_leverage")
    sizes = (14, 28, 56, 112, 224, 448)
    made += of_sizes(*sizes, **dict.fromkeys(every, 55.0)) + of_sizes(56, 112, rks=55.0, qmc=55.0)
    page = paper.render_paper_page(verification(results(made, **PAPER)), "liu2020", Path())
    rows = read_table(page, "data set, M")
    assert [row[0] for row in rows] == ["EEG, 14 to 448: at chance", "EEG, 1792"]
    assert rows[0][1] == "68.45–76.96 → 55.00–55.20"


def test_number_without_rows_is_not_run_in_the_csv() -> None:
    held = verification(results(trials(68.6), "a", **PAPER))
    text = paper.render_csv_files(held, "liu2020")["liu2020_numbers.csv"]
    file = pd.read_csv(io.StringIO(str(text)))
    own = file[(file["data_set"] == "magic04") & (file["unit"] == "%")]
    assert len(own) == 32
    assert set(own["verdict"]) == {"not run"}
    assert paper.render_csv_files(held, "orf2016") == {
        "orf2016_numbers.csv": None, "orf2016_claims.csv": None,
    }  # fmt: skip


@named
def test_result_sentence_of_a_paper_names_only_its_own_claims(name: str) -> None:
    check_result(name)
