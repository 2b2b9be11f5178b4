"""The semaphores of worker pools whose run was killed with all its processes.

loky shares semaphores between a run and its workers, by name: `/dev/shm/sem.loky-PID-...` on Linux.
Its resource tracker removes them when the run dies, unless it is killed as well, with the whole
process group; then they stay until the machine is started again.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

import psutil

PLACE = Path("/dev/shm")
NAME = re.compile(r"sem\.loky-(\d+)-\w+")


def sweep(place: Path = PLACE) -> int:
    """Remove the semaphores of this user whose owner is no longer alive; return how many."""
    if not hasattr(os, "getuid"):
        return 0
    swept = 0
    with contextlib.suppress(OSError):
        for path in place.iterdir():
            found = NAME.fullmatch(path.name)
            if found and not psutil.pid_exists(int(found[1])):
                with contextlib.suppress(OSError):
                    if path.lstat().st_uid == os.getuid():
                        path.unlink()
                        swept += 1
    return swept
