"""Which method: ranks, budgets of time, data set by data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rfbench.analysis import ranking
from rfbench.analysis.choice import SizeTest
from rfbench.analysis.statistics import ALPHA
from rfbench.pages.html.runs import cut, rounded


def facts(comparison: ranking.Comparison, tests: Sequence[SizeTest]) -> dict[str, Any]:
    """Gather what a comparison of methods over data sets says, with the tests that have ranks."""
    within = ranking.best_within(comparison)
    lines = comparison.lines[comparison.lines["trials"] > 0]
    return {
        "alpha": ALPHA,
        "clock": "CPU" if comparison.clock.startswith("cpu") else "wall",
        "unlearnt": [cut(name) for name in comparison.unlearnt],
        "leaking": [cut(name) for name in comparison.leaking],
        "tests": [
            {
                "M": test.M,
                "datasets": test.datasets,
                "p": rounded([test.p])[0],
                "difference": rounded([test.difference])[0],
                "ranks": {cut(k): rounded([v])[0] for k, v in test.ranks.items()},
            }
            for test in tests
        ],
        "budgets": list(ranking.SECONDS),
        "within": [
            [cut(data), *rounded([seconds]), cut(method), int(M), *rounded([mean, time])]
            for data, seconds, method, M, mean, time in within.itertuples(index=False, name=None)
        ],
        "datasets": [
            [cut(data), cut(metric), cut(method), int(M), *rounded([mean, se, time])]
            for data, metric, method, M, mean, se, time in lines[
                ["dataset", "metric", "method", "M", "mean", "se", f"{comparison.clock}_all"]
            ].itertuples(index=False, name=None)
        ],
    }
