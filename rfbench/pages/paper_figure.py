"""The figure of a paper: published numbers, and their differences from our numbers.

The figure is a forest plot with a row per published number. A row has a symbol for each source of
our settings, such as the text or the authors' code. If there are many numbers, each data set has a
panel. If there would be too many panels, the numbers are drawn as curves.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
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
    GRAY,
    GREEN,
    PURPLE,
    SMALLEST_POINTS,
    VERMILLION,
    Style,
    apply_style,
    assign_styles,
    get_text_color,
)
from rfbench.papers.models import PERCENT
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
# panels in a row. The values were chosen by eye. With twice as many panels in a row, the names
# leave no space for the intervals.
FOREST_ROWS, MOST_PANELS = 60, 2
# Heights in inches, chosen by eye. ROW_HEIGHT is the height of a row of a forest plot, whose text
# has 7.5 points. CURVE is the height of a panel with curves. If ROW_HEIGHT is halved, names
# overlap.
ROW_HEIGHT, CURVE = 0.155, 1.6
# If a number was measured with several settings, its symbols are drawn above each other. APART is
# their distance and SPREAD their total height, as shares of the height of a row. The values were
# chosen by eye. With twice these values, symbols touch the symbols of the next number.
APART, SPREAD = 0.36, 0.6
# A hollow symbol shows a number that is at chance level or not decidable. If its distance from zero
# is more than OFF_AXIS times half the width of the band, the symbol is drawn at the edge of the
# panel. The value was chosen by eye. With twice this value, all other numbers use only a third of
# the panel.
OFF_AXIS = 3
# If a symbol is drawn at the edge of a panel, the value is written next to the symbol. EDGE is the
# share of the panel for this text, and EDGE_TEXT is the width of the text in points. The values
# were chosen by eye. If EDGE is halved, texts of adjacent symbols overlap.
EDGE, EDGE_TEXT = 0.14, 26
# Sizes of markers and error bars in points, chosen by eye. With twice these sizes, adjacent markers
# overlap.
MARK_SIZE, BAR = 4.0, 0.8
# DECADES and QUOTIENTS are the ticks of logarithmic axes, for values and for ratios. LEGEND has two
# columns of LEGEND_LETTERS characters. The values were chosen by eye. With twice as many ticks, the
# numbers at the ticks overlap. If LEGEND_LETTERS is doubled, the legend is cut off.
DECADES = tuple(a * 10.0**k for k in range(-5, 3) for a in (1, 3))
QUOTIENTS = (0.1, 0.2, 0.5, 0.8, 1.0, 1.25, 2.0, 5.0, 10.0)
LEGEND: dict[str, Any] = {"loc": "outside lower center", "ncols": 2, "fontsize": 7.5}
LEGEND_LETTERS = 46
BAND = "band: counts as close"
ARROW = "arrow: beyond the axis, with its value"
HOLLOW = "hollow: at chance, or not decidable by the paper's own spread (counted)"


def render_numbers_png(own: Verification) -> bytes | None:
    """Return the figure of a paper as PNG; None if no number of the paper is compared.

    Run times and measurements with our own settings are not drawn. Measurements on data that
    replace the paper's data are not drawn either. The same numbers always give the same bytes.
    """
    numbers = select_drawn_numbers(own)
    if numbers.empty:
        return None
    with apply_style():
        return render_figure(draw_published_numbers(numbers), "png", small=True)


def select_drawn_numbers(own: Verification) -> pd.DataFrame:
    """Return the published numbers with a verdict that the figure of a paper shows."""
    numbers = verdict_counts.list_published_numbers(own)
    return numbers[
        numbers["verdict"].isin(COMPARED) & numbers["settings"].isin(list(SETTINGS_MARKS))
    ]


def has_curves(own: Verification) -> bool:
    """Return True if the figure of a paper has curves; False if it is a forest plot."""
    return len(list(_parts(select_drawn_numbers(own)))) > MOST_PANELS


def draw_published_numbers(numbers: pd.DataFrame) -> Figure:
    """Draw the numbers of one paper as a forest plot.

    Curves are drawn instead if the forest plot would need too many panels.
    """
    numbers = numbers.reset_index(drop=True)
    parts = list(_parts(numbers))
    if len(parts) > MOST_PANELS:
        return _draw_curves(numbers)
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    most = max(part["number"].nunique() + len(list(_tables(part))) for part in parts)
    figure = make_figure(PAGE_WIDTH, 1.3 + ROW_HEIGHT * most)
    panels = figure.subplots(1, len(parts), squeeze=False).flat
    limits = {unit: _find_limits(of_unit) for unit, of_unit in numbers.groupby("unit")}
    for panel, part in zip(panels, parts, strict=True):
        _draw_forest(panel, part, limits[part["unit"].iloc[0]])
    band = Patch(color=GRAY, alpha=0.25, linewidth=0)
    handles, names = _name_marks(numbers, {BAND: band})
    if any(panel.texts for panel in figure.axes):
        look: dict[str, Any] = {"color": get_text_color(), "markerfacecolor": "none"}
        handles.append(Line2D([], [], marker=">", linestyle="", markersize=MARK_SIZE, **look))
        names.append(ARROW)
    _add_legend(figure, handles, names)
    return figure


def _add_legend(figure: Figure, handles: Sequence[Any], names: Sequence[str]) -> None:
    """Add a legend below the panels of a figure. Long names are broken into several lines."""
    figure.legend(handles, [textwrap.fill(name, LEGEND_LETTERS) for name in names], **LEGEND)


def _parts(numbers: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the numbers of each panel of the figure.

    All numbers of a panel have the same unit. If there are more than `FOREST_ROWS` numbers, each
    data set of a published table also has its own panel.
    """
    by = ["unit"] if numbers["number"].nunique() <= FOREST_ROWS else ["unit", "item", "dataset"]
    for _, part in numbers.groupby(by, sort=False):
        yield part


