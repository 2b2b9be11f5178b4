"""The figure of a paper's page: published numbers, and how much our numbers differ.

Up to `FOREST_ROWS` numbers are drawn as a forest plot, with a row per published number and a symbol
per class of settings. If there are more numbers, each data set has a panel. If there would be too
many panels, the numbers are drawn as curves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from rfbench.analysis import verdict_counts
from rfbench.analysis.verdicts import CLOSE_POINTS, CLOSE_RATIO, COMPARED
from rfbench.analysis.verification import Verification
from rfbench.figures import render_figure
from rfbench.figures.panels import PAGE_WIDTH, make_figure, set_log_ticks
from rfbench.figures.style import (
    BLUE,
    BROWN,
    GREEN,
    GREY,
    PURPLE,
    SMALLEST_POINTS,
    VERMILLION,
    Style,
    apply_style,
    assign_styles,
    get_text_color,
)
from rfbench.papers.models import PERCENT, SECONDS
from rfbench.registry import find_displayed_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SETTINGS_MARKS = {
    **dict.fromkeys(("text", "cited", "readings"), ("o", BLUE)),
    "code": ("s", PURPLE),
    "corrected": ("D", BROWN),
    "matched": ("^", VERMILLION),
    "rematched": ("v", GREEN),
}
# FOREST_ROWS is the number of rows of a forest plot on a full page. MOST_PANELS is the number of
# panels next to each other. The values were chosen by eye. With twice as many panels, names leave
# no space for the intervals.
FOREST_ROWS, MOST_PANELS = 60, 2
# Heights in inches, chosen by eye. ROW_HEIGHT is the height of a row of a forest plot, with text
# of 7.5 points and its line spacing. CURVE is the height of a panel of curves. If ROW_HEIGHT is
# halved, names overlap.
ROW_HEIGHT, CURVE = 0.155, 1.6
# Vertical distance, as a share of a row, between two markers of one number that was measured with
# two settings. It was chosen by eye. With twice this distance, they touch the next number.
APART = 0.25
# A number that is not compared is drawn at the edge of a panel if its distance from zero exceeds
# this multiple of the band. The value was chosen by eye. With twice this value, the other numbers
# use only a third of the panel.
OFF_AXIS = 3
# Numbers that are drawn at the edge have their values written next to it, within this share of the
# panel. It was chosen by eye. If it is halved, the texts cover other numbers.
EDGE = 0.2
# Size of markers (MARK_SIZE) and width of interval bars (BAR) in points, chosen by eye. With twice
# these sizes, neighbors overlap.
MARK_SIZE, BAR = 4.0, 0.8
# Ticks of logarithmic axes: DECADES are 1 and 3 times powers of ten, and QUOTIENTS are ratios.
# They were chosen by eye. With twice as many ticks, their numbers overlap. LEGEND is the number of
# columns of the legend. With twice as many columns, the legend is cut off.
DECADES = tuple(a * 10.0**k for k in range(-5, 3) for a in (1, 3))
QUOTIENTS = (0.1, 0.2, 0.5, 0.8, 1.0, 1.25, 2.0, 5.0, 10.0)
LEGEND: dict[str, Any] = {"loc": "outside lower center", "ncols": 2, "fontsize": 7.5}
BAND = "band: counts as close"
ARROW = "arrow: beyond the axis, with its value"
HOLLOW = "hollow: at chance, or not decidable by the paper's own spread (counted all the same)"


def render_png(own: Verification) -> bytes | None:
    """Return the figure of a paper as PNG; None if no number of the paper is compared.

    Times, numbers on substitutes and measurements with our own settings are not drawn. The same
    numbers give the same bytes.
    """
    numbers = select_pictured(own)
    if numbers.empty:
        return None
    with apply_style():
        return render_figure(draw_numbers(numbers), "png", small=True)


def select_pictured(own: Verification) -> pd.DataFrame:
    """Return the compared numbers that the figure of a paper shows."""
    numbers = verdict_counts.list_numbers(own)
    return numbers[
        numbers["verdict"].isin(COMPARED) & numbers["settings"].isin(list(SETTINGS_MARKS))
    ]


def count_not_pictured(own: Verification) -> int:
    """Return the number of measured numbers that the figure of a paper omits.

    Times and repeated numbers are not counted.
    """
    every = own.numbers
    every = every[(every["unit"] != SECONDS) & (every["same_as"] == "") & (every["trials"] > 0)]
    return len(every) - len(select_pictured(own))


def has_curves(own: Verification) -> bool:
    """Return True if the figure of a paper has curves; False if it is a forest plot."""
    return len(list(_parts(select_pictured(own)))) > MOST_PANELS


def draw_numbers(numbers: pd.DataFrame) -> Figure:
    """Draw the numbers of one paper as a forest plot, or as curves if there are too many."""
    numbers = numbers.reset_index(drop=True)
    parts = list(_parts(numbers))
    if len(parts) > MOST_PANELS:
        return _draw_curves(numbers)
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    most = max(part["number"].nunique() + len(list(_tables(part))) for part in parts)
    figure = make_figure(PAGE_WIDTH, 1.3 + ROW_HEIGHT * most)
    panels = figure.subplots(1, len(parts), squeeze=False).flat
    for panel, part in zip(panels, parts, strict=True):
        _draw_forest(panel, part)
    band = Patch(color=GREY, alpha=0.25, linewidth=0)
    handles, names = _name_marks(numbers, {BAND: band})
    if any(panel.texts for panel in figure.axes):
        look: dict[str, Any] = {"color": get_text_color(), "markerfacecolor": "none"}
        handles.append(Line2D([], [], marker=">", linestyle="", markersize=MARK_SIZE, **look))
        names.append(ARROW)
    figure.legend(handles, names, **LEGEND)
    return figure


def _parts(numbers: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the numbers of each panel: one unit, and one data set if there are many numbers."""
    by = ["unit"] if numbers["number"].nunique() <= FOREST_ROWS else ["unit", "item", "dataset"]
    for _, part in numbers.groupby(by, sort=False):
        yield part


