"""Plan of an audit: an experiment for each combination of the settings that a paper leaves open."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import aliases, config
from rfbench.analysis.frame import JOINT
from rfbench.audit.choices import drop_options_of_other_samplers, list_choice_options, parse_choice
from rfbench.audit.target import Target
from rfbench.config.schema import Experiment
from rfbench.config.specs import SameSizeAs, SamplerSpec
from rfbench.config.sweeps import Choices, apply_changes, get_settings, iterate_combinations
from rfbench.errors import ConfigError

CONFIGS = "configs"


@dataclass(frozen=True)
class AuditRequest:
    """Arguments of the command `rfbench audit`."""

    config: Path
    target: Target
    # name of the run to audit; needed only if the configuration defines several runs
    run: str = ""
    # arguments KEY=VALUES of the option --vary, which replace known choices with the same names
    vary: Sequence[str] = ()
    overrides: Sequence[str] = ()  # arguments key.path=value, whose keys are not varied
    gaps: bool = False  # True to vary only settings that the paper's text does not state
    trials: int = 2
    # Largest number of combinations of settings. If more combinations are possible, a random sample
    # is drawn.
    most: int = 300
    allow_imports: bool = False

    @property
    def command(self) -> str:
        """Shell command that repeats this audit, with a short path of the configuration file."""
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
    """Experiments of `rfbench audit`, one per combination of the settings that are varied."""

    asked: AuditRequest
    # published numbers or claim of the audit, restricted to the methods and sizes that are measured
    target: Target
    # maps each varied setting to its options, even if only one option can be run
    choices: Choices
    # table with a row per combination and a column per varied setting; the cells are names of
    # options
    grid: pd.DataFrame
    # experiments to run, one experiment per combination
    experiments: list[Experiment]
    # reasons why some options or combinations of options cannot be run
    refused: list[str] = field(default_factory=list)
    as_it_stands: int | None = None  # position of the unchanged configuration in `grid`

    @property
    def folder(self) -> str:
        """Name of the results folder of this audit."""
        start = "gaps" if self.asked.gaps else "audit"
        return self.target.make_folder_name(self.target.methods, start, self.experiments[0].name)

    @property
    def variants(self) -> list[str]:
        """Settings of each combination as text, such as ``scaling=none, split=cv5``."""
        lines = self.grid.to_dict("records")
        return [", ".join(f"{c}={o}" for c, o in line.items()) or "as configured" for line in lines]


def plan_audit(request: AuditRequest) -> Audit:
    """Return the experiments of `rfbench audit`, one per combination of the varied settings.

    Samplers and numbers of features without published numbers are omitted.

    Raises ConfigError if the configuration is invalid or does not measure the published numbers in
    `request`. The error is also raised if a setting is both varied and fixed, if a varied setting
    affects no sampler, or if no combination can be run.
    """
    # Read the options of the argument --vary, which replace known options in `_open`. A key that
    # the configuration does not have raises an error below, when its options are tried.
    vary: Choices = {}
    for text in request.vary:
        choice, options = parse_choice(text, list_choice_options(request.target))
        vary.setdefault(choice, {}).update(options)
    # A claim is not a number, so the distance between our results and the claim is not defined.
    if request.target.claim and not request.gaps:
        raise ConfigError(
            f"{request.target} is a claim, so the distance of a combination from it is "
            "not defined.",
            "For a claim, only unstated settings can be varied (--gaps).",
            "Add --gaps.",
        )
    # Put the default number of trials first. If the user has set a number with ``--set trials=``,
    # the later argument replaces the default.
    documents = config.read_run_documents(
        request.config, [f"trials={request.trials}", *request.overrides]
    )
    name, document = config.choose_run(request.config, documents, request.run)
    base = config.build_experiment(document, name, allow_imports=request.allow_imports)
    specs = _find_needed_samplers(base, request.target)
    _check(base, specs, request.target)
    # Restrict the target to the methods of the configuration. Otherwise an audit of one method
    # would count as incomplete if the paper has numbers of further methods. The joint solver counts
    # as one method, even with several samplers.
    target = request.target.restrict(
        [JOINT] if base.solver.name == JOINT else _list_sampler_names(specs)
    )
    refused: dict[str, str] = {}

    def attempt(words: str, settings: Mapping[str, Any]) -> Experiment | None:
        try:
            new = apply_changes(document, name, settings, allow_imports=request.allow_imports)
            return _restrict_experiment(new, target)
        # Record the error, which the report shows. If an option were omitted without a message, the
        # range of results would look smaller than the range of all options.
        except ConfigError as error:
            refused[words] = f"{words}: {error}"
            return None

    # Find the combination that is equal to the unchanged configuration. The effect of a choice is
    # the difference from this combination. If a random draw does not contain the combination, the
    # index `as_it_stands` is None and no differences are shown.
    own = attempt("as configured", {})
    choices: Choices = {}
    for choice, options in _open(request, vary, _list_sampler_names(specs), target).items():
        for option, settings in options.items():
            # Try each option alone, with all other settings unchanged. An option that works only
            # together with another option fails here, and the error is recorded in `refused`.
            if attempt(f"{choice} {option}", settings):
                choices.setdefault(choice, {})[option] = settings
            elif choice in vary:
                raise ConfigError(f"--vary {refused[f'{choice} {option}']}")
    # Cache of the validated combinations, because `iterate_combinations` may check a combination
    # more than once.
    made: dict[tuple[str, ...], Experiment | None] = {}

    def runs(combination: Mapping[str, str]) -> bool:
        key = tuple(combination.values())
        if key not in made:
            made[key] = attempt(", ".join(key), get_settings(choices, combination))
        return made[key] is not None

    # If there are more than ``most`` combinations, draw them at random and not by their results.
    # Otherwise the share of combinations near the published numbers would be biased.
    planned = iterate_combinations(choices, request.most, runs)
    if not planned:
        why = next(iter(refused.values()))
        raise ConfigError("No combination of the choices can be run.", why)
    # The experiments have the same order as the rows of the grid, so an index is valid for both.
    experiments = [each for key in planned if (each := made[tuple(key.values())])]
    # Restrict the target to the sizes that are measured, because a distance needs a measured value
    # for each number. All combinations have the same sizes, because no choice changes M. If a
    # method determines M itself, all sizes are kept.
    sizes = experiments[0].M
    met = target if isinstance(sizes, SameSizeAs) else target.restrict(target.methods, sizes)
    return Audit(
        request,
        met,
        choices,
        pd.DataFrame(planned, columns=list(choices)),
        experiments,
        list(refused.values()),
        as_it_stands=experiments.index(own) if own in experiments else None,
    )


def _find_needed_samplers(experiment: Experiment, target: Target) -> list[SamplerSpec]:
    """Return the samplers of an experiment whose methods have published numbers in `target`.

    A method is compared with the label of a sampler first, and then with its name.
    """
    # With the joint solver, the method of the paper is the solver. The samplers only provide
    # features.
    if experiment.solver.name == JOINT:
        return list(experiment.samplers) if JOINT in target.methods else []
    # Compare the labels first and the names of the samplers second. Two labels with the same
    # sampler are two different methods of the paper.
    labels = {spec.label for spec in experiment.samplers}
    return [
        spec
        for spec in experiment.samplers
        if spec.label in target.methods or (spec.name in target.methods and spec.name not in labels)
    ]


def _list_sampler_names(specs: list[SamplerSpec]) -> list[str]:
    """Return a list with the labels and the names of the given samplers."""
    return [word for spec in specs for word in (spec.label, spec.name)]


def _restrict_experiment(experiment: Experiment, target: Target) -> Experiment:
    """Return a copy of an experiment that measures only the published numbers in `target`.

    Samplers and numbers of features without published numbers are removed.

    Raises ConfigError if the experiment uses a different data set, or if the paper has no number
    for any of the experiment's numbers of features.
    """
    for spec in experiment.dataset:
        target.check_data_set(spec.name)
    # Keep all sizes, because a claim may compare sizes with each other.
    sizes = experiment.M
    if target.claim:
        return experiment.model_copy(
            update={"samplers": _find_needed_samplers(experiment, target), "checks": []}
        )
    # Measure only sizes with published numbers, because no distance can be computed for other
    # sizes. If the paper does not state the size of a number (None), any size may belong to the
    # number.
    published = {number.size for number in target.numbers}
    if not isinstance(sizes, SameSizeAs) and None not in published:
        sizes = [size for size in sizes if size in published]
        if not sizes:
            raise ConfigError(
                f"No M of {experiment.name} has a published number in {target}.",
                "The target has M = "
                f"{', '.join(dict.fromkeys(str(n.M) for n in target.numbers))}. The "
                f"configuration has {', '.join(map(str, experiment.M))}.",
            )
    changes = {
        "samplers": _find_needed_samplers(experiment, target),
        "M": sizes,
        "kernel_error_rows": None,
        "checks": [],
    }
    return experiment.model_copy(update=changes)


def _check(experiment: Experiment, specs: Sequence[SamplerSpec], target: Target) -> None:
    """Raise ConfigError if an experiment does not measure the paper and a method of `target`.

    `specs` are the samplers of the experiment that have published numbers.
    """
    if experiment.paper != target.paper:
        raise ConfigError(
            f"{experiment.name} is not a configuration of {target.paper}.",
            f"The paper of this configuration is {experiment.paper or 'none'}.",
            f"Use a configuration of {target.paper}. `rfbench list configs` lists all "
            "configurations.",
        )
    if not specs:
        labels = [spec.label for spec in experiment.samplers]
        raise ConfigError(
            f"{experiment.name} does not measure any method of {target}.",
            f"The target has {', '.join(target.methods)}. The configuration has "
            f"{', '.join(labels)}.",
        )


def _open(asked: AuditRequest, vary: Choices, samplers: Sequence[str], target: Target) -> Choices:
    """Return the settings that an audit varies, each with its values.

    `vary` has the settings that the user wants to vary. A setting is omitted if the user has fixed
    its value, or if the setting affects none of the `samplers`.

    Raises ConfigError if a setting in `vary` would be omitted.
    """
    # Do not vary settings that the user has fixed with the argument ``--set``.
    fixed = {aliases.resolve_path(text.partition("=")[0].strip()) for text in asked.overrides}
    choices: Choices = {}
    for name, options in (list_choice_options(asked.target, asked.gaps) | vary).items():
        left = drop_options_of_other_samplers(options, samplers)
        if name in vary and name in fixed:
            raise ConfigError(
                f"The key {name} is both fixed (--set) and varied (--vary).",
                "",
                "Use only one of the two options for this key.",
            )
        if name in vary and not left:
            raise ConfigError(
                f"--vary {name} does not affect any measured sampler.",
                f"The target has numbers for {', '.join(target.methods)}.",
            )
        if left and name not in fixed:
            choices[name] = left
    return choices
