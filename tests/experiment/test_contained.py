"""One trial costs only its own row, whatever its code does."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import psutil
import pytest
import sklearn
from threadpoolctl import threadpool_info

from rfbench.experiment import isolation, runner
from rfbench.experiment.run_plan import plan_run
from rfbench.experiment.worker import Limits
from tests.support import faulty
from tests.support.runs import FAULTY, all_end, command, rows_of, wait_until

from .conftest import SMALL

# Shared work is timed otherwise when a trial is repeated alone.
NOT_MEASURED = ("t_", "cpu_", "peak_", "workers", "shared_M", "trial_id", "setting")
NOT_MEASURED += ("parameters", "check")
ENDS_IN_ITS_ROW = {
    "system exit": "SystemExit: 0",
    "interrupt": "KeyboardInterrupt:",
    "generator exit": "GeneratorExit:",
    "stop": "StopIteration:",
    "foreign": "Foreign: on purpose",
    "surrogate": "ValueError: a\\udc80b\\x00c\\r d",
    "unreadable": "Unreadable: its message cannot be read",
    "limits": "",
    "state": "",
    "settings": "",
    "fork": "",
    "child": "",
    "recursion": "RecursionError",
    "a long message": "ValueError: long",
    "no memory": "Out of memory",
    "a warning as an error": "UserWarning: on purpose",
    "no folder": "",
    "no collection": "",
    "silent log": "",
    "decimals": "",
    "locale": "",
    "nan": "not finite",
    "infinity": "not finite",
    "texts": "type <U32",
    "objects": "type object",
    "a list": "",
    "nothing": "shape ()",
    "complex": "type complex128",
    "three axes": "shape (1, 8, 1)",
    "one axis": "shape (1,)",
    "no columns": "shape (1, 0)",
    "integers": "",
    "sparse": "",
    "a frame": "",
    "too large": "not finite",
    "other rows": "shape (0, 8)",
}
COSTS_ITS_WORKER = {
    "thread": "running thread",
    "close": "died",
    "no output": "died",
    "kill by a child": "died",
}


@pytest.fixture
def measured(experiment_of, tmp_path):
    """Return a function that runs a sampler for each fault between two good ones."""

    def run(names, folder, *, n_jobs=1, harmless=False):
        methods = "".join(
            f"  - {{class: '{FAULTY}:Faulty', label: '{name}', "
            f"fault: '{name}', at: {0 if harmless else 8}}}\n"
            for name in names
        )
        methods += f"  - {{class: '{FAULTY}:Witness', label: witness}}\n"
        text = SMALL.replace("solver:", methods + "solver:")
        work = plan_run([experiment_of(text, "trials=1", allow_imports=True)], tmp_path / folder)
        summary = runner.run(work, n_jobs=n_jobs, limits=Limits())
        assert summary.left == 0
        return {
            (row["label"], row["M"]): {
                key: value for key, value in row.items() if not key.startswith(NOT_MEASURED)
            }
            for row in rows_of(tmp_path / folder)
        }

    return run


def test_all_other_rows_are_there_and_as_they_would_be_without_it(measured):
    faults = ENDS_IN_ITS_ROW | COSTS_ITS_WORKER
    clean = measured(faults, "clean", harmless=True)
    found = measured(faults, "r")
    assert found.keys() == clean.keys()
    assert len(clean) == 2 * (len(faults) + 3)
    assert {row["status"] for row in clean.values()} == {"ok"}
    for key, row in clean.items():
        if key[0] in faults and key[1] == "8":
            assert faults[key[0]] in found[key]["message"]
        else:
            assert found[key] == row


def processes_of(mark):
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get("RFBENCH_TEST") == mark:
                yield process


def test_a_run_ends_and_ends_the_processes_that_a_trial_left(experiment_of, tmp_path):
    own = f"- {{class: '{FAULTY}:Faulty', label: f, fault: child}}"
    experiment_of(SMALL.replace("- rks", own), allow_imports=True)
    words = command(tmp_path / "tiny.yaml", tmp_path / "out", "--jobs", "1", "--allow-imports")
    words += ["--trials", "1"]
    environment = os.environ | {"RFBENCH_TEST": str(tmp_path)}
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, env=environment)
    # The kernel shows a new program's environment a moment after it has begun.
    wait_until(lambda: psutil.Process(process.pid).environ().get("RFBENCH_TEST") == str(tmp_path))
    assert process.wait() == 0
    all_end(list(processes_of(str(tmp_path))))


def state():
    return {
        "folder": os.getcwd(),
        "environment": dict(os.environ),
        "errors": np.geterr(),
        "filters": list(warnings.filters),
        "python": faulty.random.getstate(),
        "numpy": np.random.get_state()[1].tolist(),  # noqa: NPY002
    }


@pytest.fixture
def own_limits():
    """Put back what a trial leaves of a process that is not replaced."""
    limits, mask = isolation._limits(), isolation._mask()
    streams = sys.stdout, sys.excepthook, list(sys.path), sys.getrecursionlimit()
    handler = signal.getsignal(signal.SIGTERM)
    yield
    signal.alarm(0)
    os.umask(mask)
    sys.stdout, sys.excepthook, sys.path[:], recursion = streams
    sys.setrecursionlimit(recursion)
    signal.signal(signal.SIGTERM, handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    for kind, values in limits.items():
        resource.setrlimit(kind, values)


def test_what_a_trial_changes_is_put_back_or_named(own_limits):
    before = state()
    with isolation.contained(0) as ruined:
        faulty.change_state()
        faulty.limit_itself()
        unchanged = {key for key, value in state().items() if value == before[key]}
    assert unchanged == set()
    assert state() == before
    assert set(ruined) == {
        "another file mode", "another resource limit", "a pending alarm", "other blocked signals"
    }  # fmt: skip


def test_settings_of_libraries_are_put_back_after_each_trial(experiment_of):
    from rfbench.experiment.plan import jobs, plan
    from rfbench.experiment.trial import run_job

    before = sklearn.get_config(), threadpool_info()
    own = f"- {{class: '{FAULTY}:Faulty', label: f, fault: settings}}"
    experiment = experiment_of(SMALL.replace("- rks", own), "trials=1", allow_imports=True)
    for _ in run_job(jobs(plan(experiment))[0]):
        assert (sklearn.get_config(), threadpool_info()) == before


def test_global_generators_begin_alike_in_each_trial():
    drawn = []
    for seed in (3, 3, 4):
        with isolation.contained(seed):
            drawn.append((faulty.random.random(), np.random.uniform()))  # noqa: NPY002
    assert drawn[0] == drawn[1] != drawn[2]


def test_what_cannot_be_put_back_is_named():
    end = threading.Event()
    read, write = os.pipe()
    with isolation.contained(0) as ruined:
        threading.Thread(target=end.wait).start()
        os.close(read)
    end.set()
    os.close(write)
    assert ruined == ["a running thread", "a closed file"]


def test_code_that_changes_a_library_changes_no_other_method(measured):
    """The other class begins after it, in a process in which it has not been."""
    rows = measured(["a changed library"], "r")
    assert {key: row["status"] for key, row in rows.items()} == dict.fromkeys(rows, "ok")
    clean = measured(["a changed library"], "clean", harmless=True)
    for key, row in clean.items():
        assert (rows[key] == row) == (key != ("a changed library", "8"))


def test_a_trial_that_asks_the_run_to_stop_costs_its_own_row(measured):
    rows = measured(["stop the run"], "r")
    bad = {key: row["message"] for key, row in rows.items() if row["status"] != "ok"}
    assert bad == {
        ("stop the run", "8"): "PermissionError: a trial may not send a signal to the run"
    }
    assert len(rows) == 2 * 4
