"""Runs in processes of their own, and what they leave behind."""

import csv
import sys
import time
from pathlib import Path

import psutil

from rfbench.experiment import worker_process

FAULTY = Path(__file__).with_name("faulty.py")


def rows_of(folder):
    with (folder / "trials.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def without_times(folder):
    """Return the rows of a folder, in the order of their identities, without what varies."""
    varies = ("t_", "cpu_", "peak_rss_mb", "workers", "check")
    rows = [{k: v for k, v in row.items() if not k.startswith(varies)} for row in rows_of(folder)]
    return sorted(rows, key=lambda row: row["trial_id"])


def command(path, out, *words):
    return [sys.executable, "-m", "rfbench", "run", str(path), "--out", str(out), *words]


def descendants(process):
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


MOST_SECONDS = 600.0
"""A guard against waiting for ever, out of reach on a busy machine."""


def wait_until(met, child=None):
    """Wait until `met()` is true; fail when `child`, a Popen that it depends on, has ended before.

    The child is looked at first: it may end after it did what is waited for.
    """
    limit = time.monotonic() + MOST_SECONDS
    while True:
        code = child.poll() if child is not None else None
        if met():
            return
        assert code is None, f"the child ended with exit code {code} before it happened"
        assert time.monotonic() < limit, f"it did not happen in {MOST_SECONDS:g} s"
        time.sleep(0.02)


def end_idle():
    """End the workers that wait for the next run."""
    while worker_process._idle:
        worker_process._idle.pop().close()


def all_end(processes):
    wait_until(lambda: not any(each.is_running() for each in processes))
