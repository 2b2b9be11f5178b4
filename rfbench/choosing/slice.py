"""Commands, public names and pages of the `choosing` package, which `rfbench.slices` collects."""

from __future__ import annotations

from pathlib import Path


def list_commands() -> dict[str, str]:
    """Return a dictionary from the commands `choose` and `predict` to their import paths."""
    return {name: f"rfbench.choosing.command:{name}" for name in ("choose", "predict")}


def list_public_names() -> dict[str, str]:
    """Return a dictionary from the name `choose` to the import path of ``rfbench.choose``."""
    return {"choose": "rfbench.choosing.choice:choose"}


def render_section(folder: Path, prefix: str) -> tuple[str, dict[str, bytes]] | None:
    """Return a page about the model in a folder, as Markdown and a dictionary of figures.

    The result is None if `choose` has not written the folder. `prefix` is the start of the file
    names of the figures.
    """
    from rfbench.choosing.page import render_chosen_model

    return render_chosen_model(folder, prefix)
