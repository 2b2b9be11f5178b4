"""The page of totals: counts of published numbers and claims, and the measured data sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rfbench.analysis import verdict_counts, verdicts
from rfbench.analysis.contents import (
    Configurations,
    Coverage,
    compute_coverage,
    count_missing_trials,
)
from rfbench.analysis.verdict_counts import Count
from rfbench.analysis.verification import Verification
from rfbench.pages.formatting import DASH, format_span, join_names
from rfbench.pages.grids import Grid
from rfbench.pages.index_page import (
    gather_totals,
    make_claims_by_class_grid,
    make_numbers_by_class_grid,
)
from rfbench.pages.templates import render_template

TOTALS = "totals.md"


def render_totals_page(verification: Verification, configured: Configurations | None = None) -> str:
    """Return a Markdown page with counts of published numbers and claims of all papers.

    `configured` maps the name of a run to its configuration in rfbench.
    """
    claims = verdict_counts.list_judged_claims(verification.outcomes)
    numbers = verdict_counts.list_published_numbers(verification)
    collection = verification.selection.collection
    return render_template(
        "totals.md.j2",
        **gather_totals(verification),
        by_paper=[
            _add_papers(
                make_numbers_by_class_grid,
                verdict_counts.count_by_paper(numbers, verdict_counts.OF_NUMBERS),
            ),
            _add_papers(
                make_claims_by_class_grid,
                verdict_counts.count_by_paper(claims, verdict_counts.OF_CLAIMS),
            ),
        ],
        contents=make_coverage_grid(compute_coverage(verification, configured or {})),
        rules=verdicts,
        short={
            r.name: short for r in collection.experiments if (short := count_missing_trials(r))[0]
        },
        collection=collection,
    )


def _add_papers(
    lay: Callable[[Sequence[Count]], Grid], counts: Sequence[tuple[str, Count]]
) -> Grid:
    """Return a table of counts whose first column has the names of the papers.

    The function `lay` converts counts to a table without this column. `counts` has pairs of the
    name of a paper and a count.
    """
    grid = lay([each for _, each in counts])
    named = zip(counts, grid.rows, strict=True)
    return Grid(["paper", *grid.head], [[paper, *row] for (paper, _), row in named])


def make_coverage_grid(coverages: Sequence[Coverage]) -> Grid:
    """Return a table that lists the measured and the missing data sets of published tables.

    The table has a row for each published table or figure.
    """
    head = [
        "paper", "item", "measured", "data sets", "substitutes (training rows)", "no rows",
        "numbers without rows", "runs with missing trials",
    ]  # fmt: skip
    return Grid(head, [_covered(each) for each in coverages])


def _covered(each: Coverage) -> list[str]:
    if each.nothing:
        return [each.paper, each.item, "nothing to measure", each.nothing, *[DASH] * 4]
    state = "in part" if each.measured else "on substitutes" if each.replaced else DASH
    runs = [f"{name} ({n} of {planned})" for name, (n, planned) in each.short.items()]
    runs += [f"{name} (all)" for name in each.not_run]
    replaced = [
        f"{name}: {join_names(f'{used} ({format_span(*rows, 0)})' for used, rows in data.items())}"
        for name, data in each.replaced.items()
    ]
    return [
        each.paper,
        each.item,
        "complete" if each.is_complete else state,
        join_names(each.measured, DASH),
        "; ".join(replaced) or DASH,
        join_names(each.absent, DASH),
        f"{each.numbers[0]} of {each.numbers[1]}" if each.numbers[1] else DASH,
        join_names((run.removeprefix(f"{each.paper}_") for run in runs), DASH),
    ]
