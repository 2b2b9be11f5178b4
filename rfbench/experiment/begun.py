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
        self._descriptor: int | None = None

    def read(self) -> set[str]:
        """Return the identities that an earlier run left."""
        if not os.path.lexists(self.path):
            return set()
        return set(files.read(self.path).decode(errors="replace").split())

    def add(self, trial_id: str) -> None:
        """Write down that a trial begins. No disk is forced: the line outlives the process."""
        if self._descriptor is None:
            files.check(self.path)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            self._descriptor = os.open(self.path, flags, 0o666)
        os.write(self._descriptor, f"{trial_id}\n".encode())

    def keep(self, left: Collection[str]) -> None:
        """End the run: only these trials stay suspects."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        if left:
            files.replace(self.path, "".join(f"{trial_id}\n" for trial_id in left).encode())
        else:
            self.path.unlink(missing_ok=True)
