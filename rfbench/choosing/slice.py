"""Hooks of the `choosing` component. `rfbench.slices` describes them."""

from __future__ import annotations


def commands() -> dict[str, str]:
    """Return the names and the import paths of the commands of this slice."""
    return {name: f"rfbench.choosing.command:{name}" for name in ("choose", "predict")}


def public() -> dict[str, str]:
    """Return the names and import paths that this slice adds to ``import rfbench``."""
    return {"choose": "rfbench.choosing.choice:choose"}
