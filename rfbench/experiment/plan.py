"""Planning: from an experiment to its trials, each with an identity and random seeds."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rfbench import datasets, papers, plugins, solvers
from rfbench._version import __version__
from rfbench.config.build import (
    describe_method,
    get_sampler_properties,
    get_solver_properties,
    has_selection_on_training_rows,
    make_solver_of_first_task,
)
from rfbench.config.schema import Experiment
from rfbench.config.specs import BandwidthGrid, DatasetSpec, SameSizeAs, SamplerSpec
from rfbench.experiment.environment import hash_machine
from rfbench.parameters import is_path
from rfbench.permissions import list_allowed_estimators
from rfbench.registry import SAMPLERS
from rfbench.solvers.folds import NESTED

# Version number that is hashed into every trial identity. The identity is a hash of all settings
# that affect a measurement, except settings with default values. If a default value changes, this
# version is incremented. If only one sampler or solver changes, its `revision` is incremented
# instead. The version is 1, by definition, until the first change.
IDENTITY_VERSION = 1
# Keys of a configuration that describe the experiment. These keys are not a part of the trial
# identity, because they do not affect any measurement.
DESCRIPTIVE = (
    *("name", "title", "description", "paper", "item", "protocol"),
    *("metric", "checks", "settings_from"),
)
# Key that is a part of a trial identity only if the key affects the measurement of this trial.
IN_FOLDS = "features_in_folds"
# All trials that use the same prepared rows form one job if there are at least this number of such
# jobs per worker. Otherwise the jobs are smaller. Chosen without a measurement. With three jobs per
# worker, the last worker is idle for at most a third of the time. With twice the value, the same
# rows would be prepared in more jobs.
JOBS_A_WORKER = 3
# Key that a worker adds to a result row if user code has changed the prepared rows in memory. The
# worker process is then not used for further trials.
RAN_USER_CODE = "spoiled"
LISTED = ("dataset", "samplers", "M", "trials")


def compute_digest(value: Any) -> str:
    """Return a hash of a JSON value with 16 hexadecimal digits."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Trial:
    """All settings that are needed to repeat one measurement."""

    # Settings that all trials of an experiment have in common: split, scaling, kernel, solver,
    # seed.
    experiment: Experiment
    dataset: DatasetSpec
    data_sha256: str
    sampler: SamplerSpec
    # Number of features. None means the number that the sampler in `experiment.M.kept_by` keeps.
    M: int | None
    number: int  # number of the trial, from 0, on which its random numbers depend
    variant: str = ""  # description of the varied settings, if other keys than M are varied

    @property
    def entry(self) -> datasets.Entry:
        """The entry of the data set in the catalog. A user's data set is identified by its hash."""
        spec = self.dataset
        return datasets.find_entry(spec.name, spec.parameters, spec.folder, self.data_sha256)

    @cached_property
    def setting(self) -> str:
        """Hash of everything that affects the measurement, except M and the trial number."""
        shared = self.experiment.model_dump(
            mode="json", exclude={*DESCRIPTIVE, *LISTED, IN_FOLDS}, exclude_defaults=True
        )
        shared["timing"] = "isolated"  # rows of versions before 0.2 have a different value
        if isinstance(self.experiment.bandwidth, BandwidthGrid) and not self.uses_bandwidth:
            shared["bandwidth"].pop("widen", None)
        sampler = make_sampler_identity(self.sampler)
        # `settings` contains different settings for each trial number. All of them are hashed
        # together, so that every trial of a method has the same hash.
        if given := self.settings:
            solver_keys = shared.pop("solver", {})
            solver_keys.pop("alphas", None)
            shared |= {"solver": solver_keys} if solver_keys else {}
            sampler["parameters"] = {
                key: value for key, value in sampler["parameters"].items() if key not in given[0]
            }
        identity = {
            "version": IDENTITY_VERSION,
            "shared": shared,
            # User data are identified by the hash of their content, because different files can
            # have the same name.
            "dataset": {} if self.dataset.is_user_data else self.dataset.model_dump(mode="json"),
            "data": self.data_sha256,
            "sampler": sampler,
        }
        if given:
            identity["settings"] = given
        if self.dataset.is_user_data and (preparation := self.entry.preparation):
            identity["preparation"] = preparation
        solver = self.experiment.solver
        revision = solvers.get_solver_revision(solver.name)
        if revision > 1:
            identity["solver_revision"] = revision
        if self.features_in_folds == NESTED:
            identity[IN_FOLDS] = NESTED
        if self.has_group_folds:
            identity["folds"] = "groups"
        if self.entry.equal_rows_together:
            identity["split"] = "equal rows together"
        if is_path(self.experiment.kernel):
            identity["kernel_code"] = plugins.hash_class_code(self.experiment.kernel)
        if solver.imported:
            identity["solver_code"] = plugins.hash_class_code(solver.name, solver.folder)
        return compute_digest(identity)

    @property
    def settings(self) -> tuple[dict[str, Any], ...]:
        """Settings that the authors of a paper used, one dictionary for each of their trials.

        The tuple is empty unless the configuration has the key `settings_from`.
        """
        name = self.experiment.settings_from
        return (
            papers.read_authors_settings(name, self.dataset.name, self.sampler.label)
            if name
            else ()
        )

    def with_number(self, number: int) -> Trial:
        """Return a copy of the trial with a different trial number.

        If the configuration has the key `settings_from`, the number also determines M, the penalty
        and the parameters of the sampler.
        """
        if not self.settings:
            trial = replace(self, number=number)
            # The hash `setting` does not depend on the trial number. Copy the hash to the new
            # trial, because computing the hash again would need a millisecond per trial.
            vars(trial)["setting"] = self.setting
            return trial
        parameters = dict(self.settings[number % len(self.settings)])
        M, alpha = parameters.pop("M", self.M), parameters.pop("alpha", None)
        experiment, sampler = self.experiment, self.sampler
        if alpha is not None:
            solver = experiment.solver.model_copy(update={"alphas": [alpha]})
            experiment = experiment.model_copy(update={"solver": solver})
        own = {"parameters": {**sampler.parameters, **parameters}}
        sampler = sampler.model_copy(update=own)
        return replace(self, experiment=experiment, sampler=sampler, M=M, number=number)

    @cached_property
    def id(self) -> str:
        """Hash that identifies the trial. The hash is the same on every machine."""
        size: Any = self.M
        if self.M is None:
            size = make_sampler_identity(self.reference)
        return compute_digest({"setting": self.setting, "M": size, "number": self.number})

    @cached_property
    def features_in_folds(self) -> str | None:
        """Method of fitting features while the penalty is selected: 'nested', 'once' or None.

        With 'nested', the features are fitted again for each held-out fold. With 'once', all folds
        share the features of the training set. The value is None if no training rows are held out,
        or if neither the features nor their number depend on the target.
        """
        if not self.uses_features or not has_selection_on_training_rows(self.experiment):
            return None
        specs = [self.sampler] if self.M is not None else [self.sampler, self.reference]
        looks = any(
            get_sampler_properties(self.experiment, spec)["looks_at_target"] for spec in specs
        )
        return self.experiment.features_in_folds if looks else None

    @property
    def has_group_folds(self) -> bool:
        """True if the penalty is selected on held-out rows, and groups of rows are not split."""
        entry = self.entry
        if not (entry.groups or entry.equal_rows_together):
            return False
        rows, _ = self.experiment.estimate_shape(self.dataset, entry)
        return make_solver_of_first_task(self.experiment).uses_held_out_rows(rows)

    @property
    def uses_features(self) -> bool:
        """True if the solver is fitted on features, and False if it is fitted on the rows."""
        return bool(get_solver_properties(self.experiment)["uses_features"])

    @property
    def uses_bandwidth(self) -> bool:
        """True if the bandwidth of the kernel affects the measurement."""
        if not self.uses_features:
            return True
        return get_sampler_properties(self.experiment, self.sampler)["has_bandwidth"]

    @property
    def code(self) -> str:
        """Names of the code outside rfbench that the trial imports, joined by semicolons.

        Estimators that need no permission (`list_allowed_estimators`) are not included.
        """
        kept_by = [self.reference] if self.M is None else []
        specs = (self.dataset, self.sampler, self.experiment.solver, *kept_by)
        names = {
            f"{s.folder or ''} {s.code}"
            for s in specs
            if s.code and s.code not in list_allowed_estimators()[0]
        }
        names |= {self.experiment.kernel} if is_path(self.experiment.kernel) else set()
        return "; ".join(sorted(names))

    @property
    def reference(self) -> SamplerSpec:
        """The sampler that determines the number of features (key ``kept_by`` of ``M``)."""
        kept_by = self.experiment.M
        assert isinstance(kept_by, SameSizeAs)
        return next(s for s in self.experiment.samplers if s.label == kept_by.kept_by)


