"""`kept.csv` beside `trials.csv`: the features that a sampler's learned distribution keeps.

One line per feature, of the runs whose configuration says ``kept_features: true``. The lines of a
trial are on the disk before its row is, so that no trial counts as done without them; where that
row never came they are replaced when the trial is measured again.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rfbench.errors import ResultsError
from rfbench.results import files

FILE = "kept.csv"
KEY = "kept_features"
MOST_DIMENSIONS = 10
FIRST = ("trial_id", "trial", "M", "feature")
FREQUENCY = tuple(f"w{j + 1}" for j in range(MOST_DIMENSIONS))
LAST = ("b", "weight")


def read(folder: Path) -> list[dict[str, str]]:
    """Return the lines of a results folder as text; none where there is no file.

    Raises ResultsError: the file was not written by rfbench.
    """
    file = folder / FILE
    if not file.exists():
        return []
    try:
        text = file.read_text(encoding="utf-8")
        lines = list(csv.DictReader(io.StringIO(text, newline="")))
    except (OSError, ValueError, csv.Error) as error:
        raise ResultsError(f"{file} cannot be read.", f"{error}.", "Move the file away.") from error
    if any(line.get("trial_id") is None or None in line or None in line.values() for line in lines):
        raise ResultsError(
            f"{file} has a line that is cut, or no column trial_id.",
            "It was not written by rfbench, or it was edited.",
            "Move the file away.",
        )
    return lines


def frame(folder: Path, notes: list[str]) -> pd.DataFrame:
    """Return the lines with their types; without the file, or with a broken one, there are none.

    The notes take up what is wrong with the file.
    """
    try:
        lines = pd.DataFrame(read(folder))
        if lines.empty:
            return pd.DataFrame(columns=[*FIRST, *LAST])
        numbers = lines.columns.difference(["trial_id"])
        lines[numbers] = lines[numbers].replace("", np.nan).astype("float64")
        lines["weight"]
    except (ResultsError, ValueError, KeyError) as error:
        notes.append(f"{folder / FILE} is left out: {' '.join(str(error).split())}")
        return pd.DataFrame(columns=[*FIRST, *LAST])
    return lines


def by_trial(folder: Path) -> dict[str, list[dict[str, str]]]:
    """Return the lines of a results folder by trial_id; see `read`."""
    found: dict[str, list[dict[str, str]]] = {}
    for line in read(folder):
        found.setdefault(line["trial_id"], []).append(line)
    return found


def write(folder: Path, trial_id: str, lines: Iterable[Mapping[str, Any]]) -> None:
    """Put the lines of a trial in the place of those that it has; the file is replaced whole.

    Raises WriteError: the folder cannot be written; the old file stays.
    """
    every: list[Mapping[str, Any]] = [one for one in read(folder) if one["trial_id"] != trial_id]
    every += [{**one, "trial_id": trial_id} for one in lines]
    names = {name for one in every for name in one}
    header = [*FIRST, *(name for name in FREQUENCY if name in names), *LAST]
    text = io.StringIO()
    writer = csv.DictWriter(text, header, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(every)
    files.replace(folder / FILE, text.getvalue().encode())
