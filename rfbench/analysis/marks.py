"""Marks of significance: the test of a paper's table, repeated cell by cell."""

from __future__ import annotations

import numpy as np

from rfbench.analysis import verdicts
from rfbench.analysis.paired import Trials
from rfbench.analysis.statistics import paired_t
from rfbench.papers import Marks


def significant(trials: Trials, method: str, size: float, rule: Marks) -> bool | None:
    """Say whether a method is significantly better than every baseline, as the paper tests it.

    A paired t-test at 5 % against each baseline, without correction, on the first trials; None
    where fewer are common to all.
    """
    at_size = trials.facts["M"] == size
    names = (method, *rule.baselines)
    found = [[a for a in trials.of_method(name) if at_size[a]] for name in names]
    if not all(found):
        return None
    most = [max(columns, key=lambda a: int(trials.facts["trials"][a])) for columns in found]
    table = trials.table(rule.metric)[:, most]
    whole = np.isfinite(table).all(axis=1)
    number = trials.collection.of_pairs(["trial"])["trial"][trials.pairs[whole]]
    table = table[whole][np.argsort(number.to_numpy())[: rule.trials]]
    if len(table) < rule.trials:
        return None
    own, *others = table.T
    tests = [paired_t(own, other) for other in others]
    return all(test.effect > 0 and test.p <= verdicts.ALPHA for test in tests)
