"""The claims of the papers, each with the comparisons behind its verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from rfbench import papers
from rfbench.analysis import verdicts
from rfbench.analysis.outcomes import Outcome
from rfbench.analysis.verification import Verification
from rfbench.pages.grids import Grid
from rfbench.pages.templates import environment, render
from rfbench.pages.words import DASH, listing, number, p_value
from rfbench.papers.models import Claim, Part

PERCENT = ("error", "accuracy", "train_error")
SHARES = ("kept_near_corners", "kept_near_offsets")


def by_claim(outcomes: Iterable[Outcome]) -> list[tuple[Claim, list[Outcome]]]:
    """Return every claim with an outcome per protocol, none where nothing was run."""
    found: dict[str, tuple[Claim, list[Outcome]]] = {}
    for one in outcomes:
        _, every = found.setdefault(one.claim.id, (one.claim, []))
        if one.protocol:
            every.append(one)
    return list(found.values())


def unit(part: Part, joint: str = "") -> str:
    """Name the unit of a comparison's effect; empty for a bare number."""
    if part.scale == "ratio":
        return "times"
    if part.metric in PERCENT:
        found = "points" if part.against or joint else "%"
    elif part.metric == "kept":
        found = "of the draws" if joint else "features"
    elif part.metric.startswith("t_"):
        found = "s"
    else:
        found = "of the weight" if part.metric in SHARES else ""
    return found + (" per dimension" if joint == "slope over d" else "")


def grid(every: Sequence[Outcome]) -> Grid:
    """Lay out the verdicts on a claim, a line per protocol; if it is shown, per comparison."""
    effect = ["effect ± sd", "trials"]
    if every and every[0].claim.kind == "shown":
        rows = [
            [one.protocol, *said(replace(one, decisive=other)), str(other.trials)]
            for one in every
            for other in one.comparisons
        ]
        return Grid(["protocol", "comparison", *effect], rows)
    rows = []
    for one in every:
        cells = [DASH] * 5
        if one.decisive:
            counted = f"{one.inside}, {one.outside}, {len(one.comparisons)}"
            cells = [counted, *said(one), str(one.trials), p_value(one.p)]
        rows.append([one.protocol, verdict(one), *cells])
    counts = ["inside, outside, all", "least favourable comparison"]
    return Grid(["protocol", "verdict", *counts, *effect, "p"], rows)


def said(one: Outcome) -> list[str]:
    """Write the comparison that decides, and its effect; nothing where there is none."""
    if one.part is None or one.decisive is None:
        return ["", ""]
    words = environment().get_template("claim.j2").module
    facts = {"c": one.decisive, "part": one.part, "unit": unit(one.part, one.decisive.joint)}
    return [str(getattr(words, name)(**facts)).strip() for name in ("compared", "effect")]


def verdict(one: Outcome) -> str:
    """Write the verdict, with the number of data sets where that is not all."""
    if one.verdict == verdicts.HOLDS_TESTED:
        return f"{one.verdict} ({one.tested} of {one.wanted} data sets)"
    return f"{one.verdict} ({one.reason})" if one.verdict == verdicts.CANNOT else one.verdict


def needs(outcomes: Iterable[Outcome]) -> Grid:
    """Lay out what the claims that are not settled still need, a line per claim and protocol."""
    settled = (verdicts.HOLDS, verdicts.FAILS, verdicts.SHOWN, verdicts.DISPUTED)
    rows = [
        [
            one.claim.id,
            one.protocol or DASH,
            verdict(one),
            listing(dict.fromkeys(gap.dataset for gap in one.gaps), DASH),
            "no number" if math.isinf(one.settled_by) else number(one.settled_by, 0),
        ]
        for one in outcomes
        if one.verdict not in settled
    ]
    return Grid(["claim", "protocol", "verdict", "data", "trials"], rows)


def by_remark(every: Sequence[Outcome], remarks: Callable[[Outcome], str]) -> dict[str, list[str]]:
    """Return the remarks on a claim, one per line of a macro, each with its protocols."""
    found: dict[str, list[str]] = {}
    for one in every:
        for line in filter(None, map(str.strip, str(remarks(one)).splitlines())):
            found.setdefault(line, []).append(one.protocol)
    return found


def page(found: Verification, out: Path) -> str:
    """Write ``claims.md`` for a folder."""
    return render(
        "claims.md.j2",
        papers=by_paper(found),
        ours={name for paper in papers.papers() for name in papers.paper(paper).added.claims},
        rules=verdicts,
        out=out,
        grid=grid,
        by_remark=by_remark,
        needs=needs(found.outcomes),
    )


def by_paper(found: Verification) -> dict[str, list[tuple[Claim, list[Outcome]]]]:
    """Return the outcomes by paper, in the papers' order."""
    every = by_claim(found.outcomes)
    named = {name: [one for one in every if one[0].paper == name] for name in papers.papers()}
    return {name: here for name, here in named.items() if here}
