"""Many experiments from one: every combination of the options of several choices."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rfbench import config, yamlfile
from rfbench.config.overrides import assign
from rfbench.config.schema import Experiment

# By the name of an option: the keys of the configuration that it sets, ``a.b.c``.
Options = dict[str, dict[str, Any]]
Choices = dict[str, Options]


def count_combinations(choices: Choices) -> int:
    """Return the number of combinations."""
    return math.prod(map(len, choices.values()))


def iterate_combinations(
    choices: Choices,
    most: int | None = None,
    runs: Callable[[dict[str, str]], bool] = lambda combination: True,
) -> list[dict[str, str]]:
    """Return every combination that `runs`, or `most` of them, drawn without replacement.

    A combination is the name of an option by choice; they have the order of the options, the
    last choice changing first.
    """
    total = count_combinations(choices)
    most = total if most is None else most
    shape = [len(options) for options in choices.values()]

    def at(position: int) -> dict[str, str]:
        picked = zip(choices.items(), np.unravel_index(position, shape), strict=True)
        return {name: list(options)[int(i)] for (name, options), i in picked}

    drawn = min(most, total)
    while True:
        # Where too few of a draw run, one of twice as many is made, until it is all there is.
        draw = np.random.default_rng(0).choice
        places = range(total) if total <= most else draw(total, drawn, replace=False).tolist()
        running = list(itertools.islice((i for i in places if runs(at(i))), most))
        if len(running) == most or drawn == total:
            return [at(i) for i in sorted(running)]
        drawn = min(total, 2 * drawn)


def get_settings(choices: Choices, combination: Mapping[str, str]) -> dict[str, Any]:
    """Return what a combination sets: the keys of all its options; of one key the last."""
    every = [choices[name][option] for name, option in combination.items()]
    return {key: value for settings in every for key, value in settings.items()}


def apply_changes(
    document: yamlfile.Document,
    name: str,
    settings: Mapping[str, Any],
    *,
    allow_imports: bool = False,
) -> Experiment:
    """Check a document in which keys are set; it stays as it is. Raises as `config.read_all`."""
    copied = copy.deepcopy(document)
    for key, value in settings.items():
        assign(copied, key, value, f"{key}={value}")
    return config.from_document(copied, name, allow_imports=allow_imports)
