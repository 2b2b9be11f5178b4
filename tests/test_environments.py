"""Commands in strange environments; what matplotlib reads is in `tests/test_plotting.py`."""

import os
import subprocess
import sys
import threading

import pytest

from tests.support.command_line import call

# A user whom the system has no name for, as in a container that is run with another number.
NO_NAME = """
import pwd
def refuse(*words):
    raise KeyError("uid not found")
pwd.getpwuid = pwd.getpwnam = refuse
"""
MAIN = "from rfbench.cli import main; main(['list', 'kernels'], prog_name='rfbench')"
# Variables that do not touch each other share a process; None takes all away.
ENVIRONMENTS = {
    "strict, narrow and plain": (
        {
            **{"PYTHONWARNINGS": "error", "COLUMNS": "20", "LINES": "1", "TERM": "dumb"},
            **{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            **{"PYTHONIOENCODING": "ascii", "PYTHONHASHSEED": "0", "NO_COLOR": "1"},
            **{"MPLBACKEND": "nonsense", "PYTHONNOUSERSITE": "1", "PYTHONUNBUFFERED": "1"},
        },
        "",
    ),
    "optimised, and with wrong numbers": (
        {
            **{"PYTHONOPTIMIZE": "2", "COLUMNS": "wide", "LINES": "-1", "TERM": "unknown"},
            **{"LANG": "xx_XX.nonsense", "FORCE_COLOR": "1", "TZ": "Nowhere/Else"},
            **{"OMP_NUM_THREADS": "", "PYTHONPATH": "/nonexistent", "TMPDIR": "/nonexistent"},
            **{"HOME": os.devnull, "XDG_CACHE_HOME": "/proc/nothing", "COLORTERM": "x"},
        },
        "",
    ),
    "no variables, no name, no input and no standard error": (None, "<&- 2>&-"),
}


@pytest.mark.parametrize(("variables", "shell"), ENVIRONMENTS.values(), ids=[*ENVIRONMENTS])
def test_command_runs_in_each_environment(tmp_path, variables, shell):
    code = MAIN if variables else NO_NAME + MAIN
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$0" -c "$1" {shell}', sys.executable, code],
        env=os.environ | variables if variables else {},
        cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "gaussian" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("allowed", [0, 2])
def test_thread_limit_of_the_user_gives_one_sentence(tmp_path, monkeypatch, allowed):
    """As with `ulimit -u 3`; the fault: a traceback, at the second thread one of joblib's own."""
    left, start = [None] * allowed, threading._start_new_thread

    def refuse(*words):
        if not left:
            raise RuntimeError("can't start new thread")
        left.pop()
        return start(*words)

    monkeypatch.setattr(threading, "_start_new_thread", refuse)
    words = ("run", "quickstart", "--set", "M=5", "--trials", "1", "--jobs", "2", "--out", tmp_path)
    said = call(*words, code=1)
    assert "The system cannot start another thread." in said