def _tables(numbers: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield a title and the numbers for each pair of a table and a data set."""
    for (item, dataset), part in numbers.groupby(["item", "dataset"], sort=False):
        yield f"{_format_item(str(item))}, {dataset}", part


def _format_item(item: str) -> str:
    """Return the printed name of a table or figure, such as ``Table 3`` for ``table3``."""
    name = re.sub(r"^(table|figure)(\d+)", r"\1 \2", item).replace("-", ", ", 1)
    return name[:1].upper() + name[1:]


def _find_solid(numbers: pd.DataFrame) -> pd.Series[bool]:
    """Return True for each number that is decidable by the paper's own spread and not at chance."""
    return numbers["decidable"].astype(bool) & ~numbers["at_chance"].astype(bool)


def _differences(numbers: pd.DataFrame) -> tuple[pd.Series[float], pd.Series[float]]:
    """Return by how much our errors exceed the published errors, and half the interval widths.

    The second series has half the width of each interval. Percentages are compared by differences
    in points, and accuracies are converted to errors. Numbers without a unit are compared by their
    quotient.
    """
    half = numbers["half_width"].astype(float).fillna(0.0)
    if (numbers["unit"] == PERCENT).all():
        sign = numbers["metric"].map(lambda metric: -1.0 if "accuracy" in metric else 1.0)
        return sign * numbers["difference"].astype(float), half
    published = numbers["published"].astype(float)
    return numbers["measured"].astype(float) / published, half / published


def _draw_forest(panel: Axes, numbers: pd.DataFrame) -> None:
    """Draw one row per published number, with our difference for each class of settings."""
    points = (numbers["unit"] == PERCENT).all()
    places: dict[Any, int] = {}
    labels: list[str] = []
    heads: list[int] = []
    for title, part in _tables(numbers):
        heads.append(len(labels))
        labels.append(title)
        once = part.drop_duplicates("number")
        order = once["method"].map({name: i for i, name in enumerate(once["method"].unique())})
        once = once.assign(order=order).sort_values(["order", "size"], kind="stable")
        for row in once.itertuples():
            places[row.number] = len(labels)
            size = f", M = {row.M}" if str(row.M).isdigit() else ""
            trained = ", training rows" if row.metric == "train_error" else ""
            labels.append(find_displayed_name(str(row.method)) + size + trained)
    value, half = _differences(numbers)
    zero, close = (0.0, CLOSE_POINTS) if points else (1.0, CLOSE_RATIO)
    low, high = (zero - close, zero + close) if points else (1 / close, close)
    panel.axvspan(low, high, color=GREY, alpha=0.25, linewidth=0)
    panel.axvline(zero, color=get_text_color(), linewidth=BAR)
    solid = _find_solid(numbers)
    # Numbers that are compared are always visible. Other numbers are drawn at the edge if they are
    # far from the band.
    wide = close**OFF_AXIS if not points else OFF_AXIS * close
    near = value.between(1 / wide, wide) if not points else value.abs() <= wide
    ends = [value - half, value + half]
    least = min([low, *(end[solid | near].min() for end in ends if (solid | near).any())])
    most = max([high, *(end[solid | near].max() for end in ends if (solid | near).any())])
    if points:
        gap = 0.06 * (most - least)
        least, most = least - gap, most + gap
    else:
        gap = (most / least) ** 0.06
        least, most = least / gap, most * gap
    if (value > most).any():  # Extend the axis, so that there is space for the values at the edge.
        most = most + EDGE * (most - least) if points else most * (most / least) ** EDGE
    if (value < least).any():
        least = least - EDGE * (most - least) if points else least / (most / least) ** EDGE
    kinds = [kind for kind in SETTINGS_MARKS if kind in set(numbers["settings"])]
    for kind, here in numbers.groupby("settings", sort=True):
        marker, colour = SETTINGS_MARKS[str(kind)]
        shift = APART * (kinds.index(str(kind)) - (len(kinds) - 1) / 2)
        place = here["number"].map(places) + shift
        inside = value[here.index].between(least, most)
        for filled, chosen in ((True, solid[here.index]), (False, ~solid[here.index])):
            shown = here.index[chosen & inside]
            look: dict[str, Any] = {"color": colour, "markersize": MARK_SIZE, "elinewidth": BAR}
            look |= {"markerfacecolor": colour if filled else panel.get_facecolor()}
            if len(shown):
                bars = half[shown]
                panel.errorbar(value[shown], place[shown], xerr=bars, fmt=marker, **look)
            for index in here.index[chosen & ~inside]:
                right = value[index] > most
                edge, mark = (most, ">") if right else (least, "<")
                panel.errorbar([edge], [place[index]], fmt=mark, clip_on=False, **look)
                panel.annotate(
                    f"{value[index]:+.1f}" if points else f"{value[index]:.2g}",
                    (edge, place[index]), (-5 if right else 5, 0), textcoords="offset points",
                    ha="right" if right else "left", va="center", fontsize=SMALLEST_POINTS,
                )  # fmt: skip
    if not points:
        set_log_ticks(panel, "x", QUOTIENTS)
    panel.set_xlim(least, most)
    panel.set_ylim(len(labels) - 0.4, -0.6)
    panel.set_yticks(range(len(labels)), labels, fontsize=7.5)
    for head in heads:
        panel.get_yticklabels()[head].set_fontweight("bold")
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=False, axis="y")
    difference = "ours minus published error (points)" if points else "our error / published error"
    panel.set_xlabel(f"{difference}\n←  lower error          higher error  →", fontsize=7.5)


