"""One concept has one word: pages use the glossary's word, and no synonym of `synonyms.csv`."""

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# A synonym as a regular expression, the word of the glossary for it, whether the papers' pages are
# held to it too, and a phrase with the synonym.
with Path(__file__).with_name("synonyms.csv").open(encoding="utf-8", newline="") as file:
    SYNONYMS = list(csv.DictReader(file))
# errata.md quotes earlier pages.
PAGES = [file for file in sorted((ROOT / "results").glob("*.md")) if file.name != "errata.md"]
PAGES += [ROOT / "README.md", ROOT / "configs" / "README.md"]
PAPERS = sorted((ROOT / "results" / "papers").glob("*.md"))


def read_prose(text: str) -> str:
    """Return the text of a page of Markdown without code, names of files and targets of links."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    text = re.sub(r"^    .*$", "", text, flags=re.M)
    text = re.sub(r"`[^`\n]*`", " ", re.sub(r"\]\([^)]*\)", "]", text))
    text = re.sub(r"\[[^\]]*\.\w+\]", " ", text)
    return " ".join(text.split())


def find_synonyms(text: str, of_papers: bool = False) -> list[tuple[str, str]]:
    """Return the synonyms in the prose of a page, each with the word that takes its place."""
    return [
        (found.group(), line["word"])
        for line in SYNONYMS
        if line["papers"] == "yes" or not of_papers
        for found in re.finditer(rf"\b(?:{line['synonym']})\b", read_prose(text), re.I)
    ]


@pytest.mark.parametrize("page", [*PAGES, *PAPERS], ids=lambda page: page.name)
def test_page_uses_the_terms_of_the_glossary(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if page.name == "changed_claims.md":  # its table quotes the first forms
        text = re.sub(r"^\|.*$", "", text, flags=re.M)
    assert find_synonyms(text, of_papers=page in PAPERS) == []


@pytest.mark.parametrize("line", SYNONYMS, ids=lambda line: line["word"])
def test_synonym_is_detected_and_its_term_is_in_the_glossary(line: dict[str, str]) -> None:
    glossary = (ROOT / "results" / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^\| ([^|(]+?) (?:\([^|]*\) )?\|", glossary, re.M)
    assert line["word"] in words
    assert line["word"] in [word for _, word in find_synonyms(line["found"].replace("`", ""))]


def test_synonyms_in_code_and_link_targets_are_ignored() -> None:
    text = (
        "`dataset` [here](datasets.md)\n\n    dataset: x\n\n```yaml\ndataset: y\n```\nThe datasets."
    )
    assert find_synonyms(text) == [("datasets", "data set")]
