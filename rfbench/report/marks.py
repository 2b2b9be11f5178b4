"""Marks of significance: the test of a paper's table, repeated cell by cell."""

from __future__ import annotations

from collections.abc import Sequence

from rfbench.analysis.statistics import paired_t
from rfbench.papers import Marks, Published
from rfbench.report import rules
from rfbench.report.arms import Arm
from rfbench.report.evidence import of_method


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
