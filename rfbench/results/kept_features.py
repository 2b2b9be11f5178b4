"""Reader and writer of `kept.csv`, the file with the features that a sampler has selected.

The file has one line per feature, for runs with ``kept_features: true`` in their configuration. The
lines of a trial are written to disk before the row of the trial is written to `trials.csv`, so that
every finished trial has its lines. If a run stops in between, the lines are replaced when the trial
is measured again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import files
from rfbench.errors import ResultsError
from rfbench.results.lines import (
    CHECK,
    encode_cells,
    has_valid_checksum,
    parse_cells,
    with_checksum,
)

KEPT_FEATURES_FILE = "kept.csv"
KEPT_FEATURES_KEY = "kept_features"
# Maximum number of coordinates of a frequency that kept.csv stores. Figures of kept features need
# only two coordinates. The value was chosen without a measurement. With twice the value, kept.csv
# would have ten more columns, which are missing in old files.
MOST_DIMENSIONS = 10
KEY_COLUMNS = ("trial_id", "trial", "M", "feature")
FREQUENCY = tuple(f"w{j + 1}" for j in range(MOST_DIMENSIONS))
LAST = ("b", "weight")


def read(folder: Path) -> list[dict[str, str]]:
    """Return the lines of the file `kept.csv` of a results folder as strings.

    The list is empty if the file does not exist. Raise ResultsError if the file cannot be read, was
    not written by rfbench, or was changed.
    """
    file = folder / KEPT_FEATURES_FILE
    if not file.exists():
        return []
    try:
        content = files.read(file)
        content.decode()
    except (OSError, ValueError) as error:
        raise ResultsError(
            f"{file} cannot be read.", f"{error}.", "Move the file to another folder."
        ) from error
    header, *lines = content.splitlines() or [b""]
    names = parse_cells(header)
    rows = [parse_cells(line) for line in lines]
    frequency = FREQUENCY[: len(set(names) & set(FREQUENCY))]
    written = names == [*KEY_COLUMNS, *frequency, *LAST, CHECK]
    older = (
        CHECK not in names and "trial_id" in names and {*KEY_COLUMNS, *FREQUENCY, *LAST} >= {*names}
    )
    whole = (
        all(map(has_valid_checksum, lines))
        if written
        else all(len(row) == len(names) for row in rows)
    )
    if not whole or not (written or older):
        raise ResultsError(
            f"{file} has different columns, a truncated line, or a line with a wrong checksum.",
            "The file was not written by rfbench, or it was changed.",
            "Move the file to another folder.",
        )
    return [dict(zip(names, row, strict=True)) for row in rows]


def read_frame(folder: Path, notes: list[str]) -> pd.DataFrame:
    """Return the lines of the file `kept.csv` of a results folder as a table with numeric columns.

    The table is empty if the file is missing or damaged. If the file is damaged, a message is
    appended to `notes`.
    """
    try:
        lines = pd.DataFrame(read(folder))
        if lines.empty:
            return pd.DataFrame(columns=[*KEY_COLUMNS, *LAST])
        numbers = lines.columns.difference(["trial_id", CHECK])
        lines[numbers] = lines[numbers].map(_number).astype("float64")
        lines["weight"]
    except (ResultsError, ValueError, KeyError) as error:
        notes.append(f"{folder / KEPT_FEATURES_FILE} is left out: {' '.join(str(error).split())}")
        return pd.DataFrame(columns=[*KEY_COLUMNS, *LAST])
    return lines


def _number(cell: str) -> float:
    return float(cell) if cell else math.nan


def read_by_trial(folder: Path) -> dict[str, list[dict[str, str]]]:
    """Return the lines of the file `kept.csv` of a results folder, grouped by trial id.

    Raise ResultsError if the file cannot be read, was not written by rfbench, or was changed.
    """
    by_trial: dict[str, list[dict[str, str]]] = {}
    for line in read(folder):
        by_trial.setdefault(line["trial_id"], []).append(line)
    return by_trial


def write(folder: Path, trial_id: str, lines: Iterable[Mapping[str, Any]]) -> None:
    """Replace the lines of one trial in the file `kept.csv` of a results folder.

    The file is replaced as a whole. Raise WriteError if the folder cannot be written. The old file
    is then unchanged.
    """
    every: list[Mapping[str, Any]] = [
        entry for entry in read(folder) if entry["trial_id"] != trial_id
    ]
    every += [{**entry, "trial_id": trial_id} for entry in lines]
    names = {name for entry in every for name in entry}
    header = [*KEY_COLUMNS, *(name for name in FREQUENCY if name in names), *LAST]
    text = [encode_cells([*header, CHECK])]
    text += [with_checksum([str(line.get(name, "")) for name in header]) for line in every]
    files.replace(folder / KEPT_FEATURES_FILE, b"\n".join(text) + b"\n")
