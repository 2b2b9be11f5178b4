"""`python -m scripts.bench.partitions`: one problem over many workers, measured and projected.

The model. One pass over n rows of d numbers, p columns of features, g groups (folds), K parts and W
workers takes, in seconds,

    ceil(K / W) ((n / K) r + g a)  +  8 n d / B  +  (1 + log2 W) 8 g p^2 / B,

r: a row's features and its share of the Gram matrix on one worker; a: adding one matrix to another;
B: bytes per second between two processes. The workers add up their own sums, and then those of
each other, in a tree, so that the leading process gets one. It holds g matrices of 8 p^2 bytes, and
a worker at most log2 K + 2 times as many.

r, B and a are measured on this machine, r on one worker; so are the times of one and of two workers
of dask. All other numbers of the table are the model's, with B as it is measured, or that of a
network of 10 Gbit/s where that is slower, and r grown with p^2.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import distributed
import numpy as np

from rfbench.clock import Clock
from rfbench.compute.partitions import Partitions
from rfbench.experiment.children import Local
from rfbench.experiment.clusters import OnWorkers
from rfbench.samplers import RKS
from rfbench.solvers.design import Design, _part

NETWORK = 1.25e9
WORKERS, ROWS = (1, 10, 100), 10**7
library: Any = distributed


class Model:
    """See above; `rate`, `transfer` and `addition` are r, 1 / B and the a of one number."""

    def __init__(self, rate: float, transfer: float, addition: float) -> None:
        self.rate, self.transfer, self.addition = rate, transfer, addition

    def seconds(self, n: int, d: int, p: int, parts: int, workers: int, groups: int = 1) -> float:
        """Return the time of a pass."""
        matrix = groups * p**2
        work = math.ceil(parts / workers) * (n / parts * self.rate + matrix * self.addition)
        moved = 8 * n * d + 8 * matrix * (1 + math.log2(workers))
        return work + moved * self.transfer


def memory_gib(p: int, parts: int, groups: int = 1) -> tuple[float, float]:
    """Return GiB of sums: of a worker, at most, and of the leading process."""
    matrix = 8 * groups * p**2 / 2**30
    return matrix * (math.log2(parts) + 2), matrix


def least(*calls: Callable[[], float], times: int = 3) -> list[float]:
    """Return the least seconds of each call, of a few rounds in which all take their turns."""
    return [min(found) for found in zip(*([c() for c in calls] for _ in range(times)), strict=True)]


def timed(call: Callable[[], object]) -> float:
    """Return the seconds of a call."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def measured(n: int, d: int, p: int, parts: int, times: int = 3) -> tuple[Model, dict[int, float]]:
    """Return the calibrated model, and the seconds of one and two workers."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, d)), rng.standard_normal((n, 1))
    features = RKS(p, bandwidth=4.0, random_state=0).fit(X[:10], y[:10, 0])
    groups = np.zeros(n, dtype=np.intp)

    def one_pass(workers: int) -> None:
        design = Design(X, features)
        design.partitions = Partitions(parts, OnWorkers(clusters[workers].scheduler_address))
        design.equations(y, groups, Clock(), 1, True)

    def alone() -> float:  # its own clock, in a process like those of the workers
        future = pool.call(_part, Design(X, features), y, groups, True, 1)
        return float(sum(future.result()[1].wall.values()))

    matrix = np.zeros((p, p))
    pool = Local()
    with ExitStack() as stack:
        clusters = {
            count: stack.enter_context(
                library.LocalCluster(count, threads_per_worker=1, dashboard_address=":0")
            )
            for count in (1, 2)
        }
        for count in clusters:
            one_pass(count)  # the workers have begun, and their loops are compiled
        row, one, two, moved, added = least(
            alone,
            lambda: timed(lambda: one_pass(1)),
            lambda: timed(lambda: one_pass(2)),
            lambda: timed(lambda: pool.call(np.negative, matrix).result()),
            lambda: timed(lambda: matrix + matrix),
            times=times,
        )
    return Model(row / n, moved / (2 * matrix.nbytes), added / p**2), {1: one, 2: two}


def table(model: Model, seen: dict[int, float], n: int, d: int, p: int, parts: int) -> str:
    """Return the Markdown table: the measured problem, and larger ones projected."""
    lines = [
        "| rows | features | parts | workers | seconds | | GiB of a worker | GiB of the leader |",
        "|---|---|---|---|---|---|---|---|",
    ]

    def line(n: int, p: int, parts: int, workers: int, seconds: str, which: str) -> None:
        own, leader = memory_gib(p, parts)
        lines.append(
            f"| {n:,} | {p:,} | {parts} | {workers} | {seconds} | {which} "
            f"| {own:.2g} | {leader:.2g} |"
        )

    for workers, seconds in seen.items():
        said = f"{seconds:.3g} (model: {model.seconds(n, d, p, parts, workers):.3g})"
        line(n, p, parts, workers, said, "measured")
    remote = Model(model.rate, max(model.transfer, 1 / NETWORK), model.addition)
    for size in (p, 10 * p):
        grown = Model(model.rate * (size / p) ** 2, remote.transfer, model.addition)
        for workers in WORKERS:
            count = max(20, workers)
            seconds = grown.seconds(ROWS, d, size, count, workers)
            line(ROWS, size, count, workers, f"{seconds:,.0f}", "projected")
    return "\n".join(lines)


def main(n: int = 100_000, d: int = 28, p: int = 1000, parts: int = 8) -> None:
    """Print the constants and the table."""
    model, seen = measured(n, d, p, parts)
    print(
        f"p = {p}, d = {d}: a row {1e6 * model.rate:.1f} us, {1e-9 / model.transfer:.2g} GB/s "
        f"between processes, {1e9 * model.addition:.2g} ns per number added; "
        f"two workers are {seen[1] / seen[2]:.2f} times as fast as one\n"
    )
    print(table(model, seen, n, d, p, parts))


if __name__ == "__main__":
    main()
