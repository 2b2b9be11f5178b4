"""The configurations that come with rfbench."""

from __future__ import annotations

from pathlib import Path

from rfbench.errors import ConfigError


def folder() -> Path | None:
    """Return the folder of the configurations: the checkout's, or the one in the package."""
    here = Path(__file__).resolve().parent
    for candidate in (here.parent / "configs", here / "configs"):
        if candidate.is_dir():
            return candidate
    return None


def every() -> list[Path]:
    """Return the configurations that come with rfbench, sorted by name."""
    place = folder()
    return sorted(place.glob("*.yaml")) if place else []


def find(name: str) -> Path:
    """Return the configuration of this name; ConfigError if there is none."""
    for path in every():
        if path.stem == name:
            return path
    raise ConfigError(
        f"The configuration {name} is not there.",
        "It lies in configs/ of the source tree.",
        "Name a configuration file.",
    )
