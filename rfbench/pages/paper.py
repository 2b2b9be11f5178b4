"""The page of a paper: its numbers and claims beside what was measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import papers, slices
from rfbench.analysis import ledger, verdicts
from rfbench.analysis.gains import gains
from rfbench.analysis.verification import Verification
from rfbench.escaping import Markdown
from rfbench.pages import authors_rows, claims, front, paper_figure, scoreboard
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render
from rfbench.pages.words import number


def page(verification: Verification, name: str, out: Path, added: str = "") -> str:
    """Write the page of a paper for a folder; `added` is what `additions` has of it."""
    own = _own(verification, name)
    return render("paper.md.j2", out=out, added=Markdown(added), **facts(own, name))


def figure(verification: Verification, name: str) -> bytes | None:
    """Return the figure of a paper as PNG; None where none of its numbers is compared."""
    return paper_figure.png(_own(verification, name))


def additions(verification: Verification, out: Path) -> dict[str, str]:
    """Return by paper the Markdown that the slices add to its page."""
    added: dict[str, str] = {}
    for texts in slices.ask("of_papers", verification, out):
        for name, text in texts.items():
            added[name] = added.get(name, "") + text
    return added


def _own(verification: Verification, name: str) -> Verification:
    numbers, runs = verification.numbers, verification.authors
    return replace(
        verification,
        numbers=numbers[numbers["paper"] == name],
        outcomes=tuple(o for o in verification.outcomes if o.claim.paper == name),
        authors=runs[runs["paper"] == name] if len(runs) else runs,
    )


def facts(own: Verification, name: str) -> dict[str, Any]:
    """Gather what the page says of a paper, from what is its own."""
    collection = own.selection.collection
    runs = [r for r in collection.experiments if r.config.get("paper") == name]
    return {
        "paper": papers.paper(name),
        **front.totals(own),
        "opening": _opening(own),
        "pictured": bool(len(paper_figure.pictured(own))),
        "added_trials": _added_trials(ledger.added_trials(collection, name)),
        "numbers": scoreboard.numbers_grid(own, linked=True),
        "verdicts": front.claims_grid(own),
        "every": scoreboard.measured(own),
        "authors": authors_rows.facts(own.authors),
        "doubts": papers.paper(name).doubts,
        "gains": front.gains_grid(gains(own.selection, name)),
        "gains_notes": [each.note for each in papers.paper(name).gains.values() if each.note],
        "statements": front.statements([collection.without_stale(r) for r in runs]),
        "runs": runs,
        "claims": claims.by_claim(own.outcomes),
        "name": papers.claim_name,
        "rules": verdicts,
        "grid": claims.grid,
    }


def _added_trials(table: pd.DataFrame) -> Grid:
    rows = [
        [str(each), method, number(M), number(counted), number(mean), number(more), number(other)]
        for each, method, M, counted, mean, more, other in table.itertuples(index=False, name=None)
    ]
    return Grid(["rows", "method", "M", "counted", "their mean", "added", "their mean"], rows)


def _opening(own: Verification) -> dict[str, list[str]]:
    """Say how many numbers reproduce per class: of settings tuned to match them, and others."""
    said: dict[str, list[str]] = {"blind": [], "sight": []}
    for each in ledger.of_numbers(own):
        settings, differ = each.of[1], each[verdicts.DIFFERS]
        text = (
            f"{each.near} of {each.compared} compared agree or are close, "
            f"{differ} {'differs' if differ == 1 else 'differ'} "
            f"(settings: {ledger.CALLED.get(settings, settings)})"
        )
        said["sight" if settings == ledger.IN_SIGHT else "blind"].append(text)
    return said
