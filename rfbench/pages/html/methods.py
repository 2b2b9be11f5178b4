"""Which method: ranks, the critical-difference diagram, budgets of time, data set by data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rfbench.analysis import ranking
from rfbench.analysis.choice import SizeTest, size_tests
from rfbench.analysis.statistics import ALPHA
from rfbench.pages.html.runs import cut, rounded
from rfbench.results import Results

WIDTH, EDGE, ROW = 720.0, 190.0, 19.0


def facts(experiments: Sequence[Results]) -> dict[str, Any] | None:
    """Gather what a comparison of methods over data sets says; None where there is none."""
    comparison = ranking.gather(experiments)
    if comparison is None:
        return None
    tests = [test for test in size_tests(comparison) if len(test.ranks)]
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
        "diagrams": [diagram(test) for test in tests],
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


def diagram(test: SizeTest) -> dict[str, Any]:
    """Lay out the diagram of Demsar (2006, Figure 1): coordinates for `diagram.svg.j2`."""
    ranks = {cut(name, 24): float(rank) for name, rank in test.ranks.items()}
    k, half = len(ranks), -(-len(ranks) // 2)

    def at(rank: float) -> float:
        return round(EDGE + (rank - 1) / max(k - 1, 1) * (WIDTH - 2 * EDGE), 1)

    bars = ranking.groups(test.ranks, test.difference)
    first = 62 + 9 * len(bars)
    names = []
    for i, (name, rank) in enumerate(ranks.items()):
        left = i < half
        y = first + ROW * (i if left else k - 1 - i)
        names.append({"name": name, "rank": rank, "x": at(rank), "y": y, "left": left})
    return {
        "M": test.M,
        "datasets": test.datasets,
        "p": test.p,
        "difference": test.difference,
        "height": first + ROW * half,
        "width": WIDTH,
        "edge": EDGE,
        "ticks": [(n, at(n)) for n in range(1, k + 1)],
        "reach": at(1 + min(test.difference, k - 1)),
        "names": names,
        "bars": [
            (at(test.ranks[bar[0]]) - 3, at(test.ranks[bar[-1]]) + 3, 54 + 9 * n)
            for n, bar in enumerate(bars)
        ],
    }
