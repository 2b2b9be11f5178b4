"""Running what is missing: fan-out over processes, rows written as they come."""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rfbench import datasets
from rfbench.config import Experiment, KeptBy
from rfbench.experiment import environment
from rfbench.experiment.plan import Trial, jobs, plan
from rfbench.experiment.store import Store

log = logging.getLogger(__name__)

SMOKE_ROWS = 400
SMOKE_SIZE = 40
SMOKE_POOL = 400


@dataclass(frozen=True)
class Work:
    """The trials of one results folder.

    Attributes
    ----------
    folder : Path
    experiments : list of Experiment
        One, or the variants of a sweep.
    trials : list of Trial
    smoke : bool
        Small, fast and meaningless; kept apart from real results.
    """

    folder: Path
    experiments: list[Experiment]
    trials: list[Trial]
    smoke: bool = False


@dataclass
class Summary:
    """What a run did."""

    folder: Path
    planned: int = 0
    found: int = 0
    done: int = 0
    failed: int = 0
    messages: list[str] = field(default_factory=list)


def smoke_variant(experiment: Experiment) -> Experiment:
    """Return the experiment made small: few rows, two sizes, one trial, small pools."""
    samplers = []
    for spec in experiment.samplers:
        parameters = dict(spec.parameters)
        if isinstance(parameters.get("pool_size"), int):
            parameters["pool_size"] = min(parameters["pool_size"], SMOKE_POOL)
        if isinstance(parameters.get("score_rows"), int):
            parameters["score_rows"] = min(parameters["score_rows"], SMOKE_ROWS)
        samplers.append(spec.model_copy(update={"parameters": parameters}))
    size = experiment.M
    if not isinstance(size, KeptBy):
        size = sorted({min(m, SMOKE_SIZE) for m in size})[:2]
    return experiment.model_copy(
        update={
            "rows": min(experiment.rows or SMOKE_ROWS, SMOKE_ROWS),
            "trials": 1,
            "M": size,
            "samplers": samplers,
            "dataset": experiment.dataset[:3],
            "checks": [],
        }
    )


def prepare_work(
    experiments: Sequence[Experiment],
    folder: Path,
    *,
    variants: Sequence[str] = (),
    smoke: bool = False,
    progress: bool = False,
) -> Work:
    """Return the trials of the experiments; data that are not on disk are downloaded first."""
    chosen = [smoke_variant(e) for e in experiments] if smoke else list(experiments)
    for name in dict.fromkeys(spec.name for e in chosen for spec in e.dataset):
        if datasets.entry(name).kind == "files":
            datasets.fetch(name, progress=progress)
    words = list(variants) or [""] * len(chosen)
    trials = [t for e, word in zip(chosen, words, strict=True) for t in plan(e, word)]
    once = {trial.id: trial for trial in reversed(trials)}
    return Work(folder, chosen, list(reversed(once.values())), smoke)


def run(
    work: Work,
    *,
    n_jobs: int = 1,
    on_row: Callable[[dict[str, Any]], None] | None = None,
) -> Summary:
    """Run the trials that have no row yet, and write each row as soon as it is there.

    Parameters
    ----------
    work : Work
    n_jobs : int
        Worker processes; 1 runs in this process. The results do not depend on it.
    on_row : callable, optional
        Called with each new row, for progress.
    """
    store = Store(work.folder)
    done = store.done()
    summary = Summary(work.folder, planned=len(work.trials))
    missing = [trial for trial in work.trials if trial.id not in done]
    summary.found = summary.planned - len(missing)
    store.write_manifest(manifest(work))
    for row in _rows(missing, n_jobs):
        trace = row.pop("traceback", None)
        if trace:
            _keep_traceback(work.folder, row["trial_id"], trace)
        store.append(row)
        summary.done += 1
        if row["status"] != "ok":
            summary.failed += 1
            summary.messages.append(f"{row['label']} M={row['M']}: {row['message']}")
        if on_row:
            on_row(row)
    return summary


def _rows(trials: list[Trial], n_jobs: int) -> Iterator[dict[str, Any]]:
    from rfbench.experiment.trial import run_job

    work = jobs(trials)
    if n_jobs == 1 or len(work) <= 1:
        for job in work:
            yield from run_job(job)
        return
    import joblib

    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)
    for rows in parallel(joblib.delayed(_listed)(job) for job in work):
        yield from rows


def _listed(job: Any) -> list[dict[str, Any]]:
    from rfbench.experiment.trial import run_job

    return list(run_job(job))


def _keep_traceback(folder: Path, trial_id: str, text: str) -> None:
    target = folder / "failures" / f"{trial_id}.txt"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def manifest(work: Work) -> dict[str, Any]:
    """Return what `manifest.json` says: configuration, versions, machine, data, commit."""
    first = work.experiments[0]
    return {
        "config": first.model_dump(mode="json"),
        "variants": [e.model_dump(mode="json") for e in work.experiments[1:]],
        "settings": sorted({trial.setting for trial in work.trials}),
        "smoke": work.smoke,
        "data": {t.dataset.name: t.data_sha256 for t in work.trials},
        "versions": environment.versions(),
        "machine": environment.machine(),
        "git": environment.git_commit(),
        "written": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
