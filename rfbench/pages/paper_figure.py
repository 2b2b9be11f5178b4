"""Figure of a paper's page: its published numbers, and the differences of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rfbench.analysis import ledger
from rfbench.analysis.verdicts import CLOSE_POINTS, CLOSE_RATIO, COMPARED
from rfbench.analysis.verification import Verification
from rfbench.figures import render_figure
from rfbench.figures.panels import new_figure
from rfbench.figures.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    VERMILLION,
    apply_style,
    get_text_color,
)
from rfbench.papers.cells import format_item
from rfbench.papers.models import PERCENT, SECONDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SETTINGS_MARKS = {
    **dict.fromkeys(("text", "readings"), ("o", BLUE)),
    "code": ("s", PURPLE),
    "corrected": ("D", ORANGE),
    "matched": ("^", VERMILLION),
    "rematched": ("v", GREEN),
}


def render_png(own: Verification) -> bytes | None:
    """Return the figure of a paper as PNG, a panel per table or figure; None without numbers.

    The same numbers give the same bytes. Times, substitute data and measurements with our own
    settings are omitted.
    """
    numbers = select_pictured(own)
    items = list(numbers["item"].unique())
    if not items:
        return None
    columns = min(len(items), 3)
    rows = -(-len(items) // columns)
    with apply_style():
        figure = new_figure(max(5.0, 0.6 + 2.4 * columns), 0.6 + 2.3 * rows)
        grid = figure.subplots(rows, columns, squeeze=False).flat
        for panel, item in zip(grid, items, strict=False):
            _panel(panel, numbers[numbers["item"] == item])
            panel.set_title(format_item(str(item)))
        for panel in list(grid)[len(items) :]:
            panel.remove()
        seen = {text.get_label(): text for panel in figure.axes for text in panel.containers}
        figure.legend(
            handles=list(seen.values()), labels=list(seen), loc="outside lower center", ncols=2
        )
        return render_figure(figure, "png")


def select_pictured(own: Verification) -> pd.DataFrame:
    """Return the compared numbers, which the figure shows."""
    numbers = ledger.list_numbers(own)
    return numbers[
        numbers["verdict"].isin(COMPARED) & numbers["settings"].isin(list(SETTINGS_MARKS))
    ]


def count_not_pictured(own: Verification) -> int:
    """Count the measured numbers that the figure omits, without times and repeated ones."""
    every = own.numbers
    every = every[(every["unit"] != SECONDS) & (every["same_as"] == "") & (every["trials"] > 0)]
    return len(every) - len(select_pictured(own))


def _panel(panel: Axes, numbers: pd.DataFrame) -> None:
    """Draw differences over the published number, or quotients for numbers without a unit."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    points = (numbers["unit"] == PERCENT).all()
    if points:
        panel.axhspan(-CLOSE_POINTS, CLOSE_POINTS, color=GREY, alpha=0.25, linewidth=0)
        panel.axhline(0.0, color=get_text_color(), linewidth=0.8)
        panel.set_ylabel("ours minus published (points)")
    else:
        panel.set(xscale="log", yscale="log")
        for side in (panel.xaxis, panel.yaxis):
            side.set_major_locator(LogLocator(subs=(1.0,) if side is panel.xaxis else (1, 2, 5)))
            side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            side.set_minor_locator(NullLocator())
        panel.axhspan(1 / CLOSE_RATIO, CLOSE_RATIO, color=GREY, alpha=0.25, linewidth=0)
        panel.axhline(1.0, color=get_text_color(), linewidth=0.8)
        panel.set_ylabel("ours / published")
    panel.set_xlabel("published number")
    for kind, here in numbers.groupby("settings", sort=True):
        marker, colour = SETTINGS_MARKS[str(kind)]
        published = here["published"].to_numpy(float)
        scale = np.ones(len(here)) if points else published
        value = here["difference"].to_numpy(float) if points else here["measured"].to_numpy(float)
        half = np.nan_to_num(here["half_width"].to_numpy(float) / scale)
        panel.errorbar(
            published, value / scale, half, fmt=marker, color=colour, markersize=3.5,
            elinewidth=0.8, label=ledger.CLASS_LABELS[str(kind)],
        )  # fmt: skip
