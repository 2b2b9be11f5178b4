"""The list of words, and the riddles that are gone."""

import re
from pathlib import Path

import pytest

import rfbench
from rfbench.pages.glossary import page, terms

PACKAGE = Path(rfbench.__file__).parent
ASKED = (
    "protocol", "printed", "matched", "tuned", "stand-in", "at chance",
    "range over unprinted keys", "columns", "features", "M", "t_pp", "knn50", "shared",
    "isolated", "cell", "contract", "shard",
)  # fmt: skip
RIDDLES = (
    "does as well:", "too near to one another", "contradicts nobody", "confirm little",
    "What is more special wins", "takes a choice away",
)  # fmt: skip


@pytest.mark.parametrize("term", ASKED)
def test_every_term_is_explained(term: str) -> None:
    explained = {part for name in terms() for part in re.split(", ", name)}
    assert term in explained


def test_a_meaning_is_a_sentence_and_stands_on_the_page() -> None:
    text = page()
    for term, meaning in terms().items():
        assert meaning.endswith(".")
        assert f"**{term}**: {meaning}" in text


@pytest.mark.parametrize("riddle", RIDDLES)
def test_what_nobody_understood_is_gone(riddle: str) -> None:
    files = [
        file for kind in ("py", "j2", "txt", "yaml", "md") for file in PACKAGE.rglob(f"*.{kind}")
    ]
    assert len(files) > 100
    for file in files:
        assert riddle not in " ".join(file.read_text(encoding="utf-8").split()), file
