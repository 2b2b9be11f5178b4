"""The audits among the results, in a sentence each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from rfbench.report.formats import MARKDOWN
from rfbench.report.provenance import link

TABLE = "audit.csv"
TRIED = "tried"
ENOUGH = 8
MEASURES = (
    "place", "rms_choosing", "rms_confirming", "largest_difference", "cells", "agree", "close",
    "differ", "trials",
)  # fmt: skip


def section(paths: Iterable[Path], out: Path) -> str:
    """Say for every ``audit.csv`` at or below the paths what came nearest; empty without one.

    Parameters
    ----------
    paths : iterable of Path
        Files and folders; `rfbench audit` writes the table.
    out : Path
        The folder of the page.
    """
    found = sorted({file for path in paths for file in _tables(path)})
    lines = [line for file in found if (line := _sentence(file, out))]
    if not lines:
        return ""
    said = (
        "`rfbench audit` tries the choices that a paper leaves open, with the published numbers in "
        "sight: half of them choose, the other half confirm. Distances are root mean square "
        "differences in points. A first place by few numbers or few trials is no more than that: "
        "which choices became a `matched` configuration, and why, stands in the configuration."
    )
    return "\n\n".join(["## Audits", said, "\n".join(lines)])


def _tables(path: Path) -> list[Path]:
    return list(path.rglob(TABLE)) if path.is_dir() else []


def _sentence(file: Path, out: Path) -> str:
    """Write one line from the first row of a table; empty where it is no such table."""
    try:
        table = pd.read_csv(file, dtype=str, keep_default_na=False)
    except (OSError, ValueError):
        return ""
    if table.empty or not set(MEASURES) <= set(table):
        return ""
    first = {str(name): str(table[name].iloc[0]) for name in table}
    nearest = table[table["rms_choosing"] == first["rms_choosing"]]
    paper, _, rest = file.parent.name.removeprefix("audit_").partition("_")
    item, _, place = rest.partition("_")
    dataset, _, methods = place.partition("_")
    about = f"{paper} {item}, {dataset}" + (f" ({methods})" if methods else "")
    tied = f" ({len(nearest)} share the first place)" if len(nearest) > 1 else ""
    said = (
        f"nearest of {first.get(TRIED, len(table))} combinations{tied}: "
        f"{float(first['rms_choosing']):.2f} on the half that chose, {_confirmed(nearest)}"
    )
    trials = "1 trial" if first["trials"] == "1" else f"{first['trials']} trials"
    stand_in = "" if first["agree"] else ", on a stand-in"
    behind = f"{first['cells']} numbers, {trials}{stand_in}"
    few = int(first["cells"]) < ENOUGH or first["trials"] == "1"
    doubt = " So few numbers or trials confirm nothing." if few else ""
    text = f"{said} ({behind}), with {_choices(nearest)}.{doubt}"
    return f"- {link(file.parent / 'audit.md', out, about)}: " + text.translate(MARKDOWN)


def _confirmed(nearest: pd.DataFrame) -> str:
    """Write the distance on the other half, from the least to the largest of those that tie."""
    distances = [float(text) for text in nearest["rms_confirming"] if text]
    if not distances:
        return "none to confirm"
    ends = f"{min(distances):.2f}", f"{max(distances):.2f}"
    return f"{ends[0] if ends[0] == ends[1] else ' to '.join(ends)} on the other"


def _choices(nearest: pd.DataFrame) -> str:
    """Name the options of the nearest; of a choice in which they differ all that they have."""
    names = [str(name) for name in nearest if name not in (*MEASURES, TRIED)]
    return ", ".join(f"{name} {' or '.join(nearest[name].unique())}" for name in names)
