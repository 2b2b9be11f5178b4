"""Papers that rfbench checks: published numbers, claims, and settings that a paper does not state.

Each paper has a folder next to this file, which contains a paper.yaml. README.md explains how to
add a paper. `include_external_papers` adds papers from other folders.
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
from rfbench.papers.reader import read_papers

PROTOCOLS = (PRINTED, MATCHED, TUNED)


_OUTSIDE: ContextVar[Mapping[str, Folder]] = ContextVar("_OUTSIDE", default={})  # noqa: B039


@cache
def _read_shipped() -> Mapping[str, Folder]:
    return read_papers(resources.files(__package__))


def read_known_papers() -> Mapping[str, Folder]:
    """Return all papers by short name: first the papers of rfbench, then papers that users added.

    The newest papers of rfbench come first.
    """
    return {**_read_shipped(), **_OUTSIDE.get()}


@contextmanager
def include_external_papers(
    paths: Iterable[Path], *, allow_imports: bool = False
) -> Iterator[list[str]]:
    """Make papers that are not part of rfbench available within a ``with`` statement.

    Parameters
    ----------
    paths : iterable of Path
        Folders of papers, or folders that contain folders of papers. The folders that installed
        packages name in the entry points ``rfbench.papers`` are added.
    allow_imports : bool
        True if the claims.py of these papers may be run.

    Yields
    ------
    list of str
        One message for each folder that cannot be read and is therefore left out.

    Raises
    ------
    ResultsError
        If a path contains no paper.
    """
    folders = [folder for path in paths for folder in outside.find_paper_folders(path)]
    every = [*folders, *outside.list_installed_papers()]
    found, problems = outside.read_external_papers(every, _read_shipped(), allow_imports)
    token = _OUTSIDE.set(found)
    try:
        yield problems
    finally:
        _OUTSIDE.reset(token)


def list_papers() -> list[str]:
    """Return the short names of the papers of rfbench, the newest first."""
    return [name for name, folder in read_known_papers().items() if not folder.is_external]


def list_external_papers() -> list[str]:
    """Return the short names of the papers that `include_external_papers` has added."""
    return [name for name, folder in read_known_papers().items() if folder.is_external]


def check_paper_name(name: str) -> str:
    """Return the name unchanged. Raise ResultsError if no paper has this name."""
    if name not in read_known_papers():
        todo = "Name the folder of your own paper with --papers."
        raise make_unknown_error("paper", name, read_known_papers(), ResultsError, todo)
    return name


def find_paper_files(name: str) -> Folder:
    """Return the content of all files in the folder of a paper.

    Raise ResultsError if the paper is unknown.
    """
    return read_known_papers()[check_paper_name(name)]


def find_paper(name: str) -> Paper:
    """Return the content of the file paper.yaml of a paper.

    Raise ResultsError if the paper is unknown.
    """
    return find_paper_files(name).paper


def list_published_numbers() -> tuple[Published, ...]:
    """Return the published numbers of all papers, in the order of the papers' tables."""
    return tuple(
        number for paper_folder in read_known_papers().values() for number in paper_folder.published
    )


def list_claims() -> tuple[Claim, ...]:
    """Return the claims of all papers, sorted by their ids."""
    every = [
        claim for paper_folder in read_known_papers().values() for claim in paper_folder.claims
    ]
    return tuple(sorted(every, key=lambda claim: _natural(claim.id)))


def find_settings_class(name: str, protocol: str) -> str:
    """Return the source of the settings under a protocol, such as ``text`` or ``code``.

    A protocol is a name in the configuration of a run. `rfbench.papers.models.Provenance` describes
    the sources. For a protocol that the paper's folder does not list, the name of the protocol is
    returned.
    """
    return str(find_paper(name).provenance.settings.get(protocol, protocol))


def find_commit_order_of_claim(claim: Claim) -> str:
    """Return the order in which a claim and its first rows were committed, such as ``before``.

    ``before`` means that the git commit of the claim precedes the commit of the first result rows
    that test it. The order is read from the file history.csv of the paper (see
    `rfbench.papers.models.Committed`). It is ``after`` if the claim has the key ``bounds: after``.
    """
    if claim.bounds:
        return claim.bounds
    lines = find_paper_files(claim.paper).history
    return next((x.order for x in lines if (x.kind, x.name) == ("claim", claim.id)), "unknown")


def format_claim_name(claim: Claim) -> str:
    """Return the displayed name of a claim.

    The name is the id of the claim, after the name of the paper if a different paper has the same
    id.
    """
    # Compare the id only with the claims of papers in rfbench. Then the name of such a claim does
    # not change if the user adds a paper.
    shipped = {*list_papers(), claim.paper}
    alike = {other.paper for other in list_claims() if other.id == claim.id}
    others = (alike & shipped) - {claim.paper}
    return f"{claim.paper} {claim.id}" if others else claim.id


def _natural(name: str) -> tuple[str, int]:
    letters, digits = re.fullmatch(r"(.*?)(\d*)", name).groups()  # type: ignore[union-attr]
    return letters, int(digits or 0)


def read_authors_settings(name: str, dataset: str, label: str) -> tuple[dict[str, Any], ...]:
    """Return the settings of the authors' own runs of a method, one dictionary per fold.

    Parameters
    ----------
    name : str
        Name of the paper; an unknown name raises ResultsError.
    dataset : str
        Name of the data set in the catalog.
    label : str
        Label of the method. The result is empty if the method has no rows.

    Returns
    -------
    tuple of dict
        Settings of each fold: M, the penalty `alpha`, and parameters of the sampler.
    """
    paper_folder = find_paper_files(name)
    names = {
        key for key, source in paper_folder.paper.datasets.items() if source.dataset == dataset
    }
    return tuple(
        row.settings for row in paper_folder.rows if row.dataset in names and row.method == label
    )


def list_data_sets_of_papers() -> dict[str, dict[str, Source]]:
    """Return the data sets of each paper.

    The keys of each value are the names that the paper uses for the data sets.
    """
    return {name: paper_folder.paper.datasets for name, paper_folder in read_known_papers().items()}


def list_unstated_settings(paper: str, apart: bool = False) -> tuple[str, ...]:
    """Return the names of the settings that the text of a paper does not state.

    Settings of ours that contradict the text are not returned. With `apart`, return only the
    unstated settings that are varied by ``rfbench audit --gaps`` alone.
    """
    paper_folder = find_paper_files(paper)
    names = paper_folder.apart if apart else (*paper_folder.gaps, *paper_folder.apart)
    return tuple(dict.fromkeys(names))


def list_open_choices(paper: str, items: Sequence[str], dataset: str) -> Choices:
    """Return the alternative values of settings that a paper leaves open.

    Values are returned for one data set and for the tables or figures in `items`. `dataset` is the
    paper's name of the data set. If open_choices.yaml has several entries for a setting, the most
    specific entry is used.
    """
    left_open: Choices = {}
    entries = find_paper_files(paper).open_choices
    for place in sorted(entries, key=lambda place: (place != "all", place.count("/"))):
        named, _, data = place.partition("/")
        of_items = place == "all" or not set(items).isdisjoint(named.split(","))
        if of_items and data in ("", dataset):
            left_open |= entries[place]
    return left_open
