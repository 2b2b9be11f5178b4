"""The methods of an experiment, built with what it fixes for all of them.

What the configuration says of a method wins over what is fixed for all. Each raises MethodError if
there is no such method, or it cannot be built with these parameters.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from rfbench import plugins
from rfbench.config.expressions import resolve_parameters
from rfbench.config.schema import BandwidthGrid, Experiment, SamplerSpec
from rfbench.errors import MethodError
from rfbench.parameters import build
from rfbench.registry import SAMPLERS
from rfbench.samplers import RandomFeatures
from rfbench.solvers import ExternalSolver, Solver, solver_class


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
    cls = plugins.load_class(spec.name, spec.folder) if spec.imported else SAMPLERS.find(spec.name)
    fixed: dict[str, Any] = {"n_components": M, "random_state": random_state}
    if issubclass(cls, RandomFeatures):
        fixed |= _kernel(experiment, bandwidth) | {"feature_map": experiment.feature_map}
    elif not (hasattr(cls, "fit") and hasattr(cls, "transform")):
        raise MethodError(f"{spec.name} is not a transformer.", "It has no fit and transform.", "")
    own = resolve_parameters(spec.parameters, M=M, d=d, n=n)
    return build(cls, spec.label, {**_taken(cls, fixed), **own})


def solver_of(
    experiment: Experiment, *, task: str, random_state: int, bandwidth: float | None = None
) -> Any:
    """Return the unfitted solver for a task ('classification' or 'regression').

    An estimator from elsewhere takes the random state only.
    """
    spec = experiment.solver
    own = spec.parameters if spec.imported else spec.keywords()
    if isinstance(experiment.bandwidth, BandwidthGrid):
        own = {"selection": "cv5", **own}
    cls = plugins.load_class(spec.name, spec.folder) if spec.imported else None
    if spec.imported:
        cls = plugins.load_class(spec.name, spec.folder)
    else:
        cls = solver_class(spec.name, task)
    fixed: dict[str, Any] = {"random_state": random_state}
    if issubclass(cls, Solver):
        return build(cls, spec.name, {**_taken(cls, fixed | _kernel(experiment, bandwidth)), **own})
    if not (hasattr(cls, "fit") and hasattr(cls, "predict")):
        raise MethodError(f"{spec.name} is not an estimator.", "It has no fit and predict.")
    estimator = build(cls, spec.name, {**_taken(cls, fixed), **own})
    return ExternalSolver(estimator, classification=task == "classification")


def _kernel(experiment: Experiment, bandwidth: float | None) -> dict[str, Any]:
    rule: Any = experiment.bandwidth
    first = rule.cv[0] if isinstance(rule, BandwidthGrid) else rule
    return {"kernel": experiment.kernel, "bandwidth": first if bandwidth is None else bandwidth}


def _taken(cls: type[Any], fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the constructor takes of it."""
    accepted = inspect.signature(cls.__init__).parameters
    return {word: value for word, value in fixed.items() if word in accepted}
