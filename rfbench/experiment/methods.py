"""The sampler that a configuration names, built with what the experiment fixes for all of them."""

from __future__ import annotations

import inspect
from typing import Any

from rfbench import samplers
from rfbench.config import Experiment, SamplerSpec, resolve_parameters


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

    The experiment's kernel, bandwidth and map are passed to every sampler that takes them; the
    sampler's own parameters win.
    """
    own = resolve_parameters(spec.parameters, M=M, d=d, n=n)
    cls = samplers.sampler_class(spec.name)
    shared = {
        "n_components": M,
        "kernel": experiment.kernel,
        "bandwidth": experiment.bandwidth if bandwidth is None else bandwidth,
        "feature_map": experiment.feature_map,
        "random_state": random_state,
    }
    accepted = set(inspect.signature(cls.__init__).parameters)
    given = {key: value for key, value in shared.items() if key in accepted}
    return samplers.make(spec.name, **{**given, **own})
