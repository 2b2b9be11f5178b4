"""What somebody else's text may cause: the one place that decides it.

A configuration, the manifest of a results folder and rows on disk are text that may come from a
stranger. They name methods: those of `rfbench.registry` are for everybody, and so are the
estimators of scikit-learn that are written down here, with parameters that are plain values. All
else that would import or call something asks the person who runs it, before anything is imported or
called. They answer with ``--allow-imports``.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

from rfbench import yamlfile
from rfbench.errors import MethodError, suggest_nearest

VALUES = ("Cs", "alphas")  # a number of values, or a list of them
_FACTOR = re.compile(r"\s*([0-9]+\.?[0-9]*(?:e[0-9]+)?)\s*\*")  # of an expression: 10*M


@functools.cache
def _content() -> Any:
    text = resources.files(__package__).joinpath("estimators.yaml").read_bytes()
    return yamlfile.parse(text, "estimators.yaml").value


def bounds() -> dict[str, int]:
    """Return by parameter the largest number that anybody may ask for, where it costs time."""
    return dict(_content()["bounds"])


@functools.cache
def listed() -> tuple[frozenset[str], frozenset[str]]:
    """Return the paths of the estimators that anybody may name, and the parameters that they take.

    Both are listed in estimators.yaml, beside this file.
    """
    content = _content()
    paths = (
        f"{module}.{name}" for module, names in content["estimators"].items() for name in names
    )
    return frozenset(paths), frozenset(content["parameters"])


def check_permission(
    path: str, parameters: Mapping[str, Any] | None = None, *, anything: bool = False
) -> None:
    """Raise MethodError unless this may be imported and called; it imports nothing itself.

    Parameters
    ----------
    path : str
        ``package.module.Name``, ``package.module:name`` or ``folder/file.py:Name``.
    parameters : mapping, optional
        Of a class, what it would be built with. None: it is a function, and none is listed.
    anything : bool
        Whether the person allows everything, with ``--allow-imports``.
    """
    if anything:
        return
    todo = "Run with --allow-imports if you trust it."
    estimators, settable = listed()
    if parameters is None or path not in estimators:
        raise MethodError(
            f"{path} is not imported.{_instead(path)}",
            "Importing it would run code that the configuration names.",
            todo,
        )
    for name, value in parameters.items():
        if name in settable and _is_plain(value):
            if most := _exceeded(name, value):
                raise MethodError(
                    f"{name} is {str(value)[:40]}: at most {most} may be asked for.",
                    "It costs time, memory or threads.",
                    "Take less, or run with --allow-imports if you trust it.",
                )
            continue
        what = f"{name} is {value!r}."
        if name not in settable:
            near = suggest_nearest(str(name), sorted(settable))
            what = f"{path} has no parameter '{name}' that a configuration may set.{near}"
        raise MethodError(
            what,
            "It may set numbers, words and lists of these, and nothing that names files or code.",
            todo,
        )


def _is_plain(value: Any) -> bool:
    """Tell whether a value is a number or a word, or a list of these."""
    values = value if type(value) is list else [value]
    return all(each is None or type(each) in (bool, int, float, str) for each in values)


def _exceeded(name: str, value: Any) -> str:
    """Return what a value may be at most if it is more, else an empty string."""
    entries, most = value if isinstance(value, list) else [value], bounds().get(name, math.inf)
    if isinstance(value, list) and len(value) > _content()["longest_list"]:
        return f"{_content()['longest_list']:,} entries"
    if isinstance(value, list) and name in VALUES:
        return ""
    factors = (_FACTOR.match(each) if isinstance(each, str) else None for each in entries)
    numbers = [float(factor[1]) for factor in factors if factor]
    numbers += [each for each in entries if isinstance(each, int | float)]
    return f"{most:,}" if any(abs(number) > most for number in numbers) else ""


def _instead(path: str) -> str:
    """Return the name that is listed for the class of a path, or an empty string."""
    last = re.split("[.:]", path)[-1]
    near = sorted(
        listed_path for listed_path in listed()[0] if listed_path.rpartition(".")[2] == last
    )
    return f" Did you mean '{near[0]}'?" if near and path.startswith("sklearn") else ""
