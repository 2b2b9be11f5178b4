"""Start of Python processes that do not import files of the current folder by accident.

With ``-c`` and ``-m``, Python searches the current folder before its own library, so that an
untrusted ``./json.py`` would run. rfbench starts all Python processes with the command of
`build_command` and the variables of `build_environment`.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

from rfbench import platforms

# Python code that copies the import path of this process to a new process. The current folder is
# copied only if this folder is already in the import path of the new process, for example by
# PYTHONPATH.
PATH_CODE = (
    "import json, sys; own, given = {*sys.path}, json.loads(sys.argv.pop(1)); "
    "sys.path[:] = [each for each, here in given if not here or each in own]\n"
)
SAFE = "PYTHONSAFEPATH"


def build_command(code: str, *words: str) -> list[str]:
    """Return the command that runs `code` in a new Python process with the import path of this one.

    `words` are arguments of the code. The option ``-P`` excludes the current folder from the import
    path. The user's PYTHON* variables still apply.
    """
    given = [(each, _is_here(each)) for each in sys.path]
    # Append the folder that contains rfbench, because rfbench may be used from a checkout without
    # an installation.
    given.append((str(Path(__file__).resolve().parents[1]), False))
    return [sys.executable, "-P", "-c", PATH_CODE + code, json.dumps(given), *words]


def build_environment() -> dict[str, str]:
    """Return the environment variables for a new Python process and for its child processes."""
    return os.environ | platforms.list_blas_variables() | {SAFE: "1"}


def _is_here(entry: str) -> bool:
    """Return True if an entry of `sys.path` is the current folder."""
    with contextlib.suppress(OSError):
        return not entry or os.path.samefile(entry, os.curdir)
    return False
