"""From combinations of choices to experiments on what the target needs."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rfbench import config, yamlfile
from rfbench.audit.choices import Choice, Combination, about, combinations, count, known
from rfbench.audit.needed import idle, needed, reduced
from rfbench.audit.target import Target
from rfbench.config import Experiment, KeptBy
from rfbench.config.overrides import assign
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
        Those with a single option too: they are fixed, see `varied`.
    tried : list of Tried
    refused : list of str
        Why an option or a combination cannot be run, one line each.
    drawn_of : int
        The number of combinations of the options that can be run alone.
    drawn : bool
        Whether those that are tried are a random part of them.
    config : str
        Name of the configuration.
    overrides : list of str
        ``key.path=value`` each, what was set for all combinations.
    as_it_stands : Combination or None
        The one that is the configuration itself, with what was set; None if it is not tried.
    idle : list of str
        Names of the choices that concern no sampler of the numbers that choose.
    """

    target: Target
    choices: list[Choice]
    tried: list[Tried]
    refused: list[str]
    drawn_of: int
    drawn: bool = False
    config: str = ""
    overrides: list[str] = field(default_factory=list)
    as_it_stands: Combination | None = None
    idle: list[str] = field(default_factory=list)

    @property
    def varied(self) -> list[Choice]:
        """The choices that have several options."""
        return [choice for choice in self.choices if len(choice.options) > 1]

    @property
    def fixed(self) -> list[str]:
        """What was set, and the choices that have a single option, as ``key=value``."""
        single = [choice for choice in self.choices if len(choice.options) == 1]
        return [*self.overrides, *(f"{c.name}={c.options[0].name}" for c in single)]


