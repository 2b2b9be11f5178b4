"""`python -m scripts.bench.overhead`: what a trial costs beside its work, locally and over dask.

Trials of next to no work (twenty rows, one feature), each a job of its own, one worker. From the
time of a run the times that its rows say (`t_pp` to `t_test`) are subtracted; what is left is the
scheduling, the journal, the containment, and preparing the rows.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from rfbench import config
from rfbench.clock import PARTS
from rfbench.experiment import clusters, runner
from rfbench.experiment.run_plan import RunPlan, plan_run

MOST_MS = {"local": 10.0, "dask": 30.0}
CONFIG = """
dataset: {{sphere: {{d: 2, n_train: 20, n_test: 10}}}}
bandwidth: 1.0
M: 1
samplers: [rks]
solver: {{name: ridge, alphas: 0.1, selection: fixed}}
trials: {trials}
"""


def plan_of(folder: Path, trials: int) -> RunPlan:
    """Return trials of no work, whose rows go to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "nothing.yaml"
    path.write_text(CONFIG.format(trials=trials), encoding="utf-8")
    return plan_run([config.read(path)], folder / "results")


def overhead(executor: str, trials: int) -> float:
    """Return the seconds per trial of a warm run with one worker, without the trials' own."""
    own: list[float] = []

    def note(row: dict[str, Any]) -> None:
        own.append(sum(row[f"t_{part}"] for part in PARTS))

    with tempfile.TemporaryDirectory() as name:
        runner.run(plan_of(Path(name) / "warm", 5), executor=clusters.find(executor, 1))
        plan, door = plan_of(Path(name), trials), clusters.find(executor, 1)
        begin = time.perf_counter()
        summary = runner.run(plan, executor=door, on_row=note)
        seconds = time.perf_counter() - begin
    if summary.done != trials or summary.failed:
        raise RuntimeError(f"{summary.done} of {trials} trials, {summary.failed} failed")
    return (seconds - sum(own)) / trials


def main(trials: int = 500) -> None:
    """Print the table; dask is left out where it is not installed."""
    _say("local", overhead("local", trials))
    try:
        import distributed
    except ImportError:
        return
    library: Any = distributed
    with library.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        _say("dask", overhead(f"dask:{cluster.scheduler_address}", trials))


def _say(name: str, seconds: float) -> None:
    reached = "reached" if 1e3 * seconds < MOST_MS[name] else "missed"
    print(f"{name}: {1e3 * seconds:.1f} ms per trial, bar {MOST_MS[name]:.0f} ms: {reached}")


if __name__ == "__main__":
    main()
