"""Calls in processes of their own."""

import errno
import os
import signal
import subprocess
import time

import pytest

from rfbench.errors import WriteError
from rfbench.experiment import children
from rfbench.experiment.children import Child, ChildDied, Children


def leave_a_child():
    """Leave a process that holds the socket open, and die."""
    if os.fork() == 0:
        time.sleep(600)
    os._exit(7)


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
    assert child.process.wait(60) == 1


def test_no_process_no_worker_and_a_sentence(monkeypatch):
    def refuse(*words, **keywords):
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(children, "_idle", [])
    with pytest.raises(WriteError, match="No worker process"):
        Children(1).submit(os.getpid).result()
