"""From combinations of choices to experiments on what the target needs."""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import config, yamlfile
from rfbench.analysis.frame import JOINT
from rfbench.audit.choices import Choices, about, combinations, known, size
from rfbench.audit.target import Target
from rfbench.config import SHARED, Experiment, KeptBy, SamplerSpec
from rfbench.config.overrides import assign
from rfbench.errors import ConfigError, nearest


@dataclass(frozen=True)
class Audit:
    """What an audit measures."""

    target: Target  # with the numbers whose methods and sizes are measured
    choices: Choices  # those with a single option too: they are fixed, see `varied`
    grid: pd.DataFrame  # a line per combination, a column per choice: the name of the option
    experiments: list[Experiment]  # what each combination makes of the configuration
    refused: list[str] = field(default_factory=list)  # why an option or a combination cannot be run
    drawn: bool = False  # whether the combinations are a random part of those that there are
    config: str = ""  # name of the configuration
    overrides: list[str] = field(default_factory=list)  # key.path=value, set for all combinations
    as_it_stands: int | None = None  # the line of `grid` that is the configuration itself
    idle: list[str] = field(default_factory=list)  # choices that no number that chooses depends on
    gaps: bool = False  # whether only what the paper does not print is varied

    @property
    def varied(self) -> list[str]:
        """The choices that have several options."""
        return [name for name, options in self.choices.items() if len(options) > 1]

    @property
    def fixed(self) -> list[str]:
        """What was set, and the choices that have a single option, as ``key=value``."""
        single = [f"{c}={''.join(o)}" for c, o in self.choices.items() if len(o) == 1]
        return [*self.overrides, *single]

    @property
    def folder(self) -> str:
        """The name of the folder of its rows."""
        return self.target.folder(self.target.methods, "gaps" if self.gaps else "audit")

    @property
    def variants(self) -> list[str]:
        """What each combination sets, ``key=option`` each."""
        lines = self.grid.to_dict("records")
        return [", ".join(f"{c}={o}" for c, o in line.items()) or "as configured" for line in lines]

    @property
    def absent(self) -> list[tuple[str, str]]:
        """The choices with an option that no combination has."""
        every = [(name, option) for name, options in self.choices.items() for option in options]
        return [(name, option) for name, option in every if option not in set(self.grid[name])]


def plan(
    path: Path,
    target: Target,
    *,
    overrides: Sequence[str] = (),
    varied: Choices | None = None,
    most: int = 500,
    run: str = "",
    gaps: bool = False,
    allow_imports: bool = False,
) -> Audit:
    """Return what to measure for a target.

    Samplers and sizes of the configuration that the target has no numbers of are left out, and
    sizes share their work where all methods can. The `overrides`, ``key.path=value`` each, close
    choices; the `varied` ones come in place of the known choices of the same names, or beside them.
    Of more than `most` combinations that can be run so many are drawn at random. `run` names the
    run of the configuration, without it the only one that fits the target; with `gaps`, only the
    known choices that fill a gap of the paper's text are open.

    ConfigError if the configuration is wrong or is not about the target, if a choice that is varied
    is fixed too, concerns no sampler of the target or has an option that cannot be run, or if no
    combination can be run.
    """
    varied = varied or {}
    fixed = [text.partition("=")[0].strip() for text in overrides]
    base, document = _fitting(path, target, overrides, run, "dataset" in varied, allow_imports)
    samplers = names(needed(base, target))
    target = target.of([JOINT] if base.solver.name == JOINT else samplers)
    if not {"dataset", "M"} & set(varied):
        reduced(base, target)
    made: dict[tuple[str, ...], Experiment] = {}
    failed: dict[tuple[str, ...], str] = {}
    refused: list[str] = []

    def experiment(settings: Mapping[str, Any]) -> Experiment:
        return reduced(_changed(document, base.name, settings, allow_imports), target)

    choices: Choices = {}
    for name, options in _open(known(target, gaps), target, samplers, fixed, varied).items():
        for option, settings in options.items():
            try:
                experiment(settings)
            except ConfigError as error:
                if name in varied:
                    raise
                refused.append(f"{name} {option}: {error.what}")
            else:
                choices.setdefault(name, {})[option] = settings

    def runs(combination: Mapping[str, str]) -> bool:
        key = tuple(combination.values())
        if key not in made and key not in failed:
            settings = [choices[name][option] for name, option in combination.items()]
            try:
                made[key] = experiment({k: value for each in settings for k, value in each.items()})
            except ConfigError as error:
                failed[key] = f"{', '.join(key)}: {error.what}"
        return key in made

    found = combinations(choices, most, runs)
    refused += failed.values()
    if not found:
        raise ConfigError("No combination of the choices can be run.", refused[0])
    experiments = [made[tuple(each.values())] for each in found]
    sizes = experiments[0].M
    met = target if isinstance(sizes, KeptBy) else target.of(target.methods, sizes)
    return Audit(
        met,
        choices,
        pd.DataFrame(found, columns=list(choices)),
        experiments,
        refused,
        drawn=len(found) + len(failed) < size(choices),
        config=base.name,
        overrides=[t for t, key in zip(overrides, fixed, strict=True) if key != "trials"],
        as_it_stands=_as_it_stands(base, target, experiments),
        idle=idle(choices, met, experiments[0]),
        gaps=gaps,
    )


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

    ConfigError if the data are other ones than the target's, or no size is a published one.
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


