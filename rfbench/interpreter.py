"""Starting Python so that files of the current folder are not imported by accident.

With ``-c`` and ``-m`` Python searches the current folder before its own library, so that an
untrusted ``./json.py`` would run. Every interpreter of rfbench is started by `build_command`, with
`build_environment`.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

from rfbench import platforms

# The current folder is kept if it is on the path of the new interpreter for another reason:
# PYTHONPATH or an editable installation.
PATH_CODE = (
    "import json, sys; own, given = {*sys.path}, json.loads(sys.argv.pop(1)); "
    "sys.path[:] = [each for each, here in given if not here or each in own]\n"
)
SAFE = "PYTHONSAFEPATH"


def build_command(code: str, *words: str) -> list[str]:
    """Return the command that runs code in a new interpreter, with the `sys.path` of this one.

    ``-P`` excludes the current folder; the user's PYTHON* variables still apply.
    """
    given = [(each, _is_here(each)) for each in sys.path]
    # The folder of rfbench comes last, for a checkout that is run without being installed.
    given.append((str(Path(__file__).resolve().parents[1]), False))
    return [sys.executable, "-P", "-c", PATH_CODE + code, json.dumps(given), *words]


def build_environment() -> dict[str, str]:
    """Return the variables of a new interpreter; its own child processes inherit them."""
    return os.environ | platforms.blas_variables() | {SAFE: "1"}


def _is_here(entry: str) -> bool:
    """Return True if an entry of `sys.path` is the current folder."""
    with contextlib.suppress(OSError):
        return not entry or os.path.samefile(entry, os.curdir)
    return False
