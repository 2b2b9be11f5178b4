"""The choices that a paper leaves open, and their combinations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rfbench import grids, papers
from rfbench.audit.target import Target
from rfbench.errors import ConfigError


@dataclass(frozen=True)
class Option:
    """One way to decide a choice: its name, and the keys of the configuration that it sets."""

    name: str
    settings: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Choice:
    """Something that a paper leaves open."""

    name: str
    options: tuple[Option, ...]


Combination = tuple[Option, ...]


def known(target: Target) -> dict[str, Choice]:
    """Return the choices that are known to be open for a target, by name.

    They stand in the ``open_choices.yaml`` of the paper; what is more special wins, choice by
    choice, and an empty list takes a choice away.
    """
    found: dict[str, Choice] = {}
    entries = papers.open_choices()
    for place in sorted(entries, key=lambda place: place.count("/")):
        if target.lies_in(place):
            for name, options in entries[place].items():
                found[name] = _choice(name, options)
    return {name: choice for name, choice in found.items() if choice.options}


def given(text: str, named: Mapping[str, Choice]) -> Choice:
    """Read ``KEY=VALUES`` as a choice.

    Parameters
    ----------
    text : str
    named : mapping of str to Choice
        The known ones; where the key is one of them and the values are names of its options, they
        are picked from it.

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
    if key in named:
        options = {option.name: option for option in named[key].options}
        words = [word.strip() for word in values.split(",")]
        if all(word in options for word in words):
            return Choice(key, tuple(options[word] for word in words))
    return _choice(key, grids.expand(values))


def _choice(name: str, options: Any) -> Choice:
    if isinstance(options, dict):
        named = [Option(str(word), tuple(keys.items())) for word, keys in options.items()]
    else:
        named = [Option(_word(value), ((name, value),)) for value in options]
    return Choice(name, tuple(named))


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def about(choice: Choice, samplers: Sequence[str]) -> Choice | None:
    """Return the choice without the settings of samplers that are not there; None if none is left.

    Options that are then the same become one.
    """
    kept: dict[tuple[tuple[str, Any], ...], Option] = {}
    for option in choice.options:
        settings = tuple(
            (key, value)
            for key, value in option.settings
            if not key.startswith("samplers.") or key.split(".")[1] in samplers
        )
        kept.setdefault(settings, Option(option.name, settings))
    left = tuple(option for option in kept.values() if option.settings)
    return Choice(choice.name, left) if left else None


def count(choices: Sequence[Choice]) -> int:
    """Return the number of combinations."""
    return math.prod(len(choice.options) for choice in choices)


def combinations(
    choices: Sequence[Choice],
    most: int,
    runs: Callable[[Combination], bool] = lambda combination: True,
    seed: int = 0,
) -> list[Combination]:
    """Return every combination that can be run, or so many of them drawn at random.

    Parameters
    ----------
    choices : sequence of Choice
    most : int
        If there are more combinations than this, they are drawn without replacement until so
        many can be run, or none is left.
    runs : callable
        Whether a combination can be run; it may be asked more than once.
    seed : int
        Of the draw.
    """
    total = count(choices)
    if total <= most:
        return list(filter(runs, itertools.product(*(choice.options for choice in choices))))
    size = most
    while True:
        drawn = np.random.default_rng(seed).choice(total, size=size, replace=False).tolist()
        found = list(itertools.islice((i for i in drawn if runs(_at(choices, i))), most))
        if len(found) == most or size == total:
            return [_at(choices, i) for i in sorted(found)]
        size = min(total, 2 * size)


def _at(choices: Sequence[Choice], place: int) -> Combination:
    """Return the combination at a place in the order of all."""
    places = np.unravel_index(place, [len(choice.options) for choice in choices])
    return tuple(choice.options[int(i)] for choice, i in zip(choices, places, strict=True))
