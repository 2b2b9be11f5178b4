"""The verdict on a claim in one plain sentence: effect with its unit, p-value, trials."""

from __future__ import annotations

import math

from rfbench.papers import Part
from rfbench.report import rules
from rfbench.report.claims import Outcome
from rfbench.report.formats import MARKDOWN
from rfbench.report.scoreboard import shortened

SHARES = ("kept_near_corners", "kept_near_offsets")
LONGEST_NOTE = 240
PERCENT = ("error", "accuracy", "train_error")


def outcome_sentence(outcome: Outcome) -> str:
    """Say what came of a claim under one protocol, with the comparison that decides."""
    said = f"{outcome.protocol}: **{outcome.verdict}**."
    if outcome.comparisons:
        p = "" if math.isnan(outcome.p) else f"{_test(outcome)}, "
        trials = "1 trial" if outcome.trials == 1 else f"{outcome.trials} trials"
        said += (
            f" {outcome.effect_of}: {effect(outcome)}; {p}at least {trials}; {outcome.held} of "
            f"{outcome.comparisons} comparisons hold."
        )
    if outcome.part:
        said += f" Bounds: {outcome.part.says}."
    if outcome.note:
        said += f" Note: {_brief(outcome.note)}."
    return said.translate(MARKDOWN).replace(r"\*\*", "**")


def _test(outcome: Outcome) -> str:
    """Say what the test of the least favourable comparison shows: inside, outside or neither."""
    p = f"corrected p = {outcome.p:.2g}"
    if outcome.verdict == rules.FAILS:
        return f"outside the bounds ({p})"
    return (
        f"within the bounds ({p})"
        if outcome.p <= rules.ALPHA
        else f"not shown to lie within the bounds ({p})"
    )


def _brief(note: str) -> str:
    """Cut a note to the length of a sentence; the scoreboard has all of it."""
    note = shortened(note, 3)
    if len(note) <= LONGEST_NOTE:
        return note
    return f"{note[:LONGEST_NOTE].rpartition(',')[0]}, and more in the scoreboard"


def effect(outcome: Outcome) -> str:
    """Write the effect of an outcome with its unit: ``+1.40 points``, ``0.39 times``."""
    part, value = outcome.part, outcome.effect
    if part is None:
        return f"{100 * value:.3g} %"
    if part.scale == "ratio":
        return f"{value:.3g} times"
    sign = "+" if _is_difference(part, outcome.joint) else ""
    return f"{value:{sign}.3g} {unit(part, outcome.joint)}".rstrip()


def _is_difference(part: Part, joint: str) -> bool:
    return bool(part.against or joint)


def unit(part: Part, joint: str = "") -> str:
    """Name the unit of a comparison's effect; empty for a bare number."""
    if part.metric in PERCENT:
        found = "points" if _is_difference(part, joint) else "%"
    elif part.metric == "kept":
        found = "features"
    elif part.metric.startswith("t_"):
        found = "s"
    else:
        found = "of the weight" if part.metric in SHARES else ""
    each = {"d": " per dimension", "M": " per feature"}[part.along] if joint == "slope" else ""
    return found + each
