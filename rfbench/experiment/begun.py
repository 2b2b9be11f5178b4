"""`RESULTS/.begun`: the trials that a run has begun, one line each, until they are done.

A trial may end the whole run, by taking the machine's memory, say. It stands here and has no row;
the next run begins it last and alone, so that it costs no other one.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from rfbench import files

FILE = ".begun"


class Begun:
    """The file of one run, which holds the folder's lock."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    def read(self) -> set[str]:
        """Return the identities that an earlier run left."""
        there = os.path.lexists(self.path)
        return set(files.read(self.path).decode(errors="replace").split()) if there else set()

    def add(self, trial_id: str) -> None:
        """Write down that a trial begins. No disk is forced: the line outlives the process."""
        files.check(self.path)
        with self.path.open("a") as file:
            file.write(f"{trial_id}\n")

    def keep(self, left: Collection[str]) -> None:
        """End the run: only these trials stay suspects."""
        if left:
            files.replace(self.path, "".join(f"{trial_id}\n" for trial_id in left).encode())
        else:
            self.path.unlink(missing_ok=True)