def _fitting(
    path: Path,
    target: Target,
    overrides: Sequence[str],
    run: str,
    any_data: bool,
    allow_imports: bool,
) -> tuple[Experiment, yamlfile.Document]:
    """Return the run of this name, or the only one about the target, with its document."""
    found = config.documents(path, overrides)
    chosen = dict([config.choose(path, found, run)]) if run else found
    fitting: dict[str, Experiment] = {}
    refused = []
    for name, document in chosen.items():
        try:
            base = _changed(document, name, {}, allow_imports)
            _check_paper(base, target)
            for spec in [] if any_data else base.dataset:
                target.check_data(spec.name)
        except ConfigError as error:
            refused.append(error)
        else:
            fitting[name] = base
    if not fitting:
        raise refused[0]
    name, document = config.choose(path, {name: found[name] for name in fitting}, run)
    return fitting[name], document


def _changed(
    document: yamlfile.Document, name: str, settings: Mapping[str, Any], allow_imports: bool
) -> Experiment:
    changed = copy.deepcopy(document)
    for key, value in settings.items():
        assign(changed, key, value, f"{key}={value}")
    return config.from_document(changed, name, allow_imports=allow_imports)


def _check_paper(experiment: Experiment, target: Target) -> None:
    if experiment.paper != target.paper:
        raise ConfigError(
            f"{experiment.name} is not about {target.paper}.",
            f"Its paper is {experiment.paper or 'none'}.",
            f"Take a configuration of {target.paper}: `rfbench list configs`.",
        )
    if not needed(experiment, target):
        labels = [spec.label for spec in experiment.samplers]
        raise ConfigError(
            f"{experiment.name} measures no method of {target}.",
            f"Published are {', '.join(target.methods)}; it has {', '.join(labels)}."
            f"{nearest(labels[0], target.methods)}",
        )


def _open(
    named: Choices,
    target: Target,
    samplers: Sequence[str],
    fixed: Collection[str],
    varied: Choices,
) -> Choices:
    """Return the choices that are not fixed and concern what is measured."""
    choices: Choices = {}
    for name, options in (named | varied).items():
        left = about(options, samplers)
        if name in varied and name in fixed:
            raise ConfigError(f"{name} is both fixed and varied.", "", "Take --set or --vary.")
        if name in varied and not left:
            raise ConfigError(
                f"--vary {name} concerns no sampler that is measured.",
                f"The target has numbers of {', '.join(target.methods)}.",
            )
        if left and name not in fixed:
            choices[name] = left
    return choices


def _as_it_stands(
    base: Experiment, target: Target, experiments: Sequence[Experiment]
) -> int | None:
    """Return the place of the combination that leaves the configuration as it is."""
    try:
        own = reduced(base, target)
    except ConfigError:  # data or M are varied, and the configuration has none of the target
        return None
    return next((i for i, each in enumerate(experiments) if each == own), None)
