"""What somebody else's text may cause: the one place that decides it.

A configuration, the manifest of a results folder and rows on disk are text that
may come from a stranger. They name methods: those of `rfbench.registry` and of the entry points of
installed packages are for everybody, and so are the estimators of scikit-learn that are written
down here, with parameters that are plain values. All else that would import or call something asks
the person who runs it, before anything is imported or called. They answer with ``--allow-imports``,
or once and for all in their own settings.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import click

from rfbench import yamlfile
from rfbench.errors import ConfigError, MethodError, nearest

WIDE = ("rfbench", "sklearn")
"""Packages that nobody is advised to trust as a whole: their functions read and write files."""


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
    path: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    anything: bool = False,
    asked: Sequence[str] = (),
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
    asked : sequence of str
        The packages that a configuration asks for, its `plugins`. They are no permission.
    """
    if anything:
        return
    module = path.rpartition(":")[0]
    package = "" if module.endswith(".py") else (module or path).split(".")[0]
    if package and package in allowed_by_settings():
        return
    todo = "Run with --allow-imports if you trust it"
    if package and package not in WIDE:
        todo += f", or write `allow_imports: [{package}]` into {settings_file()}"
    estimators, settable = listed()
    if parameters is None or path not in estimators:
        asks = f", which asks for the packages {', '.join(asked)}" if asked else ""
        raise MethodError(
            f"{path} is not imported.{_instead(path)}",
            f"Importing it would run code that the configuration names{asks}.",
            f"{todo}.",
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
            f"{todo}.",
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


def settings_file() -> Path:
    """Return where the settings of the person are: `settings.yaml` in their settings folder."""
    return Path(click.get_app_dir("rfbench")) / "settings.yaml"


def allowed_by_settings() -> list[str]:
    """Return the packages that the person's settings allow: their list ``allow_imports``.

    Raises ConfigError: there is such a file, and it is broken.
    """
    file = settings_file()
    if not file.exists():
        return []
    match yamlfile.load(file).value:
        case {"allow_imports": [*packages], **rest} if not rest and all(
            type(package) is str for package in packages
        ):
            return packages
    raise ConfigError(
        f"The settings in {file} cannot be read.",
        "They are the list of packages that you trust.",
        "Write `allow_imports: [mypackage]`.",
    )
