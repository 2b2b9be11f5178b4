"""Output of `rfbench verify`: numbers and claims, for a terminal."""

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


def render_text(
    verification: Verification, claims_only: bool = False, width: int | None = None
) -> str:
    """Return the totals, numbers and claims of results, for a terminal of `width` characters.

    The default width is the terminal's.
    """
    width = width or shutil.get_terminal_size().columns
    grid = scoreboard.numbers_grid(verification)
    measured = [row for row in grid.rows if any(cell != DASH for cell in row[2:])]
    return render(
        "verify.txt.j2",
        every=scoreboard.arrange_parts(verification),
        collection=verification.selection.collection,
        **front.gather_totals(verification, partial(grids.render_text, width=width)),
        **claims.WORDS,
        counted=Grid(grid.head, measured),
        claims=[
            (claim, here)
            for claim, every in claims.group_by_claim(verification.outcomes)
            if (here := [o for o in every if o.comparisons or o.undecided or o.stand_ins])
        ],
        claims_only=claims_only,
        width=width,
    )


def render_claim(outcomes: Sequence[Outcome], width: int | None = None) -> str:
    """Return each verdict on one claim with its decisive comparison, for a terminal."""
    width = width or shutil.get_terminal_size().columns
    every = [outcome for outcome in outcomes if outcome.protocol]
    return render("claim.j2", width=width, claim=outcomes[0].claim, every=every, **claims.WORDS)
