"""What `rfbench verify` prints: numbers and claims, for a terminal."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from rfbench.analysis import verdicts
from rfbench.analysis.outcomes import ClaimComparison, Outcome
from rfbench.analysis.verification import Verification
from rfbench.pages import authors_rows, claims, front, grids, scoreboard
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render
from rfbench.pages.words import DASH

MOST = 2  # comparisons of a claim under one protocol; all of them are in the CSV


def text(verification: Verification, claims_only: bool = False, width: int | None = None) -> str:
    """Write what is in the results, totals first, for a terminal of so many characters.

    By default the width is that of the terminal.
    """
    width = width or shutil.get_terminal_size().columns
    return render(
        "verify.txt.j2",
        every=scoreboard.measured(verification),
        authors=authors_rows.facts(verification.authors),
        collection=verification.selection.collection,
        **front.totals(verification),
        counted=_measured_rows(scoreboard.numbers_grid(verification)),
        claims=[
            (claim, here)
            for claim, every in claims.by_claim(verification.outcomes)
            if (here := list(filter(_is_here, every)))
        ],
        verdict=claims.verdict,
        said=claims.said,
        claims_only=claims_only,
        text=partial(grids.text, width=width),
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
    return render(
        "claim.txt.j2",
        claim=outcomes[0].claim,
        every=[outcome for outcome in outcomes if outcome.protocol],
        verdict=claims.verdict,
        said=lambda one, each: claims.said(replace(one, decisive=each)),
        worst=worst,
        side=verdicts.side,
        width=width,
    )


def worst(outcome: Outcome) -> list[ClaimComparison]:
    """Return the least favourable comparisons; one where a judged claim is only displayed."""
    displayed = outcome.claim.judged and outcome.verdict == verdicts.SHOWN
    return outcome.least_favourable[: 1 if displayed else MOST]
