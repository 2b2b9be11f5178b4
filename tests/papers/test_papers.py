"""The published numbers and the claims as they are shipped."""

from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from rfbench import datasets, papers
from rfbench.errors import ResultsError
from rfbench.pages.templates import render_template
from rfbench.papers.models import Claim, Paper, Part, Published, parse_numbers
from tests.support.paper_rules import (
    check_numbers,
    check_parts,
    check_sources_of_claims,
    list_unanswered_claims,
    list_unknown_datasets,
)

FOUR = ("liu2020", "eerf2018", "lkrf2016", "tefm2015")
"""The papers whose numbers and claims are counted here; others may come beside them."""


def number(**changes: str) -> Published:
    cell = {
        "paper": "liu2020", "item": "table3", "dataset": "EEG", "method": "rks", "M": "14",
        "metric": "accuracy", "value": "68.45", "spread": "0.89", "spread_kind": "sd",
        "unit": "%", "mark": "", "note": "10 trials",
    }  # fmt: skip
    return Published.model_validate(cell | changes)


def test_published_numbers_pass_the_consistency_checks() -> None:
    check_numbers()
    assert sum(n.mark == "significant" for n in papers.list_published_numbers()) == 12 + 15 + 6


def test_published_numbers_equal_the_quoted_cells_of_their_tables() -> None:
    """The numbers that quote one cell are all the numbers of that cell, in its order."""
    cells: dict[tuple[str, ...], tuple[str, list[float]]] = {}
    for n in (n for n in papers.list_published_numbers() if n.paper in FOUR):
        assert n.checked == "text"
        assert (n.page is None) == (n.paper == "liu2020")
        place = (n.paper, n.item, n.row, n.column)
        assert all(place)
        cell, said = cells.setdefault(place, (n.cell, []))
        assert cell == n.cell
        said += [n.value] if n.spread is None else [n.value, n.spread]
        assert (n.mark == "significant") == ("•" in cell and n.metric == "accuracy")
    assert len(cells) == 28 + 42 + 4 * 29 + 6 + 6
    for cell, said in cells.values():
        assert parse_numbers(cell) == said


@pytest.mark.parametrize("cell", ["68.54±0.89", "0.89±68.45", "68.45", "none"])
def test_cell_that_contradicts_the_value_is_rejected(cell: str) -> None:
    assert number(cell="68.45±0.89 (0.01±0.00)•").cell
    with pytest.raises(ValidationError, match="cell"):
        number(cell=cell)


def test_standard_error_of_a_published_mean_is_computed() -> None:
    assert number().trials == 10
    assert number().standard_error == pytest.approx(0.89 / 10**0.5)
    assert number(spread_kind="se", note="").standard_error == 0.89
    assert number(note="").standard_error is None
    assert number(spread="", spread_kind="").standard_error is None
    assert number(M="best").size is None


def test_data_set_names_are_in_the_catalogue() -> None:
    names = {
        source.dataset
        for named in papers.list_data_sets_of_papers().values()
        for source in named.values()
    }
    stand_ins = {
        s
        for named in papers.list_data_sets_of_papers().values()
        for x in named.values()
        for s in x.stand_ins
    }
    assert list_unknown_datasets() == {"aptamers", "cifar", "gisette", "usps of quffka"}
    assert stand_ins <= set(datasets.list_names())
    assert not {"covtype-20k", "har-train", "news-14k", "cod-rna-train", "reuters21578"} & names


def list_invented_sentences() -> set[str]:
    """Return the sentences and comments of the files that `rfbench new --paper` writes."""
    texts = [
        render_template(f"new_{name}.yaml.j2", folder="mine2026", name="mine2026")
        for name in ("paper", "claims")
    ]
    paper, (claim,) = yaml.safe_load(texts[0]), yaml.safe_load(texts[1])["claims"]
    lines = [line for text in texts for line in text.splitlines() if line.startswith("# ")]
    written = [paper["title"], *paper["authors"], paper["venue"], paper["about"], claim["claim"]]
    written += [*paper["result"].split(". "), claim["strongest_answer"], claim["parts"][0]["says"]]
    return {*lines, *written}


def find_invented_sentences(folder: Path) -> set[str]:
    """Return the invented sentences that are left in the YAML files of a paper."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.yaml")))
    joined = " ".join(text.split())
    return {sentence for sentence in list_invented_sentences() if sentence in joined}


@pytest.mark.parametrize("name", papers.list_papers())
def test_paper_contains_no_placeholder_sentences_of_the_template(name: str) -> None:
    assert not find_invented_sentences(Path(papers.__file__).parent / name)


def test_placeholder_sentences_of_the_template_are_detected(tmp_path: Path) -> None:
    text = render_template("new_paper.yaml.j2", folder="mine2026", name="mine2026")
    (tmp_path / "paper.yaml").write_text(text.replace("An Invented Comparison", "A Comparison"))
    found = find_invented_sentences(tmp_path)
    assert {"Jane Doe", "Richard Roe", "Journal of Invented Results"} < found
    assert not any("Comparison" in sentence for sentence in found)


def test_all_claims_are_listed_with_their_sources() -> None:
    letters = {"E": 6, "L": 7, "S": 6, "T": 5}
    expected = [f"{letter}{i}" for letter, n in letters.items() for i in range(1, n + 1)]
    assert [claim.id for claim in papers.list_claims() if claim.paper in FOUR] == expected
    check_sources_of_claims()


@pytest.mark.parametrize("claim", papers.list_claims(), ids=lambda claim: claim.id)
def test_claims_refer_to_existing_tables_methods_and_data_sets(claim: Claim) -> None:
    check_parts(claim)


def test_judged_claim_requires_bounds_and_shown_claim_has_none() -> None:
    fields = {"id": "X", "paper": "p", "where": "w", "claim": "c", "source": "s"}
    part = Part(says="", items=[], datasets=[], metric="error", method="rks", at="each")
    bounded = part.model_copy(update={"high": 1.0})
    for kind, wrong in (("judged", [part]), ("shown", [bounded]), ("judged", [bounded, part])):
        with pytest.raises(ValidationError, match="bound"):
            Claim(**fields, kind=kind, parts=wrong)
    with pytest.raises(ValidationError, match="parts"):
        Claim(**fields, parts=[])
    tuned = {claim.id for claim in papers.list_claims() if claim.is_judged_under("tuned")}
    assert tuned == {"S6"}, "what says so itself, and nothing else"


def test_each_judged_claim_except_l7_has_an_answer() -> None:
    """Claims of ours and claims that are only shown need none. L7 is the only exception."""
    assert list_unanswered_claims() == {("lkrf2016", "L7")}


def test_unknown_paper_is_reported_with_known_names() -> None:
    with pytest.raises(ResultsError, match="liu2020"):
        papers.check_paper_name("liu2002")


def test_unstated_setting_of_a_paper_is_not_listed_twice() -> None:
    for name in papers.list_papers():
        left_open = papers.list_unstated_settings(name)
        assert len(left_open) == len(set(left_open)), name
        assert set(papers.list_unstated_settings(name, apart=True)) <= set(left_open)


@pytest.mark.parametrize("settings", ["text", "readings"])
def test_settings_taken_from_the_paper_require_its_text_to_be_available(settings: str) -> None:
    paper = papers.find_paper("quadrature2018").model_dump(exclude_unset=True)
    paper["provenance"]["settings"] = {"printed": settings}
    with pytest.raises(ValidationError, match=f"text_at_hand is false.*{settings}"):
        Paper.model_validate(paper)
    assert Paper.model_validate({**paper, "text_at_hand": True}).provenance.settings
