"""The page of all maps, from the published rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
from scipy import stats

from rfbench.checking.bias import POWER, seeds_needed
from rfbench.checking.rows import BIASED, RIGHT, SLOW, read
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render
from rfbench.pages.words import number, signed

PAGE, NAME = "maps.md", "maps"
HEAD = ("code", "map", "version", "how", "kernel", "its value", "at", "bias", "z", "error", "rate")


def folder_of(paths: Iterable[str | Path]) -> Path | None:
    """Return the folder with the rows, among or beside some results, or those published there."""
    for path in map(Path, paths):
        for folder in (path / NAME, path / "published" / NAME, path.parent / NAME):
            if (folder / "others.csv").is_file():
                return folder
    return None


def page(folder: Path) -> str:
    """Write the page from the rows in a folder."""
    others = read(folder / "others.csv")
    run = others[others["verdict"] != ""]
    wrong, slow = run[run["verdict"] == BIASED], run[run["verdict"] == SLOW]
    right = run[run["verdict"] == RIGHT]
    return render(
        "checking/maps.md.j2",
        others=run.to_dict("records"),
        needed=seeds_needed(17),
        wrong=_grid(wrong),
        faults=wrong.to_dict("records"),
        slow=slow.to_dict("records"),
        right=_grid(right),
        remarks=right[right["said"] != ""].to_dict("records"),
        read=others[others["verdict"] == ""].to_dict("records"),
        own=_own(folder / "own.csv"),
    )


def _own(file: Path) -> dict[str, Any] | None:
    """Return what the page says of rfbench's samplers; None where they were not measured."""
    if not file.is_file():
        return None
    own = read(file)
    measured = own[own["verdict"] != ""]
    claimed = measured[measured["said"] == ""]
    seeds, limit = int(claimed["seeds"].max()), float(claimed["limit"].max())
    return {
        "seeds": seeds,
        "seen": (limit + float(stats.norm.ppf(POWER))) / math.sqrt(seeds),
        "right": int((claimed["verdict"] == RIGHT).sum()),
        "claimed": len(claimed),
        "limit": limit,
        "table": _summary(claimed),
        "biased": _summary(measured[measured["said"] != ""]),
        "silent": list(dict.fromkeys(own[own["verdict"] == ""]["code"])),
    }


def _grid(rows: pd.DataFrame) -> Grid:
    return Grid(
        HEAD,
        [
            [
                *(str(row[name]) for name in ("code", "option", "version", "how", "kernel")),
                number(row["exact"], 3),
                str(row["at"]),
                signed(row["bias"], 3),
                signed(row["z"], 1) if abs(row["z"]) < 1000 else "beyond 1000",
                number(row["relative_error"], 2),
                number(row["rate"], 2),
            ]
            for row in rows.to_dict("records")
        ],
    )


def _summary(rows: pd.DataFrame) -> Grid:
    """Return a line per sampler and option: how many combinations, and the worst of them."""
    head = ("sampler", "options", "kernels and maps", "biased", "largest", "error", "rate")
    lines: list[list[str]] = []
    for (code, option), group in rows.groupby(["code", "option"], sort=True):
        gaussian: Any = group[group["kernel"] == "gaussian"]
        last = gaussian.iloc[-1] if len(gaussian) else group.iloc[0]
        worst = max(group["largest_z"], key=abs)
        biased = int((group["verdict"] == BIASED).sum())
        error, rate = (number(last[name], 2) for name in ("relative_error", "rate"))
        score = signed(worst, 1) if abs(worst) < 1000 else "beyond 1000"
        lines.append([str(code), str(option), str(len(group)), str(biased), score, error, rate])
    return Grid(head, lines)
