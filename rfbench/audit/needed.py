"""What of a configuration a target needs."""

from __future__ import annotations

from rfbench.analysis.frame import JOINT
from rfbench.audit.choices import Choices, about
from rfbench.audit.target import Target
from rfbench.config import SHARED, Experiment, KeptBy, SamplerSpec
from rfbench.errors import ConfigError


def needed(experiment: Experiment, target: Target) -> list[SamplerSpec]:
    """Return the samplers that the target has numbers of: by label, else by name."""
    if experiment.solver.name == JOINT:
        return list(experiment.samplers) if JOINT in target.methods else []
    labels = {spec.label for spec in experiment.samplers}
    return [
        spec
        for spec in experiment.samplers
        if spec.label in target.methods or (spec.name in target.methods and spec.name not in labels)
    ]


def names(specs: list[SamplerSpec]) -> list[str]:
    """Return what samplers may be called: their labels and names."""
    return [word for spec in specs for word in (spec.label, spec.name)]


def reduced(experiment: Experiment, target: Target) -> Experiment:
    """Leave out the samplers and sizes that the target does not need, and what it does not judge.

    Raises
    ------
    ConfigError
        If the data are other ones than the target's, or no size is among the published ones.
    """
    for spec in experiment.dataset:
        target.check_data(spec.name)
    sizes = experiment.M
    published = {number.size for number in target.numbers}
    if not isinstance(sizes, KeptBy) and None not in published:
        sizes = [size for size in sizes if size in published]
        if not sizes:
            raise ConfigError(
                f"{experiment.name} has no size of {target}.",
                f"Published are M = {', '.join(dict.fromkeys(str(n.M) for n in target.numbers))}; "
                f"it has {', '.join(map(str, experiment.M))}.",
            )
    changes = {
        "samplers": needed(experiment, target),
        "M": sizes,
        "timing": SHARED,
        "kernel_error_rows": None,
        "checks": [],
    }
    return experiment.model_copy(update=changes)


def idle(choices: Choices, target: Target, experiment: Experiment) -> list[str]:
    """Return the names of the choices that no number that chooses can depend on."""
    choosing, _ = target.halves()
    specs = needed(experiment, target.of([target.numbers[i].method for i in choosing]))
    if isinstance(experiment.M, KeptBy):  # then this sampler decides how many features all have
        specs += [spec for spec in experiment.samplers if spec.label == experiment.M.kept_by]
    return [
        name
        for name, options in choices.items()
        if len(options) > 1 and len(about(options, names(specs))) < 2
    ]
