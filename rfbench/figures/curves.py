"""Figures with curves of the error, the time and the kernel error of each method."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from rfbench.analysis.frame import SUMS, has_kernel_estimate
from rfbench.analysis.naming import format_dataset_title
from rfbench.analysis.summary import BASELINE, SMALLER_IS_BETTER, summarize
from rfbench.figures.measured import Measured, list_paper_protocols
from rfbench.figures.panels import Curves, draw_panels, escape_file_name
from rfbench.registry import find_displayed_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# MAX_LEGEND_ENTRIES is the largest number of settings that are listed below an axis.
# MAX_LABEL_LENGTH is the largest number of characters of the name of a setting or method. The
# values were chosen by eye. With twice MAX_LABEL_LENGTH, names leave no space for the panel.
MAX_LEGEND_ENTRIES = 40
MAX_LABEL_LENGTH = 60
# Largest number of data sets with a panel each. Twelve panels are four rows of three panels, which
# fit on a page of an article. With twice this number, the figure is longer than a page.
MOST_DATASETS = 12
# Maps each column of summed times in `rfbench.analysis.frame.SUMS` to a description of the steps
# whose times are added.
TIMES = {
    "drawing": "choosing the features and computing them",
    "fit": "computing the features and the fit",
    "total": "choosing the features, computing them, and the fit; no testing",
    "all": "choosing the features, computing them, the fit, and testing",
}
# Lines count as equal if their vertical distance is below this share of the height of a panel. By
# definition, this share is the width of a line (1.1 points) divided by the height of a panel (144
# points). With twice this value, some figures would be omitted although their lines look different.
SAME_LINE = 0.0075
KERNEL_ERROR, BYTES = "kernel_error_spectral", "feature_bytes"


def error(measured: Measured) -> Iterator[tuple[str, Figure]]:
    """Draw the error of each method over the varied quantity, such as the number of features.

    If the results have a different metric than the error, this metric is drawn.
    """
    yield from draw_lines(
        f"{_kind(measured)}_vs_{escape_file_name(measured.varied)}", measured, measured.table, "x"
    )


def error_over_time(measured: Measured) -> Iterator[tuple[str, Figure]]:
    """Draw the error of each method, or a different metric of the results, over the time.

    The figure is omitted if the dimension d of the data varies.
    """
    if measured.varied != "d":
        time = _clock(measured.table, "t_total")
        cost = "in at most this time"
        yield from draw_lines(
            f"{_kind(measured)}_vs_time", measured, measured.table, time, cost=cost
        )


def error_over_bytes(measured: Measured) -> Iterator[tuple[str, Figure]]:
    """Draw the error of each method over the number of bytes of the features of a row.

    The figure is omitted if all methods need the same number of bytes per feature column, or if the
    dimension d of the data varies.
    """
    rows = measured.results.rows[["setting", "M", BYTES, "columns"]].dropna()
    if (rows[BYTES] / rows["columns"]).nunique() > 1 and measured.varied != "d":
        by = [name for name in ("setting", "M") if name in measured.table]
        sizes = rows.groupby(by)[BYTES].mean().reset_index()
        table = measured.table.merge(sizes, how="left", on=by)
        cost = "with at most this number of bytes"
        yield from draw_lines(f"{_kind(measured)}_vs_bytes", measured, table, BYTES, cost=cost)


def time(measured: Measured) -> Iterator[tuple[str, Figure]]:
    """Draw the time of each method over the varied quantity, such as the number of features.

    The total time is drawn, unless the results reproduce a paper that reports a different time.
    """
    if measured.table["x"].nunique() > 1:
        y = _clock(measured.table, measured.paper.time_axis if measured.paper else "t_total")
        yield from draw_lines(
            f"time_vs_{escape_file_name(measured.varied)}", measured, measured.table, "x", y
        )


def kernel_error(measured: Measured) -> Iterator[tuple[str, Figure]]:
    """Draw the error of the kernel estimates over the varied quantity, such as the dimension d.

    The figure is omitted if the kernel error is the main metric of the results.
    """
    if KERNEL_ERROR in set(measured.table["metric"]):
        return
    if measured.results.rows[KERNEL_ERROR].notna().any():
        table = summarize(measured.results, KERNEL_ERROR)
        yield from draw_lines(
            f"kernel_error_vs_{escape_file_name(measured.varied)}", measured, table, "x"
        )


def _kind(measured: Measured) -> str:
    metrics = set(measured.table["metric"])
    return str(min(metrics)) if metrics <= set(SMALLER_IS_BETTER) else "error"


def _clock(table: pd.DataFrame, wall: str) -> str:
    """Return the name of the column with the CPU times for the column `wall` of wall times.

    If CPU times are missing, `wall` is returned.
    """
    cpu = wall.replace("t_", "cpu_", 1)
    ended = table[table["trials"] > 0]
    return wall if (ended[cpu].isna() & ended[wall].notna()).any() else cpu


def draw_lines(
    stem: str, measured: Measured, lines: pd.DataFrame, x: str, y: str = "mean", cost: str = ""
) -> Iterator[tuple[str, Figure]]:
    """Draw the column `y` of the table `lines` over the column `x`, with one line per method.

    The figure is yielded with `stem`, the name of its file. Nothing is yielded if no row has values
    in both columns, or if the figure would compare nothing. If the column x is a cost such as a
    time, the phrase `cost` describes it in the caption, and the Pareto frontier is drawn. For many
    data sets, medians over the data sets relative to the baseline method are drawn.
    """
    drawn = lines[(lines["trials"] > 0) & lines[x].notna() & lines[y].notna()]
    ended = set(lines.loc[lines["trials"] > 0, "method"])
    failed = tuple(dict.fromkeys(name for name in lines["method"] if name not in ended))
    left_out: list[str] = []
    if y == "mean":
        other = drawn["metric"].str.startswith("kernel_error")
        other &= ~drawn["parameters"].map(has_kernel_estimate).astype("bool")
        left_out = list(dict.fromkeys(drawn.loc[other, "method"]))
        drawn = drawn[~other]
    if drawn.empty:
        return
    titles, sizes = {}, measured.paper.sizes if measured.paper else None
    if measured.varied == "M" and sizes and sizes.title:
        titles["x"] = sizes.title
        if sizes.over_d:
            drawn = drawn.assign(x=drawn["x"] / drawn["d"].astype("float64"))
    curves = Curves(drawn, x, y, measured.varied, titles, cost, failed)
    settings = drawn["x"].unique() if curves.has_named_ticks else ()
    longest = max(len(str(name)) for name in (*settings, *drawn["method"]))
    if len(settings) > MAX_LEGEND_ENTRIES or longest > MAX_LABEL_LENGTH:
        return  # the names would leave no space for a panel, and the table contains the values
    if why := explain_empty_figure(drawn, x, y, measured.varied):
        measured.not_drawn.append(f"{stem} ({why})")
        return
    shown = {name: format_dataset_title(part) for name, part in drawn.groupby("dataset")}
    datasets = [shown[name] for name in dict.fromkeys(drawn["dataset"])]
    if len(datasets) > MOST_DATASETS:
        lines = _compute_relative(drawn, y) if x == "x" else drawn[:0]
        if lines.empty:
            return
        what = (
            "error" if y == "mean" and drawn["metric"].nunique() > 1 else curves.make_axis_title(y)
        )
        titles[y] = (
            f"{re.sub(r' [(](%|s)[)]$', '', what)} / that of {find_displayed_name(BASELINE)}"
        )
        caption = _caption(curves, left_out, lines["datasets"].iloc[0])
        datasets = [f"{len(datasets)} data sets"]
    else:
        lines = drawn.assign(dataset=drawn["dataset"].map(shown))
        caption = _caption(curves, left_out)
    curves = replace(curves, table=lines)
    title = measured.make_title(datasets[0] if len(datasets) == 1 else "", drawn["protocol"])
    if measured.width:
        caption = f"{', '.join([*datasets, *list_paper_protocols(drawn['protocol'])])}. {caption}"
    yield stem, draw_panels(curves, measured.styles, title, caption, measured.width)


def explain_empty_figure(table: pd.DataFrame, x: str, y: str, varied: str) -> str:
    """Return the reason why a figure of the columns `x` and `y` would compare nothing.

    A figure compares nothing if it has only one point, only one method whose size is varied, or
    lines that all look equal. For other figures, the result is an empty string.
    """
    if len(table) == 1:
        return "one point"
    methods = table["method"].nunique()
    if methods == 1 and (varied in ("M", "d") or table["x"].nunique() == 1):
        return "one method"
    if methods == 1 or x != "x":
        return ""
    values = table[y].astype("float64")
    # If the values span more than a factor of 10, their axis is logarithmic, so compare the
    # logarithms.
    if 0 < 10 * values.min() < values.max():
        values = values.map(math.log)
    place = [table["dataset"], table["x"]]
    apart = (values.groupby(place).max() - values.groupby(place).min()).groupby("dataset").max()
    height = values.groupby(table["dataset"]).max() - values.groupby(table["dataset"]).min()
    return "" if (apart > SAME_LINE * height).any() else "all lines are equal"


def _compute_relative(table: pd.DataFrame, y: str) -> pd.DataFrame:
    """Return the median over data sets of the column `y` for each method and value of x.

    The values of each data set are first divided by the value of the baseline method. Only data
    sets with a positive value for each method and x are used. The column `datasets` of the result
    contains the number of these data sets. Standard errors are NaN.
    """
    values = table.pivot(index="dataset", columns=["method", "x"], values=y)
    values = values.where(values > 0).dropna()
    if BASELINE not in values or len(values) < 2:
        return table[:0]
    by_x = values.stack("x", future_stack=True)
    median = by_x.div(by_x[BASELINE], axis=0).groupby("x").median().unstack().dropna()
    lines = table.drop_duplicates(["method", "x"]).set_index(["method", "x"]).loc[median.index]
    lines[[y, "se" if y == "mean" else f"{y}_se"]] = pd.DataFrame(
        {"median": median, "bars": math.nan}
    )
    return lines.assign(dataset="", datasets=len(values)).reset_index()


def _caption(curves: Curves, left_out: list[str], n_shared: int | None = None) -> str:
    """Return the caption of a figure, with the number of trials per point and other remarks.

    The remarks list, for example, failed trials and the methods in `left_out`. `n_shared` is the
    number of data sets if the figure shows medians over data sets.
    """
    table, x, y = curves.table, curves.x, curves.y
    notes = [_over_datasets(table, n_shared) if n_shared else _trials(table["trials"])]
    if y == "mean":
        if failed := table["failed"].sum():
            of = _names(table.loc[table["failed"] > 0, "method"])
            notes[0] += f"; {failed} {'trial' if failed == 1 else 'trials'} of {of} failed"
        if "test" in set(table["selection"]):
            notes[0] += "; penalty chosen on the test rows: optimistic"
    if x != "x" and curves.varied != "variant":
        notes.append(f"A line joins values of {curves.varied}")
    if curves.has_frontier:
        notes.append(f"Gray steps: the frontier, the best mean {curves.cost}")
    notes += [f"Time: {TIMES[column.partition('_')[2]]}" for column in (x, y) if column in SUMS]
    if x == "x" and curves.varied == "M":
        notes += _on_columns(table)
    if curves.failed:
        notes.append(f"Every trial failed: {_names(curves.failed)}")
    if left_out:
        notes.append(
            "Left out, because rescaled features (reweight: inverse, or penalty_divisor) do not "
            f"estimate the kernel: {_names(left_out)}"
        )
    return ". ".join(notes) + "."


def _names(methods: Iterable[str]) -> str:
    return ", ".join(map(find_displayed_name, dict.fromkeys(methods)))


def _trials(counts: pd.Series[int]) -> str:
    """Return a sentence for a caption on the number of trials that each point averages.

    `counts` contains the number of trials of each point.
    """
    low, high = counts.min(), counts.max()
    if high == 1:
        return "One trial per point, so no error bars"
    number = f"{low}" if low == high else f"{low} to {high}"
    return f"Mean over {number} trials; bars: standard error of the mean"


def _over_datasets(table: pd.DataFrame, n: int) -> str:
    N, low, high = table["dataset"].nunique(), table["trials"].min(), table["trials"].max()
    of = f"{N}" if n == N else f"the {n} of {N}"
    where = "" if n == N else " with a positive value at every point"
    trials = f"{high} {'trial' if high == 1 else 'trials'}"
    return (
        f"Median over {of} data sets{where}; for each the mean over "
        f"{trials if low == high else f'{low} to {trials}'} is divided by "
        f"the mean of {find_displayed_name(BASELINE)}"
    )


def _on_columns(table: pd.DataFrame) -> list[str]:
    """Return a sentence for each method with more feature columns than the baseline method."""
    sizes = table.set_index(["dataset", "x"])
    base = sizes.loc[sizes["method"] == BASELINE, "columns_max"]
    base = base[~base.index.duplicated()].rename("base")
    compared = sizes.join(base, how="inner").reset_index().sort_values("x", ascending=False)
    more = compared[compared["columns_max"] > compared["base"]].drop_duplicates("method")
    return [
        f"{find_displayed_name(method)} has {most:g} columns at M = {M:g}, "
        f"{find_displayed_name(BASELINE)} {usual:g}"
        for method, most, M, usual in more.sort_values("method")[
            ["method", "columns_max", "M_max", "base"]
        ].itertuples(index=False)
    ]
