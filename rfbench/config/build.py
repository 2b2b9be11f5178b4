"""The methods of an experiment, built with what it fixes for all of them.

What the configuration says of a method wins over what is fixed for all. Each raises MethodError if
there is no such method, or it cannot be built with these parameters.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from rfbench import plugins
from rfbench.config.schema import NO_SOLVER, BandwidthGrid, Experiment, SamplerSpec
from rfbench.errors import MethodError
from rfbench.parameters import build, taken_by
from rfbench.registry import SAMPLERS, SOLVERS
from rfbench.samplers import RandomFeatures
from rfbench.samplers.base import looks_at_target
from rfbench.solvers import ExternalSolver, Solver, solver_class
from rfbench.solvers.base import LOO

COUNTS = ("n_components", "pool_size", "score_rows", "base_size")
_EXPRESSION = re.compile(r"(?:((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e-?[0-9]+)?)\s*\*\s*)?([Mdn])")


def class_of(spec: SamplerSpec) -> Any:
    """Return the class of a sampler, registered or imported."""
    return plugins.load_class(spec.name, spec.folder) if spec.imported else SAMPLERS.find(spec.name)


def answers_of(experiment: Experiment, spec: SamplerSpec) -> dict[str, bool]:
    """Return what a sampler's class says of itself on which its trials depend.

    ``has_bandwidth``: whether the bandwidth changes what is measured; ``looks_at_target``, see
    `rfbench.samplers.base.looks_at_target`; ``keeps_some``: whether it decides how many features
    there are. An imported class is asked like a registered one.
    """
    cls = class_of(spec)
    asked = cls
    if not hasattr(cls, "needs_target"):
        asked = sampler_of(experiment, spec, M=1, d=1, n=1, random_state=0)
    return {
        "has_bandwidth": bool(getattr(cls, "has_bandwidth", False)),
        "looks_at_target": looks_at_target(asked),
        "keeps_some": bool(getattr(cls, "keeps_some", False)),
    }


def solver_answers(experiment: Experiment) -> dict[str, Any]:
    """Return what the experiment's solver says of itself on which its trials depend.

    ``selection``: how it chooses, see `rfbench.solvers.Solver`; 'fixed' where there is no solver,
    and of an estimator from elsewhere. ``uses_features``: whether it sees the features; otherwise
    the rows themselves. An imported class is asked as a sampler's is, see `answers_of`.
    """
    spec = experiment.solver
    if spec.name == NO_SOLVER:
        return {"selection": "fixed", "uses_features": True}
    tasks = SOLVERS.get(spec.name, {"classification": None})
    solver = solver_of(experiment, task=next(iter(tasks)), random_state=0)
    own = isinstance(solver, Solver)
    return {
        "selection": str(solver.chosen_selection()) if own else "fixed",
        "uses_features": bool(getattr(solver, "uses_features", True)),
    }


def sampler_of(
    experiment: Experiment,
    spec: SamplerSpec,
    *,
    M: int,
    d: int,
    n: int,
    random_state: int,
    bandwidth: float | None = None,
) -> Any:
    """Return an unfitted sampler with M features for n rows of d columns.

    A bandwidth replaces the experiment's rule. A transformer from elsewhere takes M and the random
    state only.
    """
    cls = class_of(spec)
    fixed: dict[str, Any] = {"n_components": M, "random_state": random_state}
    if issubclass(cls, RandomFeatures):
        fixed |= _kernel(experiment, bandwidth) | {"feature_map": experiment.feature_map}
    elif not (hasattr(cls, "fit") and hasattr(cls, "transform")):
        raise MethodError(f"{spec.name} is not a transformer.", "It has no fit and transform.", "")
    own = resolve_parameters(spec.parameters, M=M, d=d, n=n)
    own = _with_threads(own, experiment) if spec.imported else own
    return build(cls, spec.label, {**_taken(cls, fixed), **own})


def solver_of(
    experiment: Experiment, *, task: str, random_state: int, bandwidth: float | None = None
) -> Any:
    """Return the unfitted solver for a task ('classification' or 'regression').

    An estimator from elsewhere takes the random state only.
    """
    spec = experiment.solver
    own = _with_threads(spec.parameters, experiment) if spec.imported else spec.keywords()
    if spec.imported:
        cls = plugins.load_class(spec.name, spec.folder)
    else:
        cls = solver_class(spec.name, task)
    if isinstance(experiment.bandwidth, BandwidthGrid) and issubclass(cls, Solver):
        own = {"selection": "cv5", **own}
    fixed: dict[str, Any] = {"random_state": random_state}
    if issubclass(cls, Solver):
        return build(cls, spec.name, {**_taken(cls, fixed | _kernel(experiment, bandwidth)), **own})
    if not (hasattr(cls, "fit") and hasattr(cls, "predict")):
        raise MethodError(f"{spec.name} is not an estimator.", "It has no fit and predict.")
    estimator = build(cls, spec.name, {**_taken(cls, fixed), **own})
    return ExternalSolver(
        estimator, classification=task == "classification", random_state=random_state
    )


def _with_threads(parameters: dict[str, Any], experiment: Experiment) -> dict[str, Any]:
    """Return parameters with the threads of a trial for the `n_jobs` that were written."""
    some = parameters.get("n_jobs") is not None
    return {**parameters, "n_jobs": experiment.threads} if some else parameters


def chooses_on_training_rows(experiment: Experiment) -> bool:
    """Tell whether training rows that are held out choose: by validation or in folds.

    Not so those that are left out one by one: features that look at the target are refused there.
    """
    return solver_answers(experiment)["selection"] not in ("fixed", "test", LOO)


def _kernel(experiment: Experiment, bandwidth: float | None) -> dict[str, Any]:
    rule: Any = experiment.bandwidth
    first = rule.cv[0] if isinstance(rule, BandwidthGrid) else rule
    return {"kernel": experiment.kernel, "bandwidth": first if bandwidth is None else bandwidth}


def _taken(cls: type[Any], fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the constructor takes of it."""
    return {word: value for word, value in fixed.items() if word in taken_by(cls.__init__)}


def resolve_parameters(parameters: Mapping[str, Any], *, M: int, d: int, n: int) -> dict[str, Any]:
    """Replace `M`, `d`, `n` and multiples such as `10*M` or `0.01*d` by their numbers.

    Numbers of things (a pool's size, rows) are rounded. What is no finite number stays text, which
    the method refuses.
    """
    numbers = {"M": M, "d": d, "n": n}

    def value_of(key: str, value: Any) -> Any:
        match = _EXPRESSION.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            return value
        product = float(match[1] or 1) * numbers[match[2]]
        if not math.isfinite(product):
            return value
        return round(product) if key in COUNTS or product == int(product) else product

    return {key: value_of(key, value) for key, value in parameters.items()}