def list_known_columns(trial: Trial) -> dict[str, Any]:
    """Return the columns of a trial's result row that are known before the measurement."""
    experiment, solver = trial.experiment, trial.experiment.solver
    name = trial.dataset.name
    fixed = len(solver.alphas) == 1 and not isinstance(experiment.bandwidth, BandwidthGrid)
    return {
        "trial_id": trial.id,
        "setting": trial.setting,
        "config": experiment.name,
        "protocol": experiment.protocol,
        "dataset": name if experiment.rows is None else f"{name}[{experiment.rows} rows]",
        "sampler": trial.sampler.name,
        "label": trial.sampler.label,
        "role": trial.sampler.role,
        "variant": trial.variant,
        "parameters": json.dumps(trial.sampler.parameters, sort_keys=True),
        "kernel": experiment.kernel,
        "bandwidth_rule": str(experiment.bandwidth),
        "feature_map": experiment.feature_map,
        "M": trial.M,
        "trial": trial.number,
        "solver": solver.name,
        "alpha_convention": solver.alpha_convention,
        "selection": solver.selection or ("fixed" if fixed else "cv5"),
        "intercept": solver.intercept,
        "split": json.dumps(experiment.split).strip('"'),
        "scaling": experiment.scaling,
        "dtype": experiment.dtype,
        "seed": experiment.seed,
        "timing": "isolated",
        "threads": experiment.threads,
        "machine": hash_machine(),
        "data_hash": trial.data_sha256,
        "version": __version__,
    }