def plan(
    path: Path,
    target: Target,
    *,
    overrides: Sequence[str] = (),
    varied: Sequence[Choice] = (),
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
    varied : sequence of Choice
        In place of the known choices of the same names, or beside them.
    most : int
        The largest number of combinations; of more that can be run, so many are drawn at random.
    run : str
        The run of the configuration; without it, the only one that fits the target.

    Raises
    ------
    ConfigError
        If the configuration is wrong or is not about the target, if a choice that is varied is
        so twice, is fixed too, concerns no sampler of the target or has an option that cannot be
        run, or if no combination can be run.
    """
    _check_fixed_or_varied(overrides, varied)
    names = {choice.name for choice in varied}
    base, document = _fitting(path, target, overrides, run, names, allow_imports)
    samplers = [word for spec in needed(base, target) for word in (spec.label, spec.name)]
    target = target.of([JOINT] if base.solver.name == JOINT else samplers)
    if "M" not in names:
        reduced(base, target)
    attempts = _Attempts(document, base.name, target, allow_imports)
    open_ones = _runnable(_open(target, samplers, overrides, varied), names, attempts)
    tried = [attempts.tried[c] for c in combinations(open_ones, most, attempts.runs)]
    if not tried:
        raise ConfigError("No combination of the choices can be run.", attempts.lines[0])
    sizes = tried[0].experiment.M
    met = target if isinstance(sizes, KeptBy) else target.of(target.methods, sizes)
    total = count(open_ones)
    drawn = len(tried) + len(attempts.refused) < total
    return Audit(
        met,
        open_ones,
        tried,
        attempts.lines,
        total,
        drawn,
        config=base.name,
        overrides=[text for text in overrides if _key(text) != "trials"],
        as_it_stands=_as_it_stands(base, target, tried),
        idle=idle(open_ones, met, tried[0].experiment),
    )


def _fitting(
    path: Path,
    target: Target,
    overrides: Sequence[str],
    run: str,
    varied: Collection[str],
    allow_imports: bool,
) -> tuple[Experiment, yamlfile.Document]:
    """Return the run of this name, or the only one that is about the target."""
    found = config.documents(path, overrides)
    chosen = dict([config.choose(path, found, run)]) if run else found
    fitting, refused = [], []
    for name, document in chosen.items():
        try:
            base = config.from_document(document, name, allow_imports=allow_imports)
            _check_paper(base, target)
            for spec in base.dataset if "dataset" not in varied else ():
                target.check_data(spec.name)
        except ConfigError as error:
            refused.append(error)
        else:
            fitting.append((base, document))
    if not fitting:
        raise refused[0]
    if len(fitting) > 1:
        config.choose(path, {base.name: document for base, document in fitting})
    return fitting[0]


def _key(text: str) -> str:
    return text.partition("=")[0].strip()


def _as_it_stands(base: Experiment, target: Target, tried: Sequence[Tried]) -> Combination | None:
    """Return the combination that leaves the configuration as it is."""
    try:
        own = reduced(base, target)
    except ConfigError:  # M is varied, and the configuration has no size of the target
        return None
    return next((each.combination for each in tried if each.experiment == own), None)


@dataclass
class _Attempts:
    """Combinations made into experiments, each once.

    Attributes
    ----------
    tried : dict of Combination to Tried
    refused : set of Combination
    lines : list of str
        Why an option or a combination cannot be run.
    """

    document: yamlfile.Document
    name: str
    target: Target
    allow_imports: bool
    tried: dict[Combination, Tried] = field(default_factory=dict)
    refused: set[Combination] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)

    def make(self, combination: Combination) -> Tried:
        """Return the combination with its experiment, or raise ConfigError."""
        changed = copy.deepcopy(self.document)
        for option in combination:
            for key, value in option.settings:
                assign(changed, key, value, f"{key}={value}")
        experiment = config.from_document(changed, self.name, allow_imports=self.allow_imports)
        return Tried(combination, reduced(experiment, self.target))

    def runs(self, combination: Combination) -> bool:
        """Whether the combination can be run; keeps its experiment, or the reason."""
        if combination not in self.tried and combination not in self.refused:
            try:
                self.tried[combination] = self.make(combination)
            except ConfigError as error:
                self.refused.add(combination)
                words = ", ".join(option.name for option in combination)
                self.lines.append(f"{words}: {error.what}")
        return combination in self.tried


def _check_fixed_or_varied(overrides: Sequence[str], varied: Sequence[Choice]) -> None:
    fixed = {_key(text) for text in overrides}
    seen: set[str] = set()
    for choice in varied:
        if choice.name in fixed:
            raise ConfigError(
                f"{choice.name} is both fixed and varied.", "", "Take --set or --vary for it."
            )
        if choice.name in seen:
            raise ConfigError(
                f"{choice.name} is varied twice.",
                "",
                f"Write its values in one: --vary {choice.name}=a,b.",
            )
        seen.add(choice.name)


def _open(
    target: Target, samplers: Sequence[str], overrides: Sequence[str], varied: Sequence[Choice]
) -> list[Choice]:
    """Return the choices that are not fixed and concern what is measured."""
    choices = known(target) | {choice.name: choice for choice in varied}
    for text in overrides:
        choices.pop(_key(text), None)
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
    return open_ones


def _runnable(
    choices: Sequence[Choice], varied: Collection[str], attempts: _Attempts
) -> list[Choice]:
    """Return the choices with the options that can be run alone.

    Raises
    ------
    ConfigError
        If one of the choices that were asked for has an option that cannot be run.
    """
    kept = []
    for choice in choices:
        options = []
        for option in choice.options:
            try:
                attempts.make((option,))
            except ConfigError as error:
                if choice.name in varied:
                    raise
                attempts.lines.append(f"{choice.name} {option.name}: {error.what}")
            else:
                options.append(option)
        if options:
            kept.append(Choice(choice.name, tuple(options)))
    return kept


def _check_paper(experiment: Experiment, target: Target) -> None:
    if experiment.paper != target.paper:
        raise ConfigError(
            f"{experiment.name} is not about {target.paper}.",
            f"Its paper is {experiment.paper or 'none'}.",
            f"Take a configuration of {target.paper}: `rfbench list configs`.",
        )
    if not needed(experiment, target):
        raise ConfigError(
            f"{experiment.name} measures no method of {target}.",
            f"Published are {', '.join(target.methods)}; it has "
            f"{', '.join(spec.label for spec in experiment.samplers)}."
            f"{nearest(experiment.samplers[0].label, target.methods)}",
        )