def _tables(numbers: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield a title and the numbers for each pair of a published table and a data set."""
    for (item, dataset), part in numbers.groupby(["item", "dataset"], sort=False):
        yield f"{_format_item(str(item))}, {dataset}", part


def _format_item(item: str) -> str:
    """Return the printed name of a table or figure, such as ``Table 3`` for ``table3``."""
    name = re.sub(r"^(table|figure)(\d+)", r"\1 \2", item).replace("-", ", ", 1)
    return name[:1].upper() + name[1:]


def _find_solid(numbers: pd.DataFrame) -> pd.Series[bool]:
    """Return a boolean for each number: True if its symbol in the figure is solid.

    The symbol is hollow if no method beats a constant prediction. The symbol is also hollow if the
    published spread is too large to decide if the number agrees with ours.
    """
    return numbers["decidable"].astype(bool) & ~numbers["at_chance"].astype(bool)


def _differences(numbers: pd.DataFrame) -> tuple[pd.Series[float], pd.Series[float]]:
    """Return our errors compared with the published errors, and their uncertainties.

    Percentages are compared by their difference in points, and accuracies are converted to errors.
    Numbers without a unit are compared by their quotient. An uncertainty is half the width of the
    interval of a difference or quotient.
    """
    half = numbers["half_width"].astype(float).fillna(0.0)
    if (numbers["unit"] == PERCENT).all():
        sign = numbers["metric"].map(lambda metric: -1.0 if "accuracy" in metric else 1.0)
        return sign * numbers["difference"].astype(float), half
    published = numbers["published"].astype(float)
    return numbers["measured"].astype(float) / published, half / published


def _find_limits(numbers: pd.DataFrame) -> tuple[float, float]:
    """Return the lower and upper limit of the axis that shows differences from published numbers.

    All panels with the same unit have the same limits. Solid symbols and their intervals are always
    inside the limits. A hollow symbol (an uncertain comparison) is drawn at the edge if the
    difference is large.
    """
    points = (numbers["unit"] == PERCENT).all()
    value, half = _differences(numbers)
    low, high = (-CLOSE_POINTS, CLOSE_POINTS) if points else (1 / CLOSE_RATIO, CLOSE_RATIO)
    wide = OFF_AXIS * CLOSE_POINTS if points else CLOSE_RATIO**OFF_AXIS
    near = value.abs() <= wide if points else value.between(1 / wide, wide)
    shown = _find_solid(numbers) | near
    ends = [end[shown] for end in (value - half, value + half) if shown.any()]
    least = min([low, *(end.min() for end in ends)])
    most = max([high, *(end.max() for end in ends)])
    gap = 0.06 * (most - least) if points else (most / least) ** 0.06
    least, most = (least - gap, most + gap) if points else (least / gap, most * gap)
    kinds = numbers["settings"].nunique()
    room = kinds * EDGE * (most - least) if points else (most / least) ** (kinds * EDGE)
    if (value > most).any():  # leave space for the values at the edge
        most = most + room if points else most * room
    if (value < least).any():
        least = least - room if points else least / room
    return least, most


def _list_rows(numbers: pd.DataFrame) -> tuple[list[str], list[int], dict[Any, int]]:
    """Return the rows of a forest plot.

    The result has the labels of all rows, the positions of the rows that are titles, and a
    dictionary from a published number to the position of its row.
    """
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
    return labels, heads, places


def _draw_forest(panel: Axes, numbers: pd.DataFrame, limits: tuple[float, float]) -> None:
    """Draw a forest plot with one row per published number.

    A row has a symbol for each source of our settings. `limits` are the ends of the x axis.
    """
    points = (numbers["unit"] == PERCENT).all()
    labels, heads, places = _list_rows(numbers)
    value, half = _differences(numbers)
    least, most = limits
    low, high = (-CLOSE_POINTS, CLOSE_POINTS) if points else (1 / CLOSE_RATIO, CLOSE_RATIO)
    panel.axvspan(low, high, color=GRAY, alpha=0.25, linewidth=0)
    panel.axvline(0.0 if points else 1.0, color=get_text_color(), linewidth=BAR)
    solid = _find_solid(numbers)
    kinds = [kind for kind in SETTINGS_MARKS if kind in set(numbers["settings"])]
    apart = min(APART, SPREAD / max(len(kinds) - 1, 1))
    at_edge: Counter[tuple[Any, bool]] = Counter()
    for kind in kinds:
        here = numbers[numbers["settings"] == kind]
        marker, color = SETTINGS_MARKS[kind]
        place = here["number"].map(places) + apart * (kinds.index(kind) - (len(kinds) - 1) / 2)
        inside = value[here.index].between(least, most)
        for filled, chosen in ((True, solid[here.index]), (False, ~solid[here.index])):
            shown = here.index[chosen & inside]
            look: dict[str, Any] = {"color": color, "markersize": MARK_SIZE, "elinewidth": BAR}
            look |= {"markerfacecolor": color if filled else panel.get_facecolor()}
            if len(shown):
                bars = half[shown]
                panel.errorbar(value[shown], place[shown], xerr=bars, fmt=marker, **look)
            for index in here.index[chosen & ~inside]:
                right = bool(value[index] > most)
                edge, mark = (most, ">") if right else (least, "<")
                panel.errorbar([edge], [place[index]], fmt=mark, clip_on=False, **look)
                # If several values of one number are at the same edge, write the values next to
                # each other.
                number = here["number"][index]
                away = 5 + EDGE_TEXT * at_edge[number, right]
                at_edge[number, right] += 1
                panel.annotate(
                    f"{value[index]:+.1f}" if points else f"{value[index]:.2g}",
                    (edge, places[number]), (-away if right else away, 0), color=color,
                    textcoords="offset points", ha="right" if right else "left", va="center",
                    fontsize=SMALLEST_POINTS,
                )  # fmt: skip
    if not points:
        set_log_ticks(panel, "x", QUOTIENTS)
    panel.set_xlim(least, most)
    _label_rows(panel, labels, heads)
    difference = "ours minus published error (points)" if points else "our error / published error"
    panel.set_xlabel(f"{difference}\n←  lower error          higher error  →", fontsize=7.5)


def _label_rows(panel: Axes, labels: Sequence[str], heads: Sequence[int]) -> None:
    """Write the labels of the rows of a forest plot, from top to bottom.

    `heads` are the positions of the labels that are printed in bold.
    """
    panel.set_ylim(len(labels) - 0.4, -0.6)
    panel.set_yticks(range(len(labels)), labels, fontsize=7.5)
    for head in heads:
        panel.get_yticklabels()[head].set_fontweight("bold")
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=False, axis="y")


def _draw_curves(numbers: pd.DataFrame) -> Figure:
    """Draw published errors as lines and our errors as markers.

    The x axis is the number of features M. Each data set has a panel.
    """
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
                color = styles[str(method)].color
                curve = line.drop_duplicates("number").sort_values("size")
                panel.plot(
                    curve["size"].astype(float), curve["published"].astype(float),
                    **_dash(styles[str(method)]),
                )  # fmt: skip
                for (kind, filled), here in line.groupby(["settings", _find_solid(line)]):
                    panel.errorbar(
                        here["size"].astype(float), here["measured"].astype(float),
                        here["half_width"].astype(float).fillna(0.0), color=color,
                        fmt=SETTINGS_MARKS[str(kind)][0], markersize=MARK_SIZE - 1, elinewidth=BAR,
                        capsize=0, markerfacecolor=color if filled else panel.get_facecolor(),
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
    _add_legend(figure, *_name_marks(numbers, lines))
    return figure


def _dash(style: Style) -> dict[str, Any]:
    return {"color": style.color, "linestyle": style.dash, "linewidth": BAR}


def _name_marks(numbers: pd.DataFrame, more: dict[str, Any]) -> tuple[list[Any], list[str]]:
    """Return the handles and the names of a legend.

    The legend has the entries in `more`, followed by the marker of each source of our settings.
    """
    from matplotlib.lines import Line2D

    handles = dict(more)
    for kind in SETTINGS_MARKS:
        if kind in set(numbers["settings"]):
            marker, color = SETTINGS_MARKS[kind]
            # In a figure of curves, colors show the methods, so the markers in this legend have the
            # color of text. In a forest plot, colors show the source of the settings.
            color = color if BAND in more else get_text_color()
            look: dict[str, Any] = {"color": color, "linestyle": "", "markersize": MARK_SIZE}
            whose = "settings" if BAND in more else "ours"
            handles[f"{whose}: {verdict_counts.CLASS_LABELS[kind]}"] = Line2D(
                [], [], marker=marker, **look
            )
    if not _find_solid(numbers).all():
        look = {"color": get_text_color(), "markerfacecolor": "none", "markersize": MARK_SIZE}
        handles[HOLLOW] = Line2D([], [], marker="o", linestyle="", **look)
    return list(handles.values()), list(handles)
