"""A module in the current folder runs in no process that rfbench starts, nor in one of theirs."""

import json
import os
import subprocess
import sys

import pytest

from rfbench import interpreter
from rfbench.experiment import worker_process

# Python's own modules and those of packages, which each new interpreter imports.
NAMES = (
    *("json", "pickle", "joblib", "numpy", "multiprocessing", "random", "selectors", "rfbench"),
    *("threading", "socket", "tempfile", "subprocess", "warnings", "cloudpickle", "sitecustomize"),
)
TRACKED = (  # a worker of loky, and the process that watches what it shares
    "from joblib import Parallel, delayed; import os\n"
    "from multiprocessing import resource_tracker; resource_tracker.ensure_running()\n"
    "print(Parallel(2)(delayed(os.getppid)() for _ in range(1)) == [os.getpid()])\n"
)


@pytest.fixture
def planted(tmp_path, monkeypatch, new_interpreters):
    """Go to a folder whose modules write down that they ran."""
    for name in NAMES:
        code = f"open({str(tmp_path / 'executed')!r}, 'a').write({name!r})\n"
        (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def python(code, *words):
    done = subprocess.run(
        interpreter.build_command(code, *words),
        env=interpreter.build_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_worker_runs_no_file_of_the_current_folder(planted):
    child = worker_process.WorkerProcess()
    child.close()
    assert child.machine
    assert not (planted / "executed").exists()


def test_process_of_a_worker_runs_no_file_of_the_current_folder(planted, monkeypatch):
    """As it would with the path of `python -c`, and with that of `python -m`."""
    monkeypatch.setattr(sys, "path", ["", os.getcwd(), *sys.path])
    assert python(TRACKED) == "True\n"
    assert not (planted / "executed").exists()


def test_import_path_of_the_parent_is_passed_on(tmp_path, monkeypatch):
    """Its order stays; the current folder stays if PYTHONPATH names it."""
    monkeypatch.chdir(tmp_path)
    here, more = str(tmp_path), str(tmp_path / "more")
    monkeypatch.setattr(sys, "path", ["", here, more, *sys.path])
    show = "import json; print(json.dumps(sys.path))"
    path = json.loads(python(show))
    assert path[0] == more
    assert {"", here}.isdisjoint(path)
    monkeypatch.setenv("PYTHONPATH", here)
    assert json.loads(python(show))[:2] == [here, more]
