"""The papers: what they print, claim and leave open, one folder each.

A folder beside this file that holds a paper.yaml is a paper; README.md says how to add one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources

from rfbench.errors import ResultsError, unknown
from rfbench.papers.models import (
    Answer,
    Choices,
    Claim,
    Doubt,
    Folder,
    Layout,
    Paper,
    Published,
    Source,
)
from rfbench.papers.reader import read_all

PROTOCOLS = ("printed", "matched", "tuned")


@cache
def _folders() -> Mapping[str, Folder]:
    return read_all(resources.files(__package__))


def papers() -> list[str]:
    """Return the short names of the papers, the newest first."""
    return list(_folders())


def check_paper(name: str) -> str:
    """Return the name of a paper; ResultsError with the nearest one otherwise."""
    if name not in _folders():
        raise unknown("paper", name, papers(), ResultsError)
    return name


def paper(name: str) -> Paper:
    """Return what the paper.yaml of a paper says; ResultsError if there is no such paper."""
    return _folders()[check_paper(name)].paper


def answer(name: str) -> Answer | None:
    """Return what the authors of a paper answered, if they did."""
    return _folders()[check_paper(name)].answer


def published() -> tuple[Published, ...]:
    """Return every published number, in the order of the papers' tables."""
    return tuple(number for found in _folders().values() for number in found.published)


def claims() -> tuple[Claim, ...]:
    """Return the claims of the papers, sorted by their ids."""
    every = [claim for found in _folders().values() for claim in found.claims]
    return tuple(sorted(every, key=lambda claim: _natural(claim.id)))


def _natural(name: str) -> tuple[str, int]:
    letters, digits = re.fullmatch(r"(.*?)(\d*)", name).groups()  # type: ignore[union-attr]
    return letters, int(digits or 0)


def doubts() -> tuple[Doubt, ...]:
    """Return what does not fit together in the published numbers."""
    return tuple(doubt for found in _folders().values() for doubt in found.paper.doubts)


def sources() -> dict[str, dict[str, Source]]:
    """Return the data sets of each paper by the names that the paper gives them."""
    return {name: found.paper.datasets for name, found in _folders().items()}


def tables() -> dict[tuple[str, str], Layout]:
    """Return the layouts of the papers' tables by paper and item, in the papers' order."""
    return {
        (name, item): layout
        for name, found in _folders().items()
        for item, layout in found.paper.tables.items()
    }


def gaps(paper: str, apart: bool = False) -> tuple[str, ...]:
    """Return the choices that fill a gap of the paper's text; the others contradict it.

    With `apart`, only those of them that an audit varies with ``--gaps`` alone.
    """
    found = _folders()[paper]
    return found.apart if apart else (*found.gaps, *found.apart)


def open_choices() -> dict[str, Choices]:
    """Return what the papers leave open: by paper, paper/item or paper/item/data set."""
    return {
        name if place == "all" else f"{name}/{place}": choices
        for name, found in _folders().items()
        for place, choices in found.open_choices.items()
    }
