"""`rfbench.log` of a results folder: what its runs did, one dated line per event."""

from __future__ import annotations

import datetime
from contextlib import suppress
from pathlib import Path

from rfbench import files
from rfbench.errors import ResultsError

LOG = "rfbench.log"


def note(folder: Path, event: str) -> None:
    """Append an event; where that cannot be written, nothing is."""
    now = datetime.datetime.now().astimezone().isoformat(" ", timespec="seconds")
    line = f"{now} {' '.join(event.split())}\n"
    with suppress(OSError, ResultsError):
        files.append(folder / LOG, line.encode(errors="backslashreplace"))
