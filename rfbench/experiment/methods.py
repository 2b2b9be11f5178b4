"""The methods that a configuration names, built with what the experiment fixes for all of them."""

from __future__ import annotations

import inspect
from typing import Any

from rfbench import plugins, samplers, solvers
from rfbench.config import SHARED, Experiment, SamplerSpec, resolve_parameters
from rfbench.errors import MethodError
from rfbench.experiment.plan import Trial
from rfbench.parameters import build, build_foreign


def build_sampler(
    experiment: Experiment,
    spec: SamplerSpec,
    *,
    M: int,
    d: int,
    n: int,
    random_state: int,
    bandwidth: float | None = None,
) -> Any:
    """Return an unfitted sampler with M features for rows of d columns.

    The experiment's kernel, bandwidth and map are passed to every sampler of rfbench that takes
    them; a transformer from elsewhere gets n_components and random_state where its constructor has
    them. The sampler's own parameters win.
    """
    own = resolve_parameters(spec.parameters, M=M, d=d, n=n)
    if spec.imported:
        cls = plugins.load_class(spec.name, spec.folder)
    else:
        cls = samplers.sampler_class(spec.name)
    shared = {
        "n_components": M,
        "kernel": experiment.kernel,
        "bandwidth": experiment.bandwidth if bandwidth is None else bandwidth,
        "feature_map": experiment.feature_map,
        "random_state": random_state,
    }
    if not issubclass(cls, samplers.RandomFeatures):
        if not (hasattr(cls, "fit") and hasattr(cls, "transform")):
            raise MethodError(
                f"{spec.name} is not a transformer.", "It has no fit and transform.", ""
            )
        shared = {word: shared[word] for word in ("n_components", "random_state")}
    accepted = set(inspect.signature(cls.__init__).parameters)
    given = {key: value for key, value in shared.items() if key in accepted}
    if not issubclass(cls, samplers.RandomFeatures):
        return build_foreign(cls, spec.label, {**given, **own})
    sampler = build(cls, spec.label, {**given, **own})
    sampler.check_parameters()
    return sampler


def build_solver(
    experiment: Experiment, *, task: str, random_state: int, bandwidth: float | None = None
) -> Any:
    """Return the unfitted solver for a task ('classification' or 'regression').

    The experiment's kernel and bandwidth are passed to the solvers that take them (the exact
    kernel methods); the solver's own parameters win. An estimator from elsewhere gets random_state
    where its constructor has it.
    """
    spec = experiment.solver
    if spec.imported:
        cls = plugins.load_class(spec.name, spec.folder)
    else:
        cls = solvers.solver_class(spec.name, task)
    shared = {
        "kernel": experiment.kernel,
        "bandwidth": experiment.bandwidth if bandwidth is None else bandwidth,
        "random_state": random_state,
    }
    accepted = inspect.signature(cls.__init__).parameters
    if issubclass(cls, solvers.Solver):
        given = {key: value for key, value in shared.items() if key in accepted}
        solver = build(cls, spec.name, {**given, **spec.keywords()})
        solver.check_parameters()
        return solver
    if not (hasattr(cls, "fit") and hasattr(cls, "predict")):
        raise MethodError(f"{spec.name} is not an estimator.", "It has no fit and predict.")
    given = {"random_state": random_state} if "random_state" in accepted else {}
    estimator = build_foreign(cls, spec.name, {**given, **spec.parameters})
    return solvers.ExternalSolver(estimator, classification=task == "classification")


def shares_work(trial: Trial) -> bool:
    """Tell whether the sizes of the trial's sampler share their work.

    They do, unless the configuration asks for isolated timing, if every sampler of the experiment
    can: shared times are upper bounds, and beside a time that is none they would mislead.
    """
    experiment = trial.experiment
    return experiment.timing == SHARED and trial.M is not None and not without_prefixes(experiment)


def without_prefixes(experiment: Experiment) -> list[str]:
    """Return the labels of the samplers whose sizes have no work in common.

    The others have the prefix property, and none of their parameters follows M.
    """
    return [spec.label for spec in experiment.samplers if not _has_prefixes(spec)]


def _has_prefixes(spec: SamplerSpec) -> bool:
    if spec.imported or not getattr(samplers.sampler_class(spec.name), "has_prefixes", False):
        return False
    small, large = (resolve_parameters(spec.parameters, M=M, d=1, n=1) for M in (7, 11))
    return small == large
