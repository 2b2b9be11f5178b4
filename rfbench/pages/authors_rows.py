"""Facts of a template on the authors' own runs compared with ours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rfbench import papers
from rfbench.analysis.authors_rows import AuthorsRuns
from rfbench.pages.grids import Grid
from rfbench.pages.words import DASH, plus_minus, signed
from rfbench.registry import find_displayed_name

AUTHORS_ROWS_HEAD = [
    "data set, method", "compared on", "published", "ours", "folds equal", "difference", "verdict",
]  # fmt: skip
SAME, OTHER = "same rows", "other rows"
# The papers print the same numbers of decimals.
METRIC_DECIMALS = {"accuracy": 2, "rmse": 4}


def gather_facts(every: Sequence[AuthorsRuns]) -> list[dict[str, Any]]:
    """Return the facts of each paper's rows, from `rfbench.analysis.authors_rows.compare`.

    ``paper``, ``source``; ``folds`` is the number of folds on the same rows with one draw of ours
    each. Of these, ``equal`` agree to four digits and ``near`` more are within two test rows.
    ``grid`` has a line per data set, method and kind of comparison. ``reasons`` explains other
    rows. ``beside`` has the differences of runs that are shown but not judged.
    """
    names = sorted({runs.paper for runs in every})
    return [_gather_paper(name, [runs for runs in every if runs.paper == name]) for name in names]


def _gather_paper(name: str, lines: Sequence[AuthorsRuns]) -> dict[str, Any]:
    paper, beside = papers.find_paper(name), [*dict.fromkeys(x.beside for x in lines if x.beside)]
    kinds = [_find_kind(runs, beside) for runs in lines]
    fixed = [runs for runs, kind in zip(lines, kinds, strict=True) if kind == SAME]
    other = [runs for runs, kind in zip(lines, kinds, strict=True) if kind == OTHER]
    reasons = (paper.datasets[runs.dataset].other_rows for runs in other)
    return {
        "paper": name,
        "source": paper.rows_source,
        "folds": sum(runs.folds for runs in fixed),
        "equal": int(sum(runs.equal for runs in fixed)),
        "near": int(sum(runs.near for runs in fixed)),
        "grid": Grid(AUTHORS_ROWS_HEAD, [*map(_make_cells, lines, kinds)]),
        "reasons": list(filter(None, dict.fromkeys(reasons))),
        "beside": beside,
    }


def _find_kind(runs: AuthorsRuns, beside: Sequence[str]) -> str:
    if runs.beside:
        return f"shown {beside.index(runs.beside) + 1}"
    if not runs.same_rows:
        return OTHER
    return SAME if runs.draws == 1 else "same rows, new draws"


def _make_cells(runs: AuthorsRuns, kind: str) -> list[str]:
    decimals = METRIC_DECIMALS[runs.metric]
    theirs = plus_minus(runs.published, runs.published_sd, decimals)
    ours = plus_minus(runs.measured, runs.measured_sd, decimals)
    equal = f"{runs.equal:.0f} of {runs.folds}" if kind == SAME else DASH
    spread = "" if math.isnan(runs.half_width) else f" ± {runs.half_width:.2f}"
    name = f"{runs.dataset}, {find_displayed_name(runs.method)}"
    verdict = DASH if runs.beside else runs.verdict
    return [name, kind, theirs, ours, equal, signed(runs.difference, 2) + spread, verdict]
