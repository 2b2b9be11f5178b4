"""Figures of the leaderboard: errors against times, and ratios of the errors of two methods."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rfbench.figures import render_figure
from rfbench.figures.panels import PAGE_WIDTH, find_pareto_frontier, make_figure, set_log_ticks
from rfbench.figures.style import (
    BLACK,
    BLUE,
    BROWN,
    GRAY,
    GREEN,
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
    from matplotlib.transforms import Bbox

# Lengths in inches. COLUMN is the width of a column of text in an article. LINE_HEIGHT is the
# height of a row, with text of 7.5 points, in the figure of ratios. MARGIN is the space above and
# below all rows. The values were chosen by eye. With half of LINE_HEIGHT, the names of methods
# overlap.
COLUMN, LINE_HEIGHT, MARGIN = 3.3, 0.16, 1.5
# Tick positions on axes of ratios (RATIOS) and of times (TIME_TICKS). They cover the range of the
# published values and were chosen by eye. With twice as many ticks, the tick labels overlap. If the
# upper end of an axis is at most WIDE times the lower end, the axis has the ticks FINE instead.
RATIOS = (0.25, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.5, 2.0, 4.0)
FINE, WIDE = tuple(k / 50 for k in range(40, 61)), 1.2
TIME_TICKS = (0.01, 0.1, 1, 10, 100, 1000)
# Families of methods. Each family has a color, and a method belongs to a family if its name starts
# with one of the prefixes. All other methods are in the family of random frequencies.
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
# Markers that distinguish the methods of one family. They look different even at a size of 5
# points.
MARKERS = "s^DvXP*<>d"
# The name of a method is placed near its marker, at the nearest free position. REACHES are the
# possible distances in points, chosen by eye, and DIRECTIONS are the possible directions. With
# twice the distances, names are too far from their markers. HALO is half the width in points of a
# marker with a white border. A line behind a name counts like CROSSING points of additional
# distance. Markers of other methods are at least NEAR points away from a name, or farther away than
# its own marker. CROSSING and NEAR were chosen by eye. If they are halved, names cover intervals or
# touch markers.
REACHES = (4, 8, 12, 20, 30)
DIRECTIONS = ((1, 0), (0, -1), (0, 1), (-1, 0), (1, -1), (1, 1), (-1, -1), (-1, 1))
HALO = 3
CROSSING, NEAR = 8, 8
# The axis of times extends beyond the fastest and the slowest method by this factor, which was
# chosen by eye. If it is halved, markers at the edge are cut off.
TIME_GAP = 1.6
# Heights in inches: ONE_PANEL of a figure with one panel, EACH_PANEL of each panel in a figure with
# two panels, and LEGEND_HEIGHT of the legend. The values were chosen by eye. In panels of half the
# height, there is not enough space for the names.
ONE_PANEL, EACH_PANEL, LEGEND_HEIGHT = 4.4, 2.7, 1.3


def _find_family(line: MethodResult) -> str:
    """Return the family of a method, such as "landmarks"; an empty string for the baseline."""
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


def _assign_looks(sizes: Sequence[SizeResult], own: str) -> dict[str, tuple[str, Style]]:
    """Return a dictionary from each method to its family and its style (color and marker).

    The method `own` has a star as its marker.
    """
    looks: dict[str, tuple[str, Style]] = {}
    lines = {line.method: line for size in sizes for line in size.lines}
    for name in sorted(lines):
        family = _find_family(lines[name])
        marker = MARKERS[sum(other == family for other, _ in looks.values()) % len(MARKERS)]
        color = FAMILIES[family][0] if family else BLACK
        style = Style(color, marker if family else "o", family != REFERENCES)
        looks[name] = family, Style(VERMILLION, "*") if name == own else style
    return looks


def draw_errors_against_costs(sizes: Sequence[SizeResult], own: str = "") -> Figure:
    """Draw the error of each method against its time, both divided by the values of the baseline.

    There is a panel for the smallest and for the largest number of features. Errors are medians
    over data sets, and bars are confidence intervals of the medians. Times are geometric means over
    data sets. A line joins the methods for which no other method is better in both error and time.
    Models without random features have open markers. The method `own` is a star, or a horizontal
    line if its time is not known.
    """
    sizes = [sizes[0], sizes[-1]] if len(sizes) > 1 else sizes
    alone = len(sizes) == 1
    height = ONE_PANEL if alone else EACH_PANEL * len(sizes) + LEGEND_HEIGHT
    figure = make_figure(COLUMN if alone else PAGE_WIDTH, height)
    panels = list(figure.subplots(len(sizes), 1, squeeze=False, sharex=True).flat)
    looks = _assign_looks(sizes, own)
    plain = next((line.method for line in sizes[-1].lines if line.role == BASELINE), "")
    base = find_displayed_name(plain) if plain else "the baseline"
    for panel, size in zip(panels, sizes, strict=True):
        _draw_marks(panel, size, looks, own)
        panel.set_title(f"M = {size.M}")
        panel.set_ylabel(f"test error / that of {base}")
    panels[-1].set_xlabel(f"CPU time of tuning and fit / that of {base}")
    _limit(panels, [_list_timed(size) for size in sizes])
    _add_legend(figure, looks, 2 if alone else len(FAMILIES))
    # Matplotlib computes the layout in this call. The names can be placed only when the layout is
    # known.
    figure.draw_without_rendering()
    for panel, size in zip(panels, sizes, strict=True):
        _name_marks(panel, _list_timed(size))
    return figure


def _list_timed(size: SizeResult) -> list[MethodResult]:
    """Return the results of the methods whose time is known."""
    return [line for line in size.lines if line.search > 0]


def _draw_marks(
    panel: Axes, size: SizeResult, looks: Mapping[str, tuple[str, Style]], own: str
) -> None:
    """Draw the marker and the interval of each method in a panel, and the Pareto frontier.

    The Pareto frontier is a line that joins the methods for which no other method is better in both
    error and time.
    """
    timed = _list_timed(size)
    for line in size.lines:
        style = looks[line.method][1]
        if line in timed:
            of = line.ratio  # an error without an interval has no bar
            gaps = np.nan_to_num([[of.median - of.low], [of.high - of.median]])
            look: dict[str, Any] = {"linestyle": "", "elinewidth": 0.6, "capsize": 0}
            if style.filled:  # a white edge separates markers that overlap
                look |= {"markeredgecolor": panel.get_facecolor(), "markeredgewidth": 0.4}
            look |= {
                "label": find_displayed_name(line.method),
                **style.make_marker_arguments(panel),
            }
            panel.errorbar([line.search], [of.median], gaps, **look)
        elif line.method == own:
            name = f"{find_displayed_name(own)} (time not compared)"
            of = line.ratio
            if of.low <= of.high:
                panel.axhspan(of.low, of.high, color=VERMILLION, alpha=0.15, linewidth=0)
            panel.axhline(of.median, color=VERMILLION, label=name)
    if timed:
        best = find_pareto_frontier(
            [line.search for line in timed], [line.ratio.median for line in timed]
        )
        panel.plot(*best, color=GRAY, linewidth=0.8, zorder=0)
    for draw_line in (panel.axhline, panel.axvline):
        draw_line(1.0, color=get_text_color(), linewidth=0.6, zorder=0)


def _limit(panels: Sequence[Axes], timed: Sequence[Sequence[MethodResult]]) -> None:
    """Set the limits of the axes of all panels.

    A method whose error is much larger than all other errors is outside the limits and is listed as
    text. Otherwise the markers of methods that differ by a few percent would overlap.
    """
    beyond: list[list[MethodResult]] = []
    for panel, lines in zip(panels, timed, strict=True):
        panel.set_yscale("log")
        medians = np.sort([line.ratio.median for line in lines])
        most = medians[-1] if len(medians) else 1.0
        if len(medians) > 2 and math.log(most / medians[-2]) > math.log(medians[-2] / medians[0]):
            most = medians[-2]
        if len(medians) and most > medians[0]:
            gap = (most / medians[0]) ** 0.15
            panel.set_ylim(min(medians[0], 1.0) / gap, max(most, 1.0) * gap)
        low, top = panel.get_ylim()
        set_log_ticks(panel, "y", RATIOS if top > WIDE * low else FINE)
        beyond.append([line for line in lines if line.ratio.median > top])
    shown = [
        line.search
        for lines, far in zip(timed, beyond, strict=True)
        for line in lines
        if line not in far
    ]
    set_log_ticks(panels[0], "x", TIME_TICKS)
    if shown:
        panels[0].set_xlim(min(1.0, *shown) / TIME_GAP, max(1.0, *shown) * TIME_GAP)
    left, right = panels[0].get_xlim()
    for panel, far in zip(panels, beyond, strict=True):
        for k, line in enumerate(far):
            name = find_displayed_name(line.method)
            outside = not left < line.search < right
            place = f"error {line.ratio.median:.2f}" + f", time {line.search:.1g}" * outside
            panel.annotate(
                f"{name}: {place} ↑", (0, 1), (3, -9 * (k + 1)), xycoords="axes fraction",
                textcoords="offset points", fontsize=SMALLEST_POINTS,
            )  # fmt: skip


def _name_marks(panel: Axes, lines: Sequence[MethodResult]) -> None:
    """Write the names of methods next to their markers, if there is enough space.

    Methods on the Pareto frontier are named first. A name never covers a marker or a different
    name. The positions are chosen so that names cross few lines. The layout of the figure must have
    been computed before the call.
    """
    from matplotlib.path import Path
    from matplotlib.transforms import Bbox

    point = panel.figure.dpi / 72
    lines = [line for line in lines if line.ratio.median <= panel.get_ylim()[1]]
    if not lines:
        return
    at = panel.transData.transform([(line.search, line.ratio.median) for line in lines])
    halo = HALO * point
    marks = [Bbox.from_bounds(x - halo, y - halo, 2 * halo, 2 * halo) for x, y in at]
    names = [text.get_window_extent() for text in panel.texts]
    drawn = [line.get_path().transformed(line.get_transform()) for line in panel.lines]
    drawn += [
        path.transformed(bars.get_transform()) for bars in panel.collections
        for path in bars.get_paths()
    ]  # fmt: skip
    leaders: list[Path] = []
    inside = panel.get_window_extent()
    _, best = find_pareto_frontier(
        [line.search for line in lines], [line.ratio.median for line in lines]
    )
    to_shares = panel.figure.transFigure.inverted()
    look: dict[str, Any] = {"textcoords": "figure fraction", "ha": "center", "va": "center"}
    look |= {"fontsize": SMALLEST_POINTS, "in_layout": False}
    leader: dict[str, Any] = {"arrowstyle": "-", "linewidth": 0.4, "color": GRAY, "shrinkB": HALO}
    for i in np.argsort([line.ratio.median not in best for line in lines], kind="stable"):
        mark = lines[i].search, lines[i].ratio.median
        text = panel.annotate(find_displayed_name(lines[i].method), mark, (0.5, 0.5), **look)
        size = np.array(text.get_window_extent().size)
        text.remove()
        others = [*marks[:i], *marks[i + 1 :]]
        places: list[tuple[float, int, NDArray[np.float64], Bbox, Path]] = []
        for reach, direction in itertools.product(REACHES, DIRECTIONS):
            middle = at[i] + np.array(direction) * (reach * point + size / 2)
            box = Bbox.from_bounds(*(middle - size / 2), *size)
            path = Path([at[i], middle])
            if (
                inside.count_contains(box.get_points()) == 2
                and _is_nearest(box, at, i, NEAR * point)
                and not box.count_overlaps([*marks, *names])
                and not any(path.intersects_bbox(other) for other in [*others, *names])
                and not any(other.intersects_bbox(box) for other in leaders)
            ):
                crossed = sum(path.intersects_bbox(box, filled=False) for path in drawn)
                places.append((reach + CROSSING * crossed, reach, middle, box, path))
        if places:
            _, reach, middle, box, path = min(places, key=lambda place: place[0])
            names.append(box)
            leaders.append(path)
            arrow = leader if reach > REACHES[0] else None
            place = tuple(to_shares.transform(middle))
            panel.annotate(text.get_text(), mark, place, arrowprops=arrow, **look)


def _is_nearest(box: Bbox, at: NDArray[np.float64], i: int, near: float) -> bool:
    """Return True if point i is the nearest point to a box, so that a name refers to this point.

    `at` are the positions of all points. The result is also True if all other points are farther
    from the box than the distance `near`.
    """
    gaps = np.hypot(*(at - np.clip(at, box.min, box.max)).T)
    own, gaps[i] = gaps[i], math.inf
    return bool(gaps.min() > min(own, near))


def _add_legend(figure: Figure, looks: Mapping[str, tuple[str, Style]], columns: int) -> None:
    """Add a legend that lists the methods of each family.

    If `columns` is larger than 2, each family has its own column.
    """
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


def render_errors_against_costs(
    sizes: Sequence[SizeResult], own: str = "", form: str = "png"
) -> bytes:
    """Return the figure of errors against times as the content of a PNG or PDF file.

    The same input always gives the same bytes.
    """
    with apply_style(article=len(sizes) == 1):
        return render_figure(draw_errors_against_costs(sizes, own), form, small=True)


def draw_error_ratios(
    questions: Mapping[str, Mapping[str, Ratio]], separate_panels: Sequence[str] = ()
) -> Figure:
    """Draw ratios of the errors of two methods: the median over data sets, and its interval.

    `questions` maps a question to its ratios. The questions in `separate_panels` are drawn in a
    separate panel. A ratio is gray if its interval contains 1. The marker of a ratio is hollow if
    the ratio has no interval.
    """
    panels = [
        {name: bars for name, bars in questions.items() if (name in separate_panels) == other}
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
        "←  first has lower error      second has lower error  →"
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
            color = GRAY if open_ else BLUE if bar.median < 1 else VERMILLION
            place = len(labels)
            if known:
                panel.plot([bar.low, bar.high], [place, place], color=color)
            face = color if known else panel.get_facecolor()
            panel.plot([bar.median], [place], "o", color=color, markerfacecolor=face, markersize=4)
            labels.append(name)
    set_log_ticks(panel, "x", RATIOS)
    panel.set_yticks(range(len(labels)), labels, fontsize=7.5)
    for head in heads:
        panel.get_yticklabels()[head].set_fontweight("bold")
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=False, axis="y")
    panel.set_ylim(len(labels) - 0.5, -0.5)


def render_error_ratios(
    questions: Mapping[str, Mapping[str, Ratio]], separate_panels: Sequence[str] = ()
) -> bytes:
    """Return the figure of `draw_error_ratios` as the content of a PNG file.

    The same input always gives the same bytes.
    """
    with apply_style():
        return render_figure(draw_error_ratios(questions, separate_panels), "png", small=True)
