"""Marks of significance: the test of liu2020's Table 3, repeated cell by cell (claim S1)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rfbench import papers
from rfbench.papers import Claim, Published
from rfbench.report import rules
from rfbench.report.arms import Arm
from rfbench.report.claims import Outcome
from rfbench.report.evidence import Evidence, of_method
from rfbench.report.stats import paired_t

BASELINES = ("rks", "qmc")
ITEM = "table3"
METRIC = "accuracy"


def significant(arms: Sequence[Arm], number: Published) -> bool | None:
    """Say whether a cell is significantly better than both baselines, as the paper tests it.

    A paired t-test at 5 % against each baseline, without correction, on the first ten trials.

    Returns
    -------
    bool or None
        None where fewer than ten trials are common to the three.
    """

    def values(method: str) -> dict[tuple[object, ...], float]:
        found = [arm for arm in of_method(arms, method) if number.size == arm.M]
        arm = max(found, key=lambda arm: len(arm.index), default=None)
        return arm.by_trial(METRIC) if arm else {}

    own, others = values(number.method), [values(method) for method in BASELINES]
    common = [key for key in own if all(key in other for other in others)]
    common = sorted(common, key=lambda key: int(str(key[0])))[: rules.MARKED_TRIALS]
    if len(common) < rules.MARKED_TRIALS:
        return None
    tests = [paired_t([own[k] for k in common], [other[k] for k in common]) for other in others]
    return all(test.effect > 0 and test.p <= rules.ALPHA for test in tests)


def evaluate_marks(claim: Claim, evidence: Evidence) -> list[Outcome]:
    """Return the verdict on the marks of a paper's table under each protocol."""
    numbers = [
        number
        for number in papers.published()
        if number.paper == claim.paper
        and (number.item, number.metric) == (ITEM, METRIC)
        and number.method not in BASELINES
    ]
    outcomes = []
    for protocol in evidence.protocols(claim.paper, [ITEM]):
        arms = {
            dataset: evidence.select(claim.paper, [ITEM], dataset, protocol)
            for dataset in dict.fromkeys(number.dataset for number in numbers)
        }
        found = [(number, significant(arms[number.dataset], number)) for number in numbers]
        outcomes += _outcome(claim, protocol, found) if any(arms.values()) else []
    return outcomes or [Outcome(claim, "", rules.NOT_RUN)]


def _outcome(
    claim: Claim, protocol: str, found: list[tuple[Published, bool | None]]
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
        notes.append(f"{open_cells} of {len(found)} cells lack {rules.MARKED_TRIALS} paired trials")
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
            trials=rules.MARKED_TRIALS if decided else 0,
            note="; ".join(notes),
        )
    ]
