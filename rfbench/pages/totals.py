"""The page of totals: counts of numbers and claims, and the measured share of each paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rfbench.analysis import ledger, verdicts
from rfbench.analysis.contents import Configurations, Coverage, count_missing, cover
from rfbench.analysis.ledger import Count
from rfbench.analysis.verification import Verification
from rfbench.pages.front import classes_grid, gather_totals, totals_grid
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render
from rfbench.pages.words import DASH, listing, span

TOTALS = "totals.md"


def render_page(verification: Verification, configured: Configurations | None = None) -> str:
    """Return the page of totals; `configured` has the configurations shipped with rfbench."""
    claims = ledger.list_judged_claims(verification.outcomes)
    numbers = ledger.list_numbers(verification)
    collection = verification.selection.collection
    return render(
        "totals.md.j2",
        **gather_totals(verification),
        by_paper=[
            add_papers(totals_grid, ledger.count_by_paper(numbers, ledger.OF_NUMBERS)),
            add_papers(classes_grid, ledger.count_by_paper(claims, ledger.OF_CLAIMS)),
        ],
        contents=contents_grid(cover(verification, configured or {})),
        rules=verdicts,
        short={r.name: short for r in collection.experiments if (short := count_missing(r))[0]},
        collection=collection,
    )


def add_papers(lay: Callable[[Sequence[Count]], Grid], counts: Sequence[tuple[str, Count]]) -> Grid:
    """Return the table that `lay` creates from the counts, with a first column for the paper."""
    grid = lay([each for _, each in counts])
    named = zip(counts, grid.rows, strict=True)
    return Grid(["paper", *grid.head], [[paper, *row] for (paper, _), row in named])


def contents_grid(every: Sequence[Coverage]) -> Grid:
    """Return the table of the measured share of each table and figure of the papers."""
    head = [
        "paper", "item", "measured", "data sets", "substitutes (training rows)", "no rows",
        "numbers without rows", "runs with missing trials",
    ]  # fmt: skip
    return Grid(head, [_covered(each) for each in every])


def _covered(each: Coverage) -> list[str]:
    if each.nothing:
        return [each.paper, each.item, "nothing to measure", each.nothing, *[DASH] * 4]
    state = "in part" if each.measured else "on substitutes" if each.replaced else DASH
    runs = [f"{name} ({n} of {planned})" for name, (n, planned) in each.short.items()]
    runs += [f"{name} (all)" for name in each.not_run]
    replaced = [
        f"{name}: {listing(f'{used} ({span(*rows, 0)})' for used, rows in of_data.items())}"
        for name, of_data in each.replaced.items()
    ]
    return [
        each.paper,
        each.item,
        "complete" if each.complete else state,
        listing(each.measured, DASH),
        "; ".join(replaced) or DASH,
        listing(each.absent, DASH),
        f"{each.numbers[0]} of {each.numbers[1]}" if each.numbers[1] else DASH,
        listing((run.removeprefix(f"{each.paper}_") for run in runs), DASH),
    ]
