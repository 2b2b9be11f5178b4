"""The claims of the papers, each with the comparisons behind its verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from rfbench.analysis import verdicts
from rfbench.analysis.outcomes import Outcome
from rfbench.pages.grids import Grid
from rfbench.pages.templates import environment
from rfbench.pages.words import DASH, listing, signed
from rfbench.papers.models import Claim, Part

PERCENT = ("error", "accuracy", "train_error")
SHARES = ("kept_near_corners", "kept_near_offsets")


def by_claim(outcomes: Iterable[Outcome]) -> list[tuple[Claim, list[Outcome]]]:
    """Return every claim with an outcome per protocol, none where nothing was run."""
    claims: dict[tuple[str, str], tuple[Claim, list[Outcome]]] = {}
    for outcome in outcomes:
        _, every = claims.setdefault(outcome.claim.key, (outcome.claim, []))
        if outcome.protocol:
            every.append(outcome)
    return list(claims.values())


def unit(part: Part, joint: str = "") -> str:
    """Name the unit of a comparison's effect; empty for a bare number."""
    if part.scale == "ratio":
        return "times"
    if part.metric in PERCENT:
        result = "points" if part.against or joint else "%"
    elif part.metric == "kept":
        result = "of the draws" if joint else "features"
    elif part.metric.startswith("t_"):
        result = "s"
    else:
        result = "of the weight" if part.metric in SHARES else ""
    return result + (" per dimension" if joint == "slope over d" else "")


def grid(every: Sequence[Outcome]) -> Grid:
    """Lay out the verdicts on a claim, a line per protocol; if it is shown, per comparison."""
    effect = "effect (90 % interval)"
    if every and not every[0].claim.judged:
        rows = [
            [outcome.protocol, *said(replace(outcome, decisive=other)), str(other.trials)]
            for outcome in every
            for other in outcome.comparisons
        ]
        return Grid(["protocol", "comparison", effect, "trials"], rows)
    rows = []
    for outcome in every:
        cells = [DASH] * 5
        if outcome.decisive:
            counted = f"{outcome.inside}, {outcome.outside}, {len(outcome.comparisons)}"
            span = outcome.decisive.over_gaps
            over = f"{signed(span.low)} to {signed(span.high)}" if span else DASH
            trials = str(outcome.trials)
            cells = [counted, *said(outcome), over, trials]
        rows.append([outcome.protocol, verdict(outcome), *cells])
    counts = ["inside, outside, all", "least favourable comparison", effect]
    return Grid(["protocol", "verdict", *counts, "over what is not printed", "trials"], rows)


def misses(outcome: Outcome) -> str:
    """Write by how much the mean of the comparison that decides lies outside its bounds."""
    part, decisive = outcome.part, outcome.decisive
    if part is None or decisive is None or not decisive.excess > 0:
        return DASH
    if part.scale == "ratio":
        return f"a factor {math.exp(decisive.excess):.3g}"
    return f"{decisive.excess:.2g} {unit(part, decisive.joint)}".strip()


def said(outcome: Outcome) -> list[str]:
    """Write the comparison that decides, and its effect; nothing where there is none."""
    if outcome.part is None or outcome.decisive is None:
        return ["", ""]
    macros: Any = environment().get_template("claim.j2").module
    part, decisive = outcome.part, outcome.decisive
    form = "+.3g" if part.scale != "ratio" and decisive.against else ".3g"
    effect, low, high = (f"{x:{form}}" for x in (decisive.effect, decisive.low, decisive.high))
    known = "" if math.isnan(decisive.low) else f" ({low} to {high})"
    compared = str(macros.compared(decisive, part)).strip()
    return [compared, f"{effect}{known} {unit(part, decisive.joint)}".rstrip()]


def verdict(outcome: Outcome) -> str:
    """Write the verdict, with how often and how far it fails, or what limits it."""
    if outcome.verdict == verdicts.DEPENDS:
        return f"depends on: {listing(outcome.depends_on)}"
    if outcome.verdict in (verdicts.FAILS, verdicts.IN_PART):
        counted = f"{outcome.outside} of {len(outcome.comparisons)}"
        return f"{outcome.verdict} ({counted}, at worst by {misses(outcome)})"
    if outcome.verdict == verdicts.HOLDS_TESTED:
        return f"{outcome.verdict} ({outcome.tested} of {outcome.wanted} data sets)"
    if outcome.verdict == verdicts.CANNOT:
        return f"{outcome.verdict} ({outcome.reason})"
    return outcome.verdict