def _draw_curves(numbers: pd.DataFrame) -> Figure:
    """Draw published errors over M as lines and our errors as markers, in a panel per data set."""
    from matplotlib.lines import Line2D

    items, datasets = (list(numbers[name].unique()) for name in ("item", "dataset"))
    figure = make_figure(PAGE_WIDTH, 1.2 + CURVE * len(items))
    grid = figure.subplots(len(items), len(datasets), squeeze=False, sharey="row")
    styles = assign_styles({name: name for name in numbers["method"].unique()})
    for row, item in zip(grid, items, strict=True):
        for panel, dataset in zip(row, datasets, strict=True):
            part = numbers[(numbers["item"] == item) & (numbers["dataset"] == dataset)]
            if part.empty:
                panel.remove()
                continue
            panel.set_title(dataset, fontsize=7.5, loc="left")
            for method, line in part.groupby("method", sort=False):
                colour = styles[str(method)].colour
                curve = line.drop_duplicates("number").sort_values("size")
                panel.plot(
                    curve["size"].astype(float), curve["published"].astype(float),
                    **_dash(styles[str(method)]),
                )  # fmt: skip
                for (kind, filled), here in line.groupby(["settings", _find_solid(line)]):
                    panel.errorbar(
                        here["size"].astype(float), here["measured"].astype(float),
                        here["half_width"].astype(float).fillna(0.0), color=colour,
                        fmt=SETTINGS_MARKS[str(kind)][0], markersize=MARK_SIZE - 1, elinewidth=BAR,
                        capsize=0, markerfacecolor=colour if filled else panel.get_facecolor(),
                    )  # fmt: skip
            sizes = sorted(part["size"].astype(float).unique())
            set_log_ticks(panel, "x", [sizes[0], sizes[-1]])
            set_log_ticks(panel, "y", DECADES)
            panel.tick_params(labelsize=SMALLEST_POINTS)
    for row, item in zip(grid, items, strict=True):
        row[0].set_ylabel(f"{_format_item(item)}\nerror of the kernel", fontsize=7.5)
    for panel in grid[-1]:
        panel.set_xlabel("number of features M", fontsize=7.5)
    lines: dict[str, Any] = {
        f"{find_displayed_name(name)}, published": Line2D([], [], **_dash(style))
        for name, style in styles.items()
    }
    figure.legend(*_name_marks(numbers, lines), **LEGEND)
    return figure


def _dash(style: Style) -> dict[str, Any]:
    return {"color": style.colour, "linestyle": style.dash, "linewidth": BAR}


def _name_marks(numbers: pd.DataFrame, more: dict[str, Any]) -> tuple[list[Any], list[str]]:
    """Return handles and names for a legend: the entries in `more`, then the settings' markers."""
    from matplotlib.lines import Line2D

    handles = dict(more)
    for kind in SETTINGS_MARKS:
        if kind in set(numbers["settings"]):
            marker, colour = SETTINGS_MARKS[kind]
            # In a figure of curves, a marker has the color of its method.
            colour = colour if BAND in more else get_text_color()
            look: dict[str, Any] = {"color": colour, "linestyle": "", "markersize": MARK_SIZE}
            handles[f"settings: {verdict_counts.CLASS_LABELS[kind]}"] = Line2D(
                [], [], marker=marker, **look
            )
    if not _find_solid(numbers).all():
        look = {"color": get_text_color(), "markerfacecolor": "none", "markersize": MARK_SIZE}
        handles[HOLLOW] = Line2D([], [], marker="o", linestyle="", **look)
    return list(handles.values()), list(handles)
