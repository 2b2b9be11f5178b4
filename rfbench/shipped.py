"""The configurations that come with rfbench."""

from __future__ import annotations

from pathlib import Path

from rfbench.errors import ConfigError, nearest


def folder() -> Path | None:
    """Return the folder of the configurations: the one in the package, or the checkout's."""
    here = Path(__file__).resolve().parent
    inside, beside = here / "configs", here.parent / "configs"
    if inside.is_dir():
        return inside
    # What else is called configs beside an installed package is not ours.
    return beside if (here.parent / "pyproject.toml").is_file() and beside.is_dir() else None


def every() -> list[Path]:
    """Return the configurations that come with rfbench, sorted by name."""
    place = folder()
    return sorted(place.glob("*.yaml")) if place else []


def find(name: str) -> Path:
    """Return the configuration of this name; ConfigError if there is none."""
    known = {path.stem: path for path in every()}
    if name in known:
        return known[name]
    raise ConfigError(
        f"There is no configuration '{name}'.{nearest(name, list(known))}",
        "",
        "Name a file, or one that `rfbench list configs` has.",
    )


def locate(named: str | Path) -> Path:
    """Return a file as it is named, or the configuration of this name where there is no file."""
    path = Path(named)
    known = {each.stem: each for each in every()}
    return path if path.is_file() else known.get(str(path), path)
