"""What splits by subjects or blocks of time give beside random ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench.analysis.apart import SIDES, side_by_side
from rfbench.analysis.frame import Collection
from rfbench.analysis.verdicts import CHANCE_POINTS, LEARNT
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render
from rfbench.pages.words import number, signed
from rfbench.results import Results


@dataclass(frozen=True)
class Beside:
    """A data set split at random and apart; `best_r2` of any method apart, where none learns."""

    dataset: str
    description: str
    grid: Grid
    best_r2: float | None
    folders: Sequence[Path]


def gather(collection: Collection) -> list[Beside]:
    """Lay out every data set that was split both ways."""
    table = side_by_side(collection)
    by_folder = {results.path: results for results in collection.experiments}
    return [
        _beside(by_folder[str(apart_folder)], lines)
        for (_, apart_folder), lines in table.groupby(["folder_random", "folder_apart"], sort=False)
    ]


def _beside(apart_results: Results, lines: pd.DataFrame) -> Beside:
    best = float(lines["r2"].max())
    beaten = lines["smaller_class"] - lines["apart"] > CHANCE_POINTS
    rows = [
        [
            f"{line['method']}, M = {number(line['M'])}",
            *(f"{number(line[side], 2)} {_interval(line, side, number)}" for side in SIDES),
            f"{signed(line['difference'])} {_interval(line, 'difference', signed)}",
        ]
        for line in lines.sort_values("M", kind="stable").to_dict("records")
    ]
    return Beside(
        str(lines["dataset"].iloc[0]),
        str(apart_results.config.get("description") or ""),
        Grid(["method", "at random", "apart", "apart less random"], rows),
        best if best < LEARNT and not beaten.any() else None,
        [Path(lines[f"folder_{side}"].iloc[0]) for side in SIDES],
    )


def _interval(line: dict[Any, Any], name: str, write: Callable[[float, int], str]) -> str:
    mean, half = line[name], line[f"half_{name}"]
    return f"({write(mean - half, 2)} to {write(mean + half, 2)})"


def page(every: Sequence[Beside], out: Path) -> str:
    """Write ``apart.md`` for a folder."""
    return render("apart.md.j2", every=every, out=out)
