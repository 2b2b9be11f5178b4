"""The verdicts on the claims of the papers, in words; `rfbench.analysis.claims` decides them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rfbench.analysis import claims, outcomes, verdicts
from rfbench.analysis.verdicts import LEARNT
from rfbench.papers import Claim, Part
from rfbench.report.evidence import Evidence


@dataclass(frozen=True)
class Outcome:
    """The verdict on a claim under one protocol, see `rfbench.analysis.outcomes.Outcome`.

    `effect_of` says which comparison the effect is of, `note` what is missing for a firmer
    verdict, `part` and `joint` what the comparison belongs to.
    """

    claim: Claim
    protocol: str
    verdict: str
    effect: float = math.nan
    effect_of: str = ""
    p: float = math.nan
    comparisons: int = 0
    held: int = 0
    trials: int = 0
    note: str = ""
    part: Part | None = None
    joint: str = ""


def evaluate(claim: Claim, evidence: Evidence) -> list[Outcome]:
    """Return the verdict on a claim under each protocol that was run, or one 'not run'."""
    return [_in_words(one) for one in claims.outcomes_of(claim, evidence.selection)]


def _in_words(one: outcomes.Outcome) -> Outcome:
    decisive = one.decisive
    part = None if decisive is None else one.claim.parts[decisive.part]
    effect_of = "share of cells as marked" if one.marks else ""
    if decisive is not None and part is not None:
        effect_of = _compared(part, decisive)
    return Outcome(
        one.claim,
        one.protocol,
        one.verdict,
        one.effect,
        effect_of,
        one.p,
        one.compared,
        one.held,
        one.trials,
        "; ".join(filter(None, _notes(one))),
        part,
        "" if decisive is None else decisive.joint,
    )


def _compared(part: Part, one: outcomes.ClaimComparison) -> str:
    """Say what is compared, and where."""
    sign = "/" if part.scale == "ratio" else "-"
    other = one.against or (part.method if part.against_metric else "")
    second = f" {sign} {part.against_metric or part.metric}({other})" if other else ""
    at = f"{part.along} = {one.x}" if one.x else "M as kept"
    if one.joint:
        at = f"{one.joint} over {part.along}"
    elif part.at == "best":
        at = f"each at its best M ({one.x or 'kept'}, {one.other_x or 'kept'})"
    elif one.seconds == one.seconds:
        at = f"M = {one.x or 0}, {one.seconds:.3g} s"
    return f"{part.metric}({part.method}){second}, {at}, {one.dataset}"


def _notes(one: outcomes.Outcome) -> list[str]:
    notes = []
    if outside := sum(map(verdicts.lies_outside, one.comparisons)):
        notes.append(f"{outside} of {one.compared} comparisons lie outside")
    if short := [comparison.trials for comparison in one.comparisons if not comparison.enough]:
        notes.append(f"{len(short)} comparisons have too few trials to decide ({min(short)})")
    if one.stand_ins:
        notes.append(f"on stand-ins alone ({', '.join(one.stand_ins)}): {one.on_stand_ins}")
    if one.unlearnt:
        notes.append(f"nothing is learnt on {', '.join(one.unlearnt)} (R^2 below {LEARNT:g})")
    return [*notes, *_gaps(one.gaps), *_marks(one.marks)]


def _gaps(gaps: Sequence[outcomes.Gap]) -> list[str]:
    """Say what is missing, the data sets that lack the same comparisons together."""
    short: list[str] = []
    absent: dict[str, dict[str, dict[str, None]]] = {}
    for gap in gaps:
        if gap.found:
            name = f"{gap.method} against {gap.against}" if gap.against else gap.method
            at = f"at {gap.found} of at least {gap.wanted} values on {gap.dataset}"
            short.append(f"{name} {at}")
        else:
            others = absent.setdefault(gap.dataset, {}).setdefault(gap.method, {})
            others.update({gap.against: None} if gap.against else {})
    alike: dict[str, list[str]] = {}
    for dataset, methods in absent.items():
        pairs = [
            f"{name} against {', '.join(others)}" if others else name
            for name, others in methods.items()
        ]
        alike.setdefault(", ".join(pairs), []).append(dataset)
    lacking = [f"nothing to compare on {', '.join(on)} ({pairs})" for pairs, on in alike.items()]
    return list(dict.fromkeys(short + lacking))


def _marks(marks: Sequence[outcomes.Mark]) -> list[str]:
    notes = []
    if open_cells := sum(mark.significant is None for mark in marks):
        notes.append(f"{open_cells} of {len(marks)} cells lack paired trials")
    for marked, words in ((True, "marked but not significant"), (False, "significant, not marked")):
        cells = [m for m in marks if m.marked == marked and m.significant == (not marked)]
        if cells:
            names = ", ".join(f"{m.dataset} {m.method} {m.M}" for m in cells)
            notes.append(f"{words}: {names}")
    return notes
