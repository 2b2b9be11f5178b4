"""Overhead of a trial in one child process: `python -m scripts.bench.overhead`.

The trials have nearly no work (twenty rows, one feature). The CPU seconds in the rows are
subtracted from the CPU seconds of all processes. The rest is the preparation of rows, writing the
row to disk, and the communication between parent and child. The last line is the time of a second
run, which finds that all trials are finished.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from rfbench.api import read_config
from rfbench.clock import CLOCK_PARTS
from rfbench.experiment import runner
from rfbench.experiment.run_plan import plan_run
from scripts.bench.runs import work_of

MOST_MS = 10.0
SHARED = {"d": 2, "n": 20, "sizes": 1, "solver": "{alphas: 0.1, selection: fixed}"}


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of its living children."""
    me = psutil.Process()
    return sum(sum(each.cpu_times()[:2]) for each in (me, *me.children(recursive=True)))


def main(trials: int = 5000) -> None:
    """Print the milliseconds per trial, once the child has started."""
    own: list[float] = []

    def note(row: dict[str, Any]) -> None:
        own.append(sum(row[f"cpu_{part}"] for part in CLOCK_PARTS))

    with tempfile.TemporaryDirectory() as name:
        for count, folder in ((20, Path(name) / "warm"), (trials, Path(name) / "real")):
            plan = work_of(folder, trials=count, **SHARED)
            own.clear()
            wall, cpu = time.perf_counter(), cpu_seconds()
            runner.run_plan(plan, on_row=note)
            wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu - sum(own)
        again = time.process_time()
        finished = plan_run([read_config(folder / "bench.yaml")], folder / "results")
        left: list[dict[str, Any]] = []
        runner.run_plan(finished, on_row=left.append)
        again = time.process_time() - again
    print(f"{trials} trials: each {1e3 * wall / trials:.1f} ms of wall; beside its work")
    print(f"{1e3 * cpu / trials:.1f} ms of CPU in all processes; bar {MOST_MS:.0f} ms")
    print(f"run again: {len(left)} trials left, {again:.1f} s of CPU; bar 4 s for 10,000 trials")


if __name__ == "__main__":
    main()
