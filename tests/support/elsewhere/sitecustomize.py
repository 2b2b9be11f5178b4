"""Makes of Linux a system that lacks what macOS lacks, if its folder is in PYTHONPATH.

Libraries still read ``/proc``: they ask macOS in other ways.
"""

import errno
import os
import resource
import sys
from types import SimpleNamespace

import psutil

ABSENT = ("pidfd_open", "waitid", "sched_getaffinity", "sched_setaffinity", "O_PATH")
HIDDEN = ("/proc", "/sys")
_memory_info, _killpg = psutil.Process.memory_info, os.killpg


def memory_info(process: psutil.Process) -> SimpleNamespace:
    """Return the facts that all systems have."""
    facts = _memory_info(process)
    return SimpleNamespace(rss=facts.rss, vms=facts.vms)


def killpg(leader: int, signal: int) -> None:
    """Refuse to send a signal to a process that has ended, and is not waited for yet."""
    if psutil.pid_exists(leader) and psutil.Process(leader).status() == psutil.STATUS_ZOMBIE:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
    _killpg(leader, signal)


CHANGED = [
    (psutil.Process, "memory_info", memory_info),
    (os, "killpg", killpg),
    (resource, "setrlimit", lambda *words: None),
]


def hide(event: str, words: tuple[object, ...]) -> None:
    """Have no files of the system, but for libraries."""
    if event != "open" or not str(words[0]).startswith(HIDDEN):
        return
    if "site-packages" not in sys._getframe(1).f_code.co_filename:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), words[0])


if __name__ == "sitecustomize":
    for name in ABSENT:
        vars(os).pop(name, None)
    for owner, name, new in CHANGED:
        setattr(owner, name, new)
    sys.addaudithook(hide)
