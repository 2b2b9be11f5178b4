"""Runs in processes of their own, and what they leave behind."""

import csv
import sys
from pathlib import Path

import psutil

FAULTY = Path(__file__).with_name("faulty.py")


def rows_of(folder):
    with (folder / "trials.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def command(path, out, *words):
    return [sys.executable, "-m", "rfbench", "run", str(path), "--out", str(out), *words]


def descendants(process):
    try:
        return psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
