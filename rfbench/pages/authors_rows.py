"""Number of folds on which the authors' own runs agree with our runs, for the templates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rfbench.analysis.authors_rows import AuthorsRuns
from rfbench.pages.paper_numbers import SAME_ROWS, find_comparison_kind


def count_agreeing_folds(comparisons: Sequence[AuthorsRuns]) -> list[dict[str, Any]]:
    """Return for each paper the number of compared folds and the number of folds that agree.

    Each dictionary has the name of the ``paper`` and three counts of folds. ``folds`` counts the
    folds with the same rows and one trial of ours. ``equal`` counts the folds that agree to four
    digits. ``near`` counts further folds that differ by at most two test rows.
    """
    facts = []
    for name in sorted({runs.paper for runs in comparisons}):
        fixed = [
            runs
            for runs in comparisons
            if runs.paper == name and find_comparison_kind(runs) == SAME_ROWS
        ]
        facts.append(
            {
                "paper": name,
                "folds": sum(runs.folds for runs in fixed),
                "equal": int(sum(runs.equal for runs in fixed)),
                "near": int(sum(runs.near for runs in fixed)),
            }
        )
    return facts
