"""Figures of a results folder: error, time and kernel error against what is varied.

Where the configuration names a paper, the axes are those of its figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from rfbench import papers
from rfbench.analysis.frame import estimates_kernel
from rfbench.analysis.summary import axis, summarise
from rfbench.errors import WriteError
from rfbench.report import kept_figures
from rfbench.report.arms import SUMS
from rfbench.report.panels import BASELINE, DPI, Curves, draw
from rfbench.report.style import SETTINGS, assign
from rfbench.report.tables import SMOKE
from rfbench.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KERNEL_ERROR = "kernel_error_spectral"


def plot(results: Results, folder: Path | None = None) -> list[Path]:
    """Draw what the rows of a results folder have to show.

    The metric against what is varied (M, d, ...) and against time; the time against what is
    varied; the kernel error, where there is one beside the metric; the kept features, where there
    is a `kept.csv`. Error bars are standard errors of the mean over the trials; a data set has a
    panel. Time is CPU time, which other work on the machine does not lengthen; wall time where a
    method has no CPU time. The files depend on the rows only: the same rows give the same bytes.

    Parameters
    ----------
    results : Results
        As read from one folder.
    folder : Path, optional
        Where the files go, made if it is not there; by default the results folder.

    Returns
    -------
    list of Path
        PNG and PDF of each figure; empty if no trial ended well.

    Raises
    ------
    WriteError
        If a file cannot be written.
    """
    import matplotlib.style

    folder = folder or results.folder
    files = []
    with matplotlib.style.context(["default", SETTINGS]):
        for stem, figure in figures_of(results):
            for suffix, metadata in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
                files.append(folder / f"{stem}.{suffix}")
                try:
                    folder.mkdir(parents=True, exist_ok=True)
                    figure.savefig(files[-1], dpi=DPI, metadata=metadata)
                except OSError as error:
                    raise WriteError(
                        f"{files[-1]} cannot be written: {error.strerror}.",
                        "The rows are safe in trials.csv.",
                        f"Make room, then draw with `rfbench plot {results.folder}`.",
                    ) from error
    return files


def figures_of(results: Results) -> Iterator[tuple[str, Figure]]:
    """Yield the name of each figure's file and the figure."""
    table = summarise(results)
    if table.empty or not table["trials"].any():
        return
    styles = assign(dict(zip(table["method"], table["sampler"], strict=True)))
    varied = axis(results)
    name = re.sub(r"[^A-Za-z0-9]+", "_", varied)
    kind = table["metric"].iloc[0] if set(table["metric"]) <= {"accuracy", "r2"} else "error"
    paper = _paper(results)
    whole = _clock(table, "t_total")
    time = _clock(table, paper.time_axis if paper else "t_total")
    wanted = [(f"{kind}_vs_{name}", table, "x", "mean")]
    if varied != "d":  # other data at every d: a line through their times would mean nothing
        wanted.append((f"{kind}_vs_time", table, whole, "mean"))
    if table["x"].nunique() > 1:
        wanted.append((f"time_vs_{name}", table, "x", time))
    if KERNEL_ERROR not in set(table["metric"]) and results.rows[KERNEL_ERROR].notna().any():
        errors = summarise(results, KERNEL_ERROR)
        wanted.append((f"kernel_error_vs_{name}", errors, "x", "mean"))
    for stem, lines, x, y in wanted:
        curves, caption = _curves(results, lines, x, y)
        if not curves.table.empty:
            yield stem, draw(curves, styles, _title(results, curves.table), caption)
    for stem, figure in kept_figures.draw(results):
        yield stem, figure


def _clock(table: pd.DataFrame, wall: str) -> str:
    """Return the column of CPU time for one of wall time; the latter where a method lacks CPU."""
    cpu = wall.replace("t_", "cpu_", 1)
    ended = table[table["trials"] > 0]
    return wall if (ended[cpu].isna() & ended[wall].notna()).any() else cpu


def _curves(results: Results, lines: pd.DataFrame, x: str, y: str) -> tuple[Curves, str]:
    """Return what a figure shows, and its caption."""
    varied, paper = axis(results), _paper(results)
    drawn = lines[(lines["trials"] > 0) & lines[x].notna() & lines[y].notna()]
    caption = _caption(drawn) if y == "mean" else _trials(drawn) + "."
    if x != "x" and varied != "variant":
        caption += f" A line joins values of {varied}."
    for time in {x, y} & set(SUMS):
        caption += _on_times(drawn, time)
    if x == "x" and varied == "M":
        caption += _on_columns(drawn)
    if y == "mean":
        drawn, said = _without_other_kernels(drawn)
        caption += said
    titles = {}
    if varied == "M" and paper and paper.sizes.title:
        titles["x"] = paper.sizes.title
        if paper.sizes.over_d:
            drawn = drawn.assign(x=drawn["x"] / drawn["d"].astype("float64"))
    return Curves(drawn, x, y, varied, titles), caption


def _paper(results: Results) -> papers.Paper | None:
    name = str(results.config.get("paper") or "")
    return papers.paper(name) if name in papers.papers() else None


def _title(results: Results, table: pd.DataFrame) -> str:
    datasets = list(dict.fromkeys(table["dataset"]))
    protocol = ", ".join(dict.fromkeys(table["protocol"]))
    name = datasets[0] if len(datasets) == 1 else results.name
    return f"{SMOKE}: " * results.smoke + f"{name}, protocol {protocol}"


def _without_other_kernels(table: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Leave lines out whose kernel error says nothing, and say which."""
    errors = table["metric"].str.startswith("kernel_error")
    other = errors & ~table["parameters"].map(estimates_kernel).astype("bool")
    if not other.any():
        return table, ""
    names = ", ".join(dict.fromkeys(table.loc[other, "method"]))
    said = (
        " Left out, because rescaled features (reweight: inverse, or penalty_divisor) do not "
        f"estimate the kernel: {names}."
    )
    return table[~other], said


def _on_columns(table: pd.DataFrame) -> str:
    """Name the methods that have more columns than the baseline at the same place on the axis."""
    sizes = table.set_index(["dataset", "x"])
    base = sizes.loc[sizes["method"] == BASELINE, "columns_max"]
    base = base[~base.index.duplicated()].rename("base")
    compared = sizes.join(base, how="inner").reset_index().sort_values("x", ascending=False)
    said = ""
    for method, line in compared[compared["columns_max"] > compared["base"]].groupby("method"):
        most, usual, M = (line[name].iloc[0] for name in ("columns_max", "base", "x"))
        said += f" {method} has {most:g} columns at M = {M:g}, {BASELINE} {usual:g}."
    return said


def _on_times(table: pd.DataFrame, time: str) -> str:
    said = f" Time: {' + '.join(SUMS[time])}"
    shared = list(dict.fromkeys(table.loc[table["timing"] == "shared", "method"]))
    if not shared:
        return said + "."
    of = "" if len(shared) == table["method"].nunique() else f" of {', '.join(shared)}"
    return said + f"; the times{of} are upper bounds: timing is shared, not isolated."


def _trials(table: pd.DataFrame) -> str:
    low, high = table["trials"].min(), table["trials"].max()
    if high == 1:
        return "One trial a point: no spread is known"
    number = f"{low}" if low == high else f"{low} to {high}"
    return f"Mean over {number} trials; bars: standard error of the mean"


def _caption(table: pd.DataFrame) -> str:
    caption, failed = _trials(table), table["failed"].sum()
    if failed:
        caption += f"; {failed} {'trial' if failed == 1 else 'trials'} failed"
    if "test" in set(table["selection"]):
        caption += "; penalty chosen on the test rows: optimistic"
    return caption + "."
