"""What the core asks of audits, see `rfbench.slices`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rfbench.analysis.outcomes import Unprinted
    from rfbench.analysis.verification import Verification


def commands() -> dict[str, str]:
    """Name the command."""
    return {"audit": "rfbench.audit.command:audit"}


def unprinted(paths: Iterable[str | Path]) -> Unprinted:
    """Return what the audits say that lie among or beside some results."""
    from rfbench.analysis.outcomes import Unprinted
    from rfbench.audit import tables

    every = tables.read_all(tables.near(paths))
    return Unprinted(tables.ranges(every), partial(tables.effect_range, every))


def of_papers(verification: Verification, out: Path) -> dict[str, str]:
    """Write by paper what came nearest in its audits, with links relative to a folder."""
    from rfbench.audit import tables
    from rfbench.pages.templates import render

    every = tables.read_all(tables.near(verification.paths))
    audits = [table for table in every if table.kind == "audit"]
    return {
        paper: render(
            "audit/audits.md.j2", audits=[a for a in audits if a.place[0] == paper], out=out
        )
        for paper in dict.fromkeys(table.place[0] for table in every)
    }


def remake(paths: Sequence[Path]) -> list[Path]:
    """Write the page of each audit below some folders anew, from its table."""
    from rfbench.audit.page import PAGE, command_of, write_page

    folders = sorted({file.parent for path in paths for file in path.rglob(PAGE)})
    return [write_page(folder, command_of(folder)) for folder in folders]
