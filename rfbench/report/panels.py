"""Axes with one line a method: what the figures of a results folder are made of."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rfbench.report.style import Style
from rfbench.results.schema import METRICS

FEW = 8
TIMES = {
    "t_drawing": "of drawing and of the features",
    "t_total": "without testing",
    "t_all": "with testing",
}
DPI = 150
MARKER, WIDTH = 5.0, 1.1
# Lines no further apart than this share of the panel hide each other.
HIDDEN = 0.01

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Curves:
    """One figure: a panel a data set, a line a method.

    Attributes
    ----------
    table : DataFrame
        See `rfbench.report.summary.summarise`; lines without a value are left out.
    x, y : str
        Columns: ``'x'`` or a time, ``'mean'`` or a time.
    varied : str
        What the column ``x`` holds.
    titles : mapping
        From a column to what its axis is called, where the usual name is not wanted.
    """

    table: pd.DataFrame
    x: str
    y: str
    varied: str
    titles: Mapping[str, str]

    def title(self, column: str) -> str:
        """Return what the axis of a column is called."""
        if column in self.titles:
            return self.titles[column]
        if column == "mean":
            return METRICS[self.table["metric"].iloc[0]]
        if column == "x":
            return {"M": "number of features M", "d": "dimension d"}.get(self.varied, self.varied)
        return f"time {TIMES[column]} (s)"


def draw(curves: Curves, styles: Mapping[str, Style], title: str, caption: str) -> Figure:
    """Draw the panels, with a legend beside them and a caption below."""
    panels = [(str(name), part) for name, part in curves.table.groupby("dataset")]
    columns = math.ceil(math.sqrt(len(panels)))
    rows = -(-len(panels) // columns)
    figure = new_figure(3.8 * columns + 2.2, 3.4 * rows + 0.6)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for panel, (name, part) in zip(axes, panels, strict=False):
        _draw(panel, curves, part, styles)
        panel.set_title(name, fontsize=9)
    for panel in axes[len(panels) :]:
        panel.remove()
    set_title = axes[0].set_title if len(panels) == 1 else figure.suptitle
    set_title(title, fontsize=10)
    write_caption(figure, caption)
    handles: dict[str, Any] = {}
    for panel in axes[: len(panels)]:
        handles |= {bar.get_label(): bar for bar in panel.containers}
    ordered = {name: handles[name] for name in styles if name in handles}
    figure.legend(
        list(ordered.values()), list(ordered), loc="outside right upper", fontsize=8, frameon=False
    )
    return figure


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure that needs no display; inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def write_caption(figure: Figure, caption: str) -> None:
    """Write a caption below a figure."""
    wrapped = textwrap.fill(caption, int(17 * figure.get_figwidth()))
    figure.supxlabel(wrapped, fontsize=7, x=0.01, ha="left")


def _draw(panel: Axes, curves: Curves, table: pd.DataFrame, styles: Mapping[str, Style]) -> None:
    x, y = curves.x, curves.y
    side_by_side = x == "x" and table["x"].nunique() == 1
    words = side_by_side or (x == "x" and table["x"].dtype.kind not in "fi")
    placed = "method" if side_by_side else x
    places = {place: i for i, place in enumerate(dict.fromkeys(table[placed]))} if words else {}
    grown = growth(curves, table)
    for method, line in table.groupby("method", sort=False):
        style, more = styles[str(method)], grown[str(method)]
        panel.errorbar(
            line[placed].map(places) if words else line[placed],
            line[y],
            yerr=line["se" if y == "mean" else f"{y}_se"],
            xerr=None if x == "x" else line[f"{x}_se"],
            label=str(method),
            color=style.colour,
            marker=style.marker,
            markerfacecolor=style.colour if style.filled else "white",
            linestyle=style.dash,
            markersize=MARKER * (1 + more),
            linewidth=WIDTH * (1 + 1.5 * more),
            elinewidth=0.8,
            capsize=2,
        )
    if words:
        panel.set_xticks(list(places.values()), list(places), rotation=30, ha="right")
        panel.set_xlim(-0.5, len(places) - 0.5)
    else:
        _scale(panel, "x", table[x])
    if y != "mean" or table["metric"].iloc[0].startswith("kernel_error"):
        _scale(panel, "y", table[y])
    panel.set_ylabel(curves.title(y), fontsize=9)
    value = table["x"].iloc[0]
    if not side_by_side:
        panel.set_xlabel(curves.title(x), fontsize=9)
    elif not isinstance(value, str):
        panel.set_xlabel(f"{curves.title(x)} = {value:g}", fontsize=9)
    panel.tick_params(labelsize=8)
    panel.grid(alpha=0.25, linewidth=0.6)


def growth(curves: Curves, table: pd.DataFrame) -> dict[str, float]:
    """Say by how much each line of a panel is drawn larger, so that coinciding ones are all seen.

    The first of the lines that coincide lies lowest and is the largest, the last has the usual
    size, as have lines that are alone.

    Returns
    -------
    dict
        By method, from 0 (usual size) to 1 (twice the marker).
    """
    places = np.column_stack([_placed(table[name]) for name in (curves.x, curves.y)])
    lines = {str(m): places[at] for m, at in table.groupby("method", sort=False).indices.items()}
    names = list(dict.fromkeys(map(str, table["method"])))
    grown = {}
    for i, name in enumerate(names):
        alike = [other for other in names if _coincide(lines[name], lines[other])]
        above = sum(names.index(other) > i for other in alike)
        grown[name] = above / max(len(alike) - 1, 2)
    return grown


def _placed(values: pd.Series[Any]) -> NDArray[np.float64]:
    """Return where values are along an axis, from 0 to 1."""
    if values.dtype.kind not in "fi":
        return np.asarray(pd.factorize(values)[0], dtype=np.float64)
    numbers = values.to_numpy(dtype=np.float64)
    if is_logarithmic(values):
        numbers = np.log(numbers)
    span = float(np.ptp(numbers)) or 1.0
    return np.asarray((numbers - numbers.min()) / span, dtype=np.float64)


def _coincide(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Say whether at least half of the points of two lines hide each other."""
    if one.shape != other.shape:
        return False
    return bool(np.median(np.abs(one - other).max(axis=1)) <= HIDDEN)


def is_logarithmic(values: pd.Series[Any]) -> bool:
    """Say whether values span more than a factor of ten."""
    low, high = values.min(), values.max()
    return bool(low > 0 and high > 10 * low)


def _scale(panel: Axes, which: Literal["x", "y"], values: pd.Series[Any]) -> None:
    """Make an axis logarithmic if its values span more than a factor of ten."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

    side = panel.xaxis if which == "x" else panel.yaxis
    low, high = values.min(), values.max()
    logarithmic = is_logarithmic(values)
    if logarithmic:
        panel.set(**{f"{which}scale": "log"})
        between = (1, 2, 5) if high < 100 * low else (1, 3) if high < 1000 * low else (1,)
        side.set_major_locator(LogLocator(subs=between))
        side.set_minor_locator(NullLocator())
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if values.name == "x" and values.nunique() <= FEW:
        side.set_major_locator(FixedLocator(sorted(values.unique())))
    elif not logarithmic and (values % 1 == 0).all():
        side.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
