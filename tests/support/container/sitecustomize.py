"""Makes of this machine a small container, if its folder is in PYTHONPATH.

It has one processor, 1 GB of memory, and no ``/dev/shm``, without which there are no semaphores.
"""

import _multiprocessing
import errno
import os
import sys
from types import SimpleNamespace

import psutil

SHARED = "/dev/shm"
NONE = errno.ENOENT, os.strerror(errno.ENOENT)


def refuse(*words: object, **keywords: object) -> None:
    """Have no semaphores."""
    raise FileNotFoundError(*NONE)


def hide(event: str, words: tuple[object, ...]) -> None:
    """Have no shared memory."""
    if event in ("open", "os.mkdir", "os.listdir") and str(words[0]).startswith(SHARED):
        raise FileNotFoundError(*NONE, words[0])


_multiprocessing.SemLock = refuse
memory = SimpleNamespace(total=10**9, available=9 * 10**8)
psutil.virtual_memory = lambda: memory
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
sys.addaudithook(hide)
