"""What the papers' own methods gain over the ones they are held against, in a table."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import papers
from rfbench.analysis.gains import gains
from rfbench.analysis.verdicts import LEARNT
from rfbench.papers import PROTOCOLS
from rfbench.report.evidence import Evidence
from rfbench.report.formats import Grid, markdown_table
from rfbench.report.provenance import links
from rfbench.report.summary import DASH

SAID = (
    "By how many points a method has the smaller error, as the mean over the sizes of the table, ± "
    "the standard error over our trials: what the paper prints, and what comes out under each "
    "protocol. A gain that is there `matched` and not under `tuned` was one of the choices, not of "
    "the features."
)
DOUBTFUL = (
    "*Chance*: neither method does better than always saying the larger class; *nothing learnt*: "
    f"the mean R^2 of both stays below {LEARNT:g}. Such a gain says nothing about the methods."
)


def section(evidence: Evidence, out: Path) -> str:
    """Write the table of gains in Markdown; empty if nothing was measured.

    Parameters
    ----------
    evidence : Evidence
    out : Path
        The folder of the page, for its links.
    """
    found = gains(evidence.selection)
    if found.empty:
        return ""
    by = ["paper", "item", "dataset", "method", "other", "used", "used_rows"]
    rows = [_row(lines, out) for _, lines in found.groupby(by, sort=False, dropna=False)]
    head = ["method", "M", "published", *PROTOCOLS, "trials", "rows"]
    grid = Grid("table, data set", head, rows)
    notes = [layout.gains_note for layout in papers.tables().values() if layout.gains_note]
    said = " ".join([SAID, *notes, DOUBTFUL])
    return "\n\n".join(["## What the papers' methods gain", said, markdown_table(grid)])


def _row(lines: pd.DataFrame, out: Path) -> tuple[str, list[str]]:
    """Return the row of a data set, or of one that was measured in its place."""
    by_protocol: dict[str, dict[Any, Any]] = {
        line["protocol"]: line for line in lines.to_dict("records")
    }
    one = lines.iloc[0]
    rows = "" if math.isnan(one["used_rows"]) else f", {one['used_rows']:.0f} training rows"
    used = f" (stand-in {one['used']}{rows})" if one["used"] else ""
    sizes = one["sizes"]
    cells = [
        f"{one['method']} over {one['other']}",
        f"{sizes[0]}{DASH}{sizes[-1]}" if len(sizes) > 1 else str(sizes[0]),
        DASH if math.isnan(one["published"]) else f"{one['published']:+.2f}",
        *(_mean(by_protocol.get(protocol)) for protocol in PROTOCOLS),
        DASH.join(map(str, dict.fromkeys([lines["trials"].min(), lines["trials"].max()]))),
        links([Path(folder) for folders in lines["folders"] for folder in folders], out),
    ]
    return f"{one['paper']} {one['item']}, {one['dataset']}{used}", cells


def _mean(line: dict[Any, Any] | None) -> str:
    if line is None:
        return DASH
    spread = line["standard_error"]
    said = f"{line['mean']:+.2f} ± " + (DASH if math.isnan(spread) else f"{spread:.2f}")
    return f"{said}, {line['doubt']}" if line["doubt"] else said
