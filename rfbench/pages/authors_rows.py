"""Facts for a template: for each paper, how many of the authors' own runs agree with our runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rfbench.analysis.authors_rows import AuthorsRuns
from rfbench.pages.paper_numbers import SAME_ROWS, find_kind


def gather_facts(every: Sequence[AuthorsRuns]) -> list[dict[str, Any]]:
    """Return the facts about each paper's runs, from `rfbench.analysis.authors_rows.compare`.

    ``paper``; ``folds`` on the same rows with one of our draws per fold, of which ``equal`` agree
    to four digits and ``near`` more differ by at most two test rows.
    """
    facts = []
    for name in sorted({runs.paper for runs in every}):
        fixed = [runs for runs in every if runs.paper == name and find_kind(runs) == SAME_ROWS]
        facts.append(
            {
                "paper": name,
                "folds": sum(runs.folds for runs in fixed),
                "equal": int(sum(runs.equal for runs in fixed)),
                "near": int(sum(runs.near for runs in fixed)),
            }
        )
    return facts
