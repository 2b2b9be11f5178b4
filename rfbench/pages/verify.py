"""What `rfbench verify` prints: numbers and claims, for a terminal."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import partial

from rfbench.analysis.outcomes import Outcome
from rfbench.analysis.verification import Verification
from rfbench.pages import claims, front, grids, scoreboard
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render
from rfbench.pages.words import DASH


def text(verification: Verification, claims_only: bool = False, width: int | None = None) -> str:
    """Write what is in the results, totals first, for a terminal of so many characters.

    By default the width is that of the terminal.
    """
    width = width or shutil.get_terminal_size().columns
    return render(
        "verify.txt.j2",
        every=scoreboard.measured(verification),
        collection=verification.selection.collection,
        **front.totals(verification, partial(grids.text, width=width)),
        **claims.WORDS,
        counted=_measured_rows(scoreboard.numbers_grid(verification)),
        claims=[
            (claim, here)
            for claim, every in claims.by_claim(verification.outcomes)
            if (here := list(filter(_is_here, every)))
        ],
        claims_only=claims_only,
        width=width,
    )


def _measured_rows(grid: Grid) -> Grid:
    """Leave out the tables of which nothing was measured."""
    return Grid(grid.head, [row for row in grid.rows if any(cell != DASH for cell in row[2:])])


def _is_here(outcome: Outcome) -> bool:
    """Whether the results say anything about a claim."""
    return bool(outcome.comparisons or outcome.undecided or outcome.stand_ins)


def claim(outcomes: Sequence[Outcome], width: int | None = None) -> str:
    """Explain one claim for a terminal: its verdicts, each with what decides it."""
    width = width or shutil.get_terminal_size().columns
    every = [outcome for outcome in outcomes if outcome.protocol]
    return render("claim.j2", width=width, claim=outcomes[0].claim, every=every, **claims.WORDS)
