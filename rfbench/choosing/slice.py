"""What the core asks of choosing, see `rfbench.slices`."""

from __future__ import annotations


def commands() -> dict[str, str]:
    """Name the commands."""
    return {name: f"rfbench.choosing.command:{name}" for name in ("choose", "predict")}


def public() -> dict[str, str]:
    """Name what ``import rfbench`` offers."""
    return {"choose": "rfbench.choosing.choice:choose"}
