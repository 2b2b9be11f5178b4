"""Hooks of the `choosing` component. `rfbench.slices` describes them."""

from __future__ import annotations


def commands() -> dict[str, str]:
    """Return the import path of each command."""
    return {name: f"rfbench.choosing.command:{name}" for name in ("choose", "predict")}


def public() -> dict[str, str]:
    """Return the import path of each public name of ``import rfbench``."""
    return {"choose": "rfbench.choosing.choice:choose"}
