"""Figures of the leaderboard: error over cost, and ratios of errors for answers.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rfbench.figures import render_figure
from rfbench.figures.panels import frontier, new_figure
from rfbench.figures.style import (
    BLUE,
    GREY,
    VERMILLION,
    Style,
    apply_style,
    assign_styles,
    get_text_color,
)
from rfbench.leaderboard.facts import Ratio, Size
from rfbench.registry import find_displayed_name
from rfbench.results.schema import MODEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches. 6.4 is matplotlib's usual width. A line of text at 10 points needs .14, so with LINE
# halved names overlap. COLUMN is a column of an article, PAGE the figure of several sizes, two
# columns.
WIDTH, LINE, MARGIN = 6.4, 0.2, 0.9
COLUMN, PAGE = 3.3, 7.2
# Ticks in the range of the published ratios and times: about half a power of two apart, and a power
# of ten apart. With twice as many, their numbers overlap. Small panels use every second one of
# TIME_TICKS.
RATIOS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 4.0)
TIME_TICKS = (0.01, 0.1, 1, 10, 100, 1000)


def draw_costs(sizes: Sequence[Size], own: str = "") -> Figure:
    """Draw each method's error against its search time, both divided by the baseline's.

    There is a panel per number of features. Points are medians over data sets, bars their
    intervals. The line joins the methods that no other method beats in both error and time.
    Reference models have open markers. The method `own` is a star, or a horizontal line with its
    interval if its time is not known.
    """
    alone = len(sizes) == 1
    figure = new_figure(COLUMN if alone else PAGE, 3.9 if alone else 3.3)
    panels = figure.subplots(1, len(sizes), squeeze=False, sharex=True, sharey=True).flat
    names = dict.fromkeys(line.method for size in sizes for line in size.lines)
    styles = assign_styles({name: name for name in names})
    for panel, size in zip(panels, sizes, strict=True):
        timed = [line for line in size.lines if line.search > 0]
        for line in size.lines:
            style = styles[line.method]._replace(filled=line.role != MODEL)
            if line.method == own:
                style = Style(VERMILLION, "*")
            if line in timed:
                of = line.ratio  # without an interval there are no bars
                gaps = np.nan_to_num([[of.median - of.low], [of.high - of.median]])
                look: dict[str, Any] = {"linestyle": "", "elinewidth": 0.6, "capsize": 0}
                look |= {"label": find_displayed_name(line.method), **style.marks(panel)}
                panel.errorbar([line.search], [of.median], gaps, **look)
            elif line.method == own:
                name = f"{find_displayed_name(own)} (time not compared)"
                of = line.ratio
                if of.low <= of.high:
                    panel.axhspan(of.low, of.high, color=VERMILLION, alpha=0.15, linewidth=0)
                panel.axhline(of.median, color=VERMILLION, label=name)
        if timed:
            on = frontier([line.search for line in timed], [line.ratio.median for line in timed])
            panel.plot(*on, color=GREY, linewidth=0.8, zorder=0)
        panel.axhline(1.0, color=get_text_color(), linewidth=0.6, zorder=0)
        _logarithmic(panel, "x", TIME_TICKS if alone else TIME_TICKS[::2])
        _logarithmic(panel, "y", RATIOS)
        panel.set_title(f"M = {size.M}")
        panel.set_xlabel("CPU time, relative to baseline" if alone else "relative CPU time")
    figure.axes[0].set_ylabel("error, relative to baseline")
    found = {label: handle for panel in figure.axes
             for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)}  # fmt: skip
    figure.legend(found.values(), found.keys(), loc="outside lower center",
                  ncols=2 if alone else 5, fontsize="x-small")  # fmt: skip
    return figure


def _logarithmic(panel: Axes, which: Literal["x", "y"], ticks: Sequence[float]) -> None:
    """Make an axis logarithmic with the given ticks."""
    from matplotlib.ticker import FixedLocator, NullLocator

    panel.set(**{f"{which}scale": "log"})
    axis = panel.xaxis if which == "x" else panel.yaxis
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter("{x:g}")


def render_costs(sizes: Sequence[Size], own: str = "", form: str = "png") -> bytes:
    """Return the figure as PNG or PDF; the same facts give the same bytes."""
    with apply_style(article=len(sizes) == 1):
        return render_figure(draw_costs(sizes, own), form)


def draw_ratios(bars: Mapping[str, Ratio]) -> Figure:
    """Draw medians with their intervals, one per line; medians below 1 are blue."""
    figure = new_figure(WIDTH, MARGIN + LINE * len(bars))
    panel = figure.subplots()
    panel.axvline(1.0, color=get_text_color(), linewidth=0.8)
    for position, bar in enumerate(bars.values()):
        colour = BLUE if bar.median < 1 else VERMILLION
        panel.plot([bar.low, bar.high], [position, position], color=colour)
        panel.plot([bar.median], [position], "o", color=colour)
    _logarithmic(panel, "x", RATIOS)
    panel.set_yticks(range(len(bars)), list(bars))
    panel.set_ylim(len(bars) - 0.5, -0.5)
    panel.set_xlabel("median ratio of errors")
    return figure


def render_ratios(bars: Mapping[str, Ratio]) -> bytes:
    """Return the figure of ratios of errors as PNG; the same facts give the same bytes."""
    with apply_style():
        return render_figure(draw_ratios(bars), "png")
