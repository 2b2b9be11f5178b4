"""Methods from outside: a class named by its import path, a file, or an entry point."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from rfbench.errors import MethodError

ALWAYS_ALLOWED = ("rfbench", "sklearn")


def check_allowed(path: str, packages: list[str], anything: bool) -> None:
    """Raise MethodError unless a configuration may import this class.

    Importing runs code. Allowed are classes of rfbench and scikit-learn, of the packages that the
    configuration lists under `plugins`, and everything with ``--allow-imports``.
    """
    package = path.split(".")[0]
    if anything or (":" not in path and package in (*ALWAYS_ALLOWED, *packages)):
        return
    todo = "Run with --allow-imports if you trust it"
    if ":" not in path:
        todo += f", or list the package: `plugins: [{package}]`"
    raise MethodError(
        f"The class {path} is not imported.",
        "Importing it would run code that the configuration names.",
        todo + ".",
    )


def load_class(path: str) -> type[Any]:
    """Import ``package.module.Class`` or ``folder/file.py:Class``.

    Raises
    ------
    MethodError
        The module, the file or the class is not there, or it is not a class.
    """
    try:
        if ":" in path:
            file, _, name = path.rpartition(":")
            module = _module_of_file(Path(file))
        else:
            owner, _, name = path.rpartition(".")
            module = importlib.import_module(owner)
        found = getattr(module, name)
    except (ImportError, AttributeError, ValueError, OSError, SyntaxError) as error:
        raise MethodError(
            f"The class {path} cannot be imported.",
            f"{type(error).__name__}: {error}.",
            "Write package.module.Class, or folder/file.py:Class.",
        ) from error
    if not isinstance(found, type):
        raise MethodError(f"{path} is not a class.", f"It is a {type(found).__name__}.")
    return found


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


def identity(path: str) -> str:
    """Return what identifies the code of a class: a file's hash, or its package's version."""
    if ":" in path:
        return hashlib.sha256(Path(path.rpartition(":")[0]).read_bytes()).hexdigest()[:16]
    package = path.split(".")[0]
    names = metadata.packages_distributions().get(package, [package])
    try:
        return f"{names[0]} {metadata.version(names[0])}"
    except metadata.PackageNotFoundError:
        return package


def entry_points(group: str) -> dict[str, metadata.EntryPoint]:
    """Return the methods that installed packages offer under an entry-point group, by name."""
    return {point.name: point for point in metadata.entry_points(group=group)}
