"""The page of a paper: its numbers and claims beside what was measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import papers, slices
from rfbench.analysis import verdicts
from rfbench.analysis.gains import gains
from rfbench.analysis.totals import totals
from rfbench.analysis.verification import Verification
from rfbench.escaping import Markdown
from rfbench.pages import authors_rows, claims, front, paper_table, scoreboard
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render
from rfbench.pages.words import DASH, signed


def page(
    verification: Verification, name: str, out: Path, added: str = "", *, full: bool = False
) -> str:
    """Write the page of a paper for a folder; in full with quotes and the shape of its tables.

    `added` is the Markdown of the slices, see `additions`.
    """
    own = _own(verification, name)
    more: dict[str, Any] = {"tables": [], "quotes": []}
    if full:
        tables = paper_table.of_paper(own.selection, own.numbers, name)
        more = {"tables": list(map(Markdown, tables)), "quotes": _quotes(own)}
    return render("paper.md.j2", out=out, added=Markdown(added), **facts(own, name), **more)


def additions(verification: Verification, out: Path) -> dict[str, str]:
    """Return by paper the Markdown that the slices add to its page."""
    added: dict[str, str] = {}
    for texts in slices.ask("of_papers", verification, out):
        for name, text in texts.items():
            added[name] = added.get(name, "") + text
    return added


def only_claims(verification: Verification, name: str, out: Path) -> str:
    """Write the claims of a paper alone."""
    return render("paper_claims.md.j2", out=out, **_claims(_own(verification, name), name))


def _own(verification: Verification, name: str) -> Verification:
    numbers, runs = verification.numbers, verification.authors
    return replace(
        verification,
        numbers=numbers[numbers["paper"] == name],
        outcomes=tuple(o for o in verification.outcomes if o.claim.paper == name),
        authors=runs[runs["paper"] == name] if len(runs) else runs,
    )


def asked(verification: Verification) -> list[str]:
    """Name the papers whose numbers, claims or own runs were held against the results."""
    runs = verification.authors
    names = {*verification.numbers["paper"], *(o.claim.paper for o in verification.outcomes)}
    names |= set(runs["paper"]) if len(runs) else set()
    return [name for name in papers.papers() if name in names]


def facts(own: Verification, name: str) -> dict[str, Any]:
    """Gather what the page says of a paper, from what is its own."""
    collection = own.selection.collection
    runs = [r for r in collection.experiments if r.config.get("paper") == name]
    return {
        "paper": papers.paper(name),
        "answer": papers.answer(name),
        "protocols": front.protocols_grid(totals(own)),
        "numbers": scoreboard.numbers_grid(own, linked=True),
        "verdicts": front.claims_grid(own),
        "every": scoreboard.measured(own),
        "authors": authors_rows.facts(own.authors),
        "doubts": [doubt for doubt in papers.doubts() if doubt.paper == name],
        "gains": front.gains_grid(gains(own.selection, name)),
        "gains_notes": [t.gains_note for t in papers.paper(name).tables.values() if t.gains_note],
        "statements": front.statements([collection.without_stale(r) for r in runs]),
        "runs": runs,
        **_claims(own, name),
    }


def _claims(own: Verification, name: str) -> dict[str, Any]:
    return {
        "claims": claims.by_paper(own).get(name, []),
        "needs": claims.needs(own.outcomes),
        "ours": papers.added_claims(),
        "name": papers.claim_name,
        "rules": verdicts,
        "grid": claims.grid,
        "by_remark": claims.by_remark,
    }


def _quotes(verification: Verification) -> list[tuple[str, Grid]]:
    """Lay out each number that was measured: ours, the interval of the difference, the quote."""
    numbers = verification.own[verification.own["trials"] > 0]
    head = ["number", "published", "protocol", "ours", "difference (90 % interval)", "verdict",
            "the paper prints", "page", "row, column"]  # fmt: skip
    result = []
    for (item, dataset), here in numbers.groupby(["item", "dataset"], sort=False):
        rows = []
        for line in here.to_dict("records"):
            digits = scoreboard.DECIMALS.get(line["unit"])
            ends = [line["difference"] + sign * line["half_width"] for sign in (0, -1, 1)]
            mean, low, high = (signed(end, digits) if digits else f"{end:+.3g}" for end in ends)
            interval = "" if pd.isna(line["half_width"]) else f" ({low} to {high})"
            where = ", ".join(filter(None, (line["row"], line["column"])))
            page = DASH if pd.isna(line["page"]) else f"{line['page']:.0f}"
            rows.append(
                [
                    " ".join(filter(None, (line["method"], line["M"], line["metric"]))),
                    scoreboard.printed(line["published"], line["published_spread"], line["unit"]),
                    line["protocol"],
                    scoreboard.ours(line),
                    mean + interval,
                    line["verdict"],
                    line["cell"] or DASH,
                    page,
                    where or DASH,
                ]
            )
        result.append((f"{item}, {dataset}", Grid(head, rows)))
    return result
