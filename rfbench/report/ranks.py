"""The critical-difference diagram: average ranks over data sets, and which do not differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from rfbench.analysis.ranking import groups
from rfbench.analysis.statistics import ALPHA, average_ranks, friedman, nemenyi_difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def diagram(scores: pd.DataFrame, alpha: float = ALPHA, title: str = "") -> Figure:
    """Draw the critical-difference diagram of Demsar (2006).

    Methods are placed by their average rank, the best on the left; a bar joins those whose ranks
    differ by less than Nemenyi's critical difference. The caption says over how many data sets,
    and what Friedman's test says.

    Parameters
    ----------
    scores : DataFrame
        One row a data set, one column a method, smaller is better.
    alpha : float
        Significance level.
    title : str
        Above the axis.
    """
    from matplotlib.figure import Figure

    ranks = average_ranks(scores)
    n, k = len(scores.dropna()), len(ranks)
    difference = nemenyi_difference(k, n, alpha)
    bars = groups(ranks, difference)
    half = -(-k // 2)
    depth = 0.4 * len(bars) + half + 1.0
    figure = Figure(figsize=(7.0, 1.6 + 0.32 * depth), layout="constrained")
    axes = figure.subplots()
    axes.set(xlim=(0.4, k + 0.6), ylim=(depth + 0.6, -1.6))
    axes.axis("off")
    axes.hlines(0, 1, k, color="black", linewidth=1)
    for tick in range(1, k + 1):
        axes.vlines(tick, -0.15, 0, color="black", linewidth=1)
        axes.text(tick, -0.3, str(tick), ha="center", va="bottom", fontsize=8)
    shown = min(difference, k - 1)
    axes.hlines(-1.1, 1, 1 + shown, color="black", linewidth=2)
    wide = "" if shown == difference else ", wider than the axis"
    label = f"critical difference {difference:.2f}{wide}"
    axes.text(1 + shown, -1.1, f"  {label}", va="center", fontsize=8)
    for i, (name, rank) in enumerate(ranks.items()):
        left = i < half
        y = 0.4 * len(bars) + 1.0 + (i if left else k - 1 - i)
        end = 0.8 if left else k + 0.2
        axes.plot([rank, rank, end], [0, y, y], color="black", linewidth=0.8)
        axes.text(
            end,
            y,
            f" {name} ({rank:.2f}) ",
            ha="right" if left else "left",
            va="center",
            fontsize=8,
        )
    for i, bar in enumerate(bars):
        low, high = ranks[bar[0]] - 0.04, ranks[bar[-1]] + 0.04
        axes.hlines(0.4 * (i + 1), low, high, color="black", linewidth=3)
    if title:
        axes.set_title(title, fontsize=10)
    _, iman = friedman(scores)
    test = f"Friedman (Iman-Davenport) p = {iman.p:.3g}" if iman.p == iman.p else iman.note
    said = f"Average ranks over {n} data sets, Nemenyi at {alpha:g}; {test}."
    legend = "Rank 1: the smallest error. A bar joins ranks that do not differ significantly."
    figure.supxlabel(f"{said}\n{legend}", fontsize=7)
    return figure
