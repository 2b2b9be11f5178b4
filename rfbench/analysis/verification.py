"""Comparison of results folders with the published numbers and the claims of papers."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import papers, slices
from rfbench.analysis import authors_rows, claims, verdicts
from rfbench.analysis.frame import Today, collect_results
from rfbench.analysis.outcomes import Effect, Outcome, Unit, return_comparison_unchanged
from rfbench.analysis.published import compare_published_numbers
from rfbench.analysis.selection import Selection
from rfbench.errors import ResultsError, make_unknown_error
from rfbench.papers.models import PLAIN
from rfbench.results import reader
from rfbench.results.manifest import read_if_valid

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Verification:
    """Result of the comparison of results folders with papers.

    The result contains the compared numbers and the verdicts on claims.
    """

    selection: Selection
    numbers: pd.DataFrame
    outcomes: tuple[Outcome, ...]
    authors: tuple[authors_rows.AuthorsRuns, ...] = ()
    # Folders that were searched for results.
    paths: tuple[Path, ...] = ()
    # Function that returns a comparison with the range of its effect over settings that the paper
    # does not state. The default returns the comparison unchanged.
    unprinted: Effect = return_comparison_unchanged

    @property
    def numbers_on_own_data(self) -> pd.DataFrame:
        """Lines of `numbers` that were measured on the papers' own data, not on other data sets."""
        return self.numbers[~self.numbers["stand_in"]]

    @property
    def papers_of_results(self) -> list[str]:
        """Names of the papers to which any of the results belong. Unknown papers are left out."""
        named = {each.config.get("paper") for each in self.selection.collection.experiments}
        return [name for name in papers.read_known_papers() if name in named]

    def select_papers(self, *names: str) -> Verification:
        """Return a copy with only the compared numbers and the claims of the named papers."""
        return replace(
            self,
            numbers=self.numbers[self.numbers["paper"].isin(names)],
            outcomes=tuple(o for o in self.outcomes if o.claim.paper in names),
            authors=tuple(runs for runs in self.authors if runs.paper in names),
        )

    def find_claim_outcomes(self, name: str) -> list[Outcome]:
        """Return the verdicts on the claim with the id `name`, or ``paper/id``.

        The list has one outcome for each protocol, the source of the settings.

        Raises ResultsError if the claim does not exist.
        """
        named = [o for o in self.outcomes if name in (o.claim.id, "/".join(o.claim.key))]
        if not named:
            raise make_unknown_error(
                "claim", name, {o.claim.id: None for o in self.outcomes}, ResultsError
            )
        return named


def find_claim_folders(
    paths: Iterable[str | Path], name: str, paper: str | None = None
) -> tuple[list[Path], str | None]:
    """Return the results folders that contain the rows of a claim, and the name of its paper.

    `name` is the id of the claim, or ``paper/id``. Folders at or below the paths are searched. If
    no paper has such a claim, the result is all folders and `paper`.

    Raises ResultsError if a path does not exist, or if several papers have a claim with this name
    and `paper` is not given.
    """
    found = reader.find_results_folders(paths)
    of = {c.paper for c in papers.list_claims() if name in (c.id, "/".join(c.key))}
    if paper is not None:
        of &= {paper}
    if not of:
        return found, paper
    if len(of) > 1:
        raise ResultsError(
            f"The claim {name} is ambiguous.",
            f"The papers {', '.join(sorted(of))} have a claim with this name.",
            f"Name the paper, too: --claim {min(of)}/{name}.",
        )
    (paper,) = of
    manifests = ((folder, read_if_valid(folder, [])) for folder in found)
    own = [
        folder
        for folder, content in manifests
        if not content or content.get("config", {}).get("paper") == paper
    ]
    return own or found, paper


def verify_results(
    paths: Iterable[str | Path],
    paper: str | None = None,
    today: Today | None = None,
    *,
    needed: bool = False,
) -> Verification:
    """Compare results in folders with the numbers and claims of one paper, or of all papers.

    Rows that the current configurations do not contain are ignored if the function `today` is
    given, see `rfbench.analysis.frame.collect_results`.

    Raises ResultsError if a path or the paper does not exist, or, with `needed`, if no results can
    be read.
    """
    folders = tuple(map(Path, paths))
    collection = collect_results(folders, today)
    if needed and not collection.experiments:
        raise ResultsError(
            "No results found.",
            " ".join(collection.notes),
            "Name folders that 'rfbench run' wrote, for example results/published.",
        )
    unprinted = next(
        iter(slices.call_hooks("find_unprinted_effects", folders)), return_comparison_unchanged
    )
    return replace(build_verification(Selection(collection), paper, unprinted), paths=folders)


def verify_external_papers(held: Verification) -> dict[str, Verification]:
    """Compare the results with their papers that are not part of rfbench.

    The result has one `Verification` for each name of a paper. If the files of a paper cannot be
    analyzed, the paper is skipped with a warning.
    """
    found = {}
    for name in held.papers_of_results:
        if papers.find_paper_files(name).is_external:
            try:
                found[name] = replace(build_verification(held.selection, name), paths=held.paths)
            # Catch all exceptions, because the files of other users can raise any exception.
            except Exception as error:
                log.warning("%s is left out: %s", name, error)
    return found


def build_verification(
    selection: Selection, paper: str | None = None, unprinted: Effect = return_comparison_unchanged
) -> Verification:
    """Compare loaded results with the published numbers and the claims of one or all papers.

    The function `unprinted` adds to each comparison the range of its effect over the settings that
    the paper does not state.
    """
    numbers = compare_published_numbers(selection, paper)
    outcomes = claims.evaluate_claims(selection, paper, unprinted)
    differences = _differences(numbers)
    return Verification(
        selection,
        numbers,
        tuple(replace(outcome, differing=_differing(differences, outcome)) for outcome in outcomes),
        authors_rows.compare_with_authors_rows(selection, paper),
        unprinted=unprinted,
    )


def _differences(numbers: pd.DataFrame) -> dict[Any, float]:
    """Return the largest absolute difference between measured and published numbers that differ.

    Only numbers with the verdict "differs" are used. The largest difference over sizes is returned
    for each paper, protocol, data set, item (table or figure), method and unit.
    """
    differ = numbers[numbers["verdict"] == verdicts.DIFFERS]
    plain, size = differ["unit"] == PLAIN, differ["difference"].abs()
    size = size.where(~plain, 100 * size / differ["published"])
    units = plain.map({True: "%", False: "points"})
    by = [*(differ[name] for name in ("paper", "protocol", "dataset", "item", "method")), units]
    return size.groupby(by).max().to_dict()


def _differing(
    differences: Mapping[Any, float], outcome: Outcome
) -> tuple[tuple[str, float, Unit], ...]:
    """Return the data sets of a claim on which our numbers differ from the published numbers.

    Each data set is a tuple with its largest difference and the unit of the difference.
    """
    largest: dict[tuple[str, Unit], float] = {}
    units: tuple[Unit, ...] = ("points", "%")
    for comparison in outcome.comparisons:
        part, dataset = outcome.claim.parts[comparison.part], comparison.target
        methods = part.method, comparison.against
        for item, method, unit in itertools.product(part.items, methods, units):
            key = (outcome.claim.paper, outcome.protocol, dataset, item, method, unit)
            if size := differences.get(key):
                largest[dataset, unit] = max(size, largest.get((dataset, unit), 0.0))
    return tuple((name, size, unit) for (name, unit), size in largest.items())
