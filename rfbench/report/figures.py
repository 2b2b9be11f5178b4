"""Figures of a results folder: error against what is varied, and against time."""

from __future__ import annotations

import math
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from rfbench.report.columns import METRICS
from rfbench.report.results import Results
from rfbench.report.style import Style, assign
from rfbench.report.summary import axis, summarise
from rfbench.report.tables import SMOKE

FEW = 8

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot(results: Results, folder: Path | None = None) -> list[Path]:
    """Draw the error against what is varied (M, d, ...) and against time.

    Error bars are standard errors of the mean over the trials; a data set has a panel. The files
    depend on the rows only: the same rows give the same bytes.

    Parameters
    ----------
    results : Results
        As read from one folder.
    folder : Path, optional
        Where the files go; by default the results folder.

    Returns
    -------
    list of Path
        PNG and PDF of each figure; empty if no trial ended well.
    """
    import matplotlib.style

    folder = folder or results.folder
    table = summarise(results)
    if table.empty or not table["trials"].any():
        return []
    caption = _caption(table)
    table = table[table["trials"] > 0]
    varied = axis(results)
    kind = table["metric"].iloc[0] if set(table["metric"]) <= {"accuracy", "r2"} else "error"
    files = []
    with matplotlib.style.context(["default", {"text.parse_math": False}]):
        for x, name in ((varied, varied), ("t_total", "time")):
            if x == "t_total" and not table[x].notna().any():
                continue
            along = "" if x == varied else f" A line joins values of {varied}."
            figure = _figure(table, results, caption + along, x, varied)
            stem = f"{kind}_vs_{re.sub(r'[^A-Za-z0-9]+', '_', name)}"
            for suffix, metadata in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
                files.append(folder / f"{stem}.{suffix}")
                figure.savefig(files[-1], dpi=150, metadata=metadata)
    return files


def _figure(table: pd.DataFrame, results: Results, caption: str, x: str, varied: str) -> Figure:
    from matplotlib.figure import Figure

    panels = [(str(name), part) for name, part in table.groupby("dataset")]
    columns = math.ceil(math.sqrt(len(panels)))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(3.8 * columns + 2.2, 3.4 * rows + 0.6), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    styles = assign(dict(zip(table["method"], table["sampler"], strict=True)))
    for panel, (name, part) in zip(axes, panels, strict=False):
        _draw(panel, part, styles, x, varied)
        panel.set_title(name, fontsize=9)
    for panel in axes[len(panels) :]:
        panel.remove()
    protocol = ", ".join(dict.fromkeys(table["protocol"]))
    title = f"{SMOKE}: " * results.smoke + (panels[0][0] if len(panels) == 1 else results.name)
    set_title = axes[0].set_title if len(panels) == 1 else figure.suptitle
    set_title(f"{title}, protocol {protocol}", fontsize=10)
    wrapped = textwrap.fill(caption, int(17 * figure.get_figwidth()))
    figure.supxlabel(wrapped, fontsize=7, x=0.01, ha="left")
    handles: dict[str, Any] = {}
    for panel in axes[: len(panels)]:
        handles |= {bar.get_label(): bar for bar in panel.containers}
    ordered = {name: handles[name] for name in styles}
    figure.legend(
        list(ordered.values()), list(ordered), loc="outside right upper", fontsize=8, frameon=False
    )
    return figure


def _draw(panel: Axes, table: pd.DataFrame, styles: dict[str, Style], x: str, varied: str) -> None:
    at = "x" if x == varied else x
    side_by_side = at == "x" and table["x"].nunique() == 1
    words = side_by_side or (at == "x" and table["x"].dtype.kind not in "fi")
    placed = "method" if side_by_side else at
    places = {place: i for i, place in enumerate(dict.fromkeys(table[placed]))} if words else {}
    for method, line in table.groupby("method", sort=False):
        style = styles[str(method)]
        panel.errorbar(
            line[placed].map(places) if words else line[placed],
            line["mean"],
            yerr=line["se"],
            xerr=None if at == "x" else line[f"{at}_se"],
            label=str(method),
            color=style.colour,
            marker=style.marker,
            markerfacecolor=style.colour if style.filled else "white",
            linestyle="-" if style.filled else "--",
            markersize=5,
            linewidth=1.1,
            elinewidth=0.8,
            capsize=2,
        )
    if words:
        panel.set_xticks(list(places.values()), list(places), rotation=30, ha="right")
        panel.set_xlim(-0.5, len(places) - 0.5)
    else:
        _scale(panel, "x", table[at])
    metric = table["metric"].iloc[0]
    if metric.startswith("kernel_error"):
        _scale(panel, "y", table["mean"])
    panel.set_ylabel(METRICS[metric], fontsize=9)
    value = table["x"].iloc[0]
    only = f" = {value:g}" if side_by_side and not isinstance(value, str) else ""
    panel.set_xlabel(_axis_label(table, x) + only, fontsize=9)
    panel.tick_params(labelsize=8)
    panel.grid(alpha=0.25, linewidth=0.6)


def _scale(panel: Axes, which: Literal["x", "y"], values: pd.Series[Any]) -> None:
    """Make an axis logarithmic if its values span more than a factor of ten."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

    side = panel.xaxis if which == "x" else panel.yaxis
    low, high = values.min(), values.max()
    logarithmic = low > 0 and high > 10 * low
    if logarithmic:
        panel.set(**{f"{which}scale": "log"})
        side.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 1000 * low else (1,)))
        side.set_minor_locator(NullLocator())
        side.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if values.name == "x" and values.nunique() <= FEW:
        side.set_major_locator(FixedLocator(sorted(values.unique())))
    elif not logarithmic and (values % 1 == 0).all():
        side.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def _axis_label(table: pd.DataFrame, x: str) -> str:
    if x == "t_total":
        timing = "/".join(dict.fromkeys(text for text in table["timing"] if text))
        return f"t_pp + t_features + t_train (s{', timing ' + timing if timing else ''})"
    return {"M": "number of features M", "d": "dimension d"}.get(x, x)


def _caption(table: pd.DataFrame) -> str:
    trials = table.loc[table["trials"] > 0, "trials"]
    low, high, failed = trials.min(), trials.max(), table["failed"].sum()
    number = f"{low}" if low == high else f"{low} to {high}"
    caption = f"Mean over {number} trials; bars: standard error of the mean"
    if high == 1:
        caption = "One trial a point: no spread is known"
    if failed:
        caption += f"; {failed} {'trial' if failed == 1 else 'trials'} failed"
    if "test" in set(table["selection"]):
        caption += "; penalty chosen on the test rows: optimistic"
    return caption + "."
