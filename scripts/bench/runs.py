"""Bars 3 and 4: a curve for the price of its last point, and a second worker."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rfbench import config
from rfbench.experiment import runner
from rfbench.experiment.plan import jobs
from rfbench.experiment.run_plan import RunPlan, plan_run
from rfbench.experiment.trial import run_job
from rfbench.results.maintenance import rows_of
from rfbench.results.schema import METRICS
from scripts.bench.case import Bar, Case
from scripts.bench.timing import in_turn, seconds_of

MOST_OF_LAST_POINT = 1.6
LEAST_OF_TWO_WORKERS = 1.7
CURVE = """
dataset: {{sphere: {{d: {d}, n_train: {n}, n_test: {n_test}}}}}
bandwidth: {bandwidth}
M: {sizes}
samplers: [rks]
solver: {{name: ridge, alphas: "log:1e-3:1e3:11", selection: {selection}}}
timing: {timing}
trials: {trials}
"""


def work_of(folder: Path, **values: Any) -> RunPlan:
    """Return the trials of a generated problem, ready to run."""
    facts = {"n_test": values["n"] // 5, "bandwidth": values["d"] ** 0.5, **values}
    path = folder / "bench.yaml"
    path.write_text(CURVE.format(**facts), encoding="utf-8")
    return plan_run([config.read(path)], folder / "results")


def curve_case(n: int, d: int, M: int, points: int, selection: str, rounds: int = 3) -> Case:
    """Time a whole curve against its last point alone."""
    step = M // points

    def run(work: RunPlan) -> Callable[[], None]:
        def go() -> None:
            for job in jobs(work.trials):
                for row in run_job(job):
                    if row["status"] != "ok":
                        raise RuntimeError(row["message"])

        return go

    with tempfile.TemporaryDirectory() as name:
        shared = {"n": n, "d": d, "selection": selection, "trials": 1}
        curve = work_of(Path(name), sizes=f"{step}:{M}:{step}", timing="shared", **shared)
        last = work_of(Path(name), sizes=M, timing="isolated", **shared)
        run(work_of(Path(name), sizes=step, timing="isolated", **shared))()
        whole, alone = in_turn([run(curve), run(last)], rounds)
    bars = (Bar(3, "limit_ratio", most=MOST_OF_LAST_POINT),) if selection == "test" else ()
    return Case(
        f"curve of {points} points, {selection} (limit: its last)",
        whole,
        n,
        d,
        M,
        limit_seconds=alone,
        bars=bars,
    )


def workers_case(n: int, d: int, M: int, trials: int) -> Case:
    """Time trials on two workers against one, both warm, and compare their results."""
    seconds: dict[int, float] = {}
    found: dict[int, list[tuple[str, ...]]] = {}
    shared = {"d": d, "sizes": M, "selection": "cv5", "timing": "isolated"}
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as name:
            warm, real = Path(name) / "warm", Path(name) / "real"
            warm.mkdir()
            real.mkdir()
            small = work_of(warm, n=500, trials=3 * workers, **shared)
            runner.run(small, n_jobs=workers)
            work = work_of(real, n=n, trials=trials, **shared)
            seconds[workers] = seconds_of(lambda: runner.run(work, n_jobs=workers))  # noqa: B023
            found[workers] = _results(work.folder)
    return Case(
        f"{trials} trials on two workers",
        seconds[2],
        n,
        d,
        M,
        "one worker",
        seconds[1],
        bars=(Bar(4, "ratio", least=LEAST_OF_TWO_WORKERS),),
        sound=found[1] == found[2] and len(found[1]) == trials,
    )


def _results(folder: Path) -> list[tuple[str, ...]]:
    keys = ["trial_id", "status", "alpha", *METRICS]
    return sorted(tuple(row.get(key, "") for key in keys) for row in rows_of(folder))
