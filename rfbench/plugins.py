"""Methods from outside: a class named by its import path, or in a file.

Importing runs code: `rfbench.permissions` decides before what may be imported.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from rfbench.errors import MethodError


def load_class(path: str, folder: Path | None = None) -> type[Any]:
    """Import a class; the parameters, and what is raised, are those of `load_object`."""
    result = load_object(path, folder)
    if not isinstance(result, type):
        raise MethodError(f"{path} is not a class.", f"It is a {type(result).__name__}.")
    return result


def load_object(path: str, folder: Path | None = None) -> Any:
    """Import ``package.module.name``, ``package.module:name`` or ``folder/file.py:name``.

    A file is looked for in `folder`, that of the configuration, before the current one. MethodError
    if the module, the file or the name is not there.
    """
    colon = ":" in path
    owner, _, name = path.rpartition(":" if colon else ".")
    try:
        if colon and owner.endswith(".py"):
            module = _module_of_file(file_of(path, folder))
        else:
            module = importlib.import_module(owner)
        return getattr(module, name)
    except MethodError:
        raise
    except (Exception, SystemExit) as error:
        raise MethodError(
            f"{path} cannot be imported.",
            f"{type(error).__name__}: {error}.",
            "Write package.module.Name, or folder/file.py:Name.",
        ) from error


def file_of(path: str, folder: Path | None) -> Path:
    """Return the file of ``folder/file.py:Class``, beside the configuration or from here."""
    file = Path(path.rpartition(":")[0])
    for base in ([folder] if folder else []) + [Path()]:
        if (base / file).is_file():
            return base / file
    beside = "beside the configuration or " if folder else ""
    raise MethodError(
        f"The file {file} of {path} is not there.",
        f"It is not {beside}in the current folder.",
        "Run the command from the folder that has it.",
    )


def _module_of_file(file: Path) -> Any:
    """Import a file under a name made from its content, so that workers find the same module."""
    name = "rfbench_file_" + hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, file)
        if spec is None or spec.loader is None:
            raise ImportError(f"{file} is not a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def identity(path: str, folder: Path | None = None) -> str:
    """Return what identifies the code of a class: a file's hash, or its package's version.

    Of a class of rfbench it is its `revision`.

    The parameters, and what is raised, are those of `load_class`.
    """
    if path.startswith("rfbench."):
        return f"rfbench revision {getattr(load_class(path), 'revision', 1)}"
    if ":" in path:
        return hashlib.sha256(file_of(path, folder).read_bytes()).hexdigest()[:16]
    return _package(path.split(".")[0])


@functools.cache  # half a second per call, and one call per trial
def _package(package: str) -> str:
    names = metadata.packages_distributions().get(package, [package])
    try:
        return f"{names[0]} {metadata.version(names[0])}"
    except metadata.PackageNotFoundError:
        return package
