"""Results that were not compared with numbers of a paper, and the reasons."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rfbench import papers, shipped
from rfbench.analysis.verification import Verification
from rfbench.results import Results

NO_PAPER, UNKNOWN_PAPER, CHANGED, STALE = "no paper", "unknown paper", "changed", "stale"
OTHER_DATA, NO_NUMBER = "other data", "no number"


@dataclass(frozen=True)
class UncomparedNumber:
    """Results that were not compared with a paper, all for the same reason.

    Attributes
    ----------
    names : tuple of str
        Names of the runs whose results were not compared.
    cause : str
        The reason, one of the constants of this module.
    paper : str
        Name of the paper in the configuration of the results; empty if it names no paper.
    found : tuple of str
        Data sets, changed settings, or table of the results, depending on the cause.
    expected : tuple of str
        Data sets of the paper.
    """

    names: tuple[str, ...]
    cause: str
    paper: str = ""
    found: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()


def list_uncompared_results(
    held: Verification, others: Iterable[Verification] = ()
) -> list[UncomparedNumber]:
    """Return the results that were not compared with a paper, with the reasons.

    `held` is the comparison with the papers of rfbench, and `others` are comparisons of the same
    results with papers that are not part of rfbench. Smoke runs, sweeps and the published results
    of rfbench are left out, as are results of papers that no comparison covers.
    """
    every = [held, *others]
    compared = {
        str(folder)
        for each in every
        for folder in each.numbers.loc[each.numbers["trials"] > 0, "folder"]
    }
    claimed = {o.claim.paper for each in every for o in each.outcomes if o.protocol}
    library = papers.read_known_papers()
    empty = {name for name, folder in library.items() if not (folder.published or folder.claims)}
    asked = empty | {o.claim.paper for each in every for o in each.outcomes}
    asked |= {str(name) for each in every for name in each.numbers["paper"].unique()}
    published = shipped.find_published_folder()
    seen: dict[UncomparedNumber, list[str]] = {}
    for results in held.selection.collection.experiments:
        own = not (published and results.folder.resolve().is_relative_to(published.resolve()))
        swept = (results.rows["variant"] != "").all()
        named = results.config.get("paper")
        own &= named in asked if named in library else asked.issuperset(papers.list_papers())
        if own and not results.is_smoke_run and not swept and results.path not in compared:
            cause = _find_cause(held, results)
            if cause.cause != NO_NUMBER or cause.paper not in claimed:
                seen.setdefault(cause, []).append(results.name)
    return [
        UncomparedNumber(tuple(names), each.cause, each.paper, each.found, each.expected)
        for each, names in seen.items()
    ]


def _find_cause(held: Verification, results: Results) -> UncomparedNumber:
    paper, groups = str(results.config.get("paper") or ""), held.selection.collection.groups
    here = groups[groups["folder"] == results.path]
    if not paper:
        return UncomparedNumber((), NO_PAPER)
    if paper not in papers.read_known_papers():
        return UncomparedNumber((), UNKNOWN_PAPER, paper)
    if here["stale"].all():
        return UncomparedNumber(
            (), CHANGED if results.changed_settings else STALE, paper, results.changed_settings
        )
    if not (held.selection.matching_groups["folder"] == results.path).any():
        expected = {source.dataset: None for source in papers.find_paper(paper).datasets.values()}
        return UncomparedNumber(
            (), OTHER_DATA, paper, tuple(here["source"].unique()), tuple(expected)
        )
    return UncomparedNumber((), NO_NUMBER, paper, (str(results.config.get("item")),))
