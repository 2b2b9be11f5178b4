"""The practitioner's page: which method, how many features, at what cost."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rfbench.analysis.verdicts import ALPHA, POWER
from rfbench.leaderboard import figure
from rfbench.leaderboard.boosting import FEW
from rfbench.leaderboard.facts import (
    Enough,
    Leaderboard,
    Line,
    Size,
    facts,
)
from rfbench.leaderboard.rule import LEVEL, SIGNS
from rfbench.leaderboard.sizes import BEST
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render
from rfbench.pages.words import DASH, number
from rfbench.registry import SAMPLERS
from rfbench.results.schema import BASELINE

PAGE, FACTS, FIGURE = "which_method.md", "leaderboard.json", "which_method_boosting.png"
COSTS = "which_method_cost.png"
AS_FAST = 1.25  # times the shortest time to predict: about as fast
AS_CHEAP = 2  # times the baseline's search: little longer
RUN = "rfbench run leaderboard leaderboard_references"
GO_ON = f"{RUN} --trial-by-trial"
REFERENCES = {
    "boosting": "gradient boosting of scikit-learn; its configuration says how it was searched",
    "linear": "ridge regression on the columns themselves",
    "exact-kernel": "kernel ridge regression with the exact kernel",
}


def page(board: Leaderboard | None, out: Path, stale: Sequence[str] = ()) -> str:
    """Write the page for a folder, from `rfbench.leaderboard.board.gather`.

    `stale` names experiments with stale rows, see `rfbench.analysis.frame.Collection`.
    """
    if board is None:
        return render("leaderboard/which_method.md.j2", board=None, go_on=GO_ON)
    largest = board.largest
    lines = {line.method: line for line in largest.lines}
    with_best = [each for each in largest.lines if each.with_best and not each.reference]
    better = _of(largest, "better")
    good = [lines[name] for name in better] if largest.leader else with_best
    return render(
        "leaderboard/which_method.md.j2",
        board=board,
        largest=largest,
        alpha=ALPHA,
        power=POWER,
        level=LEVEL,
        go_on=GO_ON,
        run=RUN,
        out=out,
        stale=[Path(folder).name for folder in board.folders if Path(folder).name in stale],
        best=lines[largest.best],
        with_best=[line.method for line in with_best],
        fastest=_fastest(good),
        slowest=max(
            (
                line
                for line in with_best
                if line.method != largest.best
                and line.predict > lines[board.baseline].predict * AS_FAST
            ),
            key=lambda line: line.predict,
            default=None,
        ),
        alike=[line.method for line in largest.lines if line.with_best and line.reference],
        few_best=BEST,
        n_methods=sum(not line.reference for line in largest.lines),
        as_fast=AS_FAST,
        better=better,
        leads=[size for size in board.sizes[:-1] if size.leader] if not largest.leader else [],
        plain=lines[board.baseline],
        cheapest=_cheapest(
            [line for line in largest.lines if not line.reference],
            lines[board.baseline],
            lines[largest.best],
        ),
        as_cheap=AS_CHEAP,
        slower=_slower(board.sizes),
        signs=SIGNS,
        few=FEW,
        worse=_of(largest, "worse"),
        references=[line for line in largest.lines if line.reference],
        steps=[step for step in board.steps if step.M == largest.M],
        errors=_errors(board.sizes),
        details=_details(largest),
        enough=board.enough,
        decisive=[
            driver.name
            for driver in (board.enough.drivers if board.enough else ())
            if not driver.low <= 0 <= driver.high
        ],
        figure=FIGURE,
        tables=_tables(board.enough) if board.enough else None,
        intervals=any(table.low == table.low for table in board.enough.tables)
        if board.enough
        else False,
        held_out=board.held_out,
        methods=_methods({line.method: line.role for s in board.sizes for line in s.lines}),
        costs=COSTS if _timed(board) else "",
    )


def files(board: Leaderboard | None, out: Path, stale: Sequence[str] = ()) -> dict[str, Any]:
    """Return page, facts as JSON and figure by the names of their files; None for one less."""
    written: dict[str, Any] = {PAGE: page(board, out, stale)}
    written |= dict.fromkeys((FACTS, FIGURE, COSTS))
    if board is not None:
        written[COSTS] = figure.costs(board.sizes) if _timed(board) else None
        text = json.dumps(facts(board), indent=1, allow_nan=False) + "\n"
        written[FACTS] = text.encode()
        if board.enough is not None:
            written[FIGURE] = figure.png(board.enough)
    return written


def _timed(board: Leaderboard) -> bool:
    """Whether the times are known that the figure of costs needs."""
    return all(line.search > 0 for s in board.sizes for line in s.lines if line.role == BASELINE)


def _fastest(lines: Sequence[Line]) -> Line | None:
    """Return the method with the smallest error of those that predict about as fast as any."""
    least = min((line.predict for line in lines if line.predict > 0), default=math.inf)
    return min(
        (line for line in lines if 0 < line.predict <= AS_FAST * least),
        key=lambda line: line.ratio,
        default=None,
    )


def _cheapest(lines: Sequence[Line], plain: Line, best: Line) -> Line | None:
    """Return the method of the smallest error whose search takes little longer than the baseline's.

    None where that is the best one of all, or its time is not known.
    """
    cheap = [each for each in lines if 0 < each.search <= AS_CHEAP * plain.search]
    least = min(cheap, key=lambda line: line.ratio, default=best)
    return None if best.method == least.method or not best.search > 0 else least


def _slower(sizes: Sequence[Size]) -> float | None:
    """Return how many times as long as at the size before the search of the best method takes."""
    if len(sizes) < 2 or sizes[-1].timed != sizes[-2].timed:
        return None
    after, before = (
        next((line.search for line in size.lines if line.method == sizes[-1].best), math.nan)
        for size in sizes[:-3:-1]
    )
    return after / before if after > 0 < before else None


def _of(size: Size, verdict: str) -> list[str]:
    return [line.method for line in size.lines if line.against == verdict and not line.reference]


def _ratio(line: Any) -> str:
    if line.low != line.low:  # of one trial, or one data set, there is no interval
        return number(line.ratio, 2)
    return f"{number(line.ratio, 2)} ({number(line.low, 2)}{DASH}{number(line.high, 2)})"


def _errors(sizes: Sequence[Size]) -> Grid:
    of = {(size.M, line.method): line for size in sizes for line in size.lines}
    names = dict.fromkeys(line.method for size in reversed(sizes) for line in size.lines)
    marks = {"better": " +", "worse": " \N{MINUS SIGN}", "open": ""}
    rows = [
        [
            name,
            *(
                _ratio(of[size.M, name]) + marks[of[size.M, name].against]
                if (size.M, name) in of
                else DASH
                for size in sizes
            ),
        ]
        for name in names
    ]
    counts = ["data sets", *(str(size.datasets) for size in sizes)]
    return Grid(["method", *(f"M = {size.M}" for size in sizes)], [*rows, counts])


def _details(size: Size) -> Grid:
    head = [
        "method", "without one data set", "median", "numbers", "classes", "wins", "one fit (s)",
        "whole search (s)",
        "predict 1,000 rows (ms)", "bytes per row", "told from the best",
    ]  # fmt: skip
    rows = [
        [
            line.method,
            f"{number(line.least, 2)}{DASH}{number(line.most, 2)}",
            number(line.median, 2),
            number(line.regression, 2),
            number(line.classification, 2),
            f"{100 * line.wins:.0f} %",
            _three(line.fit),
            _three(line.search),
            _three(line.predict),
            DASH if math.isnan(line.feature_bytes) else f"{line.feature_bytes:,.0f}",
            "no" if line.with_best else "yes",
        ]
        for line in size.lines
    ]
    return Grid(head, rows)


def _three(value: float) -> str:
    return f"{value:.3g}" if value == value else DASH


def _tables(enough: Enough) -> Grid:
    rows = [
        [
            table.dataset,
            _ratio(table) + (" *" if table.few else ""),
            table.method,
            str(table.M),
            str(table.n_train),
            str(table.columns),
            number(table.linear, 2),
            str(table.trials),
        ]
        for table in enough.tables
    ]
    head = [
        "data set", "features / boosting", "features", "M", "training rows", "columns",
        "linear / boosting", "trials",
    ]  # fmt: skip
    return Grid(head, rows)


def _methods(roles: Mapping[str, str]) -> Grid:
    about = {
        label: text
        for name, cls in SAMPLERS.items()
        for label, text in ({name: cls.declaration.about} | dict(cls.declaration.labels)).items()
    }
    rows = [
        [label, role, about.get(label) or REFERENCES.get(label, DASH)]
        for label, role in roles.items()
    ]
    return Grid(["method", "role", "what it is"], rows)
