"""The critical-difference diagram of Demsar (2006, Figure 1), as SVG."""

from __future__ import annotations

from rfbench.analysis.choice import SizeTest
from rfbench.analysis.ranking import groups
from rfbench.analysis.statistics import ALPHA
from rfbench.pages.templates import render
from rfbench.pages.words import number

AXIS, ROW, LETTER = 380, 19, 7  # pixels: the axis, from name to name, the width of a letter


def svg(test: SizeTest, *, alone: bool) -> str:
    """Draw the average ranks at one size, the best on the left; a bar joins each group.

    In colours and letters of the page that it stands in, or `alone` with a title and a ground.
    """
    ordered = list(test.ranks.items())
    names = [f"{name:.40} ({number(rank, 2)})" for name, rank in ordered]
    k, half = len(ordered), -(-len(ordered) // 2)
    edge = 30 + LETTER * max(map(len, names))

    def at(rank: float) -> float:
        return round(edge + (rank - 1) / (k - 1) * AXIS, 1)

    bars = groups(test.ranks, test.difference)
    first = 62 + 9 * len(bars)
    lines = [first + ROW * (i if i < half else k - 1 - i) for i in range(k)]
    return render(
        "rank_diagram.svg.j2",
        test=test,
        alone=alone,
        alpha=ALPHA,
        edge=edge,
        axis=AXIS,
        height=first + ROW * half,
        ticks=[(n, at(n)) for n in range(1, k + 1)],
        reach=at(1 + min(test.difference, k - 1)),
        names=[
            {"name": name, "x": at(rank), "y": y, "left": i < half}
            for i, (name, (_, rank), y) in enumerate(zip(names, ordered, lines, strict=True))
        ],
        bars=[
            (at(test.ranks[bar[0]]) - 3, at(test.ranks[bar[-1]]) + 3, 54 + 9 * n)
            for n, bar in enumerate(bars)
        ],
    )
