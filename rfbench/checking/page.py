"""What is published of maps: a row per map and kernel, and the page that is made of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from scipy import stats

from rfbench import files
from rfbench.checking.bias import POWER, SEEDS, MapClaim, measure
from rfbench.checking.causes import cause_of
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render
from rfbench.pages.words import number, signed
from rfbench.results.reader import EXACT

PAGE, NAME = "maps.md", "maps"
FOLDER = Path("results/published/maps")
COLUMNS = (
    "code", "option", "map", "kernel", "how", "version", "file", "date", "M", "columns", "seeds",
    "at", "exact", "bias", "error", "z", "largest_z", "limit", "relative_error", "rate",
    "further_out", "verdict", "cause", "said", "mend",
)  # fmt: skip
MEASURED = (
    "M", "columns", "seeds", "largest_z", "limit", "relative_error", "rate", "further_out",
)  # fmt: skip
TEXTS = ("option", "map", "kernel", "file", "date", "at", "verdict", "cause", "said", "mend")
RIGHT, BIASED, SLOW = "no bias", "biased", "no gain from M"
HEAD = ("code", "map", "version", "how", "kernel", "its value", "at", "bias", "z", "error", "rate")


def row_of(claim: MapClaim, facts: Mapping[str, Any], most: int | None = None) -> dict[str, Any]:
    """Measure a map, and return its row; `facts` are those that are not measured."""
    found = measure(claim, most=most, seconds=600.0)
    i, cause = found.shown, cause_of(found)
    return {
        **facts,
        **{name: getattr(found, name) for name in MEASURED},
        "kernel": found.kernel.name,
        "at": found.pairs.names[i],
        "exact": found.exact[i],
        "bias": found.bias[i],
        "error": found.spread[i],
        "z": found.z[i],
        "verdict": BIASED if found.biased else RIGHT if found.falls else SLOW,
        "cause": cause.what if cause else "",
    }


def read(file: Path) -> pd.DataFrame:
    """Read published rows; texts that are absent are empty."""
    types = dict.fromkeys((*TEXTS, "version"), str)
    table: pd.DataFrame = pd.read_csv(file, dtype=types, **EXACT)
    return table.fillna(dict.fromkeys(TEXTS, ""))


def write(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows in the place of those of the same code, and keep the others."""
    table, old = pd.DataFrame(rows, columns=list(COLUMNS)), read(file)
    table = pd.concat([old[~old["code"].isin(table["code"])], table])
    table = table.sort_values(
        list(COLUMNS[:4]), kind="stable", key=lambda column: column.astype(str)
    )
    files.replace(file, table.to_csv(index=False, float_format="%.6g").encode())


def folder_of(paths: Iterable[str | Path]) -> Path | None:
    """Return the folder with the rows, among or beside some results, or those published there."""
    for path in map(Path, paths):
        for folder in (path / NAME, path / "published" / NAME, path.parent / NAME):
            if (folder / "others.csv").is_file():
                return folder
    return None


def page(folder: Path) -> str:
    """Write the page from the rows in a folder."""
    others, own = (read(folder / f"{name}.csv") for name in ("others", "own"))
    wrong, right, not_run = (
        others[others["verdict"].isin(verdicts)] for verdicts in ([BIASED, SLOW], [RIGHT], [""])
    )
    claimed = own[own["said"] == ""]
    seeds, limit = int(claimed["seeds"].max()), float(claimed["limit"].max())
    return render(
        "checking/maps.md.j2",
        measured=len(others) - len(not_run),
        needed=SEEDS,
        wrong=_grid(wrong),
        faults=wrong.to_dict("records"),
        right=_grid(right),
        remarks=right[right["said"] != ""].to_dict("records"),
        read=not_run.to_dict("records"),
        seeds=seeds,
        limit=limit,
        seen=(limit + float(stats.norm.ppf(POWER))) / math.sqrt(seeds),
        own=_grid(claimed),
        own_right=int((claimed["verdict"] == RIGHT).sum()),
        biased=_grid(own[own["said"] != ""]),
    )


def _grid(rows: pd.DataFrame) -> Grid:
    return Grid(
        HEAD,
        [
            [
                row["code"],
                ", ".join(filter(None, (row["option"], row["map"]))),
                *(row[name] for name in ("version", "how", "kernel")),
                number(row["exact"], 3),
                row["at"],
                signed(row["bias"], 3),
                "beyond 1000" if abs(row["z"]) >= 1000 else signed(row["z"], 1),
                number(row["relative_error"], 2),
                number(row["rate"], 2),
            ]
            for row in rows.to_dict("records")
        ],
    )
