"""What of a configuration a target needs."""

from __future__ import annotations

from collections.abc import Sequence

from rfbench import config
from rfbench.audit.choices import Choice, about
from rfbench.audit.target import Target
from rfbench.config import SHARED, Experiment, KeptBy
from rfbench.errors import ConfigError
from rfbench.report.evidence import JOINT


def needed(experiment: Experiment, target: Target) -> list[config.SamplerSpec]:
    """Return the samplers that the target has numbers of: by label, else by name."""
    if experiment.solver.name == JOINT:
        return list(experiment.samplers) if JOINT in target.methods else []
    labels = {spec.label for spec in experiment.samplers}
    return [
        spec
        for spec in experiment.samplers
        if spec.label in target.methods or (spec.name in target.methods and spec.name not in labels)
    ]


def reduced(experiment: Experiment, target: Target) -> Experiment:
    """Leave out what the target does not need."""
    sizes = experiment.M
    published = {number.size for number in target.numbers}
    if not isinstance(sizes, KeptBy) and None not in published:
        kept = [size for size in sizes if size in published]
        if not kept:
            raise ConfigError(
                f"{experiment.name} has no size of {target}.",
                f"Published are M = {', '.join(dict.fromkeys(str(n.M) for n in target.numbers))}; "
                f"it has {', '.join(map(str, sizes))}.",
            )
        sizes = kept
    changes = {
        "samplers": needed(experiment, target),
        "M": sizes,
        "timing": SHARED,
        "kernel_error_rows": None,
        "checks": [],
    }
    return experiment.model_copy(update=changes)


def idle(choices: Sequence[Choice], target: Target, experiment: Experiment) -> list[str]:
    """Return the names of the choices that no number that chooses can depend on."""
    choosing, _ = target.halves()
    specs = needed(experiment, target.of([target.numbers[i].method for i in choosing]))
    if isinstance(experiment.M, KeptBy):  # then this sampler decides how many features all have
        specs += [spec for spec in experiment.samplers if spec.label == experiment.M.kept_by]
    samplers = [word for spec in specs for word in (spec.label, spec.name)]
    left = {c.name: about(c, samplers) for c in choices if len(c.options) > 1}
    return [name for name, choice in left.items() if choice is None or len(choice.options) == 1]
