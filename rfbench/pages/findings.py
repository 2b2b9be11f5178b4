"""Sentences that describe the findings of `rfbench.analysis.findings`."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from rfbench.analysis.findings import Finding
from rfbench.errors import ResultsError, make_unknown_error
from rfbench.pages import grids
from rfbench.pages.formatting import format_number
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render_macro_lines


@dataclass(frozen=True)
class Statement:
    """A finding of `rfbench.analysis.findings` with the sentence that describes the finding."""

    finding: Finding
    sentence: str
    # name of the axis on which the values of the finding are shown
    axis: str
    # Key of the preceding finding on the page. With an empty key, this finding is the first.
    follows: str = ""

    @property
    def key(self) -> str:
        """Name of the finding, as in the option `--finding` of `rfbench verify`."""
        return self.finding.key


def render_statements(
    every: Sequence[Finding], template: str = "findings.j2", follows: str = ""
) -> list[Statement]:
    """Return a `Statement` for each finding, with the sentence from a Jinja template.

    The file `template` has one macro per finding. `follows` is the key of the finding that precedes
    these findings on the page.
    """
    return [
        Statement(each, sentence, axis, follows)
        for each in every
        for sentence, axis in [render_macro_lines(template, each.key, f=each.facts)]
    ]


def sort_findings(of_slices: Sequence[Statement], of_core: Sequence[Statement]) -> list[Statement]:
    """Return all findings in the order of the front page.

    `of_core` are the findings of rfbench itself. `of_slices` are the findings of optional
    components, which are placed after the finding that their attribute `follows` names.
    """
    placed = {each.key for each in of_core}
    ordered = [each for each in of_slices if each.follows not in placed]
    for statement in of_core:
        ordered += [statement, *(each for each in of_slices if each.follows == statement.key)]
    return ordered


def render_finding_text(every: Sequence[Statement], key: str, width: int | None = None) -> str:
    """Return the sentence and the values of one finding as text for a terminal.

    `key` is the name of the finding, and `width` is the largest length of a line. By default, the
    width of the terminal is used.

    Raises ResultsError if no finding has the name `key`.
    """
    by_key = {statement.key: statement for statement in every}
    if key not in by_key:
        raise make_unknown_error("finding for these rows", key, by_key, ResultsError)
    shown, width = by_key[key], width or shutil.get_terminal_size().columns
    rows = [
        [bar.name, *(format_number(float(f"{x:.3g}")) for x in (bar.value, bar.low, bar.high))]
        for bar in shown.finding.bars
    ]
    table = grids.render_text(Grid(["", "value", "from", "to"], rows), width)
    heads = [textwrap.fill(line, width) for line in (shown.sentence, f"{shown.axis}:")]
    return "\n\n".join([*heads, table]) + "\n"
