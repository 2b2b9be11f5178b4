"""The trials that a run measures for one results folder."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rfbench import aliases, datasets, source
from rfbench.config.schema import Experiment
from rfbench.config.specs import SameSizeAs
from rfbench.errors import ConfigError, suggest_nearest_name
from rfbench.experiment import environment
from rfbench.experiment.plan import Trial, plan_trials
from rfbench.registry import find_internal_name
from rfbench.results.manifest import make_data_key

# Maximum number of rows (SMOKE_ROWS), features (SMOKE_SIZE) and candidate features (SMOKE_POOL) in
# a smoke run, which only tests that a configuration runs. Chosen without a measurement. With twice
# the rows, all shipped configurations need about twice the time. With all three values doubled, a
# run whose time is dominated by a Gram matrix needs four times the time.
SMOKE_ROWS = 400
SMOKE_SIZE = 40
SMOKE_POOL = 400


@dataclass(frozen=True)
class RunPlan:
    """The trials that a run measures and stores in one results folder."""

    folder: Path
    experiments: list[Experiment]  # the experiments of the plan: one, or all variants of a sweep
    trials: list[Trial]  # trials to run
    planned: list[Trial]  # all trials of the experiments, before --only selects a subset
    # True for a smoke run: a fast run with few rows, which only tests that the configuration runs.
    # The results of a smoke run have no meaning and are stored in a separate folder.
    smoke: bool = False

    def select(self, conditions: Sequence[str]) -> RunPlan:
        """Return a plan with only the trials that satisfy the conditions ``KEY=VALUE``."""
        return replace(self, trials=filter_trials(self.trials, conditions))


def filter_trials(
    trials: Sequence[Trial], conditions: Sequence[str], *, each: bool = False
) -> list[Trial]:
    """Return the trials that satisfy all conditions ``KEY=VALUE``.

    If several conditions have the same key, a trial needs one of their values. Raise ConfigError if
    a key is unknown, or if no trial satisfies the conditions. If `each` is True, also raise
    ConfigError if any of the values occurs in no trial.
    """
    wanted: dict[str, list[str]] = {}
    for condition in conditions:
        key, sign, value = condition.partition("=")
        if not sign or key not in ONLY_KEYS:
            raise ConfigError(
                (f"--only {condition} does not have the form KEY=VALUE with a key of trials.")
                + suggest_nearest_name(key, list(ONLY_KEYS)),
                f"The keys are {', '.join(ONLY_KEYS)}.",
                "Write for example --only M=100.",
            )
        wanted.setdefault(key, []).append(aliases.resolve_text(value, key))
    left = list(trials)
    for key, values in wanted.items():
        seen = {str(ONLY_KEYS[key](trial)) for trial in left}
        if key in ("sampler", "label"):
            values = [value if value in seen else find_internal_name(value) for value in values]
        absent = [value for value in values if value not in seen]
        if absent and (each or len(absent) == len(values)):
            raise ConfigError(
                f"No trial has {key} {absent[0]}.{suggest_nearest_name(absent[0], sorted(seen))}",
                f"There are {', '.join(sorted(seen)[:12])}.",
            )
        left = [trial for trial in left if str(ONLY_KEYS[key](trial)) in values]
    return left


ONLY_KEYS: dict[str, Callable[[Trial], Any]] = {
    "sampler": lambda trial: trial.sampler.name,
    "label": lambda trial: trial.sampler.label,
    "dataset": lambda trial: trial.dataset.name,
    "protocol": lambda trial: trial.experiment.protocol,
    "d": lambda trial: trial.dataset.parameters.get("d"),
    "M": lambda trial: trial.M,
    "trial": lambda trial: trial.number,
}


def plan_run(
    experiments: Sequence[Experiment],
    folder: Path,
    *,
    variants: Sequence[str] = (),
    smoke: bool = False,
    progress: bool = False,
) -> RunPlan:
    """Return the plan of all trials of the experiments, and download missing data.

    If several variants of an experiment have the same trial, the plan contains the trial only once.
    """
    chosen = [make_smoke_variant(e) for e in experiments] if smoke else list(experiments)
    for name in dict.fromkeys(s.name for e in chosen for s in e.dataset if not s.is_user_data):
        datasets.fetch(name, progress=progress)
    suffixes = list(variants) or [""] * len(chosen)
    trials = [t for e, word in zip(chosen, suffixes, strict=True) for t in plan_trials(e, word)]
    once = {trial.id: trial for trial in reversed(trials)}
    planned = list(reversed(once.values()))
    return RunPlan(folder, chosen, planned, planned, smoke)


def list_trials_without_data(experiments: Sequence[Experiment]) -> list[Trial]:
    """Return one trial for each data set, sampler and number of features, without reading data."""
    return [
        Trial(e, dataset, "", sampler, M, 0)
        for e in experiments
        for dataset in e.dataset
        for sampler in e.samplers
        for M in e.sizes
    ]


def make_smoke_variant(experiment: Experiment) -> Experiment:
    """Return a small version of an experiment for a fast test run.

    The version has few rows, at most two numbers of features, one trial and small pools of
    features.
    """
    samplers = []
    for spec in experiment.samplers:
        parameters = dict(spec.parameters)
        for word, most in (("pool_size", SMOKE_POOL), ("score_rows", SMOKE_ROWS)):
            if type(parameters.get(word)) is int:
                parameters[word] = min(parameters[word], most)
        samplers.append(spec.model_copy(update={"parameters": parameters}))
    size = experiment.M
    if not isinstance(size, SameSizeAs):
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


def make_manifest(plan: RunPlan) -> dict[str, Any]:
    """Return the content of `manifest.json`, the file that describes a results folder.

    The file contains the configuration, versions, facts about the machine, hashes of the data, and
    the git commit.
    """
    first = plan.experiments[0]
    swept = any(trial.variant for trial in plan.planned)
    return {
        **({"changed": first.changed_settings} if first.changed_settings and not swept else {}),
        "config": first.model_dump(mode="json"),
        "variants": [e.model_dump(mode="json") for e in plan.experiments[1:]],
        "settings": sorted({trial.setting for trial in plan.planned}),
        "trials": [trial.id for trial in plan.planned],
        "smoke": plan.smoke,
        "data": {
            make_data_key(t.dataset.name, t.dataset.parameters): t.data_sha256 for t in plan.planned
        },
        "versions": environment.read_versions(),
        "code": source.hash_code(),
        "machines": {environment.hash_machine(): environment.describe_machine()},
        "git": environment.read_git_commit(),
        "written": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }
