"""The page of the cells, written beside `cells.csv`."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rfbench import files
from rfbench.analysis import verdicts
from rfbench.pages.grids import Grid, render_markdown
from rfbench.plotting import import_matplotlib
from scripts.cells import claims, compare
from scripts.cells.measure import STANDARDIZED

# Largest quotient in the figure, the last tick. Fewer than one cell in a hundred is beyond.
LARGEST = 5.0
TEMPLATE = Path(__file__).with_name("page.md.txt")
HEAD = ("kernel", "map", "cells", "mean ratio", "|z| < 3", "precise cells", "their ratio", "mark")


def write_page(cells: pd.DataFrame, folder: Path) -> None:
    """Write README.md and ratios.png of the measured cells into a folder."""
    files.replace(folder / "ratios.png", draw_ratios(compare.tabulate(cells)))
    files.replace(folder / "README.md", make_page(cells).encode())


def make_page(cells: pd.DataFrame) -> str:
    """Return the page in Markdown."""
    table = compare.tabulate(cells)
    several = table[table["published_n"] > 1]
    # The cells of MNIST that the page names as unexplained, and the measured cells of one kind.
    doubtful = (several["dataset"] == "MNIST") & (several["scaling"] == STANDARDIZED)
    by_folder = np.exp(several[doubtful].groupby("folder")["log_ratio"].mean())
    counts, missing = table["verdict"].value_counts(), cells[cells["n"].isna()]["dataset"]
    groups = compare.group_ratios(table, compare.MAP)
    columns = ("ratio", "precise_ratio", "precise_se", "precise_cells")
    marks = [mark_ratio(*line) for line in zip(*(groups[each] for each in columns), strict=True)]
    return TEMPLATE.read_text(encoding="utf-8").format(
        measured=f"{len(table):,}",
        total=f"{len(cells):,}",
        different=f"{cells['id'].nunique():,}",
        sets=cells["dataset"].nunique(),
        missing=", ".join(f"{n:,} of {each}" for each, n in missing.value_counts().items())
        or "none",
        **{each: f"{counts.get(each, 0):,}" for each in verdicts.COMPARED},
        within=(several["z"].abs() < compare.FAR).mean(),
        sd=several["z"].std(),
        doubtful=int(doubtful.sum()),
        by_folder=", ".join(f"`{name}` {ratio:.2f}" for name, ratio in by_folder.items()),
        expanded=(cells["n"].isna() & (cells["expanded"] > 0)).sum(),
        rest=(several[~doubtful]["z"].abs() < compare.FAR).mean(),
        groups=len(groups),
        beyond=len(marks) - marks.count(""),
        unexplained=marks.count("?"),
        methods=_format_methods(groups, marks),
        W1=claims.report(table, "W1", "O", "check"),
        W2=claims.report(table, "W2"),
        W3=claims.report(table, "W3"),
        example=cells["id"].iloc[0],
    )


def mark_ratio(ratio: float, precise: float, error: float, cells: int) -> str:
    """Return the mark of a group: empty within 2 %, `*` if explained, `?` if not."""
    if abs(ratio - 1) <= compare.NAMED:
        return ""
    return "*" if cells >= 3 and abs(np.log(precise)) < 2 * error else "?"


def _format_methods(groups: pd.DataFrame, marks: list[str]) -> str:
    lines: list[Any] = []
    each: Any
    for mark, each in zip(marks, groups.itertuples(), strict=True):
        words = [each.method, each.projection, each.features]
        words += [name for name in ("full_cov", "tree", "expanded") if getattr(each, name)]
        mean = _format_mean(each.ratio, each.se)
        precise = _format_mean(each.precise_ratio, each.precise_se)
        shown = (f"{each.cells}", mean, f"{each.within:.3f}", f"{each.precise_cells}", precise)
        lines.append((each.kernel, " ".join(words), *shown, mark))
    return str(render_markdown(Grid(HEAD, lines)))


def _format_mean(mean: float, error: float) -> str:
    parts = [f"{each:.3f}" for each in (mean, error) if not np.isnan(each)]
    return " ± ".join(parts)


def draw_ratios(table: pd.DataFrame) -> bytes:
    """Return a figure of the quotients against their standard errors, as PNG."""
    import_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for kernel in ("polynomial", "gaussian"):
        part = table[table["kernel"] == kernel]
        quotients = np.exp(part["log_ratio"]).clip(1 / LARGEST, LARGEST)
        axes.plot(part["error"], quotients, ".", markersize=2, label=kernel)
    errors = np.geomspace(table["error"].min(), table["error"].max(), 50)
    for bound in (-compare.FAR * errors, compare.FAR * errors):
        axes.plot(errors, np.exp(bound), "k:", linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="standard error of the quotient")
    axes.set(ylabel="our error / authors' error", ylim=(0.95 / LARGEST, LARGEST / 0.95))
    axes.minorticks_off()
    axes.set_yticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
    axes.legend(markerscale=4)
    out = BytesIO()
    figure.savefig(out, format="png", dpi=100, metadata={"Software": None})
    return out.getvalue()
