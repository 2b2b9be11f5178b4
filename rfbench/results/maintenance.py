"""Results that exist already: how far they are, and joining them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench.errors import ResultsError
from rfbench.results import kept_features
from rfbench.results import manifest as manifests
from rfbench.results.reader import SHARDS, TRIALS, no_rows, read_rows
from rfbench.results.schema import TIMES
from rfbench.results.store import Store, check_columns


def rows_of(folder: Path) -> list[dict[str, str]]:
    """Return the whole rows of a results folder as text, the last one of each trial.

    Raises ResultsError: there are none, or the columns of the file are not ours.
    """
    rows = Store(folder).rows()
    if not rows:
        raise ResultsError(
            f"{folder} holds no trials.", "", "Name a folder that `rfbench run` wrote."
        )
    check_columns(folder / TRIALS, rows[0])
    return rows


def shards_of(folder: Path) -> list[Path]:
    """Return the folders of a results folder's shards that have begun."""
    return sorted(file.parent for file in (folder / SHARDS).glob(f"*/{manifests.MANIFEST}"))


def started(paths: Iterable[Path]) -> list[Path]:
    """Return the results folders at or below paths, those with nothing but shards among them.

    Raises ResultsError: there are none at or below a path.
    """
    found: set[Path] = set()
    for path in paths:
        folders = {file.parent for file in path.rglob(manifests.MANIFEST)}
        folders |= {file.parent for file in path.rglob(TRIALS)}
        if not folders:
            raise ResultsError(f"{path} holds no results.", "", "Name what `rfbench run` wrote.")
        found |= {f.parents[1] if f.parent.name == SHARDS else f for f in folders}
    return sorted(found)


def _largest_manifest(folder: Path) -> dict[str, Any]:
    """Return a folder's manifest, or that of one of its shards if it plans more trials."""
    shards = shards_of(folder)
    own = [folder] if (folder / manifests.MANIFEST).exists() or not shards else []
    return max(map(manifests.read, own + shards), key=lambda found: len(found["trials"]))


@dataclass(frozen=True)
class Status:
    """How far a results folder is."""

    folder: Path
    planned: int  # trials of the last configuration
    missing: int  # those without a row
    counts: dict[str, int]  # number of rows of the last configuration by status
    older: int  # rows of earlier configurations
    seconds_left: float | None  # missing trials times the mean time of a trial, on one worker
    notes: list[str]  # lines that could not be read


def status_of(folder: Path) -> Status:
    """Return the state of a results folder and its shards, from their files alone."""
    manifest = _largest_manifest(folder)
    notes: list[str] = []
    places = [f for f in (folder, *shards_of(folder)) if (f / TRIALS).exists()]
    parts = [read_rows(place, notes) for place in places] or [no_rows()]
    rows = pd.concat(parts, ignore_index=True)
    # As `merge` has it: of rows of one trial that which ended well, else the first.
    last = rows.sort_values("status", key=lambda status: status != "ok", kind="stable")
    rows = last.drop_duplicates("trial_id").sort_index()
    current = rows[rows["setting"].isin(manifest["settings"])]
    seconds = current.loc[current["status"] == "ok", TIMES[:4]].sum(axis=1)
    missing = len(set(manifest["trials"]) - set(current["trial_id"]))
    return Status(
        folder,
        len(set(manifest["trials"])),
        missing,
        dict(Counter(current["status"])),
        len(rows) - len(current),
        missing * float(seconds.mean()) if len(seconds) else None,
        notes,
    )


def merge(target: Path, others: list[Path]) -> int:
    """Add the rows of other folders that the target does not have, with their kept features.

    Without others they are the shards of the target. Returns the number of rows. ResultsError for
    data of another hash, another protocol, or trials of another configuration.
    """
    store = Store(target)
    with store.lock():
        if not others:
            manifests.write(target, _largest_manifest(target))
            others = [f for f in shards_of(target) if (f / TRIALS).exists()]
        own = manifests.read(target)
        store.mend()
        done = store.done()
        added = 0
        for folder in others:
            if folder.resolve() == target.resolve():
                raise ResultsError(
                    f"{folder} cannot be merged with itself.",
                    "Its rows are there already.",
                    "Name the other folders.",
                )
            other = manifests.read(folder)
            _refuse_unlike(target, own, folder, other)
            manifests.add_machines(target, manifests.machines(other))
            lines = kept_features.by_trial(folder)
            for row in rows_of(folder):
                if row["setting"] in own["settings"] and done.get(row["trial_id"], "") != "ok":
                    if row["trial_id"] in done and row["status"] != "ok":
                        continue
                    if row["trial_id"] in lines:
                        kept_features.write(target, row["trial_id"], lines[row["trial_id"]])
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
