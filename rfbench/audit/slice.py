"""Functions through which rfbench calls its optional component `audit`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rfbench.analysis.outcomes import Effect
    from rfbench.analysis.verification import Verification
    from rfbench.pages.additions import AddedColumn, Addition
    from rfbench.pages.findings import Statement


def list_commands() -> dict[str, str]:
    """Return a dictionary with the name and the import path of the command `rfbench audit`."""
    return {"audit": "rfbench.audit.command:audit"}


def find_unprinted_effects(paths: Iterable[str | Path]) -> Effect:
    """Return a function that adds a range to a comparison of a claim.

    The range contains the effects for all values of the settings that the paper does not state. The
    ranges are read from results of `rfbench audit` in the folders `paths` or next to them.
    """
    from rfbench.audit.unprinted import read_ranges_from_audits

    return read_ranges_from_audits(paths)


def make_numbers_column(verification: Verification) -> AddedColumn:
    """Return a column that rfbench adds to its tables of published numbers.

    The column shows how much our number changes if settings that the paper does not state are
    varied.
    """
    from rfbench.audit.unprinted import make_ranges_column

    return make_ranges_column(verification)


def render_report_files(verification: Verification, out: Path) -> Addition:
    """Return the finding on unstated settings that is added to the front page of a report."""
    from rfbench.pages.additions import Addition

    return Addition(findings=list_statements(verification))


def list_statements(verification: Verification) -> list[Statement]:
    """Return a sentence about the effect of settings that papers do not state.

    The list is empty if there are no results of `rfbench audit`.
    """
    from rfbench.audit.unprinted import build_ranges_finding
    from rfbench.pages.findings import render_statements

    found = build_ranges_finding(verification)
    return (
        [] if found is None else render_statements([found], "audit/findings.j2", follows="claims")
    )


def describe_papers(verification: Verification, out: Path) -> dict[str, str]:
    """Return a Markdown text for the page of each paper with results of `rfbench audit`.

    The text describes the effect of settings that the paper does not state. Links in the text are
    relative to the folder `out`.
    """
    from rfbench.audit.unprinted import collect_ranges, make_audits_grid, make_effects_grid
    from rfbench.pages.templates import render_template

    every = collect_ranges(verification).every
    return {
        paper: render_template(
            "audit/audits.md.j2",
            effects=make_effects_grid(verification, paper, out),
            audits=make_audits_grid(every, paper, out),
        )
        for paper in dict.fromkeys(table.place[0] for table in every)
    }


def list_report_modes() -> dict[str, tuple[str, str]]:
    """Return the option ``--audits`` of `rfbench report`, with its help text and its function."""
    text = "Write only the pages of the audits below RESULTS, from their tables."
    return {"audits": (text, "rfbench.audit.page:regenerate_audit_pages")}
