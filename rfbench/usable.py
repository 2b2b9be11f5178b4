"""Number of cores and amount of memory that this process may use.

A process may use less than the machine has, because its resources are limited by a container, a
batch system, the quota of a service, or `taskset`. On Linux, a quota is stored in a file of a
control group (cgroup) or of one of its parents. Versions 1 and 2 of control groups are supported. A
system without control groups has no quota.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import NamedTuple

from rfbench import platforms
from rfbench.errors import ConfigError

CPU, MEMORY = "cpu", "memory"
# Environment variables in which the user or a batch system can set the number of cores.
VARIABLES = ("LOKY_MAX_CPU_COUNT", "SLURM_CPUS_PER_TASK")


class Memory(NamedTuple):
    """Number of bytes of memory that this process may use, and number of bytes that are free."""

    total: int
    available: int


def count_usable_cores() -> int:
    """Return the number of cores that this process may use, at least 1.

    The number is the smallest of these numbers: cores of the machine, cores in the affinity of the
    process, quotas of its control groups (rounded up), and the environment variables
    LOKY_MAX_CPU_COUNT and SLURM_CPUS_PER_TASK.

    Raises
    ------
    ConfigError
        If one of the two variables is not an integer of at least 1.
    """
    given = [_number_in(name) for name in VARIABLES if os.environ.get(name)]
    import joblib

    quotas = [max(1, math.ceil(quota)) for quota in _cpu_quotas()]
    return min(int(joblib.cpu_count()), *given, *quotas, os.cpu_count() or 1)


def measure_usable_memory() -> Memory:
    """Return the total and the free memory that this process may use, in bytes.

    The limits of the control groups (cgroups) of the process are included.
    """
    import psutil

    machine = psutil.virtual_memory()
    total, available = int(machine.total), int(machine.available)
    for limit, used in _memory_limits():
        total, available = min(total, limit), min(available, max(0, limit - used))
    return Memory(total, available)


def _number_in(variable: str) -> int:
    """Return the number of cores in an environment variable.

    Raise ConfigError if the value is not an integer of at least 1.
    """
    text = os.environ[variable]
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise ConfigError(
            f"{variable}={text} is not a valid number of cores.",
            "This variable sets the number of cores that rfbench may use.",
            "Set the variable to a whole number of at least 1, or unset it.",
        )
    return int(text)


def _cpu_quotas() -> Iterator[float]:
    """Yield the CPU quota, in cores, of each control group (cgroup) that has a quota."""
    for folder, version in platforms.list_control_groups(CPU):
        if version == platforms.VERSION_2:
            words = platforms.read_system_file(folder / "cpu.max").split()
        else:
            words = [
                platforms.read_system_file(folder / f"cpu.cfs_{name}_us").strip()
                for name in ("quota", "period")
            ]
        # The file cpu.max has two fields, the quota and the period. Without a quota, the first
        # field is "max".
        if len(words) == 2 and all(word.isdigit() and int(word) for word in words):
            yield int(words[0]) / int(words[1])


def _memory_limits() -> Iterator[tuple[int, int]]:
    """Yield the memory limit and the used memory of each control group (cgroup) with a limit.

    Both numbers are in bytes. Cached files do not count as used, because the system drops them when
    it needs the memory.
    """
    for folder, version in platforms.list_control_groups(MEMORY):
        if version == platforms.VERSION_2:
            names = ("memory.max", "memory.current", "inactive_file")
        else:
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        limit = platforms.read_system_file(f"{folder}/{names[0]}").strip()
        used = platforms.read_system_file(f"{folder}/{names[1]}").strip() if limit.isdigit() else ""
        if used.isdigit():
            lines = [
                line.split()
                for line in platforms.read_system_file(f"{folder}/memory.stat").splitlines()
            ]
            given_up = sum(int(value) for name, value in lines if name == names[2])
            yield int(limit), max(0, int(used) - given_up)