def make_sampler_identity(spec: SamplerSpec) -> dict[str, Any]:
    """Return a dictionary that identifies a sampler by its name, parameters and imported code."""
    identity: dict[str, Any] = {"name": spec.name, "parameters": dict(spec.parameters)}
    if spec.imported:
        known = (
            spec.given.identity if spec.given else plugins.hash_class_code(spec.name, spec.folder)
        )
        identity["code"] = known
        method = describe_method(spec)
        if not method.is_sampler and method.has_bandwidth:
            # Before a change of rfbench, the parameters of a user-defined method referred to
            # bandwidth 1. This key gives new trials a different identity, so that new rows are not
            # mixed with old rows.
            identity["bandwidth"] = "length scale"
        return identity
    cls = SAMPLERS.find(spec.name)
    identity["parameters"] = {**cls.changed_defaults, **spec.parameters}
    if cls.revision > 1:
        identity["revision"] = cls.revision
    return identity


# Numbers of the purposes of random numbers, by definition. The number of a purpose is a part of the
# random seed. With different numbers, every published result would change.
RANDOM_ROLES = {
    "data": 0,
    "split": 1,
    "kernel rows": 2,
    "bandwidth": 3,
    "features": 4,
    "folds": 5,
    "globals": 6,
}


def _make_seed(seed: int, role: str, number: int) -> np.random.SeedSequence:
    """Return the numpy SeedSequence for one purpose (`role`) of random numbers in a trial.

    `RANDOM_ROLES` lists the purposes. All samplers with the same trial number have the same seeds,
    so that their errors can be compared in pairs.
    """
    return np.random.SeedSequence([seed, RANDOM_ROLES[role], number])


def make_generator(seed: int, role: str, number: int) -> np.random.Generator:
    """Return a random generator for one purpose (`role`) of random numbers in a trial.

    `RANDOM_ROLES` lists the purposes. `number` is the trial number.
    """
    return np.random.default_rng(_make_seed(seed, role, number))


def draw_integer_seed(seed: int, role: str, number: int) -> int:
    """Return an integer seed for one purpose (`role`) of random numbers in a trial.

    `RANDOM_ROLES` lists the purposes. `number` is the trial number.
    """
    return int(_make_seed(seed, role, number).generate_state(1, np.uint32)[0])


Job = tuple[Trial, ...]
"""Trials with the same prepared rows, which one worker runs one at a time."""


def plan_trials(experiment: Experiment, variant: str = "") -> list[Trial]:
    """Return all trials of an experiment, sorted by trial number.

    In this order, a run measures every method and size once before a measurement is repeated with
    the next trial number.
    """
    data = [
        (spec, datasets.hash_data(spec.name, spec.parameters, spec.folder))
        for spec in experiment.dataset
    ]
    first = [
        Trial(experiment, dataset, sha256, sampler, size, 0, variant)
        for dataset, sha256 in data
        for sampler in experiment.samplers
        for size in experiment.sizes
    ]
    return [trial.with_number(number) for number in range(experiment.trials) for trial in first]


def group_into_jobs(trials: list[Trial], n_jobs: int = 1) -> list[Job]:
    """Group trials into jobs, which are tuples of trials that one process runs in turn.

    A job contains all samplers and numbers of features for one data set and one trial number,
    because these trials share their prepared rows. If there are too few such jobs for `n_jobs`
    processes, each job contains a single sampler. Trials that import different code from outside
    rfbench are in different jobs.
    """
    # Code from outside rfbench may change global state, so trials of other methods must not run in
    # the same process. Trials are sorted by their code, so that a worker process has to be replaced
    # only once per class of outside code.
    trials = sorted(trials, key=lambda t: t.code)
    together = _gather(trials, lambda t: (t.code, t.dataset.model_dump_json(), t.variant, t.number))
    if len(together) >= JOBS_A_WORKER * n_jobs:
        return together
    return _gather(trials, lambda t: (t.setting, t.number))


def _gather(trials: Iterable[Trial], key: Callable[[Trial], Hashable]) -> list[Job]:
    gathered: dict[Hashable, list[Trial]] = {}
    for trial in trials:
        gathered.setdefault(key(trial), []).append(trial)
    return [tuple(group) for group in gathered.values()]
