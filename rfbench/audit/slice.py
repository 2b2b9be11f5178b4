"""Functions that rfbench calls in the `audit` component, described in `rfbench.slices`."""

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
    """Return the name and the import path of the command of this slice."""
    return {"audit": "rfbench.audit.command:audit"}


def find_unprinted_effects(paths: Iterable[str | Path]) -> Effect:
    """Return a function that adds to a comparison its range over unstated settings.

    The ranges are read from the audits in the folders `paths` or next to these folders.
    """
    from rfbench.audit.unprinted import read_ranges_from_audits

    return read_ranges_from_audits(paths)


def make_numbers_column(verification: Verification) -> AddedColumn:
    """Return the column with ranges over unstated settings, for tables of published numbers."""
    from rfbench.audit.unprinted import make_ranges_column

    return make_ranges_column(verification)


def render_report_files(verification: Verification, out: Path) -> Addition:
    """Return the finding for the front page; no page of an audit is written."""
    from rfbench.pages.additions import Addition

    return Addition(findings=list_statements(verification))


def list_statements(verification: Verification) -> list[Statement]:
    """Return the statement on ranges over unstated settings, or an empty list without audits."""
    from rfbench.audit.unprinted import build_ranges_finding
    from rfbench.pages.findings import render_statements

    found = build_ranges_finding(verification)
    return (
        [] if found is None else render_statements([found], "audit/findings.j2", follows="claims")
    )


def describe_papers(verification: Verification, out: Path) -> dict[str, str]:
    """Return for each paper a text on unstated settings and on the results of its audits."""
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
    """Return the option of `rfbench report` that writes the pages of audits again."""
    text = "Write only the pages of the audits below RESULTS, from their tables."
    return {"audits": (text, "rfbench.audit.page:regenerate_audit_pages")}
