"""The findings in words: a sentence, the axis of its values, and the command that shows it."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from rfbench.analysis.findings import Finding
from rfbench.errors import ResultsError, unknown
from rfbench.pages import grids
from rfbench.pages.grids import Grid
from rfbench.pages.templates import lines
from rfbench.pages.words import number


@dataclass(frozen=True)
class Statement:
    """A finding as it is written."""

    finding: Finding
    sentence: str
    axis: str  # what its values are

    @property
    def key(self) -> str:
        """The name by which `rfbench verify --finding` shows it."""
        return self.finding.key


def statements(every: Sequence[Finding], template: str = "findings.j2") -> list[Statement]:
    """Write findings by a template that has a macro of the name of each."""
    return [Statement(each, *lines(template, each.key, f=each.facts)) for each in every]


def text(every: Sequence[Statement], key: str, width: int | None = None) -> str:
    """Write one of the findings with the values behind it, for a terminal.

    Raises ResultsError if it is none of these.
    """
    by_key = {statement.key: statement for statement in every}
    if key not in by_key:
        raise unknown("finding that these rows carry", key, by_key, ResultsError)
    shown, width = by_key[key], width or shutil.get_terminal_size().columns
    rows = [
        [bar.name, *(number(float(f"{x:.3g}")) for x in (bar.value, bar.low, bar.high))]
        for bar in shown.finding.bars
    ]
    table = grids.text(Grid(["", "value", "from", "to"], rows), width)
    heads = [textwrap.fill(line, width) for line in (shown.sentence, f"{shown.axis}:")]
    return "\n\n".join([*heads, table]) + "\n"
