"""The configurations and the published rows that come with rfbench."""

from __future__ import annotations

from pathlib import Path


def find_folder() -> Path | None:
    """Return the folder of the configurations: the one in the package, or the checkout's."""
    return _inside_or_beside("configs", "configs")


def find_published() -> Path | None:
    """Return the folder of the published rows, or None if there is none.

    A checkout has all of them in ``results/published``. An installed package has the rows of the
    leaderboard, which `rfbench rank` compares a method with.
    """
    return _inside_or_beside("published", "results/published")


def _inside_or_beside(inside: str, checkout: str) -> Path | None:
    """Return a folder of the package, or else of the checkout that holds the package."""
    package = Path(__file__).resolve().parent
    if (package / inside).is_dir():
        return package / inside
    # A folder of this name beside an installed package belongs to somebody else.
    beside = package.parent / checkout
    return beside if (package.parent / "pyproject.toml").is_file() and beside.is_dir() else None


def list_configurations() -> list[Path]:
    """Return the configurations that come with rfbench, sorted by name."""
    path = find_folder()
    return sorted(path.glob("*.yaml")) if path else []


def locate(named: str | Path) -> Path:
    """Return a file as it is named, or the configuration of this name where there is no file."""
    path = Path(named)
    configurations = {each.stem: each for each in list_configurations()}
    return path if path.is_file() else configurations.get(str(path), path)
