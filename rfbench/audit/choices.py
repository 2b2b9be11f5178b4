"""The choices that a paper leaves open, and their combinations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rfbench import grids, papers
from rfbench.audit.target import Target
from rfbench.errors import ConfigError

# By the name of an option: the keys of the configuration that it sets.
Options = dict[str, dict[str, Any]]
Choices = dict[str, Options]


def known(target: Target) -> dict[str, Options]:
    """Return the choices that are known to be open for a target, by name.

    They stand in the ``open_choices.yaml`` of the paper; what is more special wins, choice by
    choice, and an empty list takes a choice away.
    """
    found: dict[str, Any] = {}
    entries = papers.open_choices()
    for place in sorted(entries, key=lambda place: place.count("/")):
        if target.lies_in(place):
            found |= entries[place]
    return {name: _options(name, options) for name, options in found.items() if options}


def varied(texts: Sequence[str], target: Target) -> dict[str, Options]:
    """Read several ``KEY=VALUES``, see `given`; ConfigError if a key is there twice."""
    found: dict[str, Options] = {}
    for text in texts:
        name, options = given(text, known(target))
        if name in found:
            raise ConfigError(
                f"{name} is varied twice.",
                "",
                f"Write its values in one: --vary {name}=a,b.",
            )
        found[name] = options
    return found


def given(text: str, named: Choices) -> tuple[str, Options]:
    """Read ``KEY=VALUES`` as the name of a choice and its options.

    Parameters
    ----------
    text : str
    named : dict of Options
        The known choices; where the key is one of them and the values are names of its options,
        they are picked from it.

    Raises
    ------
    ConfigError
        If there is no key or no value.
    """
    key, sign, values = text.partition("=")
    key = key.strip()
    if not sign or not key or not values.strip():
        raise ConfigError(
            f"--vary {text} is not KEY.PATH=VALUES.", "", "Write --vary scaling=standard,minmax."
        )
    options = named.get(key, {})
    words = [word.strip() for word in values.split(",")]
    if set(words) <= set(options):
        return key, {word: options[word] for word in words}
    return key, _options(key, grids.expand(values))


def _options(name: str, options: Any) -> Options:
    if isinstance(options, dict):
        return {str(word): dict(keys) for word, keys in options.items()}
    return {written(value): {name: value} for value in options}


def written(value: Any) -> str:
    """Write a value as in a configuration."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def about(options: Options, samplers: Sequence[str]) -> Options:
    """Return options without the settings of samplers that are not there; they may all go.

    Of options that are then the same the first stays.
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


def size(choices: Choices) -> int:
    """Return the number of combinations."""
    return math.prod(map(len, choices.values()))


def combinations(
    choices: Choices,
    most: int,
    runs: Callable[[dict[str, str]], bool] = lambda combination: True,
    seed: int = 0,
) -> list[dict[str, str]]:
    """Return every combination that can be run, or so many of them drawn at random.

    Parameters
    ----------
    choices : dict of Options
    most : int
        If there are more combinations than this, they are drawn without replacement until so
        many can be run, or none is left.
    runs : callable
        Whether a combination, the name of an option by choice, can be run; it may be asked more
        than once.
    seed : int
        Of the draw.
    """
    total = size(choices)
    shape = [len(options) for options in choices.values()]

    def at(place: int) -> dict[str, str]:
        picked = zip(choices.items(), np.unravel_index(place, shape), strict=True)
        return {name: list(options)[int(i)] for (name, options), i in picked}

    drawn = min(most, total)
    while True:
        draw = np.random.default_rng(seed).choice
        places = range(total) if total <= most else draw(total, drawn, replace=False).tolist()
        found = list(itertools.islice((i for i in places if runs(at(i))), most))
        if len(found) == most or drawn == total:
            return [at(i) for i in sorted(found)]
        drawn = min(total, 2 * drawn)
