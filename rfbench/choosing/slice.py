"""Functions that rfbench calls in the `choosing` component, described in `rfbench.slices`."""

from __future__ import annotations

from pathlib import Path


def list_commands() -> dict[str, str]:
    """Return the names and the import paths of the commands of this slice."""
    return {name: f"rfbench.choosing.command:{name}" for name in ("choose", "predict")}


def list_public_names() -> dict[str, str]:
    """Return the names and import paths that this slice adds to ``import rfbench``."""
    return {"choose": "rfbench.choosing.choice:choose"}


def render_section(folder: Path, prefix: str) -> tuple[str, dict[str, bytes]] | None:
    """Return the Markdown and the figures of a folder of `choose`; None for another folder."""
    from rfbench.choosing.page import render_chosen_model

    return render_chosen_model(folder, prefix)
