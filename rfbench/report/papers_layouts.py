"""What the captions and headings of the papers' tables say."""

from __future__ import annotations

from collections.abc import Sequence

from rfbench.papers import Layout
from rfbench.report.papers_rows import Row, failures, regressions, timing

UNITS = {"s": "seconds", "ms": "milliseconds"}
WALL = "Times are wall {unit} on our machine, not to be compared with those of the paper"
UPPER = (
    "≤: the sizes of a method shared work and each is charged with all of it, so the time is an "
    "upper bound"
)
ABSENT = "A dash: not run here"


def caption(layout: Layout, rows: Sequence[Row]) -> list[str]:
    """Say what holds for the whole table: what its numbers are, and how its times are to be read.

    Parameters
    ----------
    rows : sequence of Row
        Those under every protocol that the caption stands over.
    """
    lines = [*layout.caption, *regressions(rows)]
    if timing(rows):
        lines.append(WALL.format(unit=UNITS[layout.time_unit]))
    if "≤" in timing(rows):
        lines.append(UPPER)
    return lines


def heading(protocol: str, rows: Sequence[Row], *others: str) -> list[str]:
    """Say under what protocol the rows were run, how they were timed, and what failed.

    Parameters
    ----------
    *others : str
        What else stands in the first line.
    """
    line = ", ".join(filter(None, [f"protocol {protocol}", *others, timing(rows)]))
    return [line, *failures(rows)]
