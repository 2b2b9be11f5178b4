"""What this slice offers; see `rfbench.slices`."""

from __future__ import annotations


def commands() -> dict[str, str]:
    """Return where the command stands."""
    return {"test": "rfbench.checking.command:test"}
