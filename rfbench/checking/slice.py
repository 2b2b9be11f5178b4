"""What the core asks of checking, see `rfbench.slices`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rfbench.analysis.verification import Verification
    from rfbench.pages.additions import Addition


def commands() -> dict[str, str]:
    """Return where the command stands."""
    return {"test": "rfbench.checking.command:test"}


def report(verification: Verification, out: Path) -> Addition:
    """Write the page of all maps, where their rows are among the results."""
    from rfbench.checking import page
    from rfbench.pages.additions import Addition
    from rfbench.pages.words import link

    folder = page.folder_of(verification.paths)
    if folder is None:
        return Addition({page.PAGE: None})
    look = f"{link(out / page.PAGE, out)}: which maps have the kernel that they claim."
    return Addition({page.PAGE: page.page(folder)}, look=[look])
