"""Published measurements of maps: one row per map and kernel, and the page with these rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from scipy import stats

from rfbench import files
from rfbench.arrays import EXACT
from rfbench.checking.bias import N_SEEDS, POWER, MapClaim, measure
from rfbench.checking.causes import find_cause
from rfbench.pages.grids import Grid
from rfbench.pages.templates import render
from rfbench.pages.words import number, signed
from rfbench.results.schema import STRING

PAGE, NAME = "maps.md", "maps"
MAPS_FOLDER = Path("results/published/maps")
MAP_COLUMNS = (
    "code", "option", "map", "kernel", "how", "version", "file", "date", "M", "columns", "seeds",
    "at", "exact", "bias", "error", "z", "largest_z", "limit", "relative_error", "rate",
    "further_out", "verdict", "cause", "apart", "said", "mend",
)  # fmt: skip
MEASURED_COLUMNS = (
    "M", "columns", "seeds", "largest_z", "limit", "relative_error", "rate", "further_out",
)  # fmt: skip
TEXTS = ("option", "map", "kernel", "file", "date", "at", "verdict", "cause", "apart", "said",
         "mend")  # fmt: skip
RIGHT, BIASED, SLOW = "no bias", "biased", "no gain from M"
MAPS_HEAD = (
    "code",
    "map",
    "version",
    "how",
    "kernel",
    "its value",
    "at",
    "bias",
    "z",
    "error",
    "rate",
)


def make_row(claim: MapClaim, facts: Mapping[str, Any], most: int | None = None) -> dict[str, Any]:
    """Measure a map, and return its row; `facts` are the columns that are not measured."""
    found = measure(claim, most=most, seconds=600.0)
    i, cause = found.shown, find_cause(found)
    return {
        **facts,
        **{name: getattr(found, name) for name in MEASURED_COLUMNS},
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
    """Read published rows; missing texts become empty strings."""
    table = pd.read_csv(file, dtype=dict.fromkeys((*TEXTS, "version"), str), **EXACT)
    table = table.reindex(columns=list(MAP_COLUMNS)).astype(dict.fromkeys(TEXTS, STRING))
    filled: pd.DataFrame = table.fillna(dict.fromkeys(TEXTS, ""))
    return filled


def count_faults(others: pd.DataFrame) -> pd.DataFrame:
    """Return the measured maps that claim to be unbiased, each once."""
    return others[(others["verdict"] != "") & (others["apart"] == "")]


def faults(others: pd.DataFrame) -> pd.DataFrame:
    """Return the biased maps, only the first one per package and fault."""
    biased = count_faults(others)[count_faults(others)["verdict"] == BIASED]
    return biased.drop_duplicates(["code", "said"])


def write(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows; they replace the old rows with the same code, and all other rows are kept."""
    table = pd.DataFrame(rows, columns=list(MAP_COLUMNS))
    if file.is_file():
        old = read(file)
        table = pd.concat([old[~old["code"].isin(table["code"])], table])
    table = table.sort_values(
        list(MAP_COLUMNS[:4]), kind="stable", key=lambda column: column.astype(str)
    )
    files.replace(file, table.to_csv(index=False, float_format="%.6g").encode())


def find_folder(paths: Iterable[str | Path]) -> Path | None:
    """Return the folder of map measurements in or next to one of `paths`, or None."""
    for path in map(Path, paths):
        for folder in (path / NAME, path / "published" / NAME, path.parent / NAME):
            if (folder / "others.csv").is_file():
                return folder
    return None


def render_page(folder: Path) -> str:
    """Return the page for the rows in a folder."""
    others, own = (read(folder / f"{name}.csv") for name in ("others", "own"))
    claiming = count_faults(others)
    wrong, right = (
        claiming[claiming["verdict"].isin(verdicts)] for verdicts in ([BIASED, SLOW], [RIGHT])
    )
    apart = others[(others["verdict"] != "") & (others["apart"] != "")]
    not_run = others[others["verdict"] == ""]
    sizes = read(folder / "by_size.csv") if (folder / "by_size.csv").is_file() else others[:0]
    claimed = own[own["said"] == ""]
    seeds, limit = int(claimed["seeds"].max()), float(claimed["limit"].max())
    return render(
        "checking/maps.md.j2",
        measured=len(claiming),
        needed=N_SEEDS,
        biased_maps=int((claiming["verdict"] == BIASED).sum()),
        distinct=len(faults(others)),
        wrong=_grid(wrong),
        apart=_grid(apart),
        reasons=apart.to_dict("records"),
        sizes=_by_size(sizes),
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


def _by_size(rows: pd.DataFrame) -> Grid:
    """Return the table of the largest score and bias per map and number of features."""
    head = ("code", "map", "kernel", "M", "seeds", "bias / error of one draw", "largest z", "")
    return Grid(
        head,
        [
            [
                row["code"],
                row["option"],
                row["kernel"],
                str(int(row["M"])),
                str(int(row["seeds"])),
                signed(row["largest_z"] / row["seeds"] ** 0.5, 2),
                signed(row["largest_z"], 1),
                row["verdict"] if row["verdict"] == BIASED else RIGHT,
            ]
            for row in rows.sort_values(["code", "option", "kernel", "M"]).to_dict("records")
        ],
    )


def _grid(rows: pd.DataFrame) -> Grid:
    return Grid(
        MAPS_HEAD,
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
