"""What a trial starts in a session of its own ends with the child, and nothing else does."""

import os
import subprocess

import psutil
import pytest

from rfbench import interpreter
from rfbench.experiment import marks, worker_process
from rfbench.experiment.worker import ENVIRONMENT_PREFIX
from tests.support.runs import all_end, wait_until

# A child that has begun a process in a session of its own, whose parent has ended already.
STARTS = """
import json, os, subprocess, sys, time
if os.fork() == 0:
    os.setsid()
    process = subprocess.Popen(["sleep", "600"], start_new_session=True)
    os._exit(0)
os.wait()
print(json.dumps({}), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def sleeping():
    """Return a function that starts a process with a variable; what is left of them is ended."""
    started = []

    def start(**variables):
        words = {"env": os.environ | variables, "start_new_session": True}
        started.append(subprocess.Popen(["sleep", "600"], **words))
        return started[-1]

    yield start
    for each in started:
        each.kill()
        each.wait()


def having(mark):
    """Return the processes that have a mark, of which some may have ended by now."""
    found = []
    for process in psutil.process_iter():
        try:
            if mark in process.environ().get(marks.MARK, ""):
                found.append(process)
        except psutil.Error:
            continue
    return found


def test_processes_started_in_another_session_end_with_the_trial(monkeypatch):
    """The fault: only processes in the session of the child were ended."""
    monkeypatch.setattr(worker_process, "CHILD_CODE", STARTS)
    child = worker_process.WorkerProcess()
    wait_until(lambda: len(having(child._mark)) == 2)
    left = having(child._mark)
    child.close()
    all_end(left)
    assert having(child._mark) == []


def test_orphaned_worker_kills_the_processes_with_its_mark(sleeping):
    """Also those of a child of the child, and not those of another child."""
    mark, variable = marks.make_process_mark()
    other, inner = marks.make_process_mark()[0], marks.make_process_mark()[0]
    own = [sleeping(**variable), sleeping(**{marks.MARK: f"{variable[marks.MARK]}:{inner}"})]
    stays = sleeping(**{marks.MARK: other})
    words = [str(os.getpid()), "2"]
    done = subprocess.run(
        interpreter.build_command(worker_process.CHILD_CODE, *words),
        env=interpreter.build_environment() | variable, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, start_new_session=True, check=False,
    )  # fmt: skip
    assert done.returncode == -9
    assert [each.wait() for each in own] == [-9, -9]
    assert stays.poll() is None
    assert having(mark) == []


def test_grandchild_process_inherits_the_marks_of_both_ancestors(monkeypatch):
    monkeypatch.setenv(marks.MARK, "outer")
    mark, variable = marks.make_process_mark()
    assert variable == {marks.MARK: f"outer:{mark}"}
    assert not marks.MARK.startswith(
        ENVIRONMENT_PREFIX
    )  # such variables are those of the parent, in each trial
    monkeypatch.setenv(marks.MARK, variable[marks.MARK])
    assert marks.read_mark_of_this_process() == mark


def test_empty_process_mark_kills_no_process(sleeping):
    process = sleeping(**{marks.MARK: ""})
    marks.kill_marked_processes("")
    assert process.poll() is None
