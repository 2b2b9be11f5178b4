"""Drawing of the panels of a figure, each with one line per method."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from rfbench.analysis.summary import BASELINE, SMALLER_IS_BETTER
from rfbench.figures.style import GRAY, Style
from rfbench.plotting import import_matplotlib
from rfbench.registry import find_displayed_name
from rfbench.results.schema import METRICS, SCHEMA

# If an axis shows at most this number of sizes, each size has its own tick. The number was chosen
# by eye. With twice this number, the labels of the ticks overlap in an article.
MAX_TICKS = 8
TIMED_PARTS = {
    "drawing": "{} for drawing and features",
    "fit": "{} for features and fit",
    "total": "training {}",
    "all": "{} with testing",
}
CLOCKS = {"cpu": "CPU time", "t": "wall time"}
# MOST_TOGETHER is the largest number of lines in one panel. If there are more methods, each panel
# shows the baseline and at most MOST_APART other lines. ROOM is the number of characters that fit
# below a panel. The values were chosen by eye. With twice ROOM, horizontal names overlap.
MOST_TOGETHER, MOST_APART = 9, 6
ROOM = 40
# PAGE_WIDTH is the largest width of a figure in inches, which is the width of an article's page.
# ACROSS is the number of panels in a row. The values were chosen by eye. With twice these values,
# the numbers below an axis overlap.
PAGE_WIDTH, ACROSS = 6.8, 3
# Limits on the size of a panel in inches: the smallest width (NARROWEST), the largest width
# (WIDEST) and the smallest height (LOWEST). ARTICLE_LETTER is the mean width of a character at 8
# points. The values were chosen by eye. With twice NARROWEST, three panels do not fit in a row.
NARROWEST, WIDEST, LOWEST = 2.2, 4.2, 2.0
ARTICLE_LETTER = 0.062
# TITLE_LETTER is the mean width of a character at 10 points, in inches. CAPTION_LETTERS is the
# number of characters of a caption per inch. A name with up to SHORT_NAME characters shares a line
# of 2.2 inches with another name. The values were chosen by eye. With twice these values, titles
# are broken in the middle, and captions and names are cut.
TITLE_LETTER, CAPTION_LETTERS, SHORT_NAME = 0.078, 16, 9
# LINEAR_TICKS is the number of ticks of a linear axis, and STEPS has the allowed distances between
# ticks. With a fixed number of ticks, the layout is computed only once. With twice LINEAR_TICKS,
# the numbers below an axis overlap.
LINEAR_TICKS, STEPS = 5, (1, 2, 2.5, 5, 10)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Curves:
    """Data and labels of one figure, which has panels for each data set and one line per method."""

    # result of `rfbench.analysis.summary.summarize`, without lines that have no value
    table: pd.DataFrame
    # column that is drawn on the horizontal axis: x, a time, or a column of trials.csv
    x: str
    # column that is drawn on the vertical axis: the mean of the metric, or a time
    y: str
    # name of the quantity in the column x: M, d, or the name of a setting
    varied: str
    # maps a column to the title of its axis, if the title differs from the default
    titles: Mapping[str, str] = field(default_factory=dict)
    # Phrase that describes the horizontal axis as a cost, for the caption. If the phrase is not
    # empty, the figure shows which methods have the smallest error at each cost.
    cost: str = ""
    failed: tuple[str, ...] = ()  # methods without any value, which are listed in the legend

    def make_axis_title(self, column: str) -> str:
        """Return the title of the axis that shows the given column of the table."""
        if column in self.titles:
            return self.titles[column]
        if column == "mean":
            return METRICS[self.table["metric"].iloc[0]]
        if column == "x":
            return {"M": "number of features M", "d": "dimension d"}.get(self.varied, self.varied)
        if column in SCHEMA:
            return SCHEMA[column].title
        clock, _, part = column.partition("_")
        return f"{TIMED_PARTS[part].format(CLOCKS[clock])} (s)"

    @property
    def _is_side_by_side(self) -> bool:
        """True if the horizontal axis shows the names of methods, because no quantity is varied."""
        return self.x == "x" and self.table["x"].nunique() == 1

    @property
    def has_named_ticks(self) -> bool:
        """True if the ticks of the horizontal axis are labeled with names instead of numbers."""
        return self._is_side_by_side or (self.x == "x" and self.table["x"].dtype.kind not in "fi")

    @property
    def has_frontier(self) -> bool:
        """True if the figure shows the error of several methods over a cost, such as a time."""
        return bool(self.cost) and self.y == "mean" and self.table["method"].nunique() > 1


def draw_panels(
    curves: Curves,
    styles: Mapping[str, Style],
    title: str,
    caption: str,
    width: float | None = None,
) -> Figure:
    """Draw the panels of a figure, with a legend and a caption.

    Each data set has one panel. If there are many methods, each data set has several panels, and
    each panel has some of the methods and the baseline. If `width` in inches is given, the figure
    is for an article: each data set has one panel, the legend is below the panels, and the caption
    is not drawn. The method `get_label` of the figure returns the caption.
    """
    datasets = [(str(name), part) for name, part in curves.table.groupby("dataset")]
    methods = [name for name in styles if name in set(curves.table["method"])]
    groups = [methods] if width else _groups(curves, methods)
    several = len(groups) > 1
    columns = min(ACROSS, len(groups)) if several else min(2, len(datasets))
    if width:
        columns = max(1, min(len(datasets), int(width / NARROWEST)))
    gaps: list[list[str]] = [[]] * (-len(groups) % columns if several else 0)
    panels = [(name, part, group) for name, part in datasets for group in [*groups, *gaps]]
    rows = -(-len(panels) // columns)
    place: dict[str, Any]
    size = PAGE_WIDTH, (2.5 if columns > 1 else 3.4) * rows + 0.6 * (1 + several)
    if width:
        named = 0 if curves._is_side_by_side else len(methods) + len(curves.failed)
        legend = 0.16 * -(-named // _abreast(width, methods))
        size = width, max(min(width / columns, WIDEST) * 0.72, LOWEST) * rows + legend
    figure = make_figure(*size)
    share: Literal["row", "none"] = "row" if several else "none"
    axes = figure.subplots(rows, columns, squeeze=False, sharex=share, sharey=share)
    shown_by: dict[int, list[Axes]] = {}
    for panel, (name, part, group) in zip(axes.flat, panels, strict=False):
        if not group:
            panel.remove()
            continue
        position = groups.index(group)
        shown_by.setdefault(position, []).append(panel)
        shown = part[part["method"].isin([*group, BASELINE])]
        _draw(panel, curves, shown, styles, part)
        if width:
            panel.set_xlabel(_broken(panel.get_xlabel(), 0.8 * width / columns))
            panel.set_ylabel(_broken(_with_bars(curves, shown), 0.7 * size[1] / rows))
        if len(datasets) > 1 and position == 0:
            title_room = (width or PAGE_WIDTH) / columns if len(groups) == 1 else PAGE_WIDTH
            title_size: Any = "medium" if width else "small"
            panel.set_title(_broken(name, 0.8 * title_room), fontsize=title_size, loc="left")
        if position % columns and several:
            panel.set_ylabel("")
    for panel in axes.flat[len(panels) :]:
        panel.remove()
    if title:
        wide = figure.get_figwidth() * ARTICLE_LETTER / TITLE_LETTER
        figure.suptitle(_broken(title, wide), x=0.01, ha="left")
    write_caption(figure, caption, width)
    if several:
        for alike in shown_by.values():
            handles, names = _named(alike, styles)
            ncols = 2 if max(map(len, names)) <= SHORT_NAME else 1
            place = {"loc": "lower left", "bbox_to_anchor": (0, 1.1), "ncols": ncols}
            alike[0].legend(handles, names, columnspacing=1.0, handletextpad=0.4, **place)
    elif not curves._is_side_by_side:
        place = {"loc": "outside right center"}
        if width:
            place = {"loc": "outside lower center", "ncols": _abreast(width, methods)}
            place |= {"columnspacing": 1.0, "handletextpad": 0.4}
        figure.legend(*_named(figure.axes, styles, curves.failed), **place)
    return figure


def _abreast(width: float, methods: Sequence[str]) -> int:
    """Return the number of legend entries that fit next to each other in a figure."""
    longest = max(map(len, methods), default=1)
    return max(1, int(width / (ARTICLE_LETTER * longest + 0.45)))


def _broken(title: str, room: float) -> str:
    """Break a title into lines that are at most `room` inches long."""
    return textwrap.fill(title, max(int(room / ARTICLE_LETTER), 12))


def _with_bars(curves: Curves, table: pd.DataFrame) -> str:
    """Return the title of the vertical axis, with the meaning of error bars if there are any."""
    bars = table["se" if curves.y == "mean" else f"{curves.y}_se"].notna().any()
    return (
        f"{curves.make_axis_title(curves.y)}, mean\u00a0±\u00a0s.e."
        if bars
        else curves.make_axis_title(curves.y)
    )


def escape_file_name(name: str) -> str:
    """Return a name with all characters that are not safe in file names replaced by underscores."""
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")


def make_figure(width: float, height: float) -> Figure:
    """Return an empty matplotlib figure. The arguments `width` and `height` are in inches."""
    import_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def write_caption(figure: Figure, caption: str, width: float | None) -> None:
    """Store the caption of a figure as its label, and draw the caption below the figure.

    If `width` is given, the figure is for an article, and the caption is not drawn.
    """
    figure.set_label(caption)
    if not width:
        wrapped = textwrap.fill(caption, int(CAPTION_LETTERS * figure.get_figwidth()))
        figure.supxlabel(wrapped, x=0.01, ha="left")


def _named(
    panels: list[Axes], styles: Mapping[str, Style], failed: Sequence[str] = ()
) -> tuple[list[Any], list[str]]:
    """Return the markers and the names of the methods in the panels, for a legend.

    The methods in `failed`, which have no line, are last.
    """
    from matplotlib.lines import Line2D

    handles: dict[Any, Any] = {bar.get_label(): bar for p in panels for bar in p.containers}
    names = [name for name in styles if name in handles]
    shown = [handles[name] for name in names]
    for name in failed:
        dash: Any = styles[name].dash
        shown.append(
            Line2D([], [], linestyle=dash, **styles[name].make_marker_arguments(panels[0]))
        )
    said = [find_displayed_name(name) for name in names] + [
        f"{find_displayed_name(name)} (failed)" for name in failed
    ]
    return shown, said


def _groups(curves: Curves, methods: list[str]) -> list[list[str]]:
    """Divide the methods into groups of nearly equal size, one group for each panel."""
    if len(methods) <= MOST_TOGETHER or curves._is_side_by_side:
        return [methods]
    others = [name for name in methods if name != BASELINE]
    count = -(-len(others) // MOST_APART)
    return [[str(name) for name in group] for group in np.array_split(np.array(others), count)]


def _draw(
    panel: Axes,
    curves: Curves,
    table: pd.DataFrame,
    styles: Mapping[str, Style],
    every_row: pd.DataFrame,
) -> None:
    """Draw one line for each method of `table` in a panel.

    The scales of the axes are chosen for the values of `every_row`, the results of all panels of
    the same data set.
    """
    from matplotlib.ticker import MaxNLocator

    x, y = curves.x, curves.y
    placed = every_row["method" if curves._is_side_by_side else x]
    places = {str(name): i for i, name in enumerate(dict.fromkeys(placed))}
    for method, line in table.groupby("method", sort=False):
        style = styles[str(method)]
        panel.errorbar(
            line[placed.name].map(places) if curves.has_named_ticks else line[x],
            line[y],
            yerr=line["se" if y == "mean" else f"{y}_se"],
            xerr=line.get(f"{x}_se"),
            label=str(method),
            elinewidth=0.8,
            # Do not join the points by lines if the ticks are names, because names have no order.
            linestyle="" if curves.has_named_ticks else style.dash,
            **style.make_marker_arguments(panel),
        )
    if curves.has_named_ticks:
        fits = len("".join(places)) <= ROOM
        turned: dict[str, Any] = {} if fits else {"rotation": 30, "ha": "right"}
        words = map(find_displayed_name, places) if curves._is_side_by_side else places
        panel.set_xticks(list(places.values()), list(words), **turned)
        panel.set_xlim(-0.5, len(places) - 0.5)
    else:
        _scale(panel, "x", every_row[x])
    if y != "mean" or table["metric"].iloc[0].startswith("kernel_error"):
        _scale(panel, "y", every_row[y])
    else:
        panel.yaxis.set_major_locator(MaxNLocator(LINEAR_TICKS, steps=STEPS))
    if curves.has_frontier:
        better = every_row["metric"].iloc[0] in SMALLER_IS_BETTER
        times, best = find_pareto_frontier(every_row[x], every_row[y], larger_is_better=better)
        steps = [*times, every_row[x].max()], [*best, best[-1]]
        thin: dict[str, Any] = {"color": GRAY, "linewidth": 0.8, "marker": ""}
        panel.step(*steps, where="post", zorder=0, **thin)
    panel.set_ylabel(curves.make_axis_title(y))
    value = table["x"].iloc[0]
    if not curves._is_side_by_side:
        panel.set_xlabel(curves.make_axis_title(x))
    elif not isinstance(value, str):
        panel.set_xlabel(f"{curves.make_axis_title(x)} = {value:g}")


def _scale(panel: Axes, which: Literal["x", "y"], values: pd.Series[Any]) -> None:
    """Choose the ticks and the scale of an axis, linear or logarithmic.

    The axis is logarithmic if `values`, the values that it shows, span more than a factor of ten.
    `which` is the axis, 'x' or 'y'.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

    side = panel.xaxis if which == "x" else panel.yaxis
    low, high = values.min(), values.max()
    logarithmic = bool(low > 0 and high > 10 * low)
    if logarithmic:
        panel.set(**{f"{which}scale": "log"})
        between = (1, 2, 5) if high < 100 * low else (1, 3) if high < 1000 * low else (1,)
        side.set_major_locator(LogLocator(subs=between))
        side.set_minor_locator(NullLocator())
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if values.name == "x" and values.nunique() <= MAX_TICKS:
        side.set_major_locator(FixedLocator(sorted(values.unique())))
    elif not logarithmic:
        whole = bool((values % 1 == 0).all())
        side.set_major_locator(MaxNLocator(LINEAR_TICKS, steps=STEPS, integer=whole, min_n_ticks=1))


