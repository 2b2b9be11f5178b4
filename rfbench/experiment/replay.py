"""Repeated measurements of stored result rows, which check that the metrics are reproduced."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rfbench import datasets
from rfbench.config import build_experiment_from_manifest
from rfbench.config.schema import Experiment
from rfbench.config.specs import SameSizeAs
from rfbench.errors import ResultsError, RfbenchError
from rfbench.experiment.environment import list_blas_libraries
from rfbench.experiment.fanout import FanOut
from rfbench.experiment.plan import Trial, plan_trials
from rfbench.experiment.worker import Limits
from rfbench.results import manifest as manifests
from rfbench.results.merging import find_differences, read_valid_rows

# Minimum number of digits of a trial id in a command. Decimal numbers with fewer digits are row
# numbers. An id that matches several rows is rejected. Among 1,000 rows, two rows have the same six
# hexadecimal digits with a probability of 3 %, by definition. With half the digits, this
# probability would be almost 1.
ID_DIGITS = 6
CHANGED_METHOD = (
    "rfbench now measures this row differently: a method was revised, or a default changed."
)
EARLIER = "The configuration of the folder has changed since this row was measured."
OTHER_DATA = "On this machine, the data set of this name has different content."
NO_DATA = "The data set of the row is not on this machine."
ENDED_BADLY = "The trial failed when it was measured."


def list_similar_trials(
    row: dict[str, str], manifest: dict[str, Any], allow_imports: bool = False
) -> list[Trial]:
    """Return the trials of a manifest with the same data set, size and trial number as a row.

    The list is empty if the result row has no trial number. Raise ResultsError if this version of
    rfbench cannot read the configuration in the manifest.
    """
    trials = []
    for experiment in _read_experiments(manifest, allow_imports):
        update: dict[str, Any] = {
            "dataset": [spec for spec in experiment.dataset if spec.name == _get_dataset_name(row)],
            "trials": 1,
        }
        if not isinstance(experiment.M, SameSizeAs):
            update["M"] = [int(row["M"])] if row["M"] else []
        first = plan_trials(experiment.model_copy(update=update))
        trials += [trial.with_number(int(row["trial"])) for trial in first if row["trial"]]
    return trials


def _read_experiments(manifest: dict[str, Any], allow_imports: bool = False) -> list[Experiment]:
    """Return the experiments that the manifest of a results folder contains.

    The same errors are raised as in `rfbench.config.build_experiment_from_manifest`.
    """
    return [
        build_experiment_from_manifest(config, manifests.MANIFEST, allow_imports=allow_imports)
        for config in (manifest["config"], *manifest.get("variants", []))
    ]


def _get_dataset_name(row: dict[str, str]) -> str:
    """Return the name of the data set of a result row, without the number of rows in brackets."""
    return row["dataset"].split("[")[0]


def _find_trial(
    row: dict[str, str], manifest: dict[str, Any], allow_imports: bool = False
) -> Trial:
    """Return the trial with which a result row can be measured again.

    Raise ResultsError if the configuration, the data or the method of the row has changed. The
    attribute `why` of the error contains the reason.
    """
    alike = list_similar_trials(row, manifest, allow_imports)
    for trial in alike:
        if trial.id == row["trial_id"]:
            return trial
    if row["setting"] not in manifest["settings"]:
        why = EARLIER
    elif row["data_hash"] not in {trial.data_sha256 for trial in alike}:
        why = OTHER_DATA
    else:
        why = CHANGED_METHOD
    raise ResultsError(f"The row {row['trial_id']} cannot be measured again.", why)


@dataclass(frozen=True)
class Replay:
    """A result row that was measured again, with the differences of the two measurements."""

    folder: Path
    row: dict[str, str]  # cells of the row as stored in the file
    again: dict[str, Any]  # columns of the row as measured again
    # Maps the name of each metric that differs to the stored value and the new value.
    differences: dict[str, tuple[float, float]]
    # CPU architecture that the BLAS library used, for the stored row and for the new row. With
    # different architectures, sums are rounded differently.
    cores: tuple[str, str]

    @property
    def is_reproduced(self) -> bool:
        """True if the new and the stored row have the same status and the same metrics."""
        return not self.differences and self.row["status"] == self.again["status"]


@dataclass(frozen=True)
class SkippedRow:
    """A result row that cannot be measured again, with the reason `why`."""

    folder: Path
    row: dict[str, str]
    why: str


def replay_row(folder: Path, which_row: str, *, allow_imports: bool = False) -> Replay:
    """Measure a result row again, and compare the new metrics with the stored metrics.

    `which_row` is the number of the row (from 1), or at least the first 6 digits of its trial_id.
    Raise ResultsError if there is no such row, or if the row cannot be measured again.
    """
    rows = read_valid_rows(folder)
    if which_row.isdecimal() and len(which_row) < ID_DIGITS:
        named = rows[int(which_row) - 1 : int(which_row)] if int(which_row) else []
    else:
        named = [row for row in rows if row["trial_id"].startswith(which_row)]
    if len(named) != 1:
        raise ResultsError(
            f"{folder} has {len(named) or 'no'} rows that match '{which_row}'.",
            f"Name a row by its number, 1 to {len(rows)}, or by its trial_id.",
        )
    manifest = manifests.read(folder)
    return _repeated(folder, named[0], _find_trial(named[0], manifest, allow_imports), manifest)


def replay_random_rows(
    folders: Sequence[Path],
    count: int,
    *,
    seed: int = 0,
    allow_imports: bool = False,
) -> Iterator[Replay | SkippedRow]:
    """Measure `count` random result rows from several folders again.

    All rows have the same probability. Nothing is downloaded. If a row cannot be measured again on
    this machine, it is skipped, and another row is selected.

    Yields
    ------
    Replay or SkippedRow
        A Replay for each measured row, and a SkippedRow for each row that cannot be measured. The
        number of Replay objects is `count`, or smaller if there are not enough rows.
    """
    every = [(folder, row) for folder in folders for row in read_valid_rows(folder)]
    random.Random(seed).shuffle(every)
    read: dict[Path, dict[str, Any]] = {}
    for folder, row in every:
        if not count:
            return
        if folder not in read:
            read[folder] = manifests.read(folder)
        try:
            trial = _trial_here(row, read[folder], allow_imports)
        except RfbenchError as error:
            yield SkippedRow(folder, row, error.why or error.what)
        else:
            count -= 1
            yield _repeated(folder, row, trial, read[folder])


def _trial_here(row: dict[str, str], manifest: dict[str, Any], allow_imports: bool) -> Trial:
    """Return the trial with which a result row can be measured again on this machine.

    Raise ResultsError if the stored trial has failed, if the data are not on this machine, or if
    the row cannot be measured again.
    """
    if row["status"] != "ok":
        raise ResultsError(ENDED_BADLY)
    specs = [spec for each in _read_experiments(manifest, allow_imports) for spec in each.dataset]
    own = {spec.name for spec in specs if spec.is_user_data}
    if _get_dataset_name(row) not in own and not datasets.is_on_disk(_get_dataset_name(row)):
        raise ResultsError(NO_DATA)
    return _find_trial(row, manifest, allow_imports)


def _repeated(folder: Path, row: dict[str, str], trial: Trial, manifest: dict[str, Any]) -> Replay:
    rows: list[dict[str, Any]] = []
    FanOut(rows.append, Limits()).run([(trial,)])
    (again,) = rows
    then_blas = manifests.list_machines(manifest).get(row["machine"], {}).get("blas")
    return Replay(
        folder,
        row,
        again,
        find_differences(row, again),
        (_cores(then_blas), _cores(list_blas_libraries())),
    )


def _cores(libraries: list[dict[str, Any]] | None) -> str:
    return ", ".join(sorted({str(library.get("core")) for library in libraries or []})) or "unknown"
