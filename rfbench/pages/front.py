"""The front page of results: findings, totals, where to look, how to repeat it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from rfbench import papers
from rfbench.analysis import ledger, verdicts
from rfbench.analysis.contents import Configurations, Coverage, count_missing, cover
from rfbench.analysis.findings import gather
from rfbench.analysis.ledger import Count
from rfbench.analysis.verification import Verification
from rfbench.escaping import Markdown
from rfbench.pages import authors_rows, findings
from rfbench.pages.additions import Addition
from rfbench.pages.grids import Grid, render_markdown
from rfbench.pages.templates import render
from rfbench.pages.words import DASH, listing, span
from rfbench.results import Results


def totals_grid(counts: Sequence[Count]) -> Grid:
    """Lay out how many numbers have each verdict, a line per class of provenance."""
    rows = []
    for each in counts:
        of = each.of_decidable
        decided = (of.compared, of.near, of[verdicts.UNDECIDED], of[verdicts.DIFFERS])
        seen = (each[verdict] for verdict in verdicts.COMPARED)
        numbers = (each.compared, *seen, *decided, each.unspread)
        rows.append([*_class(each), *map(str, numbers)])
    of_these = ("near", verdicts.UNDECIDED, "differ")
    head = ["all", *verdicts.COMPARED, "decidable", *(f"of these {word}" for word in of_these)]
    return Grid(["numbers", "our settings", "protocol", *head, "unknown spread"], rows)


# Why numbers left a total, by the groups of the ledger.
WHY_LEFT = {
    ledger.OTHER_DATA: "the data are called a substitute since",
    ledger.TUNED_ALIKE: "settings of ours are not judged",
    ledger.MOVED: "counted as tuned to match since",
}


def left_out_grid(groups: Sequence[ledger.LeftOut]) -> Grid:
    """Lay out the numbers that left a total after results were known, a line per class."""
    seen = [verdict for verdict in verdicts.COMPARED if any(g.count[verdict] for g in groups)]
    rows = [
        [
            listing(each.places),
            f"{WHY_LEFT[each.group]} ({each.since})",
            *_class(each.count),
            *(str(each.count[verdict]) for verdict in seen),
        ]
        for each in groups
    ]
    return Grid(["of", "why (commit)", "numbers", "our settings", "protocol", *seen], rows)


def classes_grid(counts: Sequence[Count]) -> Grid:
    """Lay out how many claims have each verdict, a line per class of provenance."""
    seen = [v for v in verdicts.JUDGED if any(c[v] for c in counts)]
    rows = [[*_class(each), *(str(each[verdict]) for verdict in seen)] for each in counts]
    return Grid(["claims", "form", "our settings", "protocol", *seen], rows)


def add_papers(lay: Callable[[Sequence[Count]], Grid], counts: Sequence[tuple[str, Count]]) -> Grid:
    """Lay out the counts of each paper as `lay` does those of all, with a column of the papers."""
    grid = lay([each for _, each in counts])
    named = zip(counts, grid.rows, strict=True)
    return Grid(["paper", *grid.head], [[paper, *row] for (paper, _), row in named])


def _class(each: Count) -> list[str]:
    return [*each.called, listing(each.protocols)]


def contents_grid(every: Sequence[Coverage]) -> Grid:
    """Lay out how much of each table and figure of the papers is measured."""
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


def format_machine(results: Results) -> str:
    """Name the hardware and the versions as the manifest says; empty if it does not."""
    of, versions = results.machine, results.manifest.get("versions")
    if not of or not isinstance(versions, dict):
        return ""
    units = {"cpu": "", "cores": " cores", "memory_gib": " GiB", "system": ""}
    hardware = [f"{of[name]}{unit}" for name, unit in units.items() if of.get(name)]
    recorded = [
        f"{name} {versions[name]}" for name in ("python", "numpy", "scipy") if name in versions
    ]
    libraries = [each for each in of.get("blas") or [] if isinstance(each, dict)]
    blas = sorted({f"{each.get('library')} {each.get('version')}" for each in libraries})
    return ", ".join([*hardware, *recorded, *blas])


def gather_totals(
    verification: Verification, laid: Callable[[Grid], str] = render_markdown
) -> dict[str, Any]:
    """Gather what the ledger says, for a page or the terminal; `laid` lays out a table."""
    outcomes, here = verification.outcomes, set(verification.numbers["paper"])
    return {
        "laid": laid,
        "printed": ledger.count_published(here),
        "authors": authors_rows.gather_facts(verification.authors),
        "numbers_by_class": totals_grid(ledger.count_numbers(verification)),
        "left_out": left_out_grid(ledger.list_left_out(verification)),
        "claims_by_class": classes_grid(ledger.count_claims(outcomes)),
        "holding": ledger.list_holding_claims(outcomes),
        "one_findings": [
            (name, protocol, text)
            for name in papers.list_papers()
            if name in here
            for protocol, text in papers.find_paper(name).provenance.one_finding.items()
        ],
        "called": ledger.CLASS_LABELS,
        "name": papers.format_claim_name,
    }


def render_page(
    verification: Verification,
    paths: Sequence[Path],
    out: Path,
    pages: Collection[str],
    additions: Sequence[Addition] = (),
    configured: Configurations | None = None,
) -> str:
    """Write ``README.md`` for a folder, from results below `paths`.

    `pages` names the papers that have one; `additions` are those of the slices; `configured` has
    the configurations that come with rfbench.
    """
    collection = verification.selection.collection
    claims, numbers = (
        ledger.list_judged_claims(verification.outcomes),
        ledger.list_numbers(verification),
    )
    *commands, folder = (Path(os.path.relpath(path)).as_posix() for path in [*paths, out])
    return render(
        "front.md.j2",
        out=out,
        published=(out / "published").is_dir() and out.name == "results",
        statements=findings.sort_findings(
            [statement for addition in additions for statement in addition.findings],
            findings.render_statements(gather(verification)),
        ),
        changed=any(papers.find_folder(name).changes for name in pages),
        errata=(out / "errata.md").is_file(),
        look=[Markdown(line) for addition in additions for line in addition.look],
        **gather_totals(verification),
        by_paper=[
            add_papers(totals_grid, ledger.count_by_paper(numbers, ledger.OF_NUMBERS)),
            add_papers(classes_grid, ledger.count_by_paper(claims, ledger.OF_CLAIMS)),
        ],
        contents=contents_grid(cover(verification, configured or {})),
        papers=[papers.find_paper(name) for name in papers.list_papers()],
        pages=pages,
        rules=verdicts,
        folders=" ".join(commands),
        here=folder,
        short={r.name: short for r in collection.experiments if (short := count_missing(r))[0]},
        collection=collection,
    )
