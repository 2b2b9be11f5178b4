"""Random features against gradient boosting, table by table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rfbench.figures import drawn
from rfbench.figures.panels import new_figure
from rfbench.figures.style import BLUE, GREY, VERMILLION, ink, settings
from rfbench.leaderboard.facts import Enough, TableRatio

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, LINE, MARGIN = 6.4, 0.2, 0.9  # inches


def draw(enough: Enough) -> Figure:
    """Draw the quotient of errors of each table with its interval over trials, the best first.

    Below 1, in blue, features have the smaller error. The band is the geometric mean over tables
    with its interval.
    """
    tables: Sequence[TableRatio] = enough.tables
    figure = new_figure(WIDTH, MARGIN + LINE * len(tables))
    panel = figure.subplots()
    overall = enough.overall
    panel.axvspan(overall.low, overall.high, color=GREY, alpha=0.25, linewidth=0)
    panel.axvline(overall.ratio, color=GREY)
    panel.axvline(1.0, color=ink(), linewidth=0.8)
    for position, table in enumerate(tables):
        colour = BLUE if table.ratio < 1 else VERMILLION
        if not math.isnan(table.low):
            panel.plot([table.low, table.high], [position, position], color=colour)
        panel.plot([table.ratio], [position], "o", color=colour)
    panel.set_xscale("log")
    ticks = [tick for tick in (0.25, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0) if _shown(tick, tables)]
    panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.minorticks_off()
    panel.set_yticks(range(len(tables)), [table.dataset for table in tables])
    panel.set_ylim(len(tables) - 0.5, -0.5)
    panel.set_xlabel("error of features / error of boosting")
    return figure


def png(enough: Enough) -> bytes:
    """Return the figure as PNG; the same facts give the same bytes."""
    with settings():
        return drawn(draw(enough), "png")


def _shown(tick: float, tables: Sequence[TableRatio]) -> bool:
    low, high = min(t.ratio for t in tables), max(t.ratio for t in tables)
    return min(low, 1.0) / 1.3 <= tick <= max(high, 1.0) * 1.3 or tick == 1.0
