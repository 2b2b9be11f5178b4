"""The papers: their published numbers, claims and open choices, with a folder per paper.

Each folder next to this file with a paper.yaml is a paper. README.md explains how to add one.
`include` adds papers of other folders.
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
    """Make papers outside of rfbench available within a ``with`` statement.

    Parameters
    ----------
    paths : iterable of Path
        Folders of papers, or folders that contain such folders. The folders of the entry points
        ``rfbench.papers`` are added.
    allow_imports : bool
        True if the claims.py of these papers may be run.

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
    """Return the short names of the papers that `include` has added to the papers of rfbench."""
    return [name for name, folder in read_library().items() if folder.outside]


def check_paper(name: str) -> str:
    """Return the name of a paper; raise ResultsError with the nearest name if it is unknown."""
    if name not in read_library():
        todo = "Name the folder of your own paper with --papers."
        raise make_unknown_error("paper", name, read_library(), ResultsError, todo)
    return name


def find_folder(name: str) -> Folder:
    """Return the content of all files of a paper; raise ResultsError for an unknown paper."""
    return read_library()[check_paper(name)]


def find_paper(name: str) -> Paper:
    """Return the content of paper.yaml of a paper; raise ResultsError for an unknown paper."""
    return find_folder(name).paper


def list_published() -> tuple[Published, ...]:
    """Return every published number, in the order of the papers' tables."""
    return tuple(
        number for paper_folder in read_library().values() for number in paper_folder.published
    )


def list_claims() -> tuple[Claim, ...]:
    """Return the claims of all papers, sorted by id and paper."""
    every = [claim for paper_folder in read_library().values() for claim in paper_folder.claims]
    return tuple(sorted(every, key=lambda claim: _natural(claim.id)))


def find_settings_class(name: str, protocol: str) -> str:
    """Return the class of the settings of a protocol. See `rfbench.papers.models.Provenance`.

    A protocol that is not in the paper's folder is its own class.
    """
    return str(find_paper(name).provenance.settings.get(protocol, protocol))


def find_claim_order(claim: Claim) -> str:
    """Return the order of the commits of a claim's form and of its first rows.

    The order comes from git, see `rfbench.papers.models.Committed`; it is ``after`` if the claim
    itself declares so.
    """
    if claim.bounds:
        return claim.bounds
    lines = find_folder(claim.paper).history
    return next((x.order for x in lines if (x.kind, x.name) == ("claim", claim.id)), "unknown")


def format_claim_name(claim: Claim) -> str:
    """Return the id of a claim, with the name of its paper if another paper has the same id."""
    shipped = {*list_papers(), claim.paper}  # the names of these do not depend on other papers
    alike = {other.paper for other in list_claims() if other.id == claim.id}
    others = (alike & shipped) - {claim.paper}
    return f"{claim.paper} {claim.id}" if others else claim.id


def _natural(name: str) -> tuple[str, int]:
    letters, digits = re.fullmatch(r"(.*?)(\d*)", name).groups()  # type: ignore[union-attr]
    return letters, int(digits or 0)


def read_authors_settings(name: str, dataset: str, label: str) -> tuple[dict[str, Any], ...]:
    """Return the settings of the authors' own runs for each fold: M, alpha and parameters.

    Parameters
    ----------
    name : str
        Name of the paper; an unknown name raises ResultsError.
    dataset : str
        Name of the data set in the catalog.
    label : str
        Label of the method. The result is empty if it has no rows.

    Returns
    -------
    tuple of dict
        Settings of each fold.
    """
    paper_folder = find_folder(name)
    names = {
        key for key, source in paper_folder.paper.datasets.items() if source.dataset == dataset
    }
    return tuple(
        row.settings for row in paper_folder.rows if row.dataset in names and row.method == label
    )


def list_sources() -> dict[str, dict[str, Source]]:
    """Return the data sets of each paper, by the names in the paper."""
    return {name: paper_folder.paper.datasets for name, paper_folder in read_library().items()}


def list_gaps(paper: str, apart: bool = False) -> tuple[str, ...]:
    """Return the choices that fill gaps in the paper's text; all other choices contradict the text.

    With `apart`, return only the choices that an audit varies with ``--gaps`` alone.
    """
    paper_folder = find_folder(paper)
    names = paper_folder.apart if apart else (*paper_folder.gaps, *paper_folder.apart)
    return tuple(dict.fromkeys(names))


def list_open_choices(paper: str, items: Sequence[str], dataset: str) -> Choices:
    """Return the open choices of a paper for any of `items` and a data set (with the paper's name).

    The most specific entry of its open_choices.yaml has priority, separately for each choice.
    """
    left_open: Choices = {}
    entries = find_folder(paper).open_choices
    for place in sorted(entries, key=lambda place: (place != "all", place.count("/"))):
        named, _, data = place.partition("/")
        of_items = place == "all" or not set(items).isdisjoint(named.split(","))
        if of_items and data in ("", dataset):
            left_open |= entries[place]
    return left_open
