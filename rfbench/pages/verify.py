"""Output of `rfbench verify`: compared numbers and verdicts on claims, for a terminal."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import partial
from typing import Any

from rfbench import papers
from rfbench.analysis.outcomes import Outcome
from rfbench.analysis.uncompared import list_uncompared_results
from rfbench.analysis.verification import Verification
from rfbench.pages import claims, grids, index_page, scoreboard
from rfbench.pages.formatting import DASH
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render_template


def render_verification(
    verification: Verification,
    claims_only: bool = False,
    width: int | None = None,
    outside: Sequence[Verification] = (),
) -> str:
    """Return the output of `rfbench verify`: totals, numbers and claims, as text for a terminal.

    The text starts with the results that were not compared, and the reasons. If `claims_only` is
    True, the tables of compared numbers are omitted. `outside` has the comparisons for papers that
    users added to rfbench. Their totals are separate, at the end of the text. By default, `width`
    is the width of the terminal.
    """
    width = width or shutil.get_terminal_size().columns
    every = [verification.select_papers(*verification.papers_of_results), *outside]
    return render_template(
        "verify.txt.j2",
        uncompared=list_uncompared_results(verification, outside),
        parts=[_gather(each, width) for each in every if len(each.numbers) or each.outcomes],
        collection=verification.selection.collection,
        **claims.WORDS,
        claims_only=claims_only,
        width=width,
    )


def _gather(verification: Verification, width: int) -> dict[str, Any]:
    grid = scoreboard.make_numbers_by_protocol_grid(verification)
    measured = [row for row in grid.rows if any(cell != DASH for cell in row[2:])]
    names = verification.numbers["paper"].unique()
    return {
        "outside": [name for name in names if papers.find_paper_files(str(name)).is_external],
        "every": scoreboard.arrange_tables_by_data_set(verification),
        **index_page.gather_totals(verification, partial(grids.render_text, width=width)),
        "counted": Grid(grid.head, measured),
        "claims": [
            (claim, here)
            for claim, every in claims.group_by_claim(verification.outcomes)
            if (
                here := [
                    o for o in every if o.comparisons or o.undecided or o.stand_ins or o.unjudged
                ]
            )
        ],
    }


def render_claim_verdicts(outcomes: Sequence[Outcome], width: int | None = None) -> str:
    """Return the verdicts on one claim, and the comparisons behind the verdicts, for a terminal.

    Each outcome has the verdict for one source of our settings. `width` is the number of characters
    per line, by default the width of the terminal.
    """
    width = width or shutil.get_terminal_size().columns
    every = [outcome for outcome in outcomes if outcome.protocol]
    return render_template(
        "claim.j2", width=width, claim=outcomes[0].claim, every=every, **claims.WORDS
    )
