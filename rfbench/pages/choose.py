"""What `choose` found, as text."""

from __future__ import annotations

from typing import Any

from rfbench.pages.templates import render


def text(choice: Any) -> str:
    """Return the answer for a terminal; the choice is a `rfbench.choosing.Choice`."""
    return render("choose.txt.j2", choice=choice)
