"""`python -m scripts.bench.overhead`: what a trial costs beside its work, in one child process.

Trials of next to no work (twenty rows, one feature). From the CPU seconds of all processes those
that the rows say are subtracted; what is left is preparing the rows, the row's way to the disk, and
what parent and child say to each other.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from rfbench.api import read_config
from rfbench.clock import PARTS
from rfbench.experiment import runner
from rfbench.experiment.run_plan import plan_run

MOST_MS = 10.0
CONFIG = """
dataset: {{sphere: {{d: 2, n_train: 20, n_test: 10}}}}
bandwidth: 1.0
M: 1
samplers: [rks]
solver: {{name: ridge, alphas: 0.1, selection: fixed}}
trials: {trials}
"""


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of those that it has begun, which live still."""
    me = psutil.Process()
    return sum(sum(each.cpu_times()[:2]) for each in (me, *me.children(recursive=True)))


def main(trials: int = 5000) -> None:
    """Print the milliseconds per trial, once the child has started."""
    own: list[float] = []

    def note(row: dict[str, Any]) -> None:
        own.append(sum(row[f"cpu_{part}"] for part in PARTS))

    with tempfile.TemporaryDirectory() as name:
        for count, folder in ((20, Path(name) / "warm"), (trials, Path(name) / "real")):
            file = Path(name) / "nothing.yaml"
            file.write_text(CONFIG.format(trials=count), encoding="utf-8")
            plan = plan_run([read_config(file)], folder)
            own.clear()
            wall, cpu = time.perf_counter(), cpu_seconds()
            runner.run(plan, on_row=note)
    wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu - sum(own)
    print(f"{trials} trials: each {1e3 * wall / trials:.1f} ms of wall; beside its work")
    print(f"{1e3 * cpu / trials:.1f} ms of CPU in all processes; bar {MOST_MS:.0f} ms")


if __name__ == "__main__":
    main()
