"""Search for all processes that a child process has started, in any session.

Each child has a random string, its mark, in an environment variable, which is inherited by all
processes that the child starts. When the child ends, the processes of this user with its mark are
killed. Processes that clear their environment are not found.
"""

from __future__ import annotations

import contextlib
import os
import secrets

# Environment variable with the marks that identify child processes. Its name does not start with
# RFBENCH_, because a worker replaces all variables with this prefix by the variables of its parent.
MARK = "_RFBENCH_MARKS"
# Number of random bytes of a mark. A random UUID has as many bytes (RFC 4122, 2005), so that two
# processes never have the same mark.
BYTES = 16
# Maximum number of searches for the marked processes. A process may start new processes during a
# search, and the next search finds them. Chosen without a measurement. With half the value, some
# processes of a program that starts new processes repeatedly could remain. With twice the value, a
# program that never stops starting processes would still not be stopped.
ROUNDS = 5


def make_process_mark() -> tuple[str, dict[str, str]]:
    """Return a random string (mark) for a new child process, and its environment variable.

    All processes that the child starts inherit the variable. If a child starts a child, the new
    child has both marks.
    """
    mark = secrets.token_hex(BYTES)
    return mark, {MARK: ":".join(filter(None, (os.environ.get(MARK), mark)))}


def read_mark_of_this_process() -> str:
    """Return the mark of this process, or an empty string if this process is not a child.

    The mark is a random string in an environment variable (see `make_process_mark`).
    """
    return os.environ.get(MARK, "").rpartition(":")[2]


def kill_marked_processes(mark: str) -> None:
    """Kill all other processes of this user that have the mark in an environment variable."""
    import psutil

    for _ in range(ROUNDS if mark else 0):
        found = False
        for number in psutil.pids():
            with contextlib.suppress(psutil.Error, OSError):
                process = psutil.Process(number)
                if number == os.getpid() or process.uids().real != os.getuid():
                    continue
                if mark in process.environ().get(MARK, "").split(":"):
                    process.kill()
                    found = True
        if not found:
            return
