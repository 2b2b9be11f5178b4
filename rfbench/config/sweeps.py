"""Sweeps over options of a configuration: an experiment for every combination of options."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rfbench import config, yamlfile
from rfbench.config.overrides import assign_nested_key
from rfbench.config.schema import Experiment

# Maps the name of an option to the settings that the option changes. A setting is a path in the
# configuration, such as ``a.b.c``, with a value.
Options = dict[str, dict[str, Any]]
Choices = dict[str, Options]


def count_combinations(choices: Choices) -> int:
    """Return the number of combinations that have one option from each entry of `choices`."""
    return math.prod(map(len, choices.values()))


def iterate_combinations(
    choices: Choices,
    most: int | None = None,
    runs: Callable[[dict[str, str]], bool] = lambda combination: True,
) -> list[dict[str, str]]:
    """Return the combinations of options for which the function `runs` returns True.

    `choices` maps names to their options, and a combination maps each name to one option. If `most`
    is given, at most this number of combinations is returned, drawn at random without replacement.
    In the order of the result, the last name varies fastest.
    """
    total = count_combinations(choices)
    most = total if most is None else most
    shape = [len(options) for options in choices.values()]

    def at(position: int) -> dict[str, str]:
        picked = zip(choices.items(), np.unravel_index(position, shape), strict=True)
        return {name: list(options)[int(i)] for (name, options), i in picked}

    drawn = min(most, total)
    while True:
        # Draw combinations without replacement until `most` of them are accepted. If too few are
        # accepted, draw twice as many, up to all combinations.
        draw = np.random.default_rng(0).choice
        places = range(total) if total <= most else draw(total, drawn, replace=False).tolist()
        running = list(itertools.islice((i for i in places if runs(at(i))), most))
        if len(running) == most or drawn == total:
            return [at(i) for i in sorted(running)]
        drawn = min(total, 2 * drawn)


def get_settings(choices: Choices, combination: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings of the options in a combination.

    If several options set the same key, the value of the last option is used.
    """
    every = [choices[name][option] for name, option in combination.items()]
    return {key: value for settings in every for key, value in settings.items()}


def apply_changes(
    document: yamlfile.Document,
    name: str,
    settings: Mapping[str, Any],
    *,
    allow_imports: bool = False,
) -> Experiment:
    """Return the experiment of a configuration in which the keys of `settings` are changed.

    The document itself is not changed. The changed configuration is checked, and errors are raised
    as in `config.read_runs`.
    """
    copied = copy.deepcopy(document)
    for key, value in settings.items():
        assign_nested_key(copied, key, value, f"{key}={value}")
    return config.build_experiment(copied, name, allow_imports=allow_imports)