def set_log_ticks(panel: Axes, which: Literal["x", "y"], ticks: Sequence[float]) -> None:
    """Make an axis logarithmic, with ticks at the given values.

    `which` is the axis, 'x' or 'y'.
    """
    from matplotlib.ticker import FixedLocator, NullLocator

    panel.set(**{f"{which}scale": "log"})
    axis = panel.xaxis if which == "x" else panel.yaxis
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter("{x:g}")


def find_pareto_frontier(
    costs: ArrayLike, values: ArrayLike, *, larger_is_better: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the Pareto frontier: points for which no cheaper point has an equal or better value.

    The cheapest point is first.

    Parameters
    ----------
    costs, values : array of shape (n_points,)
        Cost and value of each point, all finite. A smaller cost is better.
    larger_is_better : bool
        True if larger values are better.

    Returns
    -------
    costs, values : array of shape (n_frontier,)
        Cost and value of each point of the frontier, with increasing costs and improving values.

    Examples
    --------
    >>> find_pareto_frontier([1.0, 2.0, 3.0, 2.0], [9.0, 5.0, 6.0, 7.0])
    (array([1., 2.]), array([9., 5.]))
    """
    sign = -1.0 if larger_is_better else 1.0
    x, y = np.asarray(costs, dtype=np.float64), sign * np.asarray(values, dtype=np.float64)
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    before = np.concatenate([[np.inf], np.minimum.accumulate(y)[:-1]])
    return x[y < before], sign * y[y < before]
