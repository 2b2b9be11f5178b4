"""Measuring a row of existing results again."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rfbench.config import Experiment, KeptBy
from rfbench.errors import ResultsError
from rfbench.experiment import executors
from rfbench.experiment.environment import blas
from rfbench.experiment.plan import Job, Trial, plan
from rfbench.experiment.schedule import Schedule
from rfbench.experiment.worker import Limits
from rfbench.plugins import check_allowed
from rfbench.results import manifest as manifests
from rfbench.results.maintenance import rows_of
from rfbench.results.schema import METRICS

TOLERANCE = 1e-9
ID_DIGITS = 6


def trials_like(
    row: dict[str, str], manifest: dict[str, Any], allow_imports: bool = False
) -> list[Trial]:
    """Return the trials of a manifest's configuration with the size and number of a row."""
    found = []
    for each in [manifest["config"], *manifest.get("variants", [])]:
        experiment = Experiment.model_validate(each)
        for spec in (*experiment.dataset, *experiment.samplers, experiment.solver):
            if spec.code:
                check_allowed(spec.code, experiment.plugins, allow_imports)
            spec.came_from(Path.cwd())
        update: dict[str, Any] = {"trials": int(row["trial"]) + 1}
        if not isinstance(experiment.M, KeptBy):
            update["M"] = [int(row["M"])]
        found += plan(experiment.model_copy(update=update))
    return found


@dataclass(frozen=True)
class Replay:
    """A row measured again."""

    row: dict[str, str]  # as it stands in the file
    again: dict[str, Any]  # as it came out now
    differences: dict[str, tuple[float, float]]  # metrics further apart than 1e-9: then and now
    # The processor cores that the BLAS was made for, then and now: where they differ, sums are
    # taken in another order.
    cores: tuple[str, str]


def replay(folder: Path, which: str, *, allow_imports: bool = False) -> Replay:
    """Measure a row again and compare its metrics.

    The row is named by its number (1 is the first), or by the beginning of its trial_id: 6 digits
    or more. ResultsError if there is no such row, or its configuration is no longer the manifest's.
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
    manifest = manifests.read(folder)
    alike = trials_like(row, manifest, allow_imports)
    trial = next((t for t in alike if t.id == row["trial_id"]), None)
    if trial is None:
        raise ResultsError(
            f"The row {row['trial_id']} cannot be repeated.",
            "The folder's configuration, its data, or rfbench changed since it was measured.",
        )
    if row["shared_M"]:  # what its curve shared is done at the same size again
        trial = replace(trial, shared_M=int(row["shared_M"]))
    with tempfile.TemporaryDirectory(prefix="rfbench-") as scratch:
        executor = executors.local(1)
        (again,) = Schedule(Path(scratch), executor, Limits()).rows([Job((trial,))])
        executor.close()
    differences = {}
    for metric in METRICS:
        value = again.get(metric)
        then, now = float(row.get(metric) or "nan"), float("nan" if value is None else value)
        close = abs(then - now) <= TOLERANCE * max(1.0, abs(then))
        if not close and not (then != then and now != now):
            differences[metric] = (then, now)
    then_blas = manifests.machines(manifest).get(row["machine"], {}).get("blas")
    return Replay(row, again, differences, (_cores(then_blas), _cores(blas())))


def _cores(libraries: list[dict[str, Any]] | None) -> str:
    return ", ".join(sorted({str(one.get("core")) for one in libraries or []})) or "unknown"
