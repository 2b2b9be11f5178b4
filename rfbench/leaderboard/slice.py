"""Functions through which rfbench calls its optional component `leaderboard`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rfbench.analysis.verification import Verification
    from rfbench.leaderboard.facts import Leaderboard
    from rfbench.pages.additions import Addition
    from rfbench.pages.findings import Statement


def list_commands() -> dict[str, str]:
    """Return a dictionary with the name and the import path of the command `rfbench rank`."""
    return {"rank": "rfbench.leaderboard.command:rank"}


def list_public_names() -> dict[str, str]:
    """Return a dictionary with the name and the import path of the function `rfbench.rank`."""
    return {"rank": "rfbench.leaderboard.ranking:rank"}


def render_report_files(verification: Verification, out: Path) -> Addition:
    """Return the pages and figures of the leaderboard, and text for the front page of a report."""
    from rfbench.leaderboard import answers, page
    from rfbench.leaderboard.board import compute_leaderboard
    from rfbench.pages.additions import Addition
    from rfbench.pages.formatting import link

    collection = verification.selection.collection
    board = compute_leaderboard(collection)
    facts = f". `{page.FACTS}` has the same facts as data" if board else ""
    look = [
        f"{link(out / page.PAGE, out)} names the best method for each number of features, "
        f"with its time{facts}."
    ]
    answered = answers.render_answers_files(collection)
    if answered[answers.PAGE]:
        look.append(f"{link(out / answers.PAGE, out)} replies to questions from public threads.")
    files = page.render_files(board, out) | answered
    return Addition(files, _statements(board), look)


def list_statements(verification: Verification) -> list[Statement]:
    """Return a sentence about the best method of the leaderboard.

    The list is empty if there are too few data sets.
    """
    from rfbench.leaderboard.board import compute_leaderboard

    return _statements(compute_leaderboard(verification.selection.collection))


def _statements(board: Leaderboard | None) -> list[Statement]:
    from rfbench.leaderboard.board import list_findings
    from rfbench.pages.findings import render_statements

    return render_statements(list_findings(board), "leaderboard/findings.j2", follows="gained")
