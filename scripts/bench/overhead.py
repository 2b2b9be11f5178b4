"""`python -m scripts.bench.overhead`: what a trial costs beside its work, locally and over dask.

Trials of next to no work (twenty rows, one feature), each a job of its own, one worker.
What the same trials take in this process is subtracted.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from rfbench import config
from rfbench.experiment import clusters, runner
from rfbench.experiment.plan import jobs
from rfbench.experiment.run_plan import RunPlan, plan_run
from rfbench.experiment.trial import run_job

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


def seconds_of_run(executor: str, trials: int) -> float:
    """Return the seconds per trial of a warm run with one worker."""
    with tempfile.TemporaryDirectory() as name:
        runner.run(plan_of(Path(name) / "warm", 5), executor=clusters.find(executor, 1))
        plan = plan_of(Path(name), trials)
        door = clusters.find(executor, 1)
        begin = time.perf_counter()
        summary = runner.run(plan, executor=door)
        seconds = time.perf_counter() - begin
    if summary.done != trials or summary.failed:
        raise RuntimeError(f"{summary.done} of {trials} trials, {summary.failed} failed")
    return seconds / trials


def seconds_here(trials: int) -> float:
    """Return the seconds per trial in this process, without any runner."""
    with tempfile.TemporaryDirectory() as name:
        work = jobs(plan_of(Path(name), trials).trials)
    list(run_job(work[0]))
    begin = time.perf_counter()
    for job in work:
        list(run_job(job))
    return (time.perf_counter() - begin) / trials


def main(trials: int = 500) -> None:
    """Print the table; dask is left out where it is not installed."""
    own = seconds_here(trials)
    print(f"a trial itself: {1e3 * own:.1f} ms")
    _say("local", seconds_of_run("local", trials) - own)
    try:
        import distributed
    except ImportError:
        return
    library: Any = distributed
    with library.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        _say("dask", seconds_of_run(f"dask:{cluster.scheduler_address}", trials) - own)


def _say(name: str, overhead: float) -> None:
    reached = "reached" if 1e3 * overhead < MOST_MS[name] else "missed"
    print(f"{name}: {1e3 * overhead:.1f} ms per trial, bar {MOST_MS[name]:.0f} ms: {reached}")


if __name__ == "__main__":
    main()
