"""Construction of the samplers and the solver of an experiment.

Parameters of a method in the configuration override the settings that all methods share. All
functions raise MethodError if the method does not exist, or if it cannot be built with its
parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rfbench import plugins
from rfbench.config.schema import Experiment
from rfbench.config.specs import NO_SOLVER, BandwidthGrid, SamplerSpec
from rfbench.errors import MethodError
from rfbench.parameters import build_checked_object, list_init_parameters, resolve_parameters
from rfbench.registry import SAMPLERS, SOLVERS
from rfbench.samplers.base import RandomFeatures, uses_target
from rfbench.samplers.elsewhere import Method
from rfbench.solvers import ExternalSolver, Solver, find_solver_class
from rfbench.solvers.base import CHOOSE_WITHOUT_FOLDS
from rfbench.solvers.fitted_model import FittedModel, NoSolver


def describe_method(spec: SamplerSpec) -> Method:
    """Return the sampler class or object of a configuration entry, before it is built.

    The sampler is registered in rfbench, imported, or an object that was passed from Python.
    """
    if spec.given is not None:
        thing = spec.given.load()
    elif spec.imported:
        thing = plugins.load_object(spec.name, spec.folder)
    else:
        thing = SAMPLERS.find(spec.name)
    return Method(thing, spec.label, spec.parameters)


def get_sampler_properties(experiment: Experiment, spec: SamplerSpec) -> dict[str, bool]:
    """Return three properties of a sampler's class as a dictionary of booleans.

    ``has_bandwidth`` is True if the bandwidth of the kernel affects the features.
    ``looks_at_target`` is True if the features depend on the target. ``keeps_some`` is True if the
    sampler determines the number of features that it keeps.
    """
    method = describe_method(spec)
    asked = method.thing
    if not method.is_sampler:
        asked = make_sampler(experiment, spec, M=1, d=1, n=1, random_state=0, method=method)
    return {
        "has_bandwidth": method.has_bandwidth,
        "looks_at_target": uses_target(asked),
        "keeps_some": asked.keeps_some,
    }


def get_solver_properties(experiment: Experiment) -> dict[str, Any]:
    """Return two properties of the experiment's solver as a dictionary.

    ``selection`` is the method by which the solver selects the penalty. The value is 'fixed' if
    there is no solver, and for estimators outside rfbench. ``uses_features`` is True if the solver
    is fitted on features, and False if it is fitted on the rows themselves.
    """
    solver = make_solver_of_first_task(experiment)
    return {"selection": solver.resolve_selection(), "uses_features": solver.uses_features}


def make_solver_of_first_task(experiment: Experiment) -> FittedModel:
    """Return an unfitted solver of the experiment, to read its properties.

    The solver is built for the first task (classification or regression) that it supports.
    """
    tasks = SOLVERS.get(experiment.solver.name, {"classification": None})
    return make_solver(experiment, task=next(iter(tasks)), random_state=0)


def make_sampler(
    experiment: Experiment,
    spec: SamplerSpec,
    *,
    M: int,
    d: int,
    n: int,
    random_state: int,
    bandwidth: float | None = None,
    method: Method | None = None,
) -> RandomFeatures:
    """Return an unfitted sampler with M features, for n rows of d columns.

    If `bandwidth` is given, it replaces the bandwidth rule of the experiment. `method` is the
    result of `describe_method` for `spec`. With this argument, the sampler is not imported again.
    """
    method = method or describe_method(spec)
    shared = {
        "n_components": M,
        "random_state": random_state,
        "feature_map": experiment.feature_map,
        **_kernel(experiment, bandwidth),
    }
    own = resolve_parameters(spec.parameters, M=M, d=d, n=n)
    return method.build(shared, _with_threads(own, experiment) if spec.imported else own)


def make_solver(
    experiment: Experiment, *, task: str, random_state: int, bandwidth: float | None = None
) -> FittedModel:
    """Return the unfitted solver of the experiment for a task.

    `task` is 'classification' or 'regression'. An estimator outside rfbench gets only the random
    state, and is wrapped in an `ExternalSolver`.
    """
    spec = experiment.solver
    if spec.name == NO_SOLVER:
        return NoSolver()
    own = _with_threads(spec.parameters, experiment) if spec.imported else spec.list_arguments()
    if spec.imported:
        cls = plugins.load_class(spec.name, spec.folder)
    else:
        cls = find_solver_class(spec.name, task)
    if isinstance(experiment.bandwidth, BandwidthGrid) and issubclass(cls, Solver):
        own = {"selection": "cv5", **own}
    fixed: dict[str, Any] = {"random_state": random_state}
    if issubclass(cls, Solver):
        words = {**_taken(cls, fixed | _kernel(experiment, bandwidth)), **own}
        solver: Solver = build_checked_object(cls, spec.name, words)
        return solver
    if not (hasattr(cls, "fit") and hasattr(cls, "predict")):
        raise MethodError(
            f"{spec.name} is not an estimator.", "An estimator has the methods `fit` and `predict`."
        )
    estimator = build_checked_object(cls, spec.name, {**_taken(cls, fixed), **own})
    return ExternalSolver(
        estimator, classification=task == "classification", random_state=random_state
    )


def _with_threads(parameters: dict[str, Any], experiment: Experiment) -> dict[str, Any]:
    """Return a copy of the parameters in which `n_jobs` is the number of threads of a trial.

    The parameter is replaced only if it has a value.
    """
    some = parameters.get("n_jobs") is not None
    return {**parameters, "n_jobs": experiment.threads} if some else parameters


def has_selection_on_training_rows(experiment: Experiment) -> bool:
    """Return True if the solver selects its penalty on held-out rows of the training set.

    The held-out rows are a validation set or the folds of cross-validation. The result is False for
    leave-one-out selection.
    """
    return get_solver_properties(experiment)["selection"] not in CHOOSE_WITHOUT_FOLDS


def _kernel(experiment: Experiment, bandwidth: float | None) -> dict[str, Any]:
    rule: Any = experiment.bandwidth
    first = rule.cv[0] if isinstance(rule, BandwidthGrid) else rule
    return {"kernel": experiment.kernel, "bandwidth": first if bandwidth is None else bandwidth}


def _taken(cls: type[Any], fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of `fixed` whose keys are parameters of the constructor of `cls`."""
    return {
        word: value for word, value in fixed.items() if word in list_init_parameters(cls.__init__)
    }
