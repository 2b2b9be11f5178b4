"""The claims of the papers, as verdicts at a glance and as sentences with their comparisons."""

from __future__ import annotations

from pathlib import Path

from rfbench import papers
from rfbench.papers import PROTOCOLS, Claim
from rfbench.report import rules
from rfbench.report.claims import Outcome
from rfbench.report.evidence import Evidence
from rfbench.report.formats import MARKDOWN, Grid
from rfbench.report.provenance import links
from rfbench.report.spoken import outcome_sentence
from rfbench.report.verify import Board


def verdicts(paper: str, found: Board) -> Grid:
    """Return the claims of a paper with their verdict under each protocol."""
    rows: dict[str, dict[str, Outcome]] = {}
    texts: dict[str, str] = {}
    for outcome in found.outcomes:
        if outcome.claim.paper == paper:
            rows.setdefault(outcome.claim.id, {})[outcome.protocol] = outcome
            texts[outcome.claim.id] = f"{outcome.claim.claim} ({outcome.claim.where})"
    return Grid(
        "",
        ["claim", *PROTOCOLS],
        [
            (name, [texts[name], *(_verdict(seen.get(protocol)) for protocol in PROTOCOLS)])
            for name, seen in rows.items()
        ],
    )


def _verdict(outcome: Outcome | None) -> str:
    if outcome is None or outcome.verdict == rules.NOT_RUN:
        return ""
    held = f" ({outcome.held} of {outcome.comparisons} hold)" if outcome.comparisons else ""
    return outcome.verdict + held


def page(found: Board, evidence: Evidence, out: Path) -> str:
    """Write every claim with what came of it under each protocol."""
    blocks = [
        "# The claims of the papers",
        "Under each protocol: the verdict, and the least favourable of the comparisons that decide "
        "it. The rules: `rfbench verify --help`.",
        "t_pp is drawing, scoring and selecting features; t_drawing adds making them; t_fit is "
        "making them and fitting; t_total is t_drawing and fitting; t_all adds testing. `kept` "
        "is the number of features with a weight above zero.",
    ]
    for paper in papers.papers():
        lines = details(paper, found, evidence, out)
        if lines:
            blocks += [f"## {paper}", "\n".join(lines)]
    return "\n\n".join(blocks) + "\n"


def details(paper: str, found: Board, evidence: Evidence, out: Path) -> list[str]:
    """Write each claim of a paper, and beneath it what came of it under each protocol."""
    lines = []
    told: set[str] = set()
    for outcome in found.outcomes:
        claim = outcome.claim
        if claim.paper != paper:
            continue
        if claim.id not in told:
            idle = "" if outcome.protocol else " **Not run.**"
            text = f"{claim.where}: {claim.claim}".translate(MARKDOWN)
            lines.append(f"- **{claim.id}**, {text}{idle}")
        told.add(claim.id)
        if outcome.protocol:
            folders = links(_behind(claim, outcome.protocol, evidence), out)
            lines.append(f"  - {outcome_sentence(outcome)} Rows: {folders}.")
    return lines


def _behind(claim: Claim, protocol: str, evidence: Evidence) -> list[Path]:
    """Return the folders whose rows bear on a claim under one protocol, stand-ins too."""
    wanted = [(part.items, dataset) for part in claim.parts for dataset in part.datasets]
    if claim.kind == "marks":
        paper = papers.paper(claim.paper)
        marked = [item for item, layout in paper.tables.items() if layout.marks]
        wanted = [(marked, dataset) for dataset in paper.datasets]
    return [
        arm.folder
        for items, dataset in wanted
        for stand_in in (False, True)
        for arm in evidence.select(claim.paper, items, dataset, protocol, stand_in)
    ]
