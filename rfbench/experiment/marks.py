"""Finding what a child process has started, in whatever session it runs.

Each child has a random mark in an environment variable, which everything that it starts inherits.
When the child ends, the processes of this user that have its mark are ended. Code that clears its
environment escapes.
"""

from __future__ import annotations

import contextlib
import os
import secrets

# Not RFBENCH_*: a worker takes over such variables of its parent, and removes others.
MARK = "_RFBENCH_MARKS"
# As many as a random UUID has (RFC 4122, 2005), so that no two marks are the same.
BYTES = 16
# For processes that start others while they are looked for. Chosen without a measurement: each
# round finds what the one before missed. Halved, a program that starts others without a pause may
# leave one; one that never stops is not caught by twice as many, either.
ROUNDS = 5


def make_mark() -> tuple[str, dict[str, str]]:
    """Return a new mark, and the variable of a child that has it.

    A child of a child has the marks of both: whichever ends, it ends.
    """
    mark = secrets.token_hex(BYTES)
    return mark, {MARK: ":".join(filter(None, (os.environ.get(MARK), mark)))}


def read_own_mark() -> str:
    """Return the mark of this process; empty if it is no child."""
    return os.environ.get(MARK, "").rpartition(":")[2]


def end_marked(mark: str) -> None:
    """Kill the other processes of this user that have a mark."""
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
