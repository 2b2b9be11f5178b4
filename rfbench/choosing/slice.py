"""Hooks of the `choosing` component. `rfbench.slices` describes them."""

from __future__ import annotations

from pathlib import Path


def commands() -> dict[str, str]:
    """Return the import path of each command."""
    return {name: f"rfbench.choosing.command:{name}" for name in ("choose", "predict")}


def public() -> dict[str, str]:
    """Return the import path of each public name of ``import rfbench``."""
    return {"choose": "rfbench.choosing.choice:choose"}


def section(folder: Path, prefix: str) -> tuple[str, dict[str, bytes]] | None:
    """Return the Markdown and the figures of a folder of `choose`; None for another folder."""
    from rfbench.choosing.page import render_section

    return render_section(folder, prefix)
