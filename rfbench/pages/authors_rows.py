"""Counts of the folds on which published runs of a paper's authors agree with our runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rfbench.analysis.authors_rows import AuthorsRuns
from rfbench.pages.paper_numbers import SAME_ROWS, find_comparison_kind


def count_agreeing_folds(comparisons: Sequence[AuthorsRuns]) -> list[dict[str, Any]]:
    """Return for each paper the number of folds on which the authors' runs agree with our runs.

    Each dictionary has the name of the ``paper`` and three counts. ``folds`` is the number of
    compared folds: folds with the same test rows and with one run of ours. ``equal`` is the number
    of folds whose scores agree to four digits. ``near`` is the number of further folds whose scores
    differ by at most two test rows.
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
