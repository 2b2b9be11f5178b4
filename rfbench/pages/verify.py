"""What `rfbench verify` prints: numbers and claims, for a terminal or as Markdown."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

from rfbench.analysis.verification import Verification
from rfbench.pages import claims, grids, scoreboard
from rfbench.pages.templates import render


def markdown(verification: Verification, claims_only: bool = False) -> str:
    """Write the pages of `rfbench report`, with links relative to the current folder."""
    pages = [] if claims_only else [scoreboard.page(verification, Path())]
    return "\n".join([*pages, claims.page(verification, Path())])


def text(verification: Verification, claims_only: bool = False, width: int | None = None) -> str:
    """Write for a terminal of so many characters; by default that of the terminal."""
    width = width or shutil.get_terminal_size().columns
    return render(
        "verify.txt.j2",
        **scoreboard.facts(verification),
        counted=scoreboard.numbers_grid(verification),
        papers=claims.by_paper(verification),
        verdict=claims.verdict,
        said=claims.said,
        claims_only=claims_only,
        text=partial(grids.text, width=width),
        width=width,
    )
