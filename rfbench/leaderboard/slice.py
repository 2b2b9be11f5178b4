"""What the core asks of the leaderboard, see `rfbench.slices`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rfbench.analysis.verification import Verification
    from rfbench.leaderboard.facts import Leaderboard
    from rfbench.pages.additions import Addition
    from rfbench.pages.findings import Statement


def report(verification: Verification, out: Path) -> Addition:
    """Write the page with its facts and figure, and what the front page says of it."""
    from rfbench.leaderboard import page
    from rfbench.pages.additions import Addition
    from rfbench.pages.words import link

    board = _board(verification)
    look = (
        f"{link(out / page.PAGE, out)}: which method to take, how many features, at what cost; "
        f"its facts for machines are in `{page.FACTS}`."
    )
    files = page.files(board, out, list(verification.selection.collection.stale))
    return Addition(files, _statements(board), [look])


def findings(verification: Verification) -> list[Statement]:
    """Write the findings that the rows carry."""
    return _statements(_board(verification))


def _board(verification: Verification) -> Leaderboard | None:
    from rfbench.datasets import catalog
    from rfbench.leaderboard.board import gather
    from rfbench.leaderboard.facts import Known

    known = Known(catalog.set_aside(), catalog.TWINS, catalog.words())
    return gather(verification.selection.collection, known)


def _statements(board: Leaderboard | None) -> list[Statement]:
    from rfbench.leaderboard.findings import gather
    from rfbench.pages.findings import statements

    return [] if board is None else statements(gather(board), "leaderboard/findings.j2")
