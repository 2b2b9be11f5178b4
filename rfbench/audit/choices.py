"""Open choices: settings that a paper does not state, with the values to try."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rfbench import aliases, grids, papers
from rfbench.audit.target import Target
from rfbench.config.sweeps import Choices, Options
from rfbench.errors import ConfigError


def list_choice_options(target: Target, gaps: bool = False) -> Choices:
    """Return the options of each open choice of a target, by the name of the choice.

    The choices are read by `papers.list_open_choices`. A choice without options is left out. With
    `gaps`, choices whose options contradict the paper's text are left out. Without `gaps`, choices
    are left out that only ``rfbench audit --gaps`` varies.
    """
    choices = papers.list_open_choices(target.paper, target.items, target.dataset)
    names = set(papers.list_unstated_settings(target.paper) if gaps else choices)
    names -= set() if gaps else set(papers.list_unstated_settings(target.paper, apart=True))
    return {name: _options(name, opts) for name, opts in choices.items() if opts and name in names}


def parse_choice(text: str, named: Choices) -> tuple[str, Options]:
    """Parse ``KEY=VALUES`` into the name of a choice and its options.

    If the key is one of the `named` choices and all values are names of its options, these options
    are returned. Raises ConfigError if the key or the values are missing.
    """
    key, sign, values = text.partition("=")
    key = aliases.resolve_path(key.strip())
    if not sign or not key or not values.strip():
        raise ConfigError(
            f"--vary {text} does not have the form KEY.PATH=VALUES.",
            "",
            "Write for example --vary scaling=standard,minmax.",
        )
    options = named.get(key, {})
    values_given = [word.strip() for word in values.split(",")]
    if set(values_given) <= set(options):
        return key, {word: options[word] for word in values_given}
    return key, _options(key, grids.expand_grid_text(values))


def _options(name: str, options: Any) -> Options:
    if isinstance(options, dict):
        return {str(word): dict(keys) for word, keys in options.items()}
    return {_format_value(value): {name: value} for value in options}


def _format_value(value: Any) -> str:
    """Return a value as text, in the form in which a configuration contains it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def drop_options_of_other_samplers(options: Options, samplers: Sequence[str]) -> Options:
    """Return the options without settings of samplers that are not measured.

    Options without remaining settings are dropped. If several options become equal, the first is
    kept.
    """
    left: Options = {}
    for name, settings in options.items():
        kept = {
            key: value
            for key, value in settings.items()
            if not key.startswith("samplers.") or key.split(".")[1] in samplers
        }
        if kept and kept not in left.values():
            left[name] = kept
    return left
