"""Configurations and published rows that are shipped with rfbench."""

from __future__ import annotations

from pathlib import Path


def find_folder() -> Path | None:
    """Return the folder of the configurations, in the package or in the checkout."""
    return _inside_or_beside("configs", "configs")


def find_published() -> Path | None:
    """Return the folder of the published rows, or None if it does not exist.

    A checkout has all of them in ``results/published``. An installed package has the rows of the
    leaderboard, with which `rfbench rank` compares a method.
    """
    return _inside_or_beside("published", "results/published")


def _inside_or_beside(inside: str, checkout: str) -> Path | None:
    """Return a folder in the package, or in the checkout that contains the package."""
    package = Path(__file__).resolve().parent
    if (package / inside).is_dir():
        return package / inside
    # A folder with this name next to an installed package is not part of rfbench.
    beside = package.parent / checkout
    return beside if (package.parent / "pyproject.toml").is_file() and beside.is_dir() else None


def list_configurations() -> list[Path]:
    """Return the configurations that are shipped with rfbench, sorted by name."""
    path = find_folder()
    return sorted(path.glob("*.yaml")) if path else []


def locate(named: str | Path) -> Path:
    """Return a file, or the shipped configuration with this name if the file does not exist."""
    path = Path(named)
    configurations = {each.stem: each for each in list_configurations()}
    return path if path.is_file() else configurations.get(str(path), path)
