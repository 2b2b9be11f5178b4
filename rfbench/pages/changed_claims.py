"""The page of claims whose definition was changed, with the reasons and verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from rfbench import papers
from rfbench.analysis.committed import COMMIT_ORDER_LABELS
from rfbench.analysis.outcomes import Outcome
from rfbench.analysis.verdicts import FAILS, IN_PART
from rfbench.analysis.verification import Verification
from rfbench.pages.claims import format_verdict
from rfbench.pages.formatting import join_names
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render_template
from rfbench.papers.models import Change

PAGE = "changed_claims.md"
FAILED = {FAILS, IN_PART}
CHANGED_CLAIMS_HEAD = (
    "claim",
    "first form",
    "first verdict",
    "present form",
    "present verdict",
    "why",
)


def render_changed_claims_page(verification: Verification, names: Sequence[str]) -> str | None:
    """Return a Markdown page that lists the claims whose definition was changed.

    `names` are the names of the papers. The result is None if no claim of these papers was changed.
    """
    changes = {name: papers.find_paper_files(name).changes for name in names}
    rows = [row for name, every in changes.items() for row in _rows(name, every, verification)]
    if not rows:
        return None
    every = [change for changes_of_one in changes.values() for change in changes_of_one]
    return render_template(
        "changed_claims.md.j2",
        claims=Grid(CHANGED_CLAIMS_HEAD, rows),
        reasons=[
            (name, change) for name, changes_of_one in changes.items() for change in changes_of_one
        ],
        failed=[c for c in every if FAILED & set(c.first_verdicts.values())],
        recorded=list(dict.fromkeys((c.recorded.file, c.recorded.commit) for c in every)),
    )


def _rows(name: str, every: Sequence[Change], verification: Verification) -> list[list[str]]:
    claims = {claim.id: claim for claim in papers.find_paper_files(name).claims}
    rows = []
    for change in every:
        claim = claims.get(change.id)
        outcomes = [o for o in verification.outcomes if claim and o.claim.key == claim.key]
        first = ", ".join(f"{p}: {said}" for p, said in change.first_verdicts.items())
        rows.append(
            [
                f"{name} {change.id}",
                change.first_form,
                first,
                "; ".join(dict.fromkeys(p.says for p in claim.parts)) if claim else "withdrawn",
                _present(outcomes) if claim else "withdrawn",
                f"{join_names(change.why)} ({join_names(change.changed_by)})",
            ]
        )
    return rows


def _present(outcomes: Sequence[Outcome]) -> str:
    """Return the current verdicts on one claim as text.

    The text also contains the order in which the claim and the first results for this claim were
    committed to git.
    """
    said = (
        ", ".join(f"{o.protocol}: {format_verdict(o)}" for o in outcomes if o.protocol) or "not run"
    )
    return (
        f"{said}; form {COMMIT_ORDER_LABELS[papers.find_commit_order_of_claim(outcomes[0].claim)]}"
        if outcomes
        else said
    )
