"""The papers: what they print, claim and leave open, one folder each.

A folder beside this file that holds a paper.yaml is a paper; README.md says how to add one. Papers
of other folders are known within `include`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from rfbench.errors import ResultsError, make_unknown_error
from rfbench.papers import outside
from rfbench.papers.models import (
    MATCHED,
    PRINTED,
    TUNED,
    Choices,
    Claim,
    Folder,
    Paper,
    Published,
    Source,
)
from rfbench.papers.reader import read_all

PROTOCOLS = (PRINTED, MATCHED, TUNED)


_OUTSIDE: ContextVar[Mapping[str, Folder]] = ContextVar("_OUTSIDE", default={})  # noqa: B039


@cache
def _read_shipped() -> Mapping[str, Folder]:
    return read_all(resources.files(__package__))


def read_library() -> Mapping[str, Folder]:
    """Return the papers by their short names: those of rfbench, the newest first, then others."""
    return {**_read_shipped(), **_OUTSIDE.get()}


@contextmanager
def include(paths: Iterable[Path], *, allow_imports: bool = False) -> Iterator[list[str]]:
    """Make papers outside of rfbench known for the time of a ``with``.

    Parameters
    ----------
    paths : iterable of Path
        Folders of papers, or folders that contain such folders. The folders of the entry points
        ``rfbench.papers`` are added.
    allow_imports : bool
        Whether their claims.py may be run.

    Yields
    ------
    list of str
        One message per folder that is left out because it cannot be read.

    Raises
    ------
    ResultsError
        There is no paper at a path.
    """
    folders = [folder for path in paths for folder in outside.find_folders(path)]
    every = [*folders, *outside.list_installed()]
    found, problems = outside.read_outside(every, _read_shipped(), allow_imports)
    token = _OUTSIDE.set(found)
    try:
        yield problems
    finally:
        _OUTSIDE.reset(token)


def list_papers() -> list[str]:
    """Return the short names of the papers of rfbench, the newest first."""
    return [name for name, folder in read_library().items() if not folder.outside]


def list_outside() -> list[str]:
    """Return the short names of the papers that are not part of rfbench, see `include`."""
    return [name for name, folder in read_library().items() if folder.outside]


def check_paper(name: str) -> str:
    """Return the name of a paper; ResultsError with the nearest one if there is no such paper."""
    if name not in read_library():
        todo = "A paper of your own: name its folder with --papers."
        raise make_unknown_error("paper", name, read_library(), ResultsError, todo)
    return name


def find_folder(name: str) -> Folder:
    """Return all that is known of a paper; raises as `check_paper`."""
    return read_library()[check_paper(name)]


def find_paper(name: str) -> Paper:
    """Return what the paper.yaml of a paper says; ResultsError if there is no such paper."""
    return find_folder(name).paper


def list_published() -> tuple[Published, ...]:
    """Return every published number, in the order of the papers' tables."""
    return tuple(
        number for paper_folder in read_library().values() for number in paper_folder.published
    )


def list_claims() -> tuple[Claim, ...]:
    """Return the claims of the papers, sorted by their ids; those of one id by their papers."""
    every = [claim for paper_folder in read_library().values() for claim in paper_folder.claims]
    return tuple(sorted(every, key=lambda claim: _natural(claim.id)))


def find_settings_class(name: str, protocol: str) -> str:
    """Return where the settings of a protocol come from, see `rfbench.papers.models.Provenance`.

    A protocol that the paper's folder does not know is a class of its own.
    """
    return str(find_paper(name).provenance.settings.get(protocol, protocol))


def find_claim_order(claim: Claim) -> str:
    """Return whether the form of a claim was committed before its first rows, or after.

    As git has it, see `rfbench.papers.models.Committed`; ``after`` where the claim itself says so.
    """
    if claim.bounds:
        return claim.bounds
    lines = find_folder(claim.paper).history
    return next((x.order for x in lines if (x.kind, x.name) == ("claim", claim.id)), "unknown")


def format_claim_name(claim: Claim) -> str:
    """Return the id of a claim, behind the name of its paper where another paper has the id too."""
    shipped = {*list_papers(), claim.paper}  # the names of these do not depend on other papers
    alike = {other.paper for other in list_claims() if other.id == claim.id}
    others = (alike & shipped) - {claim.paper}
    return f"{claim.paper} {claim.id}" if others else claim.id


def _natural(name: str) -> tuple[str, int]:
    letters, digits = re.fullmatch(r"(.*?)(\d*)", name).groups()  # type: ignore[union-attr]
    return letters, int(digits or 0)


def read_authors_settings(name: str, dataset: str, label: str) -> tuple[dict[str, Any], ...]:
    """Return the settings of the authors' own runs, fold by fold: M, alpha, parameters.

    Parameters
    ----------
    name : str
        The paper; ResultsError if there is none.
    dataset : str
        As the catalogue calls it.
    label : str
        Of the method; without rows of it nothing is returned.
    """
    paper_folder = find_folder(name)
    names = {
        key for key, source in paper_folder.paper.datasets.items() if source.dataset == dataset
    }
    return tuple(
        row.settings for row in paper_folder.rows if row.dataset in names and row.method == label
    )


def list_sources() -> dict[str, dict[str, Source]]:
    """Return the data sets of each paper by the names that the paper gives them."""
    return {name: paper_folder.paper.datasets for name, paper_folder in read_library().items()}


def list_gaps(paper: str, apart: bool = False) -> tuple[str, ...]:
    """Return the choices that fill a gap of the paper's text; the others contradict it.

    With `apart`, only those of them that an audit varies with ``--gaps`` alone.
    """
    paper_folder = find_folder(paper)
    names = paper_folder.apart if apart else (*paper_folder.gaps, *paper_folder.apart)
    return tuple(dict.fromkeys(names))


def list_open_choices(paper: str, items: Sequence[str], dataset: str) -> Choices:
    """Return what a paper leaves open for any of some items and a data set, as it calls that.

    The most specific entry of its open_choices.yaml wins, choice by choice.
    """
    left_open: Choices = {}
    entries = find_folder(paper).open_choices
    for place in sorted(entries, key=lambda place: (place != "all", place.count("/"))):
        named, _, data = place.partition("/")
        of_items = place == "all" or not set(items).isdisjoint(named.split(","))
        if of_items and data in ("", dataset):
            left_open |= entries[place]
    return left_open
