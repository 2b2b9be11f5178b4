"""`kept.csv` beside `trials.csv`: the features that a sampler's learned distribution keeps.

One line a feature, of the runs whose configuration says ``kept_features: true``. The lines of a
trial are on the disk before its row is, so that no trial counts as done without them; where that
row never came they are replaced when the trial is measured again.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rfbench.errors import ResultsError, WriteError
from rfbench.samplers import LKRF
from rfbench.samplers.feature_map import FeatureMap

FILE = "kept.csv"
KEY = "kept_features"
MOST_DIMENSIONS = 10
FIRST = ("trial_id", "trial", "M", "feature")
FREQUENCY = tuple(f"w{j + 1}" for j in range(MOST_DIMENSIONS))
LAST = ("b", "weight")


def lines_of(sampler: LKRF, trial: int) -> list[dict[str, Any]]:
    """Return one line a kept feature of a fitted sampler, the heaviest first.

    ``feature`` is the number of a coordinate (linear kernel) or of the candidate in the pool,
    ``w1`` to ``wd`` its frequency, ``b`` its offset (map ``offset``), ``weight`` its q.
    """
    numbers, features, weights = sampler.kept_features()
    coordinate = features.feature == "coordinate"
    names = features.frequencies if coordinate else numbers
    return [
        {
            "trial": trial,
            "M": sampler.n_components,
            "feature": int(name),
            **({} if coordinate else _frequency(features, i)),
            "weight": float(weight),
        }
        for i, (name, weight) in enumerate(zip(names, weights, strict=True))
    ]


def _frequency(features: FeatureMap, i: int) -> dict[str, float]:
    found = dict(zip(FREQUENCY, features.frequencies[:, i].tolist(), strict=False))
    return found if features.offsets is None else found | {"b": float(features.offsets[i])}


def read(folder: Path) -> list[dict[str, str]]:
    """Return the lines of a results folder as text; none where there is no file.

    Raises
    ------
    ResultsError
        The file was not written by rfbench.
    """
    file = folder / FILE
    if not file.exists():
        return []
    lines = list(csv.DictReader(io.StringIO(file.read_text(encoding="utf-8"), newline="")))
    if any(line.get("trial_id") is None or None in line or None in line.values() for line in lines):
        raise ResultsError(
            f"{file} has a line that is cut, or no column trial_id.",
            "It was not written by rfbench, or it was edited.",
            "Move the file away.",
        )
    return lines


def by_trial(folder: Path) -> dict[str, list[dict[str, str]]]:
    """Return the lines of a results folder by trial_id; see `read`."""
    found: dict[str, list[dict[str, str]]] = {}
    for line in read(folder):
        found.setdefault(line["trial_id"], []).append(line)
    return found


def write(folder: Path, trial_id: str, lines: Iterable[Mapping[str, Any]]) -> None:
    """Put the lines of a trial in the place of those that it has; the file is replaced whole.

    Raises
    ------
    WriteError
        The folder cannot be written; the old file stays.
    """
    every: list[Mapping[str, Any]] = [one for one in read(folder) if one["trial_id"] != trial_id]
    every += [{**one, "trial_id": trial_id} for one in lines]
    names = {name for one in every for name in one}
    header = [*FIRST, *(name for name in FREQUENCY if name in names), *LAST]
    scratch = folder / f".{FILE}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with scratch.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, header, restval="", lineterminator="\n")
            writer.writeheader()
            writer.writerows(every)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, folder / FILE)
    except OSError as error:
        raise WriteError(
            f"{folder / FILE} could not be written: {error.strerror}.",
            "The lines before are on the disk, and so are the rows in trials.csv.",
            "Make room, or give another --out, and run the same command again.",
        ) from error
