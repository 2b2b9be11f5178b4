"""Runs in processes of their own, and what they leave behind."""

import csv
import sys
import time
from pathlib import Path

import psutil

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


def wait_until(met, seconds=60.0):
    limit = time.monotonic() + seconds
    while not met() and time.monotonic() < limit:
        time.sleep(0.02)
