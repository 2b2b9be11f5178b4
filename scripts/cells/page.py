"""The page of the cells, written beside `cells.csv`."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd

from rfbench import files
from rfbench.analysis import verdicts
from rfbench.plotting import import_matplotlib
from rfbench.results.cells import CellRow
from scripts.cells import claims, compare

TEMPLATE = Path(__file__).with_name("page.md.txt")


def write_page(rows: Sequence[CellRow], folder: Path) -> None:
    """Write README.md and ratios.png of the measured cells into a folder."""
    table = compare.tabulate(rows)
    files.replace(folder / "ratios.png", draw_ratios(table))
    files.replace(folder / "README.md", make_page(rows, table).encode())


def make_page(rows: Sequence[CellRow], table: pd.DataFrame) -> str:
    """Return the page in Markdown."""
    several = table[table["published_n"] > 1]
    every = pd.Series([row.cell.dataset for row in rows]).value_counts()
    measured = table["dataset"].value_counts()
    coverage = [f"{name} {measured.get(name, 0)} of {count}" for name, count in every.items()]
    counts = table["verdict"].value_counts()
    return TEMPLATE.read_text(encoding="utf-8").format(
        measured=f"{len(table):,}",
        total=f"{len(rows):,}",
        coverage=", ".join(coverage) + ".",
        counts=", ".join(f"{counts.get(each, 0):,} {each}" for each in verdicts.COMPARED),
        within=(several["z"].abs() < compare.FAR).mean(),
        sd=several["z"].std(),
        methods=_format_methods(compare.group_ratios(table, compare.MAP)),
        claims=claims.report(table),
        example=rows[0].cell.id,
    )


def mark_ratio(ratio: float, precise: float, error: float, cells: int) -> str:
    """Return the mark of a group: empty within 2 %, `*` if explained, `?` if not."""
    if abs(ratio - 1) <= compare.NAMED:
        return ""
    return "*" if cells >= 3 and abs(np.log(precise)) < 2 * error else "?"


def _format_methods(groups: pd.DataFrame) -> str:
    lines = [
        "| kernel | map | cells | mean ratio | \\|z\\| < 3 | precise cells | their ratio |  |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for group in groups.to_dict("records"):
        words = [group["method"], group["projection"], group["features"]]
        words += [name for name in ("full_cov", "tree", "expanded") if group[name]]
        cells, error = group["precise_cells"], group["precise_se"]
        precise = f"{group['precise_ratio']:.3f} ± {error:.3f}" if cells > 1 else ""
        mark = mark_ratio(group["ratio"], group["precise_ratio"], error, cells)
        shown = f"{group['ratio']:.3f} ± {group['se']:.3f}"
        values = [group["kernel"], " ".join(words), str(group["cells"]), shown]
        values += [f"{group['within']:.3f}", str(cells), precise, mark]
        lines.append(f"| {' | '.join(values)} |")
    return "\n".join(lines)


def draw_ratios(table: pd.DataFrame) -> bytes:
    """Return a figure of the quotients against their standard errors, as PNG."""
    import_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for kernel, part in table.groupby("kernel"):
        axes.plot(part["error"], np.exp(part["log_ratio"]), ".", markersize=2, label=kernel)
    errors = np.geomspace(table["error"].min(), table["error"].max(), 50)
    for sign in (-compare.FAR, compare.FAR):
        axes.plot(errors, np.exp(sign * errors), "k:", linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="standard error of the quotient")
    axes.set(ylabel="our error / authors' error", ylim=(0.2, 5))
    axes.legend(markerscale=4)
    out = BytesIO()
    figure.savefig(out, format="png", dpi=100, metadata={"Software": None})
    return out.getvalue()
