"""`python -m scripts.bench.faults`: two dask workers on this machine, and what may happen to them.

A worker is killed at a random moment, `KILLS` times; two thousand small trials; a scheduler that is
stopped in the middle of a run and started again. Each time the rows have to be those of a local
run, times apart, each of them once.
"""

from __future__ import annotations

import contextlib
import csv
import itertools
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import distributed

from rfbench import config
from rfbench.errors import ExecutorError
from rfbench.experiment import clusters, runner
from rfbench.experiment.run_plan import RunPlan, plan_run

KILLS = 10
VARIES = ("t_", "cpu_", "peak_rss_mb", "workers", "check")
CONFIG = """
dataset: {{sphere: {{d: 3, n_train: 120, n_test: 60}}}}
scaling: none
bandwidth: 1.0
M: [4, 8]
samplers: [rks, eerf: {{pool_size: 40, score_rows: 1.0}}]
solver: {{name: ridge, alphas: [0.01, 1.0], selection: cv5}}
trials: {trials}
"""
library: Any = distributed


def plan_of(folder: Path, trials: int) -> RunPlan:
    """Return four small trials per number; their rows go to the folder."""
    path = folder.parent / f"small{trials}.yaml"
    path.write_text(CONFIG.format(trials=trials), encoding="utf-8")
    return plan_run([config.read(path)], folder)


def rows_of(folder: Path) -> list[dict[str, str]]:
    """Return the rows without what differs between two runs, in the order of their trials."""
    with (folder / "trials.csv").open(newline="", encoding="utf-8") as file:
        rows = [
            {key: value for key, value in row.items() if not key.startswith(VARIES)}
            for row in csv.DictReader(file)
        ]
    return sorted(rows, key=lambda row: row["trial_id"])


def pids(address: str) -> list[int]:
    """Return the ids of the workers' processes."""
    with library.Client(address, set_as_default=False) as client:
        return list(client.run(os.getpid).values())


def compare(what: str, plan: RunPlan, local: list[dict[str, str]]) -> None:
    """Print what a run has lost and doubled, and whether its rows are the local ones."""
    rows = rows_of(plan.folder)
    ids = [row["trial_id"] for row in rows]
    planned = {trial.id for trial in plan.planned}
    print(
        f"{what}: {len(planned - set(ids))} rows lost, {len(ids) - len(set(ids))} doubled, "
        f"{'those' if rows == local else 'NOT those'} of a local run",
        flush=True,
    )


def kills(top: Path, address: str, seed: int = 0) -> None:
    """Kill one of the workers at a random moment of a run, time and again."""
    choose = random.Random(seed)
    local = plan_of(top / "local", 20)
    runner.run(local, n_jobs=2)
    for number in range(KILLS):
        plan, rows = plan_of(top / f"killed{number}", 20), choose.randrange(len(local.planned))
        victim, done = choose.choice(pids(address)), itertools.count()

        def kill(row: object, *, last: int = rows, victim: int = victim, done: Any = done) -> None:
            if next(done) == last:
                timer = threading.Timer(choose.uniform(0, 0.1), os.kill, (victim, signal.SIGKILL))
                timer.start()

        runner.run(plan, executor=clusters.find(f"dask:{address}"), on_row=kill)
        compare(f"kill {number + 1}, after {rows} rows", plan, rows_of(local.folder))


def many(top: Path, address: str) -> None:
    """Run two thousand small trials."""
    local, far = (plan_of(top / name, 500) for name in ("near", "far"))
    runner.run(local, n_jobs=2)
    begin = time.monotonic()
    runner.run(far, executor=clusters.find(f"dask:{address}"))
    said = f"2,000 trials in {time.monotonic() - begin:.0f} s"
    compare(said, far, rows_of(local.folder))


@contextlib.contextmanager
def cluster(address: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run dask's own commands, a scheduler and two workers, and hand out the scheduler."""
    host, port = address.removeprefix("tcp://").split(":")
    lines = (
        ("scheduler", "--host", host, "--port", port, "--no-dashboard"),
        ("worker", address, "--nworkers", "2", "--nthreads", "1", "--no-dashboard"),
    )
    begun = [
        subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{line[0]}", *line[1:]],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for line in lines
    ]
    try:
        with library.Client(address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        yield begun[0]
    finally:
        for one in begun:
            one.terminate()
            one.wait()


def free_address() -> str:
    """Return an address of this machine that nobody listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{free.getsockname()[1]}"


def restart(top: Path, address: str) -> None:
    """Stop the scheduler in the middle of a run, start it again, and run the command again."""
    plan, local = plan_of(top / "stopped", 20), plan_of(top / "beside", 20)
    runner.run(local, n_jobs=2)
    done = []

    def stop(row: dict[str, Any]) -> None:
        done.append(row)
        if len(done) == 20:
            scheduler.kill()

    with cluster(address) as scheduler:
        try:
            runner.run(plan, executor=clusters.find(f"dask:{address}"), on_row=stop)
        except ExecutorError as error:
            print(f"scheduler killed after {len(done)} rows: {error}", flush=True)
    with cluster(address):
        summary = runner.run(plan, executor=clusters.find(f"dask:{address}"))
    compare(f"started again, {summary.found} rows found", plan, rows_of(local.folder))


def main() -> None:
    """Try all of it."""
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        restart(top, free_address())
        address = free_address()
        # No LocalCluster: it gives up a worker that takes more than 15 s to begin again.
        with cluster(address):
            kills(top, address)
            many(top, address)


if __name__ == "__main__":
    main()
