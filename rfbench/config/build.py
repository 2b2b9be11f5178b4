"""The methods of an experiment, built with what it fixes for all of them."""

from __future__ import annotations

from typing import Any

from rfbench import methods
from rfbench.config.expressions import resolve_parameters
from rfbench.config.schema import BandwidthGrid, Experiment, SamplerSpec


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

    A bandwidth replaces the experiment's rule. See `rfbench.methods.build_sampler`.
    """
    return methods.build_sampler(
        spec.name,
        resolve_parameters(spec.parameters, M=M, d=d, n=n),
        {
            "n_components": M,
            "kernel": experiment.kernel,
            "bandwidth": _first(experiment) if bandwidth is None else bandwidth,
            "feature_map": experiment.feature_map,
            "random_state": random_state,
        },
        label=spec.label,
        imported=spec.imported,
        folder=spec.folder,
    )


def solver_of(
    experiment: Experiment, *, task: str, random_state: int, bandwidth: float | None = None
) -> Any:
    """Return the unfitted solver for a task, see `rfbench.methods.build_solver`."""
    spec = experiment.solver
    keywords = spec.parameters if spec.imported else spec.keywords()
    if isinstance(experiment.bandwidth, BandwidthGrid):
        keywords = {"selection": "cv5", **keywords}
    return methods.build_solver(
        spec.name,
        keywords,
        {
            "kernel": experiment.kernel,
            "bandwidth": _first(experiment) if bandwidth is None else bandwidth,
            "random_state": random_state,
        },
        task=task,
        imported=spec.imported,
        folder=spec.folder,
    )


def _first(experiment: Experiment) -> float | str:
    rule = experiment.bandwidth
    return rule.cv[0] if isinstance(rule, BandwidthGrid) else rule
