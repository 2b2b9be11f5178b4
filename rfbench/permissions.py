"""Check that names from an untrusted source import only classes that are allowed.

A configuration or a results folder contains names of methods, and may come from an untrusted
source. The methods of `rfbench.registry` are always allowed. The estimators of scikit-learn in
estimators.yaml are also allowed, with parameters that are plain values. All other code needs the
user's permission, ``--allow-imports``, before it is imported or called.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

from rfbench import yamlfile
from rfbench.errors import MethodError, suggest_nearest_name

# Parameters whose value is a list of penalties or the number of penalties to try. The number has an
# upper bound, but the list does not.
VALUES = ("Cs", "alphas")
# Matches the factor in an expression such as 10*M: the number 10 and the multiplication sign.
_FACTOR = re.compile(r"\s*([0-9]+\.?[0-9]*(?:e[0-9]+)?)\s*\*")


@functools.cache
def _content() -> Any:
    text = resources.files(__package__).joinpath("estimators.yaml").read_bytes()
    return yamlfile.parse_yaml(text, "estimators.yaml").value


def list_parameter_bounds() -> dict[str, int]:
    """Return the largest allowed value of each parameter that needs time, memory or threads."""
    return dict(_content()["bounds"])


@functools.cache
def list_allowed_estimators() -> tuple[frozenset[str], frozenset[str]]:
    """Return the import paths of the estimators that are always allowed, and their parameters.

    Both are read from estimators.yaml.
    """
    content = _content()
    paths = (
        f"{module}.{name}" for module, names in content["estimators"].items() for name in names
    )
    return frozenset(paths), frozenset(content["parameters"])


def check_permission(
    path: str, parameters: Mapping[str, Any] | None = None, *, anything: bool = False
) -> None:
    """Raise MethodError unless an import path may be imported and called. Nothing is imported.

    Parameters
    ----------
    path : str
        ``package.module.Name``, ``package.module:name`` or ``folder/file.py:Name``.
    parameters : mapping, optional
        Parameters of a class. None means that the path is a function. Functions are allowed only
        with `anything`.
    anything : bool
        True if the user allows all imports, with ``--allow-imports``.

    Raises
    ------
    MethodError
        If the path or a parameter is not allowed.
    """
    if anything:
        return
    todo = "Run with --allow-imports if you trust the code."
    estimators, settable = list_allowed_estimators()
    if parameters is None or path not in estimators:
        raise MethodError(
            f"{path} is not imported.{_instead(path)}",
            "Importing this class would run code from outside of rfbench.",
            todo,
        )
    for name, value in parameters.items():
        if name in settable and _is_plain(value):
            if most := _exceeded(name, value):
                raise MethodError(
                    f"{name} is {str(value)[:40]}, but the maximum is {most}.",
                    "Larger values may use too much time, too much memory or too many threads.",
                    "Use a smaller value, or run with --allow-imports if you trust the "
                    "configuration.",
                )
            continue
        what = f"{name} is {value!r}."
        if name not in settable:
            near = suggest_nearest_name(str(name), sorted(settable))
            what = f"{path} has no parameter '{name}' that a configuration may set.{near}"
        raise MethodError(
            what,
            "A configuration may set numbers, strings and lists of these, but not files or code.",
            todo,
        )


def _is_plain(value: Any) -> bool:
    """Return True if a value is a number, a string, a boolean, None, or a list of such values."""
    values = value if type(value) is list else [value]
    return all(each is None or type(each) in (bool, int, float, str) for each in values)


def _exceeded(name: str, value: Any) -> str:
    """Return the limit of the parameter `name`, as a string, if the value exceeds the limit.

    Otherwise the result is an empty string.
    """
    entries, most = (
        value if isinstance(value, list) else [value],
        list_parameter_bounds().get(name, math.inf),
    )
    if isinstance(value, list) and len(value) > _content()["longest_list"]:
        return f"{_content()['longest_list']:,} entries"
    if isinstance(value, list) and name in VALUES:
        return ""
    factors = (_FACTOR.match(each) if isinstance(each, str) else None for each in entries)
    numbers = [float(factor[1]) for factor in factors if factor]
    numbers += [each for each in entries if isinstance(each, int | float)]
    return f"{most:,}" if any(abs(number) > most for number in numbers) else ""


def _instead(path: str) -> str:
    """Return a hint with the import path of an allowed scikit-learn class that has the same name.

    The result is an empty string if there is no such class.
    """
    last = re.split("[.:]", path)[-1]
    near = sorted(
        listed_path
        for listed_path in list_allowed_estimators()[0]
        if listed_path.rpartition(".")[2] == last
    )
    return f" Did you mean '{near[0]}'?" if near and path.startswith("sklearn") else ""
