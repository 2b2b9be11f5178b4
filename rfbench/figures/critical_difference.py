"""The critical-difference diagram: average ranks, and which do not differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rfbench.analysis.choice import SizeTest
from rfbench.analysis.ranking import groups as groups_of
from rfbench.analysis.statistics import ALPHA
from rfbench.figures.panels import new_figure
from rfbench.figures.style import ink

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BAR = 0.4  # height of a bar, in lines of names


def diagram(
    ranks: Mapping[str, float],
    difference: float,
    groups: Iterable[Sequence[str]],
    title: str = "",
    note: str = "",
) -> Figure:
    """Draw the diagram of Demsar (2006, Figure 1).

    Methods stand at their average rank, the best on the left; a bar joins each group.

    Parameters
    ----------
    ranks : mapping
        From each of two methods or more to its average rank.
    difference : float
        The critical difference.
    groups : iterable of sequences of str
        See `rfbench.analysis.ranking.groups`.
    """
    black = ink()
    ordered, bars = sorted(ranks.items(), key=lambda item: item[1]), list(groups)
    k, half = len(ordered), -(-len(ordered) // 2)
    first = BAR * len(bars) + 1.0
    figure = new_figure(7.0, 1.6 + 0.32 * (first + half))
    axes = figure.subplots()
    axes.set(xlim=(0.4, k + 0.6), ylim=(first + half - 0.4, -1.6))
    axes.axis("off")
    axes.hlines(0, 1, k, color=black, linewidth=1)
    for tick in range(1, k + 1):
        axes.vlines(tick, -0.15, 0, color=black, linewidth=1)
        axes.text(tick, -0.3, str(tick), ha="center", va="bottom", fontsize="small")
    shown = min(difference, k - 1)
    axes.hlines(-1.1, 1, 1 + shown, color=black, linewidth=2)
    wide = "" if shown == difference else ", wider than the axis"
    label = f"  critical difference {difference:.2f}{wide}"
    axes.text(1 + shown, -1.1, label, va="center", fontsize="small")
    for i, (name, rank) in enumerate(ordered):
        left = i < half
        line = first + (i if left else k - 1 - i)
        end, side = (0.8, "right") if left else (k + 0.2, "left")
        axes.plot([rank, rank, end], [0, line, line], color=black, linewidth=0.8, marker="")
        axes.text(end, line, f" {name} ({rank:.2f}) ", ha=side, va="center", fontsize="small")
    for i, bar in enumerate(bars):
        inside = [ranks[name] for name in bar]
        low, high = min(inside) - 0.04, max(inside) + 0.04
        axes.hlines(BAR * (i + 1), low, high, color=black, linewidth=3)
    axes.set_title(title)
    figure.supxlabel(note)
    return figure


def diagrams(tests: Iterable[SizeTest], out: Path) -> list[Path]:
    """Draw the diagram of each size that has ranks, for the page on methods; return the files."""
    import matplotlib.style

    from rfbench import figures
    from rfbench.figures.style import settings

    files = []
    with matplotlib.style.context("default"), settings():
        for test in tests:
            if len(test.ranks):
                files.append(out / f"which_method_M{test.M}.png")
                figures.save(_of_test(test), files[-1])
    return files


def _of_test(test: SizeTest) -> Figure:
    return diagram(
        {str(name): float(rank) for name, rank in test.ranks.items()},
        test.difference,
        groups_of(test.ranks, test.difference),
        f"Test error at M = {test.M}",
        f"Average ranks over {test.datasets} data sets, Nemenyi at {ALPHA:g}; Friedman "
        f"p = {test.p:.3g}.\n"
        "Rank 1: the smallest error. A bar joins ranks that do not differ significantly.",
    )
