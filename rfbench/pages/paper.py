"""The page of a paper: its numbers and claims with the measured values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rfbench import papers, slices
from rfbench.analysis import committed, ledger
from rfbench.analysis.verification import Verification
from rfbench.escaping import Markdown
from rfbench.pages import claims, front, paper_figure, scoreboard
from rfbench.pages.templates import render
from rfbench.papers.models import TUNED_TO_MATCH

OF_TEXT = ("text", "readings", "corrected")  # classes of settings


def render_page(verification: Verification, name: str, out: Path, added: str = "") -> str:
    """Return a paper's page for the folder `out`; `added` is Markdown of `gather_additions`."""
    own = verification.of_papers(name)
    return render("paper.md.j2", out=out, added=Markdown(added), **gather_facts(own, name))


def render_figure(verification: Verification, name: str) -> bytes | None:
    """Return the figure of a paper as PNG; None if none of its numbers is compared."""
    return paper_figure.render_png(verification.of_papers(name))


def gather_additions(verification: Verification, out: Path) -> dict[str, str]:
    """Return for each paper the Markdown that the slices add to its page."""
    added: dict[str, str] = {}
    for texts in slices.ask("of_papers", verification, out):
        for name, text in texts.items():
            added[name] = added.get(name, "") + text
    return added


def gather_facts(own: Verification, name: str) -> dict[str, Any]:
    """Return the facts of the page of a paper; `own` has only the results of this paper."""
    collection = own.selection.collection
    counts = ledger.count_numbers(own)
    provenance = papers.find_paper(name).provenance
    return {
        "paper": papers.find_paper(name),
        "outside": papers.find_folder(name).outside,
        **front.gather_totals(own),
        **claims.WORDS,
        "restored": ledger.count_with_left_out(own),
        "untuned": [each for each in counts if each.of[1] not in TUNED_TO_MATCH],
        "matched": [each for each in counts if each.of[1] in TUNED_TO_MATCH],
        "judged": any(
            (each.of[0], each.of[2] in (*TUNED_TO_MATCH, ledger.OWN_SETTINGS)) == ("paper", False)
            for each in ledger.count_claims(own.outcomes)
        ),
        "committed": committed.list_settings_order(name),
        "orders": committed.COMMIT_ORDER_LABELS,
        "texts": [p for p, kind in provenance.settings.items() if kind in OF_TEXT],
        "pictured": bool(len(paper_figure.select_pictured(own))),
        "not_pictured": paper_figure.count_not_pictured(own),
        "added_trials": [
            f"{line['added']} of {line['method']} at M = {line['M']} in {line['experiment']}"
            for line in ledger.list_added_trials(collection)
            if line["paper"] == name
        ],
        "numbers": scoreboard.numbers_grid(own, linked=True),
        "verdicts": front.claims_grid(own),
        "every": scoreboard.arrange_parts(own),
        "columns": slices.ask("numbers", own),
        "doubts": papers.find_paper(name).doubts,
        "runs": [r for r in collection.experiments if r.config.get("paper") == name],
        "claims": claims.group_by_claim(own.outcomes),
    }
