"""Runs on a system that lacks what macOS lacks: see `tests/support/elsewhere`."""

import logging
import os
import resource
import signal
import subprocess
import threading
from pathlib import Path

import numpy
import psutil
import pytest

from rfbench import interpreter, memory, platforms, usable
from rfbench.errors import MemoryLimitError
from rfbench.experiment import environment, runner, worker_process
from rfbench.experiment.run_plan import plan_run
from rfbench.experiment.worker import Limits
from rfbench.results import manifest
from rfbench.results.store import Store
from tests.support.elsewhere import sitecustomize
from tests.support.runs import (
    FAULTY,
    all_end,
    command,
    descendants,
    end_idle,
    rows_of,
    wait_until,
    without_times,
)

from .conftest import SMALL

FOLDER = str(Path(sitecustomize.__file__).parent)
# Children that begin at once, and do what follows.
BEGINS = "import json, os, sys, time; print(json.dumps({}), flush=True)\n"


@pytest.fixture
def elsewhere(monkeypatch):
    """Take from this process and its children what another system lacks."""
    monkeypatch.setenv("PYTHONPATH", FOLDER)
    for name in sitecustomize.ABSENT:
        monkeypatch.delattr(os, name, raising=False)
    for change in sitecustomize.CHANGED:
        monkeypatch.setattr(*change)
    monkeypatch.setattr(platforms, "read_system_file", lambda path: "")
    platforms.can_limit_memory.cache_clear()
    environment.describe_machine_by_id.cache_clear()
    end_idle()
    yield
    end_idle()
    platforms.can_limit_memory.cache_clear()
    environment.describe_machine_by_id.cache_clear()


def test_killed_run_resumes_and_slow_trial_times_out_on_emulated_macos(
    experiment_of, finished, tmp_path, elsewhere, caplog
):
    """The fault: the first run ended in an AttributeError. The rows are those of Linux."""
    text = SMALL.replace("solver:", f"  - {{class: '{FAULTY}:Faulty', fault: sleep}}\nsolver:")
    experiment = experiment_of(text, "trials=1", name="tiny", allow_imports=True)
    work = plan_run([experiment], tmp_path / "out" / "tiny")
    words = command(tmp_path / "tiny.yaml", tmp_path / "out", "--jobs", "1", "--allow-imports")
    words += ["--trials", "1"]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log)
    begun = work.folder / ".begun"
    wait_until(lambda: len(Store(work.folder).read_statuses()) == 5, process)
    wait_until(lambda: len(begun.read_text().split()) == 6, process)
    workers = descendants(process)
    process.kill()
    process.wait()
    assert workers
    all_end(workers)
    assert "does not enforce memory limits" in (tmp_path / "log").read_text()
    with caplog.at_level(logging.WARNING):
        summary = runner.run_plan(work, limits=Limits(memory=2**30, timeout=0.5))
    assert (summary.found, summary.done, summary.failed) == (5, 1, 1)
    assert caplog.messages.count(runner.NO_LIMIT) == 1
    *others, last = sorted(rows_of(work.folder), key=lambda row: row["status"])
    assert last["status"] == "timeout"
    assert {row["status"] for row in others} == {"ok"}
    here = {row["trial_id"]: row for row in without_times(finished)}
    there = [row for row in without_times(work.folder) if row["trial_id"] in here]
    assert len(there) == 4
    assert [row | {"machine": ""} for row in there] == [
        here[row["trial_id"]] | {"machine": ""} for row in there
    ]
    assert all(float(row["peak_rss_mb"]) > 10 for row in others)


@pytest.fixture
def started(monkeypatch):
    """Return a function that starts a child that does something; it is closed at the end."""
    made = []

    def start(code):
        monkeypatch.setattr(worker_process, "CHILD_CODE", BEGINS + code)
        made.append(worker_process.WorkerProcess())
        return made[-1]

    yield start
    for child in made:
        child.close()


