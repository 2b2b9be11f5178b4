"""Bar 4: speed with a second worker."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from rfbench.api import read_config
from rfbench.experiment import runner
from rfbench.experiment.run_plan import RunPlan, plan_run
from rfbench.results.merging import read_valid_rows
from rfbench.results.schema import METRICS
from scripts.bench.case import Bar, Case
from scripts.bench.timing import seconds_of

LEAST_OF_TWO_WORKERS = 1.7
CURVE = """
dataset: {{sphere: {{d: {d}, n_train: {n}, n_test: {n_test}}}}}
bandwidth: {bandwidth}
M: {sizes}
samplers: [rks]
solver: {solver}
trials: {trials}
"""


def work_of(folder: Path, **values: Any) -> RunPlan:
    """Return a plan for a generated problem in a new folder."""
    folder.mkdir()
    facts = {"n_test": values["n"] // 5, "bandwidth": values["d"] ** 0.5, **values}
    path = folder / "bench.yaml"
    path.write_text(CURVE.format(**facts), encoding="utf-8")
    return plan_run([read_config(path)], folder / "results")


def workers_case(n: int, d: int, M: int, trials: int) -> Case:
    """Time trials on two workers compared with one, both warm, and compare their results."""
    seconds: dict[int, float] = {}
    found: dict[int, list[tuple[str, ...]]] = {}
    solver = '{name: ridge, alphas: "log:1e-3:1e3:11", selection: cv5}'
    shared = {"d": d, "sizes": M, "solver": solver}
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as name:
            warm, real = Path(name) / "warm", Path(name) / "real"
            small = work_of(warm, n=500, trials=3 * workers, **shared)
            runner.run_plan(small, n_jobs=workers)
            work = work_of(real, n=n, trials=trials, **shared)
            seconds[workers] = seconds_of(lambda: runner.run_plan(work, n_jobs=workers))  # noqa: B023
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
    return sorted(tuple(row.get(key, "") for key in keys) for row in read_valid_rows(folder))
