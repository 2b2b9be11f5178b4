"""Calls of other functions than trials, in the children that run trials."""

import os
import subprocess
from pathlib import Path
from pkgutil import resolve_name

import pytest

from rfbench.experiment import fanout, worker, worker_process
from tests.support import forked
from tests.support.runs import all_end, descendants, end_idle, wait_until

DRAWN = ("png",)
# A child that ends when it is to call a function.
ENDS = """
import json, os, sys
print(json.dumps({}), flush=True)
sys.stdin.buffer.read(1)
os._exit(7)
"""


# Two methods at two sizes: a figure of less compares nothing.
ROWS = [
    {"M": M, "sampler": sampler, "error": error}
    for sampler, error in (("rks", 10.0), ("orf", 9.0))
    for M in (10, 20)
]


@pytest.fixture
def folders(write):
    """Return ten results folders: so many need more than one child."""
    return [write(ROWS, name=f"run{number}") for number in range(10)]


def test_only_listed_functions_are_called_in_worker_processes():
    for place in worker.CALLS.values():
        assert callable(resolve_name(place))
    with pytest.raises(KeyError):
        worker.call_listed_function("os:system", ("true",))


def test_plots_from_child_processes_equal_those_of_this_process(folders, tmp_path, monkeypatch):
    """In the order of the calls, relative to the current folder; an error is its own text."""
    folder = folders[0]
    calls = [(folder, False, tmp_path / "here", None, DRAWN, None)]
    here = list(fanout.call_in_child_processes("draw", calls, 1))
    monkeypatch.chdir(tmp_path)
    others = [(folder, False, Path("there"), None, DRAWN, None)]
    others.append((tmp_path / "absent", False, tmp_path / "x", None, DRAWN, None))
    *there, (nothing, error) = fanout.call_in_child_processes("draw", others, 2)
    for ((one, not_drawn), none), ((other, too), no) in zip(here, there, strict=True):
        assert not_drawn == too
        assert none == no == ""
        assert [Path(each).read_bytes() for each in one] == [
            Path(each).read_bytes() for each in other
        ]
        assert one
    assert nothing is None
    assert str(tmp_path / "absent") in error


def test_child_that_exits_fails_only_its_call(monkeypatch):
    end_idle()
    monkeypatch.setattr(worker_process, "CHILD_CODE", ENDS)
    answers = list(fanout.call_in_child_processes("draw", [("a",), ("b",)], 2))
    assert [answer for answer, _ in answers] == [None, None]
    assert all("ended with exit code 7" in error for _, error in answers)
    assert worker_process._idle == []


def test_killed_plot_leaves_no_process(folders):
    """The fault: processes of loky went on, with folders in the shared memory."""
    words = [*forked.COMMAND, "plot", str(folders[0].parent)]
    variables = {**os.environ, "LOKY_MAX_CPU_COUNT": "2"}
    process = forked.Forked(words, stdout=subprocess.DEVNULL, env=variables)
    wait_until(lambda: len(descendants(process)) >= 2 + forked.FORKS, process)
    workers = descendants(process)
    process.kill()
    process.wait()
    assert workers
    all_end(workers)
