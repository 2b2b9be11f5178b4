"""The front page of all results: a table of papers, findings, links and commands."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rfbench import papers
from rfbench.analysis import verdict_counts, verdicts
from rfbench.analysis.findings import gather_findings
from rfbench.analysis.verdict_counts import Count
from rfbench.analysis.verification import Verification
from rfbench.escaping import Markdown
from rfbench.pages import authors_rows, findings
from rfbench.pages.additions import Addition
from rfbench.pages.formatting import DASH, count, join_names, link
from rfbench.pages.grids import Grid, render_markdown
from rfbench.pages.templates import render_template
from rfbench.papers.models import TUNED_TO_MATCH
from rfbench.results import Results

# Labels of the table on the front page. SETTINGS maps the heading of a column to the classes of
# settings that the column counts. PREFIXES maps a class to the text before its count. FORM_COLUMNS
# has a heading for each order in which a claim and the first results for this claim were committed
# to git.
CODE = "authors' code"
SETTINGS = {
    "as printed": ("text", "cited", "readings", "corrected"),
    "tuned to match": TUNED_TO_MATCH,
    CODE: ("code",),
}
PREFIXES = {"cited": "as cited: ", "corrected": "corrected: ", "rematched": "corrected: "}
FORM_COLUMNS = {
    "before": "form before rows",
    "same commit": "form with rows",
    "after": "form after rows",
    "unknown": "form of unknown order",
    "no rows": "form without rows",
}


def make_numbers_by_class_grid(counts: Sequence[Count]) -> Grid:
    """Return a table with the number of published numbers per verdict.

    The table has a row for each pair of a source of the numbers, such as a table of the paper, and
    a source of our settings.
    """
    rows = []
    for each in counts:
        of = each.decidable_count
        decided = (
            of.n_compared,
            of.n_agreeing_or_close,
            of[verdicts.UNDECIDED],
            of[verdicts.DIFFERS],
        )
        seen = (each[verdict] for verdict in verdicts.COMPARED)
        numbers = (each.n_compared, *seen, *decided, each.unspread)
        rows.append([*_class(each), *map(str, numbers)])
    of_these = ("near", verdicts.UNDECIDED, verdicts.DIFFERS)
    head = ["all", *verdicts.COMPARED, "decidable", *(f"decidable: {word}" for word in of_these)]
    return Grid(["numbers", "our settings", "protocol", *head, "unknown spread"], rows)


# Reasons why a total of compared numbers became smaller, for each key of
# `verdict_counts.CHANGING_COMMITS`.
WHY_LEFT = {
    verdict_counts.OTHER_DATA: "the data are a substitute for the paper's data",
    verdict_counts.TUNED_ALIKE: "numbers under our own settings are not judged",
    verdict_counts.MOVED: "the settings now count as tuned to match",
}


def _make_left_out_grid(groups: Sequence[verdict_counts.RemovedPart]) -> Grid:
    """Return a table of the published numbers that are no longer counted in a total.

    The table lists numbers that were removed after their results had been seen, with the reasons.
    """
    seen = [verdict for verdict in verdicts.COMPARED if any(g.count[verdict] for g in groups)]
    rows = [
        [
            join_names(each.places),
            f"{WHY_LEFT[each.group]} ({each.since})",
            *_class(each.count),
            *(str(each.count[verdict]) for verdict in seen),
        ]
        for each in groups
    ]
    return Grid(["of", "why (commit)", "numbers", "our settings", "protocol", *seen], rows)


def make_claims_by_class_grid(counts: Sequence[Count]) -> Grid:
    """Return a table with the number of claims per verdict.

    Claims are grouped by author, by source of our settings, and by the order in which a claim and
    its first results were committed to git. The table has a row per group.
    """
    seen = [v for v in verdicts.JUDGED if any(c[v] for c in counts)]
    rows = [[*_class(each), *(str(each[verdict]) for verdict in seen)] for each in counts]
    return Grid(["claims", "form", "our settings", "protocol", *seen], rows)


def _class(each: Count) -> list[str]:
    return [*each.class_label, join_names(each.protocols)]


def format_machine(results: Results) -> str:
    """Return the hardware and the library versions of a run as text.

    The text is empty if the results do not contain this information.
    """
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
    """Return the counts of published numbers and of claims as values for a Jinja template.

    The template calls the function `laid` to format a table as text.
    """
    outcomes, here = verification.outcomes, set(verification.numbers["paper"])
    return {
        "laid": laid,
        "printed": verdict_counts.count_published_by_source(here),
        "authors": authors_rows.count_agreeing_folds(verification.authors),
        "numbers_by_class": make_numbers_by_class_grid(
            verdict_counts.count_published_numbers(verification)
        ),
        "left_out": _make_left_out_grid(verdict_counts.list_left_out_numbers(verification)),
        "claims_by_class": make_claims_by_class_grid(verdict_counts.count_claims(outcomes)),
        "holding": verdict_counts.list_holding_claims(outcomes),
        "one_findings": [
            (name, protocol, text)
            for name in papers.read_known_papers()
            if name in here
            for protocol, text in papers.find_paper(name).provenance.one_finding.items()
        ],
        "called": verdict_counts.CLASS_LABELS,
        "name": papers.format_claim_name,
    }


def _make_papers_grid(verification: Verification, out: Path, pages: Collection[str]) -> Grid:
    """Return the table of papers, with counts of reproduced numbers and of claims that hold.

    A number is reproduced if it agrees with our mean or is close to our mean. Each source of our
    settings, such as the text or the authors' code, has a separate count. The last rows are totals.
    """
    numbers = verdict_counts.count_by_paper(
        verdict_counts.list_published_numbers(verification), verdict_counts.OF_NUMBERS
    )
    judged = verdict_counts.list_judged_claims(verification.outcomes)
    claims = verdict_counts.count_by_paper(judged, verdict_counts.OF_CLAIMS)
    holding = _list_holding(verification)
    columns = [name for name, of in SETTINGS.items() if any(c.of[1] in of for _, c in numbers)]
    orders = [
        order
        for order in FORM_COLUMNS
        if any(_is_untuned(c) and c.of[1] == order for _, c in claims)
    ]
    if not (columns or orders):
        return Grid([], [])
    published = verdict_counts.count_published_by_source({*verification.numbers["paper"]})
    authors = authors_rows.count_agreeing_folds(verification.authors)
    runs = {each["paper"]: each for each in authors if each["folds"]}
    rows = []
    for paper in filter(pages.__contains__, papers.list_papers()):
        own, ours = ([c for name, c in counts if name == paper] for counts in (numbers, claims))
        printed = [str(by[paper]) for by in published.values() if paper in by]
        near = [_count_near(own, name) for name in columns]
        if paper in runs:
            printed.append(count(runs[paper]["folds"], "fold"))
            near = [_add_runs(*cell, runs[paper]) for cell in zip(columns, near, strict=True)]
        held = [_count_holding(ours, order, holding.get(paper, {})) for order in orders]
        place = link(out / "papers" / f"{paper}.md", out, paper)
        rows.append([place, join_names(printed, DASH), *near, *held])
    every = verdict_counts.count_published_numbers(verification)
    for source, by in published.items():
        near = [_count_near([c for c in every if c.of[0] == source], name) for name in columns]
        name = Markdown(f"**all numbers {verdict_counts.CLASS_LABELS[source]}**")
        rows.append([name, str(sum(by.values())), *near, *[DASH] * len(orders)])
    totals = verdict_counts.count_claims(verification.outcomes)
    held = [_count_holding(totals, order, _merge(holding.values())) for order in orders]
    rows.append([Markdown("**all claims**"), *[DASH] * (1 + len(columns)), *held])
    heads = [*columns, *(f"claims: {FORM_COLUMNS[order]}" for order in orders)]
    return Grid(["paper", "published numbers", *heads], rows)


def _is_untuned(each: Count) -> bool:
    return each.of[0] == "paper" and each.of[2] not in (
        *TUNED_TO_MATCH,
        verdict_counts.OWN_SETTINGS,
    )


# Maps a pair to the names of the claims that hold. The pair contains the order in which the claim
# and its results were committed, and the source of our settings.
Holding = Mapping[tuple[str, ...], Sequence[str]]


def _list_holding(verification: Verification) -> dict[str, Holding]:
    """Return the names of the claims that hold, for each paper.

    The names are grouped by the source of our settings, and by the order in which a claim and its
    first results were committed to git.
    """
    found: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for outcome in filter(verdict_counts.is_counted_as_holding, verification.outcomes):
        claim = outcome.claim
        settings = papers.find_settings_class(claim.paper, outcome.protocol)
        of = papers.find_commit_order_of_claim(claim), settings
        found.setdefault(claim.paper, {}).setdefault(of, []).append(claim.id)
    return {**found}


def _merge(every: Iterable[Holding]) -> Holding:
    merged: dict[tuple[str, ...], list[str]] = {}
    for holding in every:
        for of, names in holding.items():
            merged[of] = [*merged.get(of, []), *names]
    return merged


def _count_near(counts: Iterable[Count], column: str) -> str:
    """Return a text that counts the reproduced, compared and differing numbers.

    Only settings whose counts are shown in the given `column` of the table are considered. A number
    is reproduced if it agrees with our mean or is close to our mean.
    """
    cells = [
        f"{PREFIXES.get(each.of[1], '')}{each.n_agreeing_or_close} of {each.n_compared} "
        f"({count(each[verdicts.DIFFERS], 'differs', 'differ')})"
        for each in counts
        if each.of[1] in SETTINGS[column]
    ]
    return "; ".join(cells) or DASH


def _add_runs(column: str, cell: str, runs: Mapping[str, Any]) -> str:
    """Return a cell of the table of papers, for a paper whose authors published their own runs.

    In the column "authors' code", the text has the number of folds on which the runs of the authors
    and our runs are equal. In all other columns, `cell` is returned unchanged.
    """
    said = f"{runs['equal']} of {runs['folds']} folds agree to four digits"
    return said if column == CODE else cell


def _count_holding(counts: Iterable[Count], order: str, holding: Holding) -> str:
    """Return the number and the names of the claims that hold, as text.

    Only claims with the given `order` are considered: the order in which a claim and its first
    results were committed to git. `holding` has the names of the claims that hold.
    """
    cells = []
    for each in counts:
        if _is_untuned(each) and each.of[1] == order:
            names = holding.get(each.of[1:], ())
            said = f" ({', '.join(names)})" if names else ""
            code = f"{CODE}: " if each.of[2] == "code" else PREFIXES.get(each.of[2], "")
            cells.append(f"{code}{len(names)} of {each.n_tested}{said}")
    return "; ".join(cells) or DASH


def render_index_page(
    verification: Verification,
    paths: Sequence[Path],
    out: Path,
    pages: Collection[str],
    additions: Sequence[Addition] = (),
    outside: Collection[str] = (),
) -> str:
    """Return the text of the front page ``README.md`` for the folder `out`.

    `paths` are the folders with the results. `pages` are the names of the papers that have a page.
    `outside` are the names of papers with a page that users added to rfbench. `additions` is the
    content from optional components.
    """
    *commands, folder = (Path(os.path.relpath(path)).as_posix() for path in [*paths, out])
    return render_template(
        "front.md.j2",
        out=out,
        published=(out / "published").is_dir() and out.name == "results",
        statements=findings.sort_findings(
            [statement for addition in additions for statement in addition.findings],
            findings.render_statements(gather_findings(verification)),
        ),
        changed=any(papers.find_paper_files(name).changes for name in pages),
        errata=(out / "errata.md").is_file(),
        cells=[file.with_name("README.md") for file in out.glob("published/*/cells.csv")],
        coverage=[file.with_name("README.md") for file in out.glob("published/*/coverage.csv")],
        look=[Markdown(line) for addition in additions for line in addition.look],
        table=_make_papers_grid(verification, out, pages),
        papers=[papers.find_paper(name) for name in papers.list_papers()],
        pages=pages,
        outside=[papers.find_paper(name) for name in outside],
        rules=verdicts,
        folders=" ".join(commands),
        here=folder,
        notes=verification.selection.collection.notes,
    )
