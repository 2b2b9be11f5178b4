"""Configurations and published results that are shipped with rfbench."""

from __future__ import annotations

from pathlib import Path


def find_configurations_folder() -> Path | None:
    """Return the folder of the configurations that are shipped with rfbench, or None.

    The folder is in the installed package or in the checkout of the source code.
    """
    return _inside_or_beside("configs", "configs")


def find_published_folder() -> Path | None:
    """Return the folder of the published results, or None if it does not exist.

    A checkout of the source code has all published results in ``results/published``. An installed
    package has only the results with which `rfbench rank` compares a method.
    """
    return _inside_or_beside("published", "results/published")


def _inside_or_beside(inside: str, checkout: str) -> Path | None:
    """Return the folder `inside` of the package, or else the folder `checkout` of the source code.

    The result is None if neither exists.
    """
    package = Path(__file__).resolve().parent
    if (package / inside).is_dir():
        return package / inside
    # An installed package may be next to an unrelated folder with this name. The folder belongs to
    # rfbench only if there is also a file pyproject.toml.
    beside = package.parent / checkout
    return beside if (package.parent / "pyproject.toml").is_file() and beside.is_dir() else None


def list_configurations() -> list[Path]:
    """Return the paths of the configurations that are shipped with rfbench, sorted by name."""
    path = find_configurations_folder()
    return sorted(path.glob("*.yaml")) if path else []


def locate_configuration(named: str | Path) -> Path:
    """Return the path of a configuration, given a path or the name of a shipped configuration.

    A file with the path `named` has priority. The path is returned unchanged if neither exists.
    """
    path = Path(named)
    configurations = {each.stem: each for each in list_configurations()}
    return path if path.is_file() else configurations.get(str(path), path)
