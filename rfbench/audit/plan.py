"""From combinations of choices to experiments on what the target needs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import config, yamlfile
from rfbench.analysis.frame import JOINT
from rfbench.audit.choices import Choices, about, combinations, known, size
from rfbench.audit.needed import idle, names, needed, reduced
from rfbench.audit.target import Target
from rfbench.config import Experiment, KeptBy
from rfbench.config.overrides import assign
from rfbench.errors import ConfigError, nearest

Read = Callable[[Mapping[str, Any]], Experiment]  # with some settings


@dataclass(frozen=True)
class Audit:
    """What an audit measures.

    Attributes
    ----------
    target : Target
        With the numbers whose methods and sizes are measured.
    choices : dict of Options
        Those with a single option too: they are fixed, see `varied`.
    grid : DataFrame
        One line per combination, one column per choice: the name of the option.
    experiments : list of Experiment
        What each combination makes of the configuration.
    refused : list of str
        Why an option or a combination cannot be run, one line each.
    drawn : bool
        Whether the combinations are a random part of those that there are.
    config : str
        Name of the configuration.
    overrides : list of str
        ``key.path=value`` each, what was set for all combinations.
    as_it_stands : int or None
        The line of `grid` that is the configuration itself, with what was set, if one is.
    idle : list of str
        Names of the choices that concern no sampler of the numbers that choose.
    """

    target: Target
    choices: Choices
    grid: pd.DataFrame
    experiments: list[Experiment]
    refused: list[str] = field(default_factory=list)
    drawn: bool = False
    config: str = ""
    overrides: list[str] = field(default_factory=list)
    as_it_stands: int | None = None
    idle: list[str] = field(default_factory=list)

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
    allow_imports: bool = False,
) -> Audit:
    """Return what to measure for a target.

    Parameters
    ----------
    path : Path
        The configuration; its samplers and sizes that the target has no numbers of are left out,
        and sizes share their work where all methods can.
    overrides : sequence of str
        ``key.path=value`` each; a key that is set is no open choice.
    varied : dict of Options
        In place of the known choices of the same names, or beside them.
    most : int
        The largest number of combinations; of more that can be run, so many are drawn at random.
    run : str
        The run of the configuration; without it, the only one that fits the target.

    Raises
    ------
    ConfigError
        If the configuration is wrong or is not about the target, if a choice that is varied is
        fixed too, concerns no sampler of the target or has an option that cannot be run, or if no
        combination can be run.
    """
    varied = varied or {}
    fixed = [text.partition("=")[0].strip() for text in overrides]
    base, read = _fitting(path, target, overrides, run, "dataset" in varied, allow_imports)
    samplers = names(needed(base, target))
    target = target.of([JOINT] if base.solver.name == JOINT else samplers)
    if not {"dataset", "M"} & set(varied):
        reduced(base, target)
    attempts = _Attempts(read, target)
    choices = attempts.runnable(_open(target, samplers, fixed, varied), varied)
    found = combinations(choices, most, lambda each: attempts.runs(choices, each))
    if not found:
        raise ConfigError("No combination of the choices can be run.", attempts.refused[0])
    experiments = [attempts.made[tuple(each.values())] for each in found]
    sizes = experiments[0].M
    met = target if isinstance(sizes, KeptBy) else target.of(target.methods, sizes)
    return Audit(
        met,
        choices,
        pd.DataFrame(found, columns=list(choices)),
        experiments,
        attempts.refused,
        drawn=len(found) + len(attempts.failed) < size(choices),
        config=base.name,
        overrides=[t for t, key in zip(overrides, fixed, strict=True) if key != "trials"],
        as_it_stands=_as_it_stands(base, target, experiments),
        idle=idle(choices, met, experiments[0]),
    )


def _fitting(
    path: Path,
    target: Target,
    overrides: Sequence[str],
    run: str,
    any_data: bool,
    allow_imports: bool,
) -> tuple[Experiment, Read]:
    """Return the run of this name, or the only one about the target, and what changes it."""
    found = config.documents(path, overrides)
    chosen = dict([config.choose(path, found, run)]) if run else found
    fitting: dict[str, tuple[Experiment, Read]] = {}
    refused = []
    for name, document in chosen.items():
        read = partial(_changed, document, name, allow_imports)
        try:
            base = read({})
            _check_paper(base, target)
            for spec in [] if any_data else base.dataset:
                target.check_data(spec.name)
        except ConfigError as error:
            refused.append(error)
        else:
            fitting[name] = base, read
    if not fitting:
        raise refused[0]
    name, _ = config.choose(path, {name: found[name] for name in fitting}, run)
    return fitting[name]


def _changed(
    document: yamlfile.Document, name: str, allow_imports: bool, settings: Mapping[str, Any]
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
    target: Target, samplers: Sequence[str], fixed: Collection[str], varied: Choices
) -> Choices:
    """Return the choices that are not fixed and concern what is measured."""
    choices: Choices = {}
    for name, options in (known(target) | varied).items():
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


class _Attempts:
    """Combinations made into what is needed of their experiments, each once."""

    def __init__(self, read: Read, target: Target) -> None:
        self.read, self.target = read, target
        self.made: dict[tuple[str, ...], Experiment] = {}
        self.refused: list[str] = []
        self.failed: set[tuple[str, ...]] = set()

    def runnable(self, choices: Choices, asked: Collection[str]) -> Choices:
        """Return the choices with the options that can be run alone.

        Raises
        ------
        ConfigError
            If one of the choices that were asked for has an option that cannot be run.
        """
        left: Choices = {}
        for name, options in choices.items():
            for option, settings in options.items():
                try:
                    reduced(self.read(settings), self.target)
                except ConfigError as error:
                    if name in asked:
                        raise
                    self.refused.append(f"{name} {option}: {error.what}")
                else:
                    left.setdefault(name, {})[option] = settings
        return left

    def runs(self, choices: Choices, combination: Mapping[str, str]) -> bool:
        """Whether the combination can be run; keeps its experiment, or the reason."""
        key = tuple(combination.values())
        if key not in self.made and key not in self.failed:
            settings = [choices[name][option] for name, option in combination.items()]
            try:
                merged = {key: value for each in settings for key, value in each.items()}
                self.made[key] = reduced(self.read(merged), self.target)
            except ConfigError as error:
                self.failed.add(key)
                self.refused.append(f"{', '.join(key)}: {error.what}")
        return key in self.made


def _as_it_stands(
    base: Experiment, target: Target, experiments: Sequence[Experiment]
) -> int | None:
    """Return the place of the combination that leaves the configuration as it is."""
    try:
        own = reduced(base, target)
    except ConfigError:  # data or M are varied, and the configuration has none of the target
        return None
    return next((i for i, each in enumerate(experiments) if each == own), None)
