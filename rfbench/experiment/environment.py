"""Facts about the machine: versions of packages, BLAS libraries, number of threads."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path
from typing import Any

from rfbench import platforms, usable
from rfbench.results import manifest

BLAS_PREFIXES = ("OPENBLAS_", "MKL_", "BLIS_", "OMP_", "VECLIB_")
PACKAGES = ("rfbench", "numpy", "scipy", "scikit-learn", "numba", "joblib", "pandas", "matplotlib")


def read_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that affect results, by name."""
    versions_of = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions_of[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions_of[package] = "not installed"
    return versions_of


def list_blas_libraries() -> list[dict[str, Any]]:
    """Return the name, version, CPU architecture and number of threads of each BLAS library."""
    import numpy  # noqa: F401
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    return [
        {
            "library": info["internal_api"],
            "version": info.get("version"),
            "core": info.get("architecture"),
            "threads": info["num_threads"],
        }
        for info in threadpool_info()
        if info["user_api"] == "blas"
    ]


def _has_verified_threads() -> bool:
    """Return True if `threadpoolctl` controls the number of BLAS threads of numpy and of scipy.

    The library Accelerate of Apple, which numpy or scipy may use, is not supported.
    """
    import numpy
    import scipy

    configurations = [module.show_config(mode="dicts") for module in (numpy, scipy)]
    built_with = str([each.get("Build Dependencies") for each in configurations])
    return bool(list_blas_libraries()) and "accelerate" not in built_with.lower()


def read_blas_variables() -> dict[str, str]:
    """Return the environment variables that control the BLAS libraries, by name.

    Such a variable, for example OPENBLAS_CORETYPE, often explains why a machine is slow.
    """
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if name.startswith(BLAS_PREFIXES) and "PATH" not in name
    }


def describe_machine() -> dict[str, Any]:
    """Return facts about the machine as a dictionary, without the machine's name or any path."""
    import psutil

    memory = psutil.virtual_memory()
    threads = {} if _has_verified_threads() else {"blas_threads": "not verified"}
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": platforms.read_cpu_name(),
        "cores": os.cpu_count(),
        "usable_cores": usable.count_usable_cores(),
        "memory_gib": round(memory.total / 2**30, 1),
        "free_memory_gib": round(memory.available / 2**30, 1),
        "blas": list_blas_libraries(),
        "blas_variables": read_blas_variables(),
        **threads,
    }


@functools.cache
def describe_machine_by_id() -> dict[str, dict[str, Any]]:
    """Return a dictionary that maps the hash of this machine to the facts about this machine.

    The hash is computed by `rfbench.results.manifest.hash_machine`. The dictionary is cached,
    because reading the facts is slow.
    """
    facts = describe_machine()
    return {manifest.hash_machine(facts): facts}


def hash_machine() -> str:
    """Return the hash that identifies this machine in result rows (column ``machine``)."""
    return next(iter(describe_machine_by_id()))


def read_git_commit() -> str | None:
    """Return the git commit of rfbench's source folder, followed by '+' if files were changed.

    Return None if the folder is not a git repository, or if git fails.
    """
    top = Path(__file__).resolve().parents[2]
    if not (top / ".git").exists():
        return None

    # Keep `git status` from writing to the repository. By default, it may rewrite the index under a
    # lock. If the process is then killed, the file .git/index.lock remains and blocks git commands.
    variables = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}

    def git(*args: str) -> str:
        command = ["git", "-C", str(top), *args]
        return subprocess.check_output(
            command, env=variables, stderr=subprocess.DEVNULL, text=True, timeout=10
        ).strip()

    try:
        dirty = git("status", "--porcelain", "--untracked-files=no", "--", "rfbench")
        return git("rev-parse", "HEAD") + ("+" if dirty else "")
    except (OSError, subprocess.SubprocessError):
        return None
