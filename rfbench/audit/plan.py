"""From combinations of choices to experiments on what the target needs."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rfbench import config, yamlfile
from rfbench.audit.choices import Choice, Combination, about, combinations, known
from rfbench.audit.target import Target
from rfbench.config import SHARED, Experiment, KeptBy
from rfbench.config.overrides import assign, override
from rfbench.errors import ConfigError, nearest
from rfbench.report.evidence import JOINT


@dataclass(frozen=True)
class Tried:
    """A combination with the experiment that it makes of the configuration."""

    combination: Combination
    experiment: Experiment


@dataclass(frozen=True)
class Audit:
    """What an audit measures.

    Attributes
    ----------
    target : Target
        With the numbers whose methods and sizes are measured.
    choices : list of Choice
    tried : list of Tried
    refused : list of str
        Why a combination cannot be, one line each.
    drawn_of : int
        The number of combinations that there are, of which the audit has all or a random part.
    """

    target: Target
    choices: list[Choice]
    tried: list[Tried]
    refused: list[str]
    drawn_of: int


def plan(
    path: Path,
    target: Target,
    *,
    overrides: Sequence[str] = (),
    varied: Sequence[Choice] = (),
    most: int = 500,
    allow_imports: bool = False,
) -> Audit:
    """Return what to measure for a target.

    Parameters
    ----------
    path : Path
        The configuration; its samplers and sizes that the target has no numbers of are left out,
        and all is measured with shared timing.
    overrides : sequence of str
        ``key.path=value`` each; a key that is set is no open choice.
    varied : sequence of Choice
        In place of the known choices of the same names, or beside them.
    most : int
        The largest number of combinations; more are drawn at random.

    Raises
    ------
    ConfigError
        If the configuration is wrong or is not about the target, if a choice is fixed too or
        concerns no sampler of the target, or if no combination can be run.
    """
    base = config.read(path, overrides, allow_imports=allow_imports)
    _check_paper(base, target)
    needed = _needed(base, target)
    samplers = [word for spec in needed for word in (spec.label, spec.name)]
    target = target.of([JOINT] if base.solver.name == JOINT else samplers)
    choices = known(target) | {choice.name: choice for choice in varied}
    for text in overrides:
        key = text.partition("=")[0].strip()
        if key in {choice.name for choice in varied}:
            raise ConfigError(
                f"{key} is both fixed and varied.", "", "Take --set or --vary for it."
            )
        choices.pop(key, None)
    open_ones = []
    for choice in choices.values():
        left = about(choice, samplers)
        if left is None and choice in varied:
            raise ConfigError(
                f"--vary {choice.name} concerns no sampler that is measured.",
                f"The target has numbers of {', '.join(target.methods)}.",
            )
        if left is not None:
            open_ones.append(left)
    document = yamlfile.load(path)
    for text in overrides:
        override(document, text)
    tried: list[Tried] = []
    refused: list[str] = []
    drawn_of = 1
    for choice in open_ones:
        drawn_of *= len(choice.options)
    for combination in combinations(open_ones, most):
        changed = copy.deepcopy(document)
        try:
            for option in combination:
                for key, value in option.settings:
                    assign(changed, key, value, f"{key}={value}")
            experiment = config.from_document(changed, base.name, allow_imports=allow_imports)
            tried.append(Tried(combination, _reduced(experiment, target)))
        except ConfigError as error:
            words = ", ".join(option.name for option in combination)
            refused.append(f"{words}: {error.what}")
    if not tried:
        raise ConfigError("No combination of the choices can be run.", refused[0])
    sizes = tried[0].experiment.M
    met = target if isinstance(sizes, KeptBy) else target.of(target.methods, sizes)
    return Audit(met, open_ones, tried, refused, drawn_of)


def _check_paper(experiment: Experiment, target: Target) -> None:
    if experiment.paper != target.paper:
        raise ConfigError(
            f"{experiment.name} is not about {target.paper}.",
            f"Its paper is {experiment.paper or 'none'}.",
            f"Take a configuration of {target.paper}: `rfbench list configs`.",
        )
    if not _needed(experiment, target):
        raise ConfigError(
            f"{experiment.name} measures no method of {target}.",
            f"Published are {', '.join(target.methods)}; it has "
            f"{', '.join(spec.label for spec in experiment.samplers)}."
            f"{nearest(experiment.samplers[0].label, target.methods)}",
        )


def _needed(experiment: Experiment, target: Target) -> list[config.SamplerSpec]:
    """Return the samplers that the target has numbers of: by label, else by name."""
    if experiment.solver.name == JOINT:
        return list(experiment.samplers) if JOINT in target.methods else []
    labels = {spec.label for spec in experiment.samplers}
    return [
        spec
        for spec in experiment.samplers
        if spec.label in target.methods or (spec.name in target.methods and spec.name not in labels)
    ]


def _reduced(experiment: Experiment, target: Target) -> Experiment:
    """Leave out what the target does not need."""
    sizes = experiment.M
    published = {number.size for number in target.numbers}
    if not isinstance(sizes, KeptBy) and None not in published:
        kept = [size for size in sizes if size in published]
        if not kept:
            raise ConfigError(
                f"{experiment.name} has no size of {target}.",
                f"Published are M = {', '.join(str(n.M) for n in target.numbers)}.",
            )
        sizes = kept
    changes = {
        "samplers": _needed(experiment, target),
        "M": sizes,
        "timing": SHARED,
        "kernel_error_rows": None,
        "checks": [],
    }
    return experiment.model_copy(update=changes)