@pytest.mark.parametrize("missing", [AttributeError, PermissionError, OSError])
def test_end_of_a_child_process_is_detected_without_pidfd_open(started, monkeypatch, missing):
    """Its exit code is still there: the thread that asks for its state does not wait for it."""

    def refuse(number):
        raise missing

    threads = threading.active_count()
    monkeypatch.setattr(os, "pidfd_open", refuse, raising=False)
    sound = started("sys.stdin.read()")
    assert sound.is_usable()
    with pytest.raises(worker_process.WorkerDiedError, match="ended with exit code 7"):
        started("os._exit(7)").call("draw", ())
    with pytest.raises(worker_process.WorkerDiedError, match="ended by signal 9"):
        started("os.kill(os.getpid(), 9)").call("draw", ())
    # Another process holds its pipe.
    held = "if os.fork() == 0: time.sleep(600)\nos._exit(6)"
    with pytest.raises(worker_process.WorkerDiedError, match="ended with exit code 6"):
        started(held).call("draw", ())
    assert sound.is_usable()
    sound.kill()
    wait_until(lambda: not sound.is_usable())
    sound.close()
    assert sound._process.returncode == -signal.SIGKILL
    wait_until(lambda: threading.active_count() == threads)


def test_ended_process_group_is_not_an_error(elsewhere, started):
    child = started("os._exit(0)")
    wait_until(lambda: psutil.Process(child._process.pid).status() == psutil.STATUS_ZOMBIE)
    with pytest.raises(PermissionError):
        os.killpg(child._process.pid, signal.SIGKILL)
    child.close()
    assert child._process.returncode == 0


def test_memory_limits_apply_only_where_supported(elsewhere, monkeypatch):
    assert not platforms.can_limit_memory()
    with memory.limit_memory_to_free():
        pass
    platforms.limit_memory(1.0)
    with (
        memory.limit_temporarily(1.0),
        pytest.raises(MemoryLimitError),
    ):  # what is computed in advance
        memory.check_memory_fits(2.0, "A matrix", "Less.")
    monkeypatch.undo()
    platforms.can_limit_memory.cache_clear()
    before = resource.getrlimit(resource.RLIMIT_DATA)
    assert platforms.can_limit_memory() != platforms.DARWIN
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_machine_information_is_available_on_emulated_macos(elsewhere, monkeypatch):
    assert platforms.read_cpu_name()
    assert usable.count_usable_cores() >= 1
    assert usable.measure_usable_memory().total == psutil.virtual_memory().total
    assert 10 < memory.count_free_bytes() / 2**20
    platforms.reset_peak_rss()
    there = platforms.read_peak_rss_mb()
    monkeypatch.setattr(platforms, "DARWIN", True)
    assert platforms.read_peak_rss_mb() == pytest.approx(
        there / 1024, rel=0.1
    )  # of which unit it is
    monkeypatch.setattr(platforms, "DARWIN", False)
    monkeypatch.undo()
    # The peak of the process counts its children's start as well, the one of Linux does not.
    assert platforms.read_peak_rss_mb() <= there * 1.01


def test_accelerate_thread_limit_is_set_by_environment_variable_on_macos(monkeypatch):
    """The identity of the machine does not depend on it; Linux has neither."""
    here = environment.describe_machine()
    name = "VECLIB_MAXIMUM_THREADS"
    assert "blas_threads" not in here
    assert name not in interpreter.build_environment()
    monkeypatch.setattr(platforms, "DARWIN", True)
    assert interpreter.build_environment()[name] == "1"
    monkeypatch.setenv(name, "3")
    assert interpreter.build_environment()[name] == "3"
    built = {"Build Dependencies": {"blas": {"name": "accelerate"}}}
    monkeypatch.setattr(numpy, "show_config", lambda mode: built)
    there = environment.describe_machine()
    assert there["blas_threads"] == "not verified"
    monkeypatch.setattr(environment, "list_blas_libraries", list)
    monkeypatch.undo()
    assert manifest.hash_machine(there) == manifest.hash_machine(here)
