"""Commands, public names and pages of the `choosing` package, which `rfbench.slices` collects."""

from __future__ import annotations

from pathlib import Path


def list_commands() -> dict[str, str]:
    """Return the import paths of the commands `choose` and `predict`, by name."""
    return {name: f"rfbench.choosing.command:{name}" for name in ("choose", "predict")}


def list_public_names() -> dict[str, str]:
    """Return the import path of each function that is available as ``rfbench.NAME``, by name."""
    return {"choose": "rfbench.choosing.choice:choose"}


def render_section(folder: Path, prefix: str) -> tuple[str, dict[str, bytes]] | None:
    """Return the Markdown and figures of a folder that `choose` wrote; None for other folders."""
    from rfbench.choosing.page import render_chosen_model

    return render_chosen_model(folder, prefix)
