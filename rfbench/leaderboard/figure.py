"""Figures of the leaderboard: errors against costs, and ratios of errors per question."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rfbench.figures import render_figure
from rfbench.figures.panels import PAGE_WIDTH, find_frontier, make_figure, set_log_ticks
from rfbench.figures.style import (
    BLACK,
    BLUE,
    BROWN,
    GREEN,
    GREY,
    SMALLEST_POINTS,
    VERMILLION,
    VIOLET,
    Style,
    apply_style,
    get_text_color,
)
from rfbench.leaderboard.facts import MethodResult, Ratio, SizeResult
from rfbench.registry import find_displayed_name
from rfbench.results.schema import BASELINE, MODEL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Lengths in inches: COLUMN is the width of a column of an article. LINE_HEIGHT is the height of a
# row with text of 7.5 points in the figure of ratios. MARGIN is the space above and below the
# rows. The values were chosen by eye. With half of LINE_HEIGHT, names overlap.
COLUMN, LINE_HEIGHT, MARGIN = 3.3, 0.16, 1.5
# Positions of ticks for ratios and for times, chosen by eye within the range of the published
# values. With twice as many ticks, their numbers overlap. FINE has the ticks of panels whose
# ratios span less than WIDE. Small panels use every second tick of TIME_TICKS.
RATIOS = (0.25, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.5, 2.0, 4.0)
FINE, WIDE = tuple(k / 50 for k in range(40, 61)), 1.2
TIME_TICKS = (0.01, 0.1, 1, 10, 100, 1000)
# Families of methods, each with a color and the prefixes of its methods. A method without a family
# is drawn like the methods with random frequencies.
FAMILIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "random frequencies": (BLUE, ("orf", "qmc", "sorf", "fastfood", "comp")),
    "data-dependent": (
        GREEN,
        ("eerf", "lkrf", "surrogate-leverage-kept", "greedy", "svd", "tefm-g", "tefm-s"),
    ),
    "trained, pairs": (BROWN, ("varpro", "rfm-rff", "swim", "pairs")),
    "landmarks": (VIOLET, ("nystroem",)),
    "reference models": (BLACK, ()),
}
OTHER_FAMILY, REFERENCES = "random frequencies", "reference models"
# Markers of the methods within one family. They look different even at a size of 5 points.
MARKERS = "s^DvXP*<>d"
# A method's name is written next to its marker if no other marker is nearer than this share of the
# panel. The value was chosen by eye. If it is halved, names overlap.
FREE_AROUND = 0.09
# REACHES are the possible distances in points from a marker to its name, chosen by eye. DIRECTIONS
# are the possible directions. With twice the distances, a name is nearer to the marker of another
# method.
REACHES = (4, 12, 20, 30)
DIRECTIONS = ((1, 0), (0, -1), (0, 1), (-1, 0), (1, -1), (1, 1), (-1, -1), (-1, 1))


def find_family(line: MethodResult) -> str:
    """Return the family of a method, a key of `FAMILIES`; an empty string for the baseline."""
    if line.role in (BASELINE, MODEL):
        return REFERENCES if line.role == MODEL else ""
    return next(
        (
            name
            for name, (_, methods) in FAMILIES.items()
            if line.method.startswith(methods or ("/",))
        ),
        OTHER_FAMILY,
    )


def assign_looks(sizes: Sequence[SizeResult], own: str) -> dict[str, tuple[str, Style]]:
    """Return the family and the style (color and marker) of each method."""
    looks: dict[str, tuple[str, Style]] = {}
    lines = {line.method: line for size in sizes for line in size.lines}
    for name in sorted(lines):
        family = find_family(lines[name])
        marker = MARKERS[sum(other == family for other, _ in looks.values()) % len(MARKERS)]
        color = FAMILIES[family][0] if family else BLACK
        style = Style(color, marker if family else "o", family != REFERENCES)
        looks[name] = family, Style(VERMILLION, "*") if name == own else style
    return looks


def draw_costs(sizes: Sequence[SizeResult], own: str = "") -> Figure:
    """Draw the error of each method against its search time, relative to the baseline.

    The smallest and the largest number of features have a panel. Points are medians over data sets,
    and bars are intervals of the medians. A line joins the methods for which no other method is
    better in both error and time. These methods are labeled, and also methods far from all other
    methods. Reference models have open markers. The method `own` is a star, or a horizontal line if
    its time is not known.
    """
    sizes = [sizes[0], sizes[-1]] if len(sizes) > 1 else sizes
    alone = len(sizes) == 1
    figure = make_figure(COLUMN if alone else PAGE_WIDTH, 4.4 if alone else 4.3)
    panels = list(figure.subplots(1, len(sizes), squeeze=False, sharex=True).flat)
    looks = assign_looks(sizes, own)
    plain = next((line.method for line in sizes[-1].lines if line.role == BASELINE), "")
    base = find_displayed_name(plain) if plain else "the baseline"
    for panel, size in zip(panels, sizes, strict=True):
        timed = [line for line in size.lines if line.search > 0]
        for line in size.lines:
            style = looks[line.method][1]
            if line in timed:
                of = line.ratio  # an error without an interval has no bar
                gaps = np.nan_to_num([[of.median - of.low], [of.high - of.median]])
                look: dict[str, Any] = {"linestyle": "", "elinewidth": 0.6, "capsize": 0}
                look |= {"label": find_displayed_name(line.method), **style.make_marks(panel)}
                panel.errorbar([line.search], [of.median], gaps, **look)
            elif line.method == own:
                name = f"{find_displayed_name(own)} (time not compared)"
                of = line.ratio
                if of.low <= of.high:
                    panel.axhspan(of.low, of.high, color=VERMILLION, alpha=0.15, linewidth=0)
                panel.axhline(of.median, color=VERMILLION, label=name)
        on = find_frontier([line.search for line in timed], [line.ratio.median for line in timed])
        if timed:
            panel.plot(*on, color=GREY, linewidth=0.8, zorder=0)
        for value, draw_line in ((1.0, panel.axhline), (1.0, panel.axvline)):
            draw_line(value, color=get_text_color(), linewidth=0.6, zorder=0)
        set_log_ticks(panel, "x", TIME_TICKS if alone else TIME_TICKS[::2])
        panel.set_yscale("log")
        panel.set_title(f"M = {size.M}")
        panel.set_xlabel(f"CPU time of tuning and fit / that of {base}")
        _limit(panel, timed)
    figure.axes[0].set_ylabel(f"test error / that of {base}")
    _add_legend(figure, looks, 2 if alone else len(FAMILIES))
    # This call computes the layout, which is needed to place the names.
    figure.draw_without_rendering()
    for panel, size in zip(panels, sizes, strict=True):
        _name_marks(panel, [line for line in size.lines if line.search > 0])
    return figure


def _limit(panel: Axes, lines: Sequence[MethodResult]) -> None:
    """Limit the range of the error axis; methods beyond the limit are drawn as arrows.

    Without the limit, methods that differ by a few percent would overlap.
    """
    medians = np.sort([line.ratio.median for line in lines])
    most = medians[-1]
    if len(medians) > 2 and math.log(most / medians[-2]) > math.log(medians[-2] / medians[0]):
        most = medians[-2]
    if most > medians[0]:
        gap = (most / medians[0]) ** 0.15
        panel.set_ylim(min(medians[0], 1.0) / gap, max(most, 1.0) * gap)
    low, top = panel.get_ylim()
    set_log_ticks(panel, "y", RATIOS if top > WIDE * low else FINE)
    for line in lines:
        if line.ratio.median > top:
            name = f"{find_displayed_name(line.method)}: {line.ratio.median:.2f} ↑"
            panel.annotate(name, (line.search, top), (0, -9), textcoords="offset points",
                           fontsize=SMALLEST_POINTS)  # fmt: skip


def _name_marks(panel: Axes, lines: Sequence[MethodResult]) -> None:
    """Write the names of methods next to their markers, where there is enough space.

    Methods on the frontier are named first, and then methods without a marker nearby. The layout of
    the figure has to be computed before.
    """
    from matplotlib.transforms import Bbox

    lines = [line for line in lines if line.ratio.median <= panel.get_ylim()[1]]
    if not lines:
        return
    at = panel.transData.transform([(line.search, line.ratio.median) for line in lines])
    inside, point = panel.get_window_extent(), panel.figure.dpi / 72
    to_shares = panel.figure.transFigure.inverted()
    taken = [Bbox.from_bounds(x - 3 * point, y - 3 * point, 6 * point, 6 * point) for x, y in at]
    _, reached = find_frontier(
        [line.search for line in lines], [line.ratio.median for line in lines]
    )
    gaps = np.hypot(*((at[:, None] - at) / inside.size).transpose(2, 0, 1))
    np.fill_diagonal(gaps, math.inf)
    far = gaps.min(axis=1) > FREE_AROUND
    for i in np.argsort([line.ratio.median not in reached for line in lines], kind="stable"):
        if lines[i].ratio.median not in reached and not far[i]:
            continue
        name = find_displayed_name(lines[i].method)
        size = np.array([0.6 * len(name), 1.2]) * SMALLEST_POINTS * point
        for reach, (right, up) in itertools.product(REACHES, DIRECTIONS):
            middle = at[i] + np.array([right, up]) * (reach * point + size / 2)
            box = Bbox.from_bounds(*(middle - size / 2), *size)
            free = not any(box.overlaps(other) for other in taken)
            if free and inside.x0 < box.x0 and box.x1 < inside.x1 and inside.y0 < box.y0:
                taken.append(box)
                line: dict[str, Any] = {"arrowstyle": "-", "linewidth": 0.4, "color": GREY}
                panel.annotate(
                    name, (lines[i].search, lines[i].ratio.median),
                    tuple(to_shares.transform(middle)), textcoords="figure fraction",
                    ha="center", va="center", fontsize=SMALLEST_POINTS, in_layout=False,
                    arrowprops=line if reach > REACHES[0] else None,
                )  # fmt: skip
                break


def _add_legend(figure: Figure, looks: Mapping[str, tuple[str, Style]], columns: int) -> None:
    """Add a legend of the methods; each family has a column of its own if there is enough space."""
    from matplotlib.lines import Line2D

    found = {label: handle for panel in figure.axes
             for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)}  # fmt: skip
    family_of = {find_displayed_name(name): family for name, (family, _) in looks.items()}
    blank = Line2D([], [], linestyle="")
    parts = []
    for family in FAMILIES:
        names = [name for name in found if family_of.get(name, "") == family]
        if family == OTHER_FAMILY:
            names = [name for name in found if not family_of.get(name, "")] + names
        if names:
            parts.append([(blank, family), *((found[name], name) for name in names)])
    longest = max(map(len, parts), default=0)
    if columns > 2:
        parts = [part + [(blank, "")] * (longest - len(part)) for part in parts]
        columns = len(parts)
    entries = [entry for part in parts for entry in part]
    legend = figure.legend(
        [handle for handle, _ in entries], [name for _, name in entries],
        loc="outside lower center", ncols=max(columns, 1), fontsize=SMALLEST_POINTS,
        handlelength=1.2, handletextpad=0.3, columnspacing=0.8,
    )  # fmt: skip
    for text in legend.get_texts():
        if text.get_text() in FAMILIES:
            text.set_fontweight("bold")


def render_costs(sizes: Sequence[SizeResult], own: str = "", form: str = "png") -> bytes:
    """Return the figure of errors against costs as PNG or PDF.

    The same input gives the same bytes.
    """
    with apply_style(article=len(sizes) == 1):
        return render_figure(draw_costs(sizes, own), form, small=True)


def draw_ratios(questions: Mapping[str, Mapping[str, Ratio]], apart: Sequence[str] = ()) -> Figure:
    """Draw the median ratio of errors and its interval for each comparison of each question.

    The questions in `apart` are drawn in a separate panel. A ratio is gray if its interval contains
    1, and its marker is hollow if it has no interval.
    """
    panels = [
        {name: bars for name, bars in questions.items() if (name in apart) == other}
        for other in (False, True)
    ]
    panels = [each for each in panels if each]
    counts = [sum(1 + len(bars) for bars in each.values()) for each in panels]
    figure = make_figure(PAGE_WIDTH, MARGIN + 0.5 * (len(panels) - 1) + LINE_HEIGHT * sum(counts))
    ratios = [LINE_HEIGHT * count + 0.1 for count in counts]
    grid = figure.subplots(len(panels), 1, squeeze=False, height_ratios=ratios).flat
    for panel, each in zip(grid, panels, strict=True):
        _draw_questions(panel, each)
    figure.axes[0].set_xlabel(
        "ratio of test errors: median, 90 % interval\n"
        "←  lower error of the first       of the second  →"
    )
    if len(panels) > 1:
        figure.axes[1].set_xlabel("ratio of errors of the kernel matrix (no interval)")
    return figure


def _draw_questions(panel: Axes, questions: Mapping[str, Mapping[str, Ratio]]) -> None:
    labels: list[str] = []
    heads = []
    panel.axvline(1.0, color=get_text_color(), linewidth=0.8)
    for question, bars in questions.items():
        heads.append(len(labels))
        labels.append(question)
        for name, bar in bars.items():
            known = bar.low <= bar.high
            open_ = known and bar.low <= 1 <= bar.high
            colour = GREY if open_ else BLUE if bar.median < 1 else VERMILLION
            place = len(labels)
            if known:
                panel.plot([bar.low, bar.high], [place, place], color=colour)
            face = colour if known else panel.get_facecolor()
            panel.plot([bar.median], [place], "o", color=colour, markerfacecolor=face, markersize=4)
            labels.append(name)
    set_log_ticks(panel, "x", RATIOS)
    panel.set_yticks(range(len(labels)), labels, fontsize=7.5)
    for head in heads:
        panel.get_yticklabels()[head].set_fontweight("bold")
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=False, axis="y")
    panel.set_ylim(len(labels) - 0.5, -0.5)


def render_ratios(questions: Mapping[str, Mapping[str, Ratio]], apart: Sequence[str] = ()) -> bytes:
    """Return the figure of ratios of errors as PNG; the same input gives the same bytes."""
    with apply_style():
        return render_figure(draw_ratios(questions, apart), "png", small=True)
