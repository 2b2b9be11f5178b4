"""The cores and the memory that this process may use, which may be fewer than the machine has.

A container, a job of a batch system, a service with a quota and `taskset` leave a process a part of
the machine. On Linux a quota is a file of a control group (cgroup) or of a group above it; both
versions of the interface are read, and a system without them has no quota.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from rfbench.errors import ConfigError

GROUPS = "/proc/self/cgroup"
MOUNT = PurePosixPath("/sys/fs/cgroup")
CPU, MEMORY = "cpu", "memory"
VERSION_2 = ""  # which has one group for everything, without a name
# The user's or the batch system's word on the number of cores.
VARIABLES = ("LOKY_MAX_CPU_COUNT", "SLURM_CPUS_PER_TASK")


class Memory(NamedTuple):
    """Bytes of memory that this process may use: in all, and free now."""

    total: int
    available: int


def cores() -> int:
    """Return the number of cores that this process may use, at least 1.

    It is the smallest of the cores of the machine, the affinity of the process, the quotas of its
    control groups (rounded up), LOKY_MAX_CPU_COUNT and SLURM_CPUS_PER_TASK.

    Raises
    ------
    ConfigError
        One of these variables is not a whole number of at least 1.
    """
    given = [_number_in(name) for name in VARIABLES if os.environ.get(name)]
    import joblib

    quotas = [max(1, math.ceil(quota)) for quota in _cpu_quotas()]
    return min(int(joblib.cpu_count()), *given, *quotas, os.cpu_count() or 1)


def memory() -> Memory:
    """Return the memory that this process may use: the smaller of the machine's and its groups'."""
    import psutil

    machine = psutil.virtual_memory()
    total, available = int(machine.total), int(machine.available)
    for limit, used in _memory_limits():
        total, available = min(total, limit), min(available, max(0, limit - used))
    return Memory(total, available)


def _number_in(variable: str) -> int:
    """Return the number of cores in an environment variable."""
    text = os.environ[variable]
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise ConfigError(
            f"{variable}={text} is not a number of cores.",
            "It says how many cores rfbench may use.",
            "Set it to a whole number of at least 1, or unset it.",
        )
    return int(text)


def _cpu_quotas() -> Iterator[float]:
    """Yield the quota of each group that has one, in cores."""
    for folder, version in _groups(CPU):
        if version == VERSION_2:
            words = _read(folder / "cpu.max").split()
        else:
            words = [_read(folder / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
        if len(words) == 2 and all(word.isdigit() and int(word) for word in words):  # else "max"
            yield int(words[0]) / int(words[1])


def _memory_limits() -> Iterator[tuple[int, int]]:
    """Yield the limit and the use of each group that has a limit, in bytes.

    Files that the system keeps in memory and gives up when it needs the space are not used.
    """
    for folder, version in _groups(MEMORY):
        if version == VERSION_2:
            names = ("memory.max", "memory.current", "inactive_file")
        else:
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        limit, used = (_read(folder / name).strip() for name in names[:2])
        if limit.isdigit() and used.isdigit():
            lines = [line.split() for line in _read(folder / "memory.stat").splitlines()]
            given_up = sum(int(value) for name, value in lines if name == names[2])
            yield int(limit), max(0, int(used) - given_up)


def _groups(controller: str) -> Iterator[tuple[PurePosixPath, str]]:
    """Yield the folders of the groups of this process for a controller, and their version.

    The group itself comes first, then each above it: the smallest quota counts. In a container the
    path may be that of the host, and only the top is there.
    """
    for line in _read(GROUPS).splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers == VERSION_2:
            top = MOUNT
        elif controller in controllers.split(","):
            top = MOUNT / controller  # a link, if several controllers share a folder
        else:
            continue
        own = PurePosixPath(path)
        for group in (own, *own.parents):
            yield top / group.relative_to(group.anchor), controllers


def _read(path: str | PurePosixPath) -> str:
    """Return the text of a file of the system; an empty text if there is none."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
