"""What somebody else's text may cause: the one place that decides it.

A configuration, the manifest of a results folder and rows on disk are text that may come from a
stranger. They name methods: those of `rfbench.registry` are for everybody, and so are the
estimators of scikit-learn that are written down here, with parameters that are plain values. All
else that would import or call something asks the person who runs it, before anything is imported or
called. They answer with ``--allow-imports``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from importlib import resources
from typing import Any

from rfbench import yamlfile
from rfbench.errors import MethodError, nearest


@functools.cache
def listed() -> tuple[frozenset[str], frozenset[str]]:
    """Return the paths of the estimators that anybody may name, and the parameters that they take.

    Both are listed in estimators.yaml, beside this file.
    """
    text = resources.files(__package__).joinpath("estimators.yaml").read_bytes()
    content = yamlfile.parse(text, "estimators.yaml").value
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
            continue
        what = f"{name} is {value!r}."
        if name not in settable:
            near = nearest(str(name), sorted(settable))
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


def _instead(path: str) -> str:
    """Return the name that is listed for the class of a path, or an empty string."""
    last = re.split("[.:]", path)[-1]
    near = sorted(
        listed_path for listed_path in listed()[0] if listed_path.rpartition(".")[2] == last
    )
    return f" Did you mean '{near[0]}'?" if near and path.startswith("sklearn") else ""
