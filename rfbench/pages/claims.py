"""Claims of the papers, each with the comparisons behind its verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from rfbench import papers
from rfbench.analysis import committed, verdicts
from rfbench.analysis.comparisons import ClaimComparison
from rfbench.analysis.outcomes import Outcome
from rfbench.pages.templates import render_lines
from rfbench.pages.words import DASH, listing
from rfbench.papers.models import Claim, Committed, Part

# Largest number of printed comparisons of a claim under one protocol; all of them are in the CSV.
# Doubled, pages are longer.
MAX_COUNTEREXAMPLES = 2
PERCENT_METRICS = ("error", "accuracy", "train_error")
SHARE_METRICS = ("kept_near_corners", "kept_near_offsets")


def group_by_claim(outcomes: Iterable[Outcome]) -> list[tuple[Claim, list[Outcome]]]:
    """Return every claim with an outcome per protocol; empty if nothing was run."""
    claims: dict[tuple[str, str], tuple[Claim, list[Outcome]]] = {}
    for outcome in outcomes:
        _, every = claims.setdefault(outcome.claim.key, (outcome.claim, []))
        if outcome.protocol:
            every.append(outcome)
    return list(claims.values())


def find_unit(part: Part, joint: str = "") -> str:
    """Return the unit of a comparison's effect; empty for a bare number."""
    if part.scale == "ratio":
        return "times"
    if part.metric in PERCENT_METRICS:
        result = "points" if part.against or joint else "%"
    elif part.metric == "kept":
        result = "of the draws" if joint else "features"
    elif part.metric.startswith("t_"):
        result = "s"
    else:
        result = "of the weight" if part.metric in SHARE_METRICS else ""
    return result + (" per dimension" if joint == "slope over d" else "")


def format_comparison(outcome: Outcome, comparison: ClaimComparison) -> list[str]:
    """Return a comparison of a claim and its effect, as text."""
    part = outcome.claim.parts[comparison.part]
    form = "+.3g" if part.scale != "ratio" and comparison.against else ".3g"
    effect, low, high = (
        f"{x:{form}}" for x in (comparison.effect, comparison.low, comparison.high)
    )
    known = "" if math.isnan(comparison.low) else f" ({low} to {high})"
    (compared,) = render_lines("compared.j2", "compared", c=comparison, part=part)
    return [compared, f"{effect}{known} {find_unit(part, comparison.joint)}".rstrip()]


def select_worst(outcome: Outcome, on_page: bool = False) -> list[ClaimComparison]:
    """Return the least favorable comparisons; on the page of a claim without a verdict, all.

    A judged claim under a protocol without a verdict has one comparison.
    """
    if on_page and not outcome.claim.judged:
        return list(outcome.comparisons)
    displayed = outcome.claim.judged and outcome.verdict == verdicts.SHOWN
    return outcome.least_favourable[: 1 if displayed else MAX_COUNTEREXAMPLES]


def format_verdict(outcome: Outcome) -> str:
    """Return the verdict as text, with the number and size of failures, or with its limits."""
    mark = verdicts.UNVARIED * outcome.unvaried
    if outcome.verdict == verdicts.DEPENDS:
        return f"depends on: {listing(outcome.depends_on)}"
    if outcome.verdict in (verdicts.FAILS, verdicts.IN_PART):
        counted = f"{outcome.outside} of {len(outcome.comparisons)}"
        return f"{outcome.verdict} ({counted}, at worst by {_missed(outcome)}){mark}"
    if outcome.verdict == verdicts.HOLDS_TESTED:
        return f"{outcome.verdict} ({outcome.tested} of {outcome.wanted} data sets){mark}"
    if outcome.verdict == verdicts.CANNOT:
        return f"{outcome.verdict} ({outcome.reason})"
    if outcome.unjudged:
        return f"{outcome.verdict} ({outcome.unjudged.rstrip('.')})"
    return outcome.label


def _missed(outcome: Outcome) -> str:
    """Return the distance of the decisive comparison from its bounds, as text."""
    part, decisive = outcome.part, outcome.decisive
    if part is None or decisive is None or not decisive.excess > 0:
        return DASH
    if part.scale == "ratio":
        return f"a factor {math.exp(decisive.excess):.3g}"
    return f"{decisive.excess:.2g} {find_unit(part, decisive.joint)}".strip()


def find_history(claim: Claim) -> Committed | None:
    """Return the commits of a claim's form and rows; None if they are not known."""
    return committed.find_entry_order(claim.paper, "claim", claim.id)


# Functions that the templates of claims call.
WORDS: dict[str, Any] = {
    **{
        each.__name__: each
        for each in (
            format_verdict,
            format_comparison,
            select_worst,
            verdicts.find_side,
            find_history,
        )
    },
    "order": papers.find_claim_order,
    "called_orders": committed.COMMIT_ORDER_LABELS,
}
