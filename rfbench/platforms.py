"""System calls that are not available on all systems, with a fallback for each call.

All of these calls are available on Linux. macOS has no file descriptors of processes, no ``/proc``,
no control groups and no enforced memory limit. A container may also lack some of these.
"""

from __future__ import annotations

import contextlib
import functools
import mmap
import os
import platform
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

DARWIN = platform.system() == "Darwin"
OPEN_FOLDER = getattr(os, "O_PATH", os.O_RDONLY)
"""Flag with which a folder is opened in order to return to it later.

Without O_PATH, the folder has to be readable.
"""
# Seconds between two checks of the state of a child process. The checks are needed on systems that
# do not provide file descriptors of processes. The value was chosen without a measurement. With
# twice this value, the end of a child process is noticed 20 ms later.
POLL_SECONDS = 0.02
# Number of bytes of a test allocation, which detects if memory limits work. Other threads allocate
# less memory at the same time. The value was chosen without a measurement. Nothing is written to
# this memory, so with twice as many bytes no more memory is used.
PROBE_BYTES = 2**27

CGROUP_FILE = "/proc/self/cgroup"
MOUNT = PurePosixPath("/sys/fs/cgroup")
VERSION_2 = ""  # name of the only controller group in version 2 of the cgroup interface


def open_process_descriptor(process: int) -> int:
    """Return a new file descriptor that becomes readable when a child process has ended.

    If the system does not have `os.pidfd_open`, the descriptor is the end of a pipe, and a thread
    polls the state of the child process. The thread does not read the exit code of the child.
    """
    with contextlib.suppress(AttributeError, OSError):
        return os.pidfd_open(process)
    end, begin = os.pipe()
    threading.Thread(target=_tell_of_end, args=(process, begin), daemon=True).start()
    return end


def _tell_of_end(number: int, pipe: int) -> None:
    """Wait until a process has ended, and then write to a pipe.

    `number` is the process ID, and `pipe` is a file descriptor.
    """
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(number)
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            time.sleep(POLL_SECONDS)
    # Write a byte. Closing the pipe would not be enough, because a fork of this process may keep
    # the pipe open.
    with contextlib.suppress(BrokenPipeError):
        os.write(pipe, b"x")
    os.close(pipe)


def kill_process_group(leader: int) -> None:
    """Kill all processes of a process group. Nothing happens if all of them have ended."""
    # If all processes of the group have ended, macOS raises PermissionError and Linux raises
    # ProcessLookupError.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def read_system_file(path: str | PurePosixPath) -> str:
    """Return the content of a system file, such as a file in ``/proc``.

    The result is an empty string if the file does not exist.
    """
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def list_control_groups(controller: str) -> tuple[tuple[PurePosixPath, str], ...]:
    """Return the control-group folders of this process for a controller such as ``memory``.

    Control groups (cgroups) of Linux limit the resources of processes. Each folder is paired with
    the version of its group. The group of the process is first, followed by its parents, whose
    limits also apply. The result is empty on a system without control groups.
    """
    # In a container, the path of the group may be a path of the host, and then only the top folder
    # exists.
    return _list_groups(read_system_file(CGROUP_FILE), MOUNT, controller)


# Cache the result, because the free memory is measured several times in each fit.
@functools.lru_cache
def _list_groups(
    text: str, mount: PurePosixPath, controller: str
) -> tuple[tuple[PurePosixPath, str], ...]:
    """Return the control-group folders, given the text of the file ``/proc/self/cgroup``."""
    groups = []
    for line in text.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers == VERSION_2:
            top = mount
        elif controller in controllers.split(","):
            # If several controllers share a folder, the name of each single controller is a link to
            # this folder.
            top = mount / controller
        else:
            continue
        own = PurePosixPath(path)
        levels = (own, *own.parents)
        groups += [(top / group.relative_to(group.anchor), controllers) for group in levels]
    return tuple(groups)


def read_cpu_name() -> str:
    """Return the name of the processor, or its architecture if the name is unknown."""
    for line in read_system_file("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    if DARWIN:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            words = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
            return subprocess.check_output(words, text=True, timeout=10).strip()
    return platform.processor() or platform.machine()


def reset_peak_rss() -> None:
    """Restart the measurement of the peak memory of this process by `read_peak_rss_mb`.

    Without ``/proc``, nothing happens, and the peak is measured since the start of the process.
    """
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def read_peak_rss_mb() -> float:
    """Return the peak resident memory of this process in MB.

    The peak is measured since `reset_peak_rss`, or since the start of the process.
    """
    for line in read_system_file("/proc/self/status").splitlines():
        if line.startswith("VmHWM"):
            return float(line.split()[1]) * 1024 / 1e6
    unit = 1 if DARWIN else 1024  # number of bytes in one unit of `ru_maxrss`
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def limit_memory(amount: float | None) -> None:
    """Limit the memory of this process to `amount` bytes. Allocations above it raise MemoryError.

    If `amount` is None, the limit is removed. Some systems ignore the limit, see
    `can_limit_memory`.
    """
    with contextlib.suppress(ValueError, OSError):
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (int(amount or hard), hard))


@contextlib.contextmanager
def limit_more_memory(amount: float) -> Iterator[None]:
    """Limit further allocations of this process to `amount` bytes within a ``with`` statement.

    No limit is set if the system does not report the memory in use.
    """
    import psutil

    used = getattr(psutil.Process().memory_info(), "data", None)
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if used is not None:
        most = int(used + amount)
        most = most if soft == resource.RLIM_INFINITY else min(soft, most)
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def measure_own_memory() -> int:
    """Return the number of resident bytes that this process does not share with other processes.

    If the system does not report shared memory, all resident bytes are counted.
    """
    import psutil

    facts = psutil.Process().memory_info()
    return int(facts.rss - getattr(facts, "shared", 0))


@functools.cache
def can_limit_memory() -> bool:
    """Return True if this system enforces memory limits of processes, by a test allocation."""
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    with limit_more_memory(PROBE_BYTES / 2), contextlib.suppress(OSError):
        mmap.mmap(-1, PROBE_BYTES, flags=private).close()
        return False
    return True


def list_blas_variables() -> dict[str, str]:
    """Return the environment variables that limit the threads of BLAS before numpy is imported.

    On macOS, the number of threads of Apple's library Accelerate can only be set by a variable. On
    other systems the result is empty.
    """
    name = "VECLIB_MAXIMUM_THREADS"
    return {name: os.environ.get(name, "1")} if DARWIN else {}
