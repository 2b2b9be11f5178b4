"""The authors' own runs beside ours, paper by paper: the facts of a template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from rfbench import papers
from rfbench.pages.grids import Grid
from rfbench.pages.words import number, plus_minus, signed
from rfbench.papers.models import SourceOfRows

HEAD = ["data set, method", "published", "ours"]
DECIMALS = {"accuracy": 2, "rmse": 4}


@dataclass(frozen=True)
class AuthorsRuns:
    """The results of the rows of one paper."""

    paper: str
    source: SourceOfRows
    methods: list[str]  # of one trial per fold, on the same rows, with our results folder
    folds: int  # of these
    equal: int  # of these folds: to four digits
    near: int  # of these, besides: within two test rows
    draws: tuple[int, int]  # of ours per fold where there are several, fewest and most
    verdicts: dict[str, int]  # of these, on the same rows
    same: Grid  # fold by fold
    drawn: Grid  # the same rows, and several draws of ours
    other: Grid  # other rows
    reasons: list[str]  # why
    beside: list[tuple[str, Grid]]  # how the protocols differ, with what is shown


def facts(lines: pd.DataFrame) -> list[AuthorsRuns]:
    """Gather them from `rfbench.analysis.authors_rows.compare`."""
    return [] if lines.empty else [_runs(str(name), own) for name, own in lines.groupby("paper")]


def _runs(name: str, lines: pd.DataFrame) -> AuthorsRuns:
    paper = papers.paper(name)
    assert paper.rows_source is not None
    judged = lines[lines["beside"] == ""]
    same = judged[judged["same_rows"].astype(bool)]
    drawn, fixed = same[same["draws"] > 1], same[same["draws"] == 1]
    other = judged[~judged["same_rows"].astype(bool)]
    reasons = (paper.datasets[dataset].other_rows for dataset in other["dataset"])
    every = lines[lines["beside"] != ""].groupby("beside", sort=False)
    return AuthorsRuns(
        name,
        paper.rows_source,
        [
            f"{method} in {experiment}"
            for experiment, method in dict.fromkeys(
                fixed[["experiment", "method"]].itertuples(index=False, name=None)
            )
        ],
        int(fixed["folds"].sum()),
        int(fixed["equal"].sum()),
        int(fixed["near"].sum()),
        (int(drawn["draws"].min()), int(drawn["draws"].max())) if len(drawn) else (0, 0),
        {str(verdict): int(n) for verdict, n in drawn["verdict"].value_counts().items()},
        _grid(fixed, folds=True),
        _grid(drawn),
        _grid(other),
        list(filter(None, dict.fromkeys(reasons))),
        [(str(differs), _grid(part, beside=True)) for differs, part in every],
    )


def _grid(lines: pd.DataFrame, *, folds: bool = False, beside: bool = False) -> Grid:
    head = [*HEAD, *(["folds equal", "largest"] if folds else []), "difference"]
    rows = [_cells(line, folds) for line in lines.to_dict("records")]
    if beside:
        return Grid(head, rows)
    verdicts = [*lines["verdict"]]
    return Grid(
        [*head, "verdict"], [[*row, word] for row, word in zip(rows, verdicts, strict=True)]
    )


def _cells(line: dict[Any, Any], folds: bool) -> list[str]:
    decimals = DECIMALS[line["metric"]]
    means = [
        plus_minus(line[side], line[f"{side}_sd"], decimals) for side in ("published", "measured")
    ]
    difference = plus_minus_signed(line["difference"], line["half_width"])
    name = f"{line['dataset']}, {line['method']}"
    counted = [f"{line['equal']:.0f} of {line['folds']}", number(line["largest"], 3)]
    return [name, *means, *(counted if folds else []), difference]


def plus_minus_signed(difference: float, half_width: float) -> str:
    """Write a difference in points with half the width of its interval, where that is known."""
    signed_difference = signed(difference, 2)
    return signed_difference if pd.isna(half_width) else f"{signed_difference} ± {half_width:.2f}"
