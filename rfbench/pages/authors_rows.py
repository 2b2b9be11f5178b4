"""Facts for a template: number of the authors' own runs that agree with our runs, per paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rfbench.analysis.authors_rows import AuthorsRuns
from rfbench.pages.paper_numbers import SAME_ROWS, find_comparison_kind


def count_agreeing_folds(comparisons: Sequence[AuthorsRuns]) -> list[dict[str, Any]]:
    """Return for each paper the number of compared folds and the number of folds that agree.

    Each dictionary has the name of the ``paper``. ``folds`` is the number of folds on the same rows
    with one trial of ours per fold. ``equal`` folds agree to four digits, and ``near`` further
    folds differ by at most two test rows.
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
