"""Results that exist already: their state, joining them, repeating a row of them."""

from __future__ import annotations

import json
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rfbench.errors import ResultsError
from rfbench.experiment import kept
from rfbench.experiment.fanout import Fanout
from rfbench.experiment.plan import Job, Trial, plan
from rfbench.experiment.store import Store
from rfbench.experiment.worker import Limits
from rfbench.metrics import METRICS

TOLERANCE = 1e-9
ID_DIGITS = 6
TIMES = ("t_pp", "t_features", "t_train", "t_test")


def rows_of(folder: Path) -> list[dict[str, str]]:
    """Return the rows of a results folder as text, the last one of each trial."""
    rows = Store(folder).rows()
    if not rows:
        raise ResultsError(
            f"{folder} holds no trials.", "", "Name a folder that `rfbench run` wrote."
        )
    return rows


def manifest_of(folder: Path) -> dict[str, Any]:
    """Return the manifest of a results folder."""
    try:
        content = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ResultsError(
            f"The manifest of {folder} cannot be read.",
            f"{error.strerror if isinstance(error, OSError) else error}.",
            "Run the configuration again; its finished rows are kept.",
        ) from error
    absent = {"config", "settings", "trials"} - set(content if isinstance(content, dict) else ())
    if absent:
        raise ResultsError(
            f"{folder / 'manifest.json'} has no {', '.join(sorted(absent))}.",
            "It was not written by this version of rfbench.",
            "Run the configuration again; its finished rows are kept.",
        )
    return dict(content)


@dataclass(frozen=True)
class Status:
    """How far a results folder is.

    Attributes
    ----------
    planned, missing : int
        Trials of the last configuration; those without a row.
    counts : dict
        Number of rows of the last configuration by status.
    older : int
        Rows of earlier configurations.
    seconds_left : float or None
        Missing trials times the mean time of a trial, on one worker.
    """

    folder: Path
    planned: int
    missing: int
    counts: dict[str, int]
    older: int
    seconds_left: float | None


def status_of(folder: Path) -> Status:
    """Return the state of a results folder, from its files alone."""
    manifest = manifest_of(folder)
    settings, planned = set(manifest["settings"]), set(manifest["trials"])
    rows = rows_of(folder)
    current = [row for row in rows if row["setting"] in settings]
    seconds = [sum(float(row[t] or 0) for t in TIMES) for row in current if row["status"] == "ok"]
    missing = len(planned - {row["trial_id"] for row in current})
    return Status(
        folder,
        len(planned),
        missing,
        dict(Counter(row["status"] for row in current)),
        len(rows) - len(current),
        missing * sum(seconds) / len(seconds) if seconds else None,
    )


def merge(target: Path, others: list[Path]) -> int:
    """Add the rows of other folders that the target does not have, with their kept features.

    Returns the number of rows.

    Raises
    ------
    ResultsError
        Data of another hash, another protocol, or trials of another configuration.
    """
    store = Store(target)
    with store.lock():
        own = manifest_of(target)
        store.mend()
        done = store.done()
        added = 0
        for folder in others:
            if folder.resolve() == target.resolve():
                raise ResultsError(f"{folder} cannot be merged with itself.")
            _refuse_unlike(target, own, folder, manifest_of(folder))
            lines = kept.by_trial(folder)
            for row in rows_of(folder):
                if row["setting"] in own["settings"] and done.get(row["trial_id"], "") != "ok":
                    if row["trial_id"] in done and row["status"] != "ok":
                        continue
                    if row["trial_id"] in lines:
                        kept.write(target, row["trial_id"], lines[row["trial_id"]])
                    store.append(row)
                    done[row["trial_id"]] = row["status"]
                    added += 1
    return added


def _refuse_unlike(target: Path, own: dict[str, Any], folder: Path, other: dict[str, Any]) -> None:
    for name, found in other.get("data", {}).items():
        expected = own.get("data", {}).get(name, found)
        if found != expected:
            raise ResultsError(
                f"{folder} was measured on other data than {target}.",
                f"{name} has hash {str(found)[:12]} there and {str(expected)[:12]} here.",
                "Compare `rfbench data verify` on both machines.",
            )
    if not set(other.get("settings", [])) & set(own.get("settings", [])):
        keys = [
            key
            for key, value in own["config"].items()
            if other["config"].get(key) != value and key not in ("trials", "title", "description")
        ]
        raise ResultsError(
            f"{folder} and {target} do not measure the same.",
            f"Their configurations differ in {', '.join(keys) or 'the version of rfbench'}.",
            "Run the same configuration on both machines.",
        )


def trials_like(row: dict[str, str], manifest: dict[str, Any]) -> list[Trial]:
    """Return the trials of a manifest's configuration with the size and number of a row."""
    from rfbench.config import Experiment, KeptBy

    found = []
    for each in [manifest["config"], *manifest.get("variants", [])]:
        experiment = Experiment.model_validate(each)
        update: dict[str, Any] = {"trials": int(row["trial"]) + 1}
        if not isinstance(experiment.M, KeptBy):
            update["M"] = [int(row["M"])]
        found += plan(experiment.model_copy(update=update))
    return found


@dataclass(frozen=True)
class Replay:
    """A row measured again.

    Attributes
    ----------
    row, again : dict
        As it stands in the file, and as it came out now.
    differences : dict
        Metric: (then, now), for those further apart than 1e-9.
    """

    row: dict[str, str]
    again: dict[str, Any]
    differences: dict[str, tuple[float, float]]


def replay(folder: Path, which: str) -> Replay:
    """Measure a row again and compare its metrics.

    Parameters
    ----------
    folder : Path
    which : str
        The number of a row (1 is the first), or the beginning of a trial_id: 6 digits or more.

    Raises
    ------
    ResultsError
        There is no such row, or its configuration is no longer that of the manifest.
    """
    rows = rows_of(folder)
    if which.isdecimal() and len(which) < ID_DIGITS:
        found = rows[int(which) - 1 : int(which)] if int(which) else []
    else:
        found = [row for row in rows if row["trial_id"].startswith(which)]
    if len(found) != 1:
        raise ResultsError(
            f"{folder} has {len(found) or 'no'} rows that '{which}' names.",
            f"A row is named by its number, 1 to {len(rows)}, or by its trial_id.",
        )
    row = found[0]
    trial = next(
        (t for t in trials_like(row, manifest_of(folder)) if t.id == row["trial_id"]), None
    )
    if trial is None:
        raise ResultsError(
            f"The row {row['trial_id']} cannot be repeated.",
            "The folder's configuration, its data, or rfbench changed since it was measured.",
        )
    with tempfile.TemporaryDirectory(prefix="rfbench-") as scratch:
        fanout = Fanout(Path(scratch), 1, Limits(), threading.Event())
        again = next(iter(fanout.rows([Job((trial,))])))
    differences = {}
    for metric in METRICS:
        value = again.get(metric)
        then, now = float(row[metric] or "nan"), float("nan" if value is None else value)
        close = abs(then - now) <= TOLERANCE * max(1.0, abs(then))
        if not close and not (then != then and now != now):
            differences[metric] = (then, now)
    return Replay(row, again, differences)
