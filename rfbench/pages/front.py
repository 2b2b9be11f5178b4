"""The front page of results: findings, totals, where to look, how to repeat it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import papers
from rfbench.analysis import ledger, verdicts
from rfbench.analysis.faults import Check, checks
from rfbench.analysis.findings import gather
from rfbench.analysis.frame import Collection
from rfbench.analysis.ledger import Count
from rfbench.analysis.selection import Selection, split_items
from rfbench.analysis.verification import Verification
from rfbench.escaping import Markdown, in_markdown
from rfbench.pages import findings
from rfbench.pages.additions import Addition
from rfbench.pages.claims import verdict
from rfbench.pages.grids import Grid
from rfbench.pages.scoreboard import anchor
from rfbench.pages.templates import render
from rfbench.pages.words import DASH, listing, number, signed, span
from rfbench.results import Results

PUBLISHED_AS = {
    "table": "numbers other than timings, printed in tables",
    "figure": "numbers other than timings, printed in figures",
    "repository": "numbers that we computed of its authors' raw runs, where it prints curves",
}
MEASURED_TIMES = ["t_pp", "t_features", "t_train", "t_test"]


def totals_grid(counts: Sequence[Count]) -> Grid:
    """Lay out how many numbers have each verdict, a line per class of provenance."""
    seen = [v for v in ledger.COUNTED if v in verdicts.COMPARED or any(c[v] for c in counts)]
    rows = [
        [*_class(each), str(each.compared), *(str(each[verdict]) for verdict in seen)]
        for each in counts
    ]
    return Grid(["numbers", "our settings", "protocol", "compared", *seen], rows)


def classes_grid(counts: Sequence[Count]) -> Grid:
    """Lay out how many claims have each verdict, a line per class of provenance."""
    seen = [v for v in verdicts.JUDGED if any(c[v] for c in counts)]
    rows = [[*_class(each), *(str(each[verdict]) for verdict in seen)] for each in counts]
    return Grid(["claims", "bounds", "our settings", "protocol", *seen], rows)


def _class(each: Count) -> list[str]:
    return [*each.called, listing(each.protocols)]


def claims_grid(verification: Verification) -> Grid:
    """Lay out the verdict on each claim, a column per protocol."""
    protocols = [o.protocol for o in verification.outcomes if o.protocol]
    protocols = list(dict.fromkeys([*papers.PROTOCOLS, *protocols]))
    seen = {(o.claim.key, o.protocol): verdict(o) for o in verification.outcomes}
    order = papers.papers()
    claims = {outcome.claim.key: outcome.claim for outcome in verification.outcomes}
    rows = [
        [
            Markdown(f"[{in_markdown(title)}](#{anchor(title)}) {in_markdown(claim.claim)}"),
            *(
                seen.get((claim.key, name), DASH).replace(verdicts.NOT_RUN, DASH)
                for name in protocols
            ),
        ]
        for claim in sorted(claims.values(), key=lambda claim: order.index(claim.paper))
        for title in [papers.claim_name(claim)]
    ]
    return Grid(["claim", *protocols], rows)


def contents_grid(selection: Selection) -> Grid:
    """Lay out the tables and figures of the papers that list theirs: what is measured of each."""
    own = selection.bearing[~selection.bearing["stand_in"].astype(bool)]
    rows = []
    for paper in map(papers.paper, papers.papers()):
        for content in paper.contents:
            items = split_items(content.of or content.item)
            here = own[(own["paper"] == paper.name) & own["item"].isin(items)]
            every = selection.bearing["paper"].eq(paper.name) & selection.bearing["item"].isin(
                items
            )
            state = "nothing to measure" if content.nothing else DASH
            if every.any():
                state = "in part" if content.missing else "whole"
            kept = (
                "" if content.missing or not len(here) else listing(dict.fromkeys(here["target"]))
            )
            rows.append(
                [paper.name, content.item, state, content.nothing or content.missing or kept]
            )
    return Grid(["paper", "item", "measured", "what is missing, or what it is"], rows)


def gains_grid(table: pd.DataFrame) -> Grid:
    """Lay out `rfbench.analysis.gains.gains`, a line per pair and data set."""
    by = ["paper", "item", "dataset", "method", "other", "used"]
    rows = []
    for (paper, item, dataset, method, other, used), lines in table.groupby(by, sort=False):
        first = lines.iloc[0]
        cells = {line["protocol"]: _gain(line) for line in lines.to_dict("records")}
        rows.append(
            [
                f"{paper} {item}, {dataset}" + (f" (stand-in {used})" if used else ""),
                f"{method} over {other}",
                span(first["sizes"][0], first["sizes"][-1]),
                signed(first["published"]),
                *(cells.get(protocol, DASH) for protocol in papers.PROTOCOLS),
            ]
        )
    return Grid(["table, data set", "method", "M", "published", *papers.PROTOCOLS], rows)


def _gain(line: Mapping[Any, Any]) -> str:
    text = f"{signed(line['mean'])} ± {number(line['standard_error'], 2)}"
    return f"{text}, {line['doubt']}" if line["doubt"] else text


def effort(collection: Collection) -> dict[str, float]:
    """Sum up what was run: ``folders``, ``rows``, ``untimed`` rows, and measured ``seconds``."""
    rows = collection.rows
    spent = rows[MEASURED_TIMES] if len(rows) else pd.DataFrame(columns=MEASURED_TIMES)
    return {
        "folders": len(collection.experiments),
        "rows": len(rows),
        "untimed": int(spent[rows["status"] == "ok"].isna().all(axis=1).sum()) if len(rows) else 0,
        "seconds": float(spent.sum().sum()),
    }


def unfinished(results: Results) -> int:
    """Count the planned trials without a row; 0 where the plan is not known."""
    planned = results.manifest.get("trials")
    return len(set(planned) - set(results.rows["trial_id"])) if isinstance(planned, list) else 0


def machine(results: Results) -> str:
    """Name the hardware and the versions as the manifest says; empty if it does not."""
    versions, libraries = results.manifest.get("versions"), results.machine.get("blas")
    if not results.machine or not isinstance(versions, dict):
        return ""
    known_ones = [b for b in libraries or [] if isinstance(b, dict)]
    blas = sorted({f"{b.get('library')} {b.get('version')}" for b in known_ones})
    recorded = [
        f"{name} {versions[name]}" for name in ("python", "numpy", "scipy") if name in versions
    ]
    texts = {"cpu": "{}", "cores": "{} cores", "memory_gib": "{} GiB", "system": "{}"}
    hardware = [
        text.format(results.machine[name])
        for name, text in texts.items()
        if results.machine.get(name)
    ]
    return ", ".join([*hardware, *recorded, *blas])


def statements(every: Sequence[Results]) -> list[tuple[Results, Check]]:
    """Return the checks of every configuration that bears on a paper."""
    return [
        (results, check) for results in every if results.config.get("paper") and not results.smoke
        for check in checks(results)
    ]  # fmt: skip


def totals(verification: Verification) -> dict[str, Any]:
    """Gather what the ledger says, for a page or the terminal."""
    outcomes = verification.outcomes
    numbers, judged = ledger.of_numbers(verification), ledger.of_claims(outcomes)
    findings = [
        (name, papers.paper(name).provenance.one_finding)
        for name in papers.papers()
        if name in set(verification.numbers["paper"])
    ]
    return {
        "printed": ledger.published(set(verification.numbers["paper"])),
        "numbers_by_class": totals_grid(numbers),
        "claims_by_class": classes_grid(judged),
        "holding": [outcome for outcome in outcomes if ledger.holds(outcome)],
        "one_findings": [(name, text) for name, of in findings for text in of.values()],
        "called": ledger.CALLED,
        "published_as": PUBLISHED_AS,
        "name": papers.claim_name,
    }


def page(
    verification: Verification,
    paths: Sequence[Path],
    out: Path,
    pages: Container[str],
    additions: Sequence[Addition] = (),
) -> str:
    """Write ``README.md`` for a folder, from results below `paths`.

    `pages` names the papers that have one; `additions` are those of the slices.
    """
    collection = verification.selection.collection
    every = collection.experiments
    *commands, folder = (Path(os.path.relpath(path)).as_posix() for path in [*paths, out])
    return render(
        "front.md.j2",
        out=out,
        published=(out / "published").is_dir() and out.name == "results",
        statements=[
            *(statement for addition in additions for statement in addition.findings),
            *findings.statements(gather(verification)),
        ],
        look=[Markdown(line) for addition in additions for line in addition.look],
        **totals(verification),
        contents=contents_grid(verification.selection),
        papers=[papers.paper(name) for name in papers.papers()],
        pages=pages,
        rules=verdicts,
        folders=" ".join(commands),
        here=folder,
        spent=effort(collection),
        machines=sorted(Counter(map(machine, every)).items()),
        unfinished=[results.name for results in every if unfinished(results)],
        collection=collection,
    )
