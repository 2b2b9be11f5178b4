"""Merging the rows of several results folders into one folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rfbench.errors import ResultsError
from rfbench.results import kept_features, predictions
from rfbench.results import manifest as manifests
from rfbench.results.reader import TRIALS
from rfbench.results.schema import METRICS, is_metric_reproduced
from rfbench.results.store import Store, check_columns


def read_valid_rows(folder: Path) -> list[dict[str, str]]:
    """Return the valid rows of a results folder as strings, one row per trial.

    If several rows belong to a trial, the last row is used. Raise ResultsError if there are no
    valid rows, or if the file has unknown columns.
    """
    rows = Store(folder).read_rows()
    if not rows:
        raise ResultsError(
            f"{folder} does not contain trials.",
            "",
            "Name a folder that `rfbench run` has written.",
        )
    check_columns(folder / TRIALS, rows[0])
    return rows


@dataclass
class Merged:
    """Numbers of rows that were added, compared or refused when results folders were merged."""

    added: int = 0
    both: int = 0  # number of trials that succeeded in both folders
    # Descriptions of the trials that succeeded in both folders with different results, one line
    # each.
    differ: list[str] = field(default_factory=list)
    # Number of rows that were not merged, for each reason.
    refused: Counter[str] = field(default_factory=Counter)
    machines: int = 0  # number of machines that measured the rows of the target folder


def merge(target: Path, others: Sequence[Path]) -> Merged:
    """Add rows of other results folders, with their stored features, to the folder `target`.

    Only rows that the target lacks are added. Each of the other folders is a results folder or
    contains results folders. If it contains several experiments, only the experiments of the target
    are used. A target without a manifest gets the manifest with the most trials.

    Raise ResultsError if another folder has data with a different hash, a different configuration,
    or different versions. Single rows with such a difference are counted in `Merged.refused`.
    """
    groups = [_parts_of(folder, target) for folder in others]
    result, store = Merged(), Store(target)
    with store.lock():
        own = _manifest_of(target, [part for parts in groups for part in parts])
        store.repair()
        rows = {row["trial_id"]: row for row in store.read_rows()}
        for parts in groups:
            like = [part for part in parts if _alike(own, manifests.read(part))]
            for folder in like or parts:
                other = manifests.read(folder)
                _refuse_unlike(target, own, folder, other)
                manifests.add_machines(target, manifests.list_machines(other))
                _add(store, own, folder, other, rows, result)
        result.machines = len({row["machine"] for row in rows.values()} - {""})
    return result


def _parts_of(folder: Path, target: Path) -> list[Path]:
    """Return all results folders in `folder` or below it.

    Raise ResultsError if there are none, or if `folder` is the target of the merge.
    """
    if folder.resolve() == target.resolve():
        raise ResultsError(
            f"{folder} cannot be merged with itself.",
            "The folder already contains these rows.",
            "Name other folders.",
        )
    parts = sorted(file.parent for file in folder.rglob(TRIALS))
    if not parts:
        raise ResultsError(f"{folder} does not contain results.", "", "Name a results folder.")
    return parts


def _manifest_of(target: Path, parts: Sequence[Path]) -> dict[str, Any]:
    """Return the content of the manifest that the target has after the merge.

    The manifest with the most trials is used, among the target and the folders `parts` that have a
    setting in common with it. It is written if it is new. Raise ResultsError if there is no
    manifest.
    """
    if (target / manifests.MANIFEST).exists() or not parts:
        own = manifests.read(target)
    else:
        own = max(map(manifests.read, parts), key=lambda content: len(content["trials"]))
    every = [other for other in map(manifests.read, parts) if _alike(own, other)]
    largest = max([own, *every], key=lambda content: len(content["trials"]))
    if largest is not own or not (target / manifests.MANIFEST).exists():
        machines = manifests.list_machines(own) | manifests.list_machines(largest)
        content = {key: value for key, value in largest.items() if key != manifests.MACHINE}
        manifests.write(target, content | {manifests.MACHINES: machines})
    return largest


def _alike(own: dict[str, Any], other: dict[str, Any]) -> bool:
    return bool(set(other["settings"]) & set(own["settings"]))


def _add(
    store: Store,
    own: dict[str, Any],
    folder: Path,
    other: dict[str, Any],
    rows: dict[str, dict[str, str]],
    result: Merged,
) -> None:
    """Add the rows of one folder to the target of a merge.

    Rows that both folders have are compared. The dictionary `rows` and the counts in `result` are
    updated.
    """
    lines = kept_features.read_by_trial(folder)
    planned, data = {*own["trials"], *other["trials"]}, set(own.get("data", {}).values())
    version = own.get("versions", {}).get("rfbench")
    if version == "not installed":  # rfbench is run from a checkout without being installed
        version = None
    for row in read_valid_rows(folder):
        if row["setting"] not in own["settings"]:
            continue  # this row is from an earlier configuration and is skipped
        present = rows.get(row["trial_id"])
        if version and row["version"] and row["version"] != version:
            result.refused[f"version {row['version']} of rfbench instead of {version}"] += 1
        elif data and row["data_hash"] and row["data_hash"] not in data:
            result.refused["data with a different hash"] += 1
        elif row["trial_id"] not in planned:
            result.refused["the trial is not planned by the configuration"] += 1
        elif present and present["status"] == "ok":
            if row["status"] == "ok":
                result.both += 1
                if differing := find_differences(present, row):
                    name, (here, there) = next(iter(differing.items()))
                    what = f"{row['trial_id']}: {name} {here:.6g} here, {there:.6g} in {folder}"
                    result.differ.append(what)
        elif not present or row["status"] == "ok":
            if row["trial_id"] in lines:
                kept_features.write(store.folder, row["trial_id"], lines[row["trial_id"]])
            predictions.copy(folder, store.folder, row["trial_id"])
            store.append(row)
            rows[row["trial_id"]] = row
            result.added += 1


def find_differences(
    then: Mapping[str, Any], now: Mapping[str, Any]
) -> dict[str, tuple[float, float]]:
    """Return the metrics that differ between two rows of the same trial, with both values.

    A metric that the first row does not have was added in a later version, and is not compared.
    """
    differing = {}
    for metric in METRICS:
        value = now.get(metric)
        if then.get(metric):
            first, second = float(then[metric]), float("nan" if value in (None, "") else value)
            if not is_metric_reproduced(first, second, then["dtype"]):
                differing[metric] = (first, second)
    return differing


def _refuse_unlike(target: Path, own: dict[str, Any], folder: Path, other: dict[str, Any]) -> None:
    for name, digest in other.get("data", {}).items():
        expected = own.get("data", {}).get(name, digest)
        if digest != expected:
            raise ResultsError(
                f"{folder} was measured on different data than {target}.",
                f"{name} has the hash {str(digest)[:12]} there and {str(expected)[:12]} here.",
                "Compare the output of `rfbench data verify` on the two machines.",
            )
    for name, version in other.get("versions", {}).items():
        expected = own.get("versions", {}).get(name, version)
        if name in manifests.MEASURING and version != expected:
            raise ResultsError(
                f"{folder} was measured with {name} {version}, and {target} with {expected}.",
                "Results may depend on the version.",
                "Install the same versions on all machines, or keep the folders separate.",
            )
    if not _alike(own, other):
        keys = [
            key
            for key, value in own["config"].items()
            if other["config"].get(key) != value and key not in ("trials", "title", "description")
        ]
        raise ResultsError(
            f"{folder} and {target} contain different measurements.",
            f"Their configurations differ in {', '.join(keys) or 'the version of rfbench'}.",
            "Run the same configuration on both machines.",
        )
