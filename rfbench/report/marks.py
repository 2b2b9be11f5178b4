"""Marks of significance: the test of a paper's table, repeated cell by cell."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rfbench import papers
from rfbench.papers import Claim, Marks, Published
from rfbench.report import rules
from rfbench.report.arms import Arm
from rfbench.report.claims import Outcome
from rfbench.report.evidence import Evidence, of_method
from rfbench.report.stats import paired_t


def significant(arms: Sequence[Arm], number: Published, marks: Marks) -> bool | None:
    """Say whether a cell is significantly better than the baselines, as the paper tests it.

    A paired t-test at 5 % against each baseline, without correction, on the first trials.

    Returns
    -------
    bool or None
        None for a baseline, and where too few trials are common to all.
    """
    if number.method in marks.baselines:
        return None

    def values(method: str) -> dict[tuple[object, ...], float]:
        found = [arm for arm in of_method(arms, method) if number.size == arm.M]
        arm = max(found, key=lambda arm: len(arm.index), default=None)
        return arm.by_trial(marks.metric) if arm else {}

    own, others = values(number.method), [values(method) for method in marks.baselines]
    common = [key for key in own if all(key in other for other in others)]
    common = sorted(common, key=lambda key: int(str(key[0])))[: marks.trials]
    if len(common) < marks.trials:
        return None
    tests = [paired_t([own[k] for k in common], [other[k] for k in common]) for other in others]
    return all(test.effect > 0 and test.p <= rules.ALPHA for test in tests)


def evaluate_marks(claim: Claim, evidence: Evidence) -> list[Outcome]:
    """Return the verdict on the marks of a paper's table under each protocol."""
    outcomes = []
    for item, layout in papers.paper(claim.paper).tables.items():
        if layout.marks is not None:
            outcomes += _on_table(claim, evidence, item, layout.marks)
    return outcomes or [Outcome(claim, "", rules.NOT_RUN)]


def _on_table(claim: Claim, evidence: Evidence, item: str, marks: Marks) -> list[Outcome]:
    numbers = [
        number
        for number in papers.published()
        if (number.paper, number.item, number.metric) == (claim.paper, item, marks.metric)
        and number.method not in marks.baselines
    ]
    outcomes = []
    for protocol in evidence.protocols(claim.paper, [item]):
        arms = {
            dataset: evidence.select(claim.paper, [item], dataset, protocol)
            for dataset in dict.fromkeys(number.dataset for number in numbers)
        }
        found = [(number, significant(arms[number.dataset], number, marks)) for number in numbers]
        outcomes += _outcome(claim, protocol, found, marks.trials) if any(arms.values()) else []
    return outcomes


def _outcome(
    claim: Claim, protocol: str, found: list[tuple[Published, bool | None]], trials: int
) -> list[Outcome]:
    decided = [(number, seen) for number, seen in found if seen is not None]
    wrong = [number for number, seen in decided if seen != (number.mark == "significant")]
    share = 1 - len(wrong) / len(decided) if decided else math.nan
    verdict = rules.INCONCLUSIVE
    if len(wrong) > claim.tolerance * len(found):
        verdict = rules.FAILS
    elif len(decided) == len(found) and not wrong:
        verdict = rules.HOLDS
    notes = []
    if open_cells := len(found) - len(decided):
        notes.append(f"{open_cells} of {len(found)} cells lack {trials} paired trials")
    for marked, words in ((True, "marked but not significant"), (False, "significant, not marked")):
        cells = [n for n in wrong if (n.mark == "significant") == marked]
        if cells:
            names = ", ".join(f"{n.dataset} {n.method} {n.M}" for n in cells)
            notes.append(f"{words}: {names}")
    return [
        Outcome(
            claim,
            protocol,
            verdict,
            share,
            "share of cells as marked",
            comparisons=len(decided),
            held=len(decided) - len(wrong),
            trials=trials if decided else 0,
            note="; ".join(notes),
        )
    ]
