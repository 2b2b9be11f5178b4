"""The page which_method.md: the best methods at each number of features, and their costs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rfbench.analysis.verdicts import ALPHA, POWER
from rfbench.datasets import catalog
from rfbench.leaderboard import figure
from rfbench.leaderboard.facts import (
    Leaderboard,
    MethodResult,
    Ratio,
    SizeResult,
    collect_leaderboard_facts,
)
from rfbench.leaderboard.rule import MIN_DATASETS, MIN_RATIOS, SIGNS
from rfbench.pages.formatting import DASH, format_number, format_significant, is_missing, join_names
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render_template
from rfbench.registry import find_displayed_name
from rfbench.results.schema import MODEL

PAGE, FACTS, COSTS = "which_method.md", "leaderboard.json", "which_method_cost.png"
RUN_COMMAND = "rfbench run leaderboard leaderboard_references leaderboard_boosting"
# Headings of the columns to the right of the errors. The values in these columns are for the
# largest M.
BESIDE = ("better on", "geometric mean", "without three", "tuning time")
# The page names the best method with at most TIME_LIMIT times the tuning time of the baseline. The
# value was chosen after the published rows had been seen. If the value is doubled, all methods with
# landmarks are candidates.
TIME_LIMIT = 2.0
VERDICT_MARKS = {"better": " +", "worse": " \N{MINUS SIGN}", "open": ""}


def render_page(board: Leaderboard | None, out: Path) -> str:
    """Return the leaderboard as a Markdown page for the folder `out`.

    If `board` is None, the page contains no results.
    """
    facts: dict[str, Any] = {"alpha": ALPHA, "power": POWER, "signs": SIGNS, "needed": MIN_DATASETS,
                             "fewest": MIN_RATIOS}  # fmt: skip
    if board is not None:
        largest = board.largest
        fast = _find_best_fast_method(largest, board.baseline)
        facts |= {
            "largest": largest,
            "best": largest.methods[0],
            "extreme": _by_mean(largest),
            "limit": TIME_LIMIT,
            "fast": fast,
            "alike": _list_fast_ties(largest, fast),
            "leads": [size for size in board.sizes if size.leader],
            "winners": _winners(board.sizes),
            "named": _list_methods(board.sizes),
            "errors": _errors(board.sizes, board.baseline),
            "set_aside": catalog.list_excluded_data_sets(),
            "costs": COSTS if largest.timed else "",
        }
    return render_template(
        "leaderboard/which_method.md.j2", board=board, run=RUN_COMMAND, out=out, **facts
    )


def _by_mean(size: SizeResult) -> MethodResult | None:
    """Return the method whose errors have the smallest geometric mean over data sets.

    The result is None if the errors of this method also have the smallest median.
    """
    by_mean = min(size.methods, key=lambda line: line.ratio.mean)
    return by_mean if by_mean.method != size.best else None


def _find_best_fast_method(size: SizeResult, baseline: str) -> MethodResult | None:
    """Return the method with the smallest median error among methods with a short tuning time.

    The tuning time is at most `TIME_LIMIT` times the time of the baseline. The result is None if no
    such method has a smaller median error than the baseline, or if no times are known.
    """
    fast = [line for line in size.methods if line.search <= TIME_LIMIT]
    found = fast[0] if fast and fast[0].method != baseline else None
    return found if found and found.ratio.median < 1 else None


def _list_fast_ties(size: SizeResult, best: MethodResult | None) -> list[str]:
    """Return the names of fast methods that do not differ significantly from the method `best`."""
    fast = {line.method for line in size.methods if line.search <= TIME_LIMIT}
    names = size.list_undecided_methods(best.method) if best else []
    return [find_displayed_name(name) for name in names if name in fast]


def render_files(board: Leaderboard | None, out: Path) -> dict[str, Any]:
    """Return the content of the leaderboard's page, JSON file and figure, by file name.

    The content is None for a file that cannot be computed from the results.
    """
    written: dict[str, Any] = {PAGE: render_page(board, out), FACTS: None, COSTS: None}
    if board is not None:
        written[FACTS] = (
            json.dumps(collect_leaderboard_facts(board), indent=1, allow_nan=False) + "\n"
        ).encode()
        if board.largest.timed:
            written[COSTS] = figure.render_errors_against_costs(board.sizes)
    return written


def _winners(sizes: Sequence[SizeResult]) -> Grid:
    """Return a table with the best method at each number of features.

    A row also states if the method is significantly better than all other methods.
    """
    rows = []
    for size in (size for size in sizes if size.has_enough_datasets):
        best, models = size.methods[0], {line.method for line in size.lines if line.role == MODEL}
        alike = [name for name in size.list_undecided_methods(best.method) if name not in models]
        rows.append(
            [
                str(size.M),
                find_displayed_name(best.method),
                format_ratio_with_interval(best.ratio),
                format_significant(best.search),
                "yes" if size.leader else f"no: not better than {_join(alike)}",
                str(size.datasets),
            ]
        )
    head = [
        "features M", "smallest error", "error", "tuning time",
        "significantly better than all other methods with features", "data sets",
    ]  # fmt: skip
    return Grid(head, rows)


def _join(methods: Sequence[str]) -> str:
    return join_names(map(find_displayed_name, methods))


def _list_methods(sizes: Sequence[SizeResult]) -> list[str]:
    """Return the names of all methods, sorted by error at the largest number of features."""
    return list(dict.fromkeys(line.method for size in reversed(sizes) for line in size.lines))


def _errors(sizes: Sequence[SizeResult], baseline: str) -> Grid:
    """Return a table of errors, with a row per method and a column per number of features.

    Errors are divided by the errors of the method `baseline`. Further columns have means and the
    tuning time at the largest number of features.
    """
    cells = {
        (size.M, line.method): format_ratio_with_interval(line.ratio)
        + VERDICT_MARKS[size.find_verdict(line.method, baseline)]
        for size in sizes
        for line in size.lines
    }
    last = {line.method: line for line in sizes[-1].lines}
    rows = []
    for name in _list_methods(sizes):
        line = last.get(name)
        last_ratio = line.ratio if line else None
        beside = [
            str(last_ratio.better) if last_ratio else DASH,
            format_number(last_ratio and last_ratio.mean, 2),
            format_number(last_ratio and last_ratio.trimmed, 2),
            format_significant(line and line.search),
        ]
        rows.append(
            [
                find_displayed_name(name),
                *(cells.get((size.M, name), DASH) for size in sizes),
                *beside,
            ]
        )
    counts = ["data sets", *(str(size.datasets) for size in sizes), *[DASH] * 4]
    head = ["method", *(f"M = {size.M}" for size in sizes), *BESIDE]
    return Grid(head, [*rows, counts])


def format_ratio_with_interval(ratio: Ratio) -> str:
    """Return the median of a ratio as text, with its confidence interval if it is known."""
    known = (
        ""
        if is_missing(ratio.low)
        else f" ({format_number(ratio.low, 2)}{DASH}{format_number(ratio.high, 2)})"
    )
    return format_number(ratio.median, 2) + known
