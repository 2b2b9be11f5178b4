"""Calls in processes of their own."""

import errno
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from rfbench.errors import WriteError
from rfbench.experiment import children
from rfbench.experiment.children import Child, ChildDied, Children
from tests.support.runs import wait_until


def fork():
    """Leave a process that holds the socket open, and return its id."""
    found = os.fork()
    if found == 0:
        time.sleep(600)
    return found


def leave_a_child():
    fork()
    os._exit(7)


def gone(*processes):
    wait_until(lambda: not any(map(psutil.pid_exists, processes)))


def test_what_a_call_leaves_running_ends_with_the_child():
    killed, dying = Child(), Child()
    left = [child.call(fork) for child in (killed, dying)]
    assert killed.end() == -signal.SIGKILL
    with pytest.raises(ChildDied, match="exit code 3"):
        dying.call(os._exit, 3)
    gone(*left)


PARENT = """
import os, signal, time
from rfbench.experiment.children import Children
from tests.experiment.test_children import fork
pool = Children(2)
idle, busy = pool.submit(fork), pool.submit(os.getpid)
print(idle.result(), os.getpgid(idle.result()), busy.result(), flush=True)
pool.submit(time.sleep, 600)
while not pool._busy:
    time.sleep(0)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_all_end_with_a_parent_that_is_killed():
    """One child is at work, one waits, and a trial has left a process."""
    words = [sys.executable, "-c", PARENT]
    found = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    assert found.returncode == -signal.SIGKILL
    processes = {int(word) for word in found.stdout.split()}
    assert len(processes) == 3
    gone(*processes)


def test_a_child_answers_raises_dies_and_is_replaced():
    pool = Children(1)
    first = pool.submit(os.getpid).result()
    with pytest.raises(FileNotFoundError):
        pool.submit(os.stat, "/nowhere/at/all").result()
    assert pool.submit(os.getpid).result() == first  # it goes on, for the next pool as well
    pool.close()
    pool = Children(1)
    assert pool.submit(os.getpid).result() == first
    with pytest.raises(ChildDied, match="exit code 7"):
        pool.submit(leave_a_child).result()
    second = pool.submit(os.getpid)
    assert second.result() != first
    dying = pool.submit(os.kill, second.result(), signal.SIGKILL)
    with pytest.raises(ChildDied, match="signal 9"):
        dying.result()
    sleeping = pool.submit(time.sleep, 600)
    while not pool._busy:
        time.sleep(0)
    pool.kill()
    with pytest.raises(ChildDied):
        sleeping.result()


def test_a_child_ends_when_its_parent_is_another_process(monkeypatch):
    monkeypatch.setattr(children, "START", children.START.replace("{parent}", "{parent} + 1"))
    child = Child()
    assert child.process.wait() == -signal.SIGKILL


def test_no_process_no_worker_and_a_sentence(monkeypatch):
    def refuse(*words, **keywords):
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(children, "_idle", [])
    with pytest.raises(WriteError, match="No worker process"):
        Children(1).submit(os.getpid).result()


def test_a_child_follows_its_parent_to_another_folder_and_other_data(tmp_path, monkeypatch):
    pool = Children(1)
    first = pool.submit(os.getpid).result()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RFBENCH_DATA", "there")
    assert pool.submit(os.getcwd).result() == str(tmp_path)
    assert pool.submit(os.getenv, "RFBENCH_DATA").result() == "there"
    monkeypatch.delenv("RFBENCH_DATA")
    assert pool.submit(os.getenv, "RFBENCH_DATA").result() is None
    assert pool.submit(os.getpid).result() == first
    pool.close()
