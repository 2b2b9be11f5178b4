"""`python -m scripts.bench.overhead`: what a trial costs beside its work, locally and over dask.

Trials of next to no work (twenty rows, one feature), each a job of its own, one worker. From the
time of a run the times that its rows say (`t_pp` to `t_test`) are subtracted; what is left is the
scheduling, the journal, the containment, and preparing the rows. Beside other programs the wall
says what they take; CPU seconds say what a trial costs.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

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


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of those that it has begun, which live still."""
    me = psutil.Process()
    times = [process.cpu_times() for process in (me, *me.children(recursive=True))]
    return sum(spent.user + spent.system for spent in times)


def overhead(executor: str, trials: int) -> tuple[float, float]:
    """Return wall and CPU seconds per trial of a warm run with one worker, less the trials' own."""
    own = {"t": 0.0, "cpu": 0.0}

    def note(row: dict[str, Any]) -> None:
        for kind in own:
            own[kind] += sum(row[f"{kind}_{part}"] for part in PARTS)

    with tempfile.TemporaryDirectory() as name:
        runner.run(plan_of(Path(name) / "warm", 20), executor=clusters.find(executor, 1))
        plan, door = plan_of(Path(name), trials), clusters.find(executor, 1)
        begin = time.perf_counter(), cpu_seconds()
        summary = runner.run(plan, executor=door, on_row=note)
        wall, cpu = time.perf_counter() - begin[0], cpu_seconds() - begin[1]
    if summary.done != trials or summary.failed:
        raise RuntimeError(f"{summary.done} of {trials} trials, {summary.failed} failed")
    return (wall - own["t"]) / trials, (cpu - own["cpu"]) / trials


def main(trials: int = 500) -> None:
    """Print the table; dask is left out where it is not installed."""
    _say("local", *overhead("local", trials))
    try:
        import distributed
    except ImportError:
        return
    library: Any = distributed
    with library.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        _say("dask", *overhead(f"dask:{cluster.scheduler_address}", trials))


def _say(name: str, wall: float, cpu: float) -> None:
    print(
        f"{name}: {1e3 * wall:.1f} ms per trial, {1e3 * cpu:.1f} ms of CPU in all processes; "
        f"bar {MOST_MS[name]:.0f} ms"
    )


if __name__ == "__main__":
    main()
