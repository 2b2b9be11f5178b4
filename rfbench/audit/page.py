"""Files that `rfbench audit` writes: the table ``audit.csv``, and a page with this table."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import files, papers
from rfbench.audit.plan import Audit
from rfbench.audit.tables import (
    AUDIT_FILE,
    DISTANCE,
    HALF,
    MEASURED_PREFIX,
    PAIRED,
    AuditTable,
    NumberRange,
    compute_distance_to_range,
    compute_number_ranges,
    get_number_column_name,
    read_audit_tables,
)
from rfbench.errors import ResultsError
from rfbench.pages.formatting import format_number, format_signed
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render_template as fill
from rfbench.papers.models import Claim

PAGE, COMMAND = "audit.md", "rfbench audit"
# Number of combinations of settings in the table of a page. With twice this number, the table fills
# two screens.
NEAREST = 10
AUDIT_HEAD = ["place", "chosen by", "confirmed by", "largest"]
EFFECT_HEAD = [
    "comparison", "metric", "method", "bounds", "our reading", "lowest", "highest", "± lowest",
    "± highest",
]  # fmt: skip
RANGE_HEAD = ["", "published", "our reading", "lowest", "±", "highest", "±", "off"]


def _find_command(folder: Path) -> str:
    """Return the `rfbench audit` command that produced the results in `folder`.

    The command is read from the page ``audit.md`` in this folder.

    Raises ResultsError if the page is missing or contains no command.
    """
    file = folder / PAGE
    text = files.read(file).decode("utf-8", "replace") if file.is_file() else ""
    if found := re.search(rf"^    ({COMMAND} .*)$", text, re.MULTILINE):
        return found[1]
    raise ResultsError(
        f"{file} does not state the command that produced the audit.",
        "`rfbench report --audits` copies this command from the old page to the new page.",
        "Run the audit again. Its finished rows are kept.",
    )


def render_audit_page(folder: Path, command: str) -> str:
    """Return a Markdown page with the results of `rfbench audit`.

    The results are read from the table ``audit.csv`` in `folder`. `command` is the command that
    produced the results, which the page shows.

    Raises ResultsError if the table is missing.
    """
    tables = read_audit_tables([folder])
    if not tables:
        raise ResultsError(
            f"{folder / AUDIT_FILE} is missing, or is not the table of an audit.",
            "",
            "Run the audit again.",
        )
    (kept,) = tables
    if claim := kept.claim:
        grid = Grid(EFFECT_HEAD, _effects(claim, kept))
        facts: dict[str, Any] = {
            "first": kept.table.iloc[0],
            "every": len(kept.table),
            "effects": grid,
        }
        return fill("audit/claim.md.j2", audit=kept, claim=claim, command=command, **facts)
    own = kept.table[kept.table["as_configured"]]
    over_gaps = _ranges(own.iloc[0], compute_number_ranges(tables)) if len(own) else []
    return fill(
        "audit/audit.md.j2",
        audit=kept,
        first=kept.table.iloc[0],
        own=next((line for _, line in own.iterrows()), None),
        best=Grid([*AUDIT_HEAD, *kept.choices], _best(kept.table, kept.choices)),
        shown=min(NEAREST, len(kept.table)),
        every=len(kept.table),
        ranges=Grid(RANGE_HEAD, over_gaps) if over_gaps else None,
        command=command,
    )


def _effects(claim: Claim, kept: AuditTable) -> list[list[str]]:
    """Return the rows of a table with one row per comparison of a claim.

    A row has the bounds of the claim, our value, and the range of our value over the settings that
    the paper does not state.
    """
    here, rows = kept.gaps, []
    own = here[here["as_configured"]]
    for column in (str(name) for name in here if str(name).startswith(PAIRED) and len(own)):
        name = column.removeprefix(PAIRED)
        part = claim.parts[int(name.split()[0]) - 1]
        write: Callable[[float], float] = math.exp if part.scale == "ratio" else float
        reading = float(own[MEASURED_PREFIX + name].iloc[0])
        ends = (here[column].min(), here[column].max())
        known = here.loc[[here[column].idxmin(), here[column].idxmax()], HALF + name]
        bounds = [f"{bound:g}" for bound in (part.low, part.high) if bound is not None]
        written = [f"{write(reading + end):.3g}" for end in (0.0, *ends)]
        halves = [format_number(half, 3) for half in known]
        row = [name, part.metric, part.method, ", ".join(bounds), *written]
        rows.append([*row, *halves])
    return rows


def _best(table: pd.DataFrame, varied: Sequence[str]) -> list[list[str]]:
    distances = ("rms_choosing", "rms_confirming", "largest_difference")
    return [
        [
            format_number(line["place"]),
            *(format_number(line[name], 2) for name in distances),
            *(line[name] for name in varied),
        ]
        for line in table.head(NEAREST).to_dict("records")
    ]


def _ranges(own: pd.Series[Any], found: Mapping[int, NumberRange]) -> list[list[str]]:
    """Return the rows of a table with one row per published number.

    A row has the published value, our value, and the range of our value over the settings that the
    paper does not state.
    """
    numbers = papers.list_published_numbers()
    return [
        [
            name,
            format_number(published.value),
            format_number(reading, 2),
            *(format_signed(line.low), format_number(line.half_low, 2)),
            *(format_signed(line.high), format_number(line.half_high, 2)),
            format_number(
                compute_distance_to_range(published.value, reading + line.low, reading + line.high),
                2,
            ),
        ]
        for index, line in found.items()
        for published in [numbers[index]]
        for name in [get_number_column_name(published)]
        for reading in [own[MEASURED_PREFIX + name]]
    ]


def save_audit(audit: Audit, table: pd.DataFrame, folder: Path) -> list[Path]:
    """Write the results of `rfbench audit` to ``audit.csv`` and ``audit.md`` in a folder.

    `table` has one row per combination of settings. The paths of the two files are returned.

    Raises ResultsError if `table` is empty, because no combination has a value for every published
    number. Raises WriteError if the disk is full or writing is not permitted.
    """
    if table.empty:
        raise ResultsError(
            f"No combination of settings has results for all published numbers of {audit.target}.",
            f"{len(audit.experiments)} combinations lack a number, because trials "
            "failed or were not run.",
            "Run the command again with --dry-run, which counts these trials.",
        )
    content = table.to_csv(index=False, float_format=DISTANCE, lineterminator="\n")
    files.replace(folder / AUDIT_FILE, content.encode())
    return [folder / AUDIT_FILE, write_audit_page(folder, audit.asked.command)]


def write_audit_page(folder: Path, command: str) -> Path:
    """Write the page ``audit.md`` from the table ``audit.csv`` in the same folder.

    `command` is the `rfbench audit` command that produced the table. The path of the page is
    returned.

    Raises ResultsError if the table is missing. Raises WriteError if the page cannot be written.
    """
    files.replace(folder / PAGE, render_audit_page(folder, command).encode())
    return folder / PAGE


def regenerate_audit_pages(paths: Sequence[Path]) -> list[Path]:
    """Write all pages ``audit.md`` in the folders `paths` and their subfolders again.

    A page is written from the table ``audit.csv`` in its folder. The paths of the pages are
    returned.

    Raises ResultsError if a folder does not exist, or if a page contains no command.
    """
    for path in paths:
        if not path.is_dir():
            raise ResultsError(
                f"{path} does not exist.", "", "Name a folder that `rfbench audit` has written."
            )
    folders = sorted({file.parent for path in paths for file in path.rglob(PAGE)})
    return [write_audit_page(folder, _find_command(folder)) for folder in folders]
