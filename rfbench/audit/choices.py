"""Settings that a paper leaves open, with the values that `rfbench audit` tries for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rfbench import aliases, grids, papers
from rfbench.audit.target import Target
from rfbench.config.sweeps import Choices, Options
from rfbench.errors import ConfigError


def list_choice_options(target: Target, gaps: bool = False) -> Choices:
    """Return the settings that a paper leaves open, each with the values that an audit can try.

    An audit runs a configuration with different values of such settings. The result maps the name
    of a setting to its values. `target` has the published numbers of the audit. If `gaps` is True,
    settings whose values would contradict the text of the paper are omitted. If `gaps` is False,
    settings that only ``rfbench audit --gaps`` varies are omitted.
    """
    choices = papers.list_open_choices(target.paper, target.items, target.dataset)
    names = set(papers.list_unstated_settings(target.paper) if gaps else choices)
    names -= set() if gaps else set(papers.list_unstated_settings(target.paper, apart=True))
    return {name: _options(name, opts) for name, opts in choices.items() if opts and name in names}


def parse_choice(text: str, named: Choices) -> tuple[str, Options]:
    """Parse a string ``KEY=VALUES`` into the name of a setting and the values to try.

    `named` maps a known setting to its named values. If the string contains a known setting and
    only names of its values, these values are returned.

    Raises ConfigError if the key or the values are missing.
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
    """Return a value as it is written in a configuration, such as ``true`` for True."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def drop_options_of_other_samplers(options: Options, samplers: Sequence[str]) -> Options:
    """Remove the settings of samplers that are not in `samplers` from each option.

    An option is a set of settings to try. Options without remaining settings are dropped. If
    several options become equal, only the first is kept.
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
