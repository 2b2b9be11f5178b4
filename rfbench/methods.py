"""Samplers and solvers, built from plain values: ours by their names, others by an import path."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rfbench import plugins, samplers, solvers
from rfbench.errors import MethodError
from rfbench.parameters import build, build_foreign
from rfbench.registry import SAMPLERS


def build_sampler(
    name: str,
    parameters: Mapping[str, Any],
    shared: Mapping[str, Any],
    *,
    label: str = "",
    imported: bool = False,
    folder: Path | None = None,
) -> Any:
    """Return an unfitted sampler by its published name, or by an import path (`imported`).

    The parameters are the sampler's own; they win over the shared ones, which all samplers get that
    take them: n_components, kernel, bandwidth, feature_map and random_state. A transformer from
    elsewhere gets n_components and random_state only. A message calls the sampler by its label, or
    else its name. A file of code is looked for in `folder` first. MethodError if there is no such
    sampler, or it cannot be built with these parameters.
    """
    cls = plugins.load_class(name, folder) if imported else SAMPLERS.find(name)
    if issubclass(cls, samplers.RandomFeatures):
        sampler = build(cls, label or name, {**_taken(cls, shared), **parameters})
        sampler.check_parameters()
        return sampler
    if not (hasattr(cls, "fit") and hasattr(cls, "transform")):
        raise MethodError(f"{name} is not a transformer.", "It has no fit and transform.", "")
    common = {word: shared[word] for word in ("n_components", "random_state")}
    return build_foreign(cls, label or name, {**_taken(cls, common), **parameters})


def build_solver(
    name: str,
    parameters: Mapping[str, Any],
    shared: Mapping[str, Any],
    *,
    task: str,
    imported: bool = False,
    folder: Path | None = None,
) -> Any:
    """Return an unfitted solver for a task ('classification' or 'regression').

    The parameters are those of `build_sampler`. Shared are kernel, bandwidth (for the exact kernel
    methods) and random_state; an estimator from elsewhere gets random_state only.
    """
    cls = plugins.load_class(name, folder) if imported else solvers.solver_class(name, task)
    if issubclass(cls, solvers.Solver):
        solver = build(cls, name, {**_taken(cls, shared), **parameters})
        solver.check_parameters()
        return solver
    if not (hasattr(cls, "fit") and hasattr(cls, "predict")):
        raise MethodError(f"{name} is not an estimator.", "It has no fit and predict.")
    common = {"random_state": shared["random_state"]}
    estimator = build_foreign(cls, name, {**_taken(cls, common), **parameters})
    return solvers.ExternalSolver(estimator, classification=task == "classification")


def _taken(cls: type[Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the shared parameters that the constructor has."""
    accepted = inspect.signature(cls.__init__).parameters
    return {word: value for word, value in shared.items() if word in accepted}
