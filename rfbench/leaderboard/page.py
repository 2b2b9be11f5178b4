"""The practitioner's page: which method, how many features, at what cost."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rfbench.analysis.verdicts import ALPHA, POWER
from rfbench.leaderboard import figure
from rfbench.leaderboard.facts import Leaderboard, Line, Size, facts
from rfbench.leaderboard.rule import SIGNS
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render
from rfbench.pages.words import DASH, number
from rfbench.registry import SAMPLERS
from rfbench.results.schema import BASELINE

PAGE, FACTS, COSTS = "which_method.md", "leaderboard.json", "which_method_cost.png"
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
    names = [Path(folder).name for folder in board.folders]
    return render(
        "leaderboard/which_method.md.j2",
        board=board,
        largest=largest,
        alpha=ALPHA,
        power=POWER,
        go_on=GO_ON,
        run=RUN,
        out=out,
        stale=[name for name in names if name in stale],
        best=next(line for line in largest.lines if line.method == largest.best),
        alike=[x.method for x in largest.lines if x.with_best and x.method != largest.best],
        n_methods=sum(not line.reference for line in largest.lines),
        leads=[size for size in board.sizes[:-1] if size.leader] if not largest.leader else [],
        signs=SIGNS,
        errors=_errors(board.sizes),
        enough=board.enough,
        held_out=board.held_out,
        methods=_methods({line.method: line.role for s in board.sizes for line in s.lines}),
        costs=COSTS if _timed(board) else "",
    )


def files(board: Leaderboard | None, out: Path, stale: Sequence[str] = ()) -> dict[str, Any]:
    """Return page, facts as JSON and picture by the names of their files; None for one less."""
    written: dict[str, Any] = {PAGE: page(board, out, stale)}
    written |= dict.fromkeys((FACTS, COSTS))
    if board is not None:
        written[COSTS] = figure.costs(board.sizes) if _timed(board) else None
        text = json.dumps(facts(board), indent=1, allow_nan=False) + "\n"
        written[FACTS] = text.encode()
    return written


def _timed(board: Leaderboard) -> bool:
    """Whether the times are known that the figure of costs needs."""
    return all(line.search > 0 for s in board.sizes for line in s.lines if line.role == BASELINE)


def _ratio(line: Line) -> str:
    marks = {"better": " +", "worse": " \N{MINUS SIGN}", "open": ""}
    between = f"{number(line.low, 2)}{DASH}{number(line.high, 2)}"
    return f"{number(line.ratio, 2)} ({between}){marks[line.against]}"


def _errors(sizes: Sequence[Size]) -> Grid:
    """Return a line per method: its errors at each size, and its costs at the largest."""
    of = {(size.M, line.method): line for size in sizes for line in size.lines}
    names = dict.fromkeys(line.method for size in reversed(sizes) for line in size.lines)
    rows = []
    for name in names:
        lines = [of.get((size.M, name)) for size in sizes]
        last = lines[-1]
        costs = [last.search, last.predict] if last else [math.nan] * 2
        rows.append(
            [
                name,
                *(_ratio(line) if line else DASH for line in lines),
                number(last.median, 2) if last else DASH,
                *(f"{cost:.3g}" if cost == cost else DASH for cost in costs),
            ]
        )
    counts = ["data sets", *(str(size.datasets) for size in sizes), *[DASH] * 3]
    head = ["method", *(f"M = {size.M}" for size in sizes), "median"]
    return Grid([*head, "search (s)", "predict 1,000 rows (ms)"], [*rows, counts])


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
