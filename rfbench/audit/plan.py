"""From combinations of choices to experiments on what the target needs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import config
from rfbench.analysis.frame import JOINT
from rfbench.audit.choices import list_choices, parse_choice, select_options
from rfbench.audit.target import Target
from rfbench.config.schema import Experiment
from rfbench.config.specs import KeptBy, SamplerSpec
from rfbench.config.sweeps import Choices, apply_changes, get_settings, iterate_combinations
from rfbench.errors import ConfigError

CONFIGS = "configs"


@dataclass(frozen=True)
class Question:
    """What an audit is asked, as `rfbench audit` takes it."""

    config: Path
    target: Target
    run: str = ""  # of the configuration, if it has several
    vary: Sequence[str] = ()  # KEY=VALUES, in place of the known choices of the same names
    overrides: Sequence[str] = ()  # key.path=value, which closes a choice
    gaps: bool = False  # vary only the known choices that fill a gap of the paper's text
    trials: int = 2
    most: int = 300  # combinations; of more that can be run, so many are drawn at random
    allow_imports: bool = False

    @property
    def command(self) -> str:
        """The command that asks it, for a shell; without the folders above the configuration."""
        inside = self.config.resolve().parent.name == CONFIGS
        arguments = [
            "rfbench",
            "audit",
            f"{CONFIGS}/{self.config.name}" if inside else self.config.name,
        ]
        for option, value in {
            "target": self.target,
            "run": self.run,
            "gaps": self.gaps,
            "set": self.overrides,
            "vary": self.vary,
            "trials": self.trials,
            "most": self.most,
            "allow-imports": self.allow_imports,
        }.items():
            if value is True:
                arguments.append(f"--{option}")
            elif value:
                for item in value if isinstance(value, list | tuple) else (value,):
                    arguments += [f"--{option}", str(item)]
        return shlex.join(arguments)


@dataclass(frozen=True)
class Audit:
    """What an audit measures."""

    asked: Question
    target: Target  # with the numbers whose methods and sizes are measured
    choices: Choices  # those with a single option too
    grid: pd.DataFrame  # a line per combination, a column per choice: the name of the option
    experiments: list[Experiment]  # what each combination makes of the configuration
    refused: list[str] = field(default_factory=list)  # why an option or a combination cannot be run
    as_it_stands: int | None = None  # the line of `grid` that is the configuration itself

    @property
    def folder(self) -> str:
        """The name of the folder of its rows."""
        start = "gaps" if self.asked.gaps else "audit"
        return self.target.folder(self.target.methods, start, self.experiments[0].name)

    @property
    def variants(self) -> list[str]:
        """What each combination sets, ``key=option`` each."""
        lines = self.grid.to_dict("records")
        return [", ".join(f"{c}={o}" for c, o in line.items()) or "as configured" for line in lines]


def plan(asked: Question) -> Audit:
    """Return what to measure.

    Samplers and sizes of the configuration that the target has no numbers of are left out.

    ConfigError if the configuration is wrong or is not about the target, if a choice that is varied
    is fixed too or concerns no sampler of the target, or if no combination can be run.
    """
    # The options of ``--vary``, by choice: `_open` puts them in the place of the known ones. A key
    # that the configuration does not have is refused below, where each option is tried.
    vary: Choices = {}
    for text in asked.vary:
        choice, options = parse_choice(text, list_choices(asked.target))
        vary.setdefault(choice, {}).update(options)
    # A claim has no value: effects of free choices on it cannot be near or far.
    if asked.target.claim and not asked.gaps:
        raise ConfigError(
            f"{asked.target} is a claim, which no published number is near.",
            "Its effects are measured over what the paper does not print.",
            "Add --gaps.",
        )
    # Trials first, so that ``--set trials=`` of the user wins over the audit's own number.
    documents = config.read_documents(asked.config, [f"trials={asked.trials}", *asked.overrides])
    name, document = config.choose(asked.config, documents, asked.run)
    base = config.from_document(document, name, allow_imports=asked.allow_imports)
    specs = find_needed_samplers(base, asked.target)
    _check(base, specs, asked.target)
    # Restricted to methods that the configuration has: an audit of one method must not be called
    # incomplete for the others. The joint solver is a method whatever samplers it has.
    target = asked.target.of([JOINT] if base.solver.name == JOINT else list_sampler_names(specs))
    refused: dict[str, str] = {}

    def attempt(words: str, settings: Mapping[str, Any]) -> Experiment | None:
        try:
            new = apply_changes(document, name, settings, allow_imports=asked.allow_imports)
            return restrict_experiment(new, target)
        except ConfigError as error:  # noted and shown: a silent gap would look like a small effect
            refused[words] = f"{words}: {error}"
            return None

    # The configuration as it stands, to be found again among the combinations: effects of the
    # choices are differences from it. None if no combination equals it, or if the draw of `most`
    # combinations has left it out; then there are no differences.
    own = attempt("as configured", {})
    choices: Choices = {}
    for choice, options in _open(asked, vary, list_sampler_names(specs), target).items():
        for option, settings in options.items():
            # Each option by itself, with all else as configured. An option that needs another one
            # is left out here; `refused` has its message.
            if attempt(f"{choice} {option}", settings):
                choices.setdefault(choice, {})[option] = settings
            elif choice in vary:
                raise ConfigError(f"--vary {refused[f'{choice} {option}']}")
    # Each combination is validated once: `iterate_combinations` may ask for one in several draws.
    made: dict[tuple[str, ...], Experiment | None] = {}

    def runs(combination: Mapping[str, str]) -> bool:
        key = tuple(combination.values())
        if key not in made:
            made[key] = attempt(", ".join(key), get_settings(choices, combination))
        return made[key] is not None

    # At most ``most``, drawn without looking at results: a chosen subset would bias the share of
    # combinations that come near the published numbers.
    planned = iterate_combinations(choices, asked.most, runs)
    if not planned:
        why = next(iter(refused.values()))
        raise ConfigError("No combination of the choices can be run.", why)
    # In the order of the grid, so that the line number of one names the other.
    experiments = [each for key in planned if (each := made[tuple(key.values())])]
    # The numbers of sizes that are not measured are left out of the target: distances are over
    # sizes that every combination has, and no choice changes M. A method that keeps its own M has
    # any size.
    sizes = experiments[0].M
    met = target if isinstance(sizes, KeptBy) else target.of(target.methods, sizes)
    return Audit(
        asked,
        met,
        choices,
        pd.DataFrame(planned, columns=list(choices)),
        experiments,
        list(refused.values()),
        as_it_stands=experiments.index(own) if own in experiments else None,
    )


def find_needed_samplers(experiment: Experiment, target: Target) -> list[SamplerSpec]:
    """Return the samplers that the target has numbers of: by label, else by name."""
    # The joint solver's samplers are its pool, not methods of the paper.
    if experiment.solver.name == JOINT:
        return list(experiment.samplers) if JOINT in target.methods else []
    # By label first: two samplers of one name, under two labels, are two methods of the paper.
    labels = {spec.label for spec in experiment.samplers}
    return [
        spec
        for spec in experiment.samplers
        if spec.label in target.methods or (spec.name in target.methods and spec.name not in labels)
    ]


def list_sampler_names(specs: list[SamplerSpec]) -> list[str]:
    """Return what samplers may be called: their labels and names."""
    return [word for spec in specs for word in (spec.label, spec.name)]


def restrict_experiment(experiment: Experiment, target: Target) -> Experiment:
    """Leave out samplers and sizes that the target does not need, and extras without a verdict.

    ConfigError if the data are other ones than the target's, or no size is a published one.
    """
    for spec in experiment.dataset:
        target.check_data(spec.name)
    # A claim compares sizes with each other: all of them stay.
    sizes = experiment.M
    if target.claim:
        return experiment.model_copy(
            update={"samplers": find_needed_samplers(experiment, target), "checks": []}
        )
    # Sizes without a published number cost time and are near nothing. A number without a size
    # (None) may be of any of them.
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
        "samplers": find_needed_samplers(experiment, target),
        "M": sizes,
        "kernel_error_rows": None,
        "checks": [],
    }
    return experiment.model_copy(update=changes)


def _check(experiment: Experiment, specs: Sequence[SamplerSpec], target: Target) -> None:
    """Raise ConfigError if a configuration is not about the target, or measures nothing of it."""
    if experiment.paper != target.paper:
        raise ConfigError(
            f"{experiment.name} is not about {target.paper}.",
            f"Its paper is {experiment.paper or 'none'}.",
            f"Take a configuration of {target.paper}: `rfbench list configs`.",
        )
    if not specs:
        labels = [spec.label for spec in experiment.samplers]
        raise ConfigError(
            f"{experiment.name} measures no method of {target}.",
            f"Published are {', '.join(target.methods)}; it has {', '.join(labels)}.",
        )


def _open(asked: Question, vary: Choices, samplers: Sequence[str], target: Target) -> Choices:
    """Return the choices that are not fixed and concern what is measured."""
    # Fixed by ``--set``: to vary it all the same would undo what the user asked for.
    fixed = {text.partition("=")[0].strip() for text in asked.overrides}
    choices: Choices = {}
    for name, options in (list_choices(asked.target, asked.gaps) | vary).items():
        left = select_options(options, samplers)
        if name in vary and name in fixed:
            raise ConfigError(f"{name} is both fixed and varied.", "", "Take --set or --vary.")
        if name in vary and not left:
            raise ConfigError(
                f"--vary {name} concerns no sampler that is measured.",
                f"The target has numbers of {', '.join(target.methods)}.",
            )
        if left and name not in fixed:
            choices[name] = left
    return choices
