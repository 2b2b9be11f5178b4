"""Calls in processes of their own."""

import errno
import os
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
from joblib.externals.loky import process_executor

from rfbench.errors import WriteError
from rfbench.experiment import children
from rfbench.experiment.children import ChildDied, Local
from tests.support.runs import wait_until


def fork():
    """Leave a process that holds the pipes open, and return its id."""
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
    pool = Local()
    killed, dying = (pool.call(fork).result() for _ in range(2))
    with pytest.raises(ChildDied, match="exit code 3"):
        pool.call(os._exit, 3).result()
    gone(killed, dying)
    left = pool.call(fork).result()
    pool.call(time.sleep, 600)
    pool.kill()
    gone(left)


PARENT = """
import os, signal, time
from rfbench.experiment.children import Local
from tests.experiment.test_children import fork
pool = Local()
idle, busy = pool.call(fork), pool.call(os.getpid)
print(idle.result(), os.getpgid(idle.result()), busy.result(), flush=True)
pool.call(time.sleep, 600)
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
    pool = Local()
    first = pool.call(os.getpid).result()
    with pytest.raises(FileNotFoundError):
        pool.call(os.stat, "/nowhere/at/all").result()
    assert pool.call(os.getpid).result() == first  # it goes on, for the next pool as well
    pool = Local()
    assert pool.call(os.getpid).result() == first
    with pytest.raises(ChildDied, match="exit code 7"):
        pool.call(leave_a_child).result()
    second = pool.call(os.getpid)
    assert second.result() != first
    dying = pool.call(os.kill, second.result(), signal.SIGKILL)
    with pytest.raises(ChildDied, match="signal 9"):
        dying.result()
    sleeping = pool.call(time.sleep, 600)
    pool.kill()
    with pytest.raises(ChildDied):
        sleeping.result()


def test_a_child_ends_when_its_parent_is_another_process(monkeypatch):
    monkeypatch.setattr(children, "_idle", [])
    pool, own = Local(), os.getpid()
    monkeypatch.setattr(children.os, "getpid", lambda: own + 1)
    with pytest.raises(ChildDied, match="signal 9"):
        pool.call(time.sleep, 600).result()


def test_no_process_no_worker_and_a_sentence(monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(children.ProcessPoolExecutor, "submit", refuse)
    monkeypatch.setattr(children, "_idle", [])
    pool = Local()
    with pytest.raises(WriteError, match="No worker process"):
        pool.call(os.getpid)
    assert not children._busy


def test_an_idle_child_that_was_killed_costs_no_call(monkeypatch):
    monkeypatch.setattr(children, "_idle", [])
    pool = Local()
    first = pool.call(os.getpid).result()
    os.kill(first, signal.SIGKILL)
    (child,) = children._idle
    wait_until(lambda: child._pool._flags.broken)
    assert pool.call(os.getpid).result() != first


class Held:
    rows = None


def hold(gib):
    """Keep rows from call to call, and have loky look at the memory after each."""
    process_executor._MEMORY_LEAK_CHECK_DELAY = 0
    Held.rows = np.ones(int(gib * 2**27))
    return os.getpid()


def test_a_child_may_hold_a_large_data_set(monkeypatch):
    """loky ends a worker that has grown by 300 MB; all warnings are errors here."""
    monkeypatch.setattr(children, "_idle", [])
    pool = Local()
    first = pool.call(os.getpid).result()
    calls = [pool.call(hold, gib).result() for gib in (0, 1, 0)]
    assert calls == [first] * 3


def test_code_of_others_has_a_child_of_its_own(monkeypatch):
    monkeypatch.setattr(children, "_idle", [])
    pool = Local()
    ours = pool.call(os.getpid).result()
    theirs = [pool.call(os.getpid, code="mine.py:A").result() for _ in range(2)]
    assert theirs == [ours] * 2  # which had done nothing else
    other, again = (pool.call(os.getpid, code=code).result() for code in ("mine.py:B", ""))
    assert len({ours, other, again}) == 3
    gone(ours, other)  # there is one worker at a time


def test_a_call_cannot_ask_its_parent_to_stop():
    pool = Local()
    for number in (signal.SIGTERM, signal.SIGINT):
        with pytest.raises(PermissionError, match="may not send a signal"):
            pool.call(os.kill, os.getpid(), number).result()
    with pytest.raises(PermissionError, match="may not send a signal"):
        pool.call(os.killpg, os.getpgrp(), signal.SIGTERM).result()


def test_a_child_follows_its_parent_to_another_folder_and_other_data(tmp_path, monkeypatch):
    pool = Local()
    first = pool.call(os.getpid).result()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RFBENCH_DATA", "there")
    assert pool.call(os.getcwd).result() == str(tmp_path)
    assert pool.call(os.getenv, "RFBENCH_DATA").result() == "there"
    monkeypatch.delenv("RFBENCH_DATA")
    assert pool.call(os.getenv, "RFBENCH_DATA").result() is None
    assert pool.call(os.getpid).result() == first
