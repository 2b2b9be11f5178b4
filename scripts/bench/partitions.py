"""`python -m scripts.bench.partitions`: one problem over many workers, measured and projected.

The model. One pass over n rows of d numbers, p columns of features, g groups (folds), K parts and W
workers takes, in seconds,

    ceil(K / W) (n / K) r  +  K (8 g p^2 + 8 n d / K) / B  +  (K - 1) g a,

r: a row's features and its share of the Gram matrix on one worker; B: bytes per second between a
worker and the process that leads; a: adding one matrix to another. The leading process takes in all
sums, one after the other, so that the middle term does not shrink with W. A worker holds g matrices
of 8 p^2 bytes, the leading process log2 K + W + 2 times as many.

r, B and a are measured on this machine, r on one worker; so are the times of one and of two
workers. All other numbers of the table are the model's, with B as it is measured, or that of a
network of 10 Gbit/s where it is slower.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from rfbench.clock import Clock
from rfbench.compute.partitions import Partitions
from rfbench.experiment import children
from rfbench.experiment.parts import OnWorkers
from rfbench.samplers import RKS
from rfbench.solvers.design import Design

NETWORK = 1.25e9
WORKERS = (1, 2, 10, 20, 100)


class Model:
    """See above; `rate`, `transfer` and `addition` are r, 1 / B and the a of one number."""

    def __init__(self, rate: float, transfer: float, addition: float) -> None:
        self.rate, self.transfer, self.addition = rate, transfer, addition

    def seconds(self, n: int, d: int, p: int, parts: int, workers: int, groups: int = 1) -> float:
        """Return the time of a pass."""
        work = math.ceil(parts / workers) * n / parts * self.rate
        moved = (8 * groups * p**2 * parts + 8 * n * d) * self.transfer
        return work + moved + (parts - 1) * groups * p**2 * self.addition


def memory_gib(p: int, parts: int, workers: int, groups: int = 1) -> tuple[float, float]:
    """Return GiB of sums: of a worker, and of the leading process."""
    matrix = 8 * groups * p**2 / 2**30
    return matrix, matrix * (math.log2(parts) + workers + 2)


def best(*calls: Callable[[], Any], times: int = 3) -> list[float]:
    """Return the least seconds of each call, of a few rounds in which all take their turns."""
    seconds: list[list[float]] = [[] for _ in calls]
    for _ in range(times):
        for call, own in zip(calls, seconds, strict=True):
            begin = time.perf_counter()
            call()
            own.append(time.perf_counter() - begin)
    return [min(own) for own in seconds]


def measured(n: int, d: int, p: int, parts: int, times: int = 3) -> tuple[Model, dict[int, float]]:
    """Return the calibrated model, and the seconds of one and two workers."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, d)), rng.standard_normal((n, 1))
    features = RKS(p, bandwidth=4.0, random_state=0).fit(X[:10], y[:10, 0])
    groups = np.zeros(n, dtype=np.intp)

    def one_pass(workers: int) -> None:
        design = Design(X, features)
        if workers:
            design.partitions = Partitions(parts, OnWorkers("local", workers))
        design.equations(y, groups, Clock(), 1, True)

    matrix = np.zeros((p, p))
    pool = children.Children(1)
    pool.submit(abs, 1).result()
    there_and_back = functools.partial(pool.submit, np.negative, matrix)
    one_pass(2)  # the workers have begun, and their loops are compiled
    alone, one, two = best(*(functools.partial(one_pass, w) for w in (0, 1, 2)), times=times)
    moved, added = best(lambda: there_and_back().result(), lambda: matrix + matrix, times=times)
    pool.close()
    return Model(alone / n, moved / (2 * matrix.nbytes), added / p**2), {1: one, 2: two}


def table(
    model: Model, seen: dict[int, float], n: int, d: int, p: int, parts: int, whole: int = 10**7
) -> str:
    """Return the Markdown table: the measured problem, and one of `whole` rows projected."""
    remote = Model(model.rate, max(model.transfer, 1 / NETWORK), model.addition)
    lines = [
        "| workers | parts | rows | seconds | which is | GiB per worker | GiB, leading |",
        "|---|---|---|---|---|---|---|",
    ]

    def line(workers: int, parts: int, n: int, seconds: float, which: str) -> None:
        own, lead = memory_gib(p, parts, workers)
        lines.append(
            f"| {workers} | {parts} | {n:,} | {seconds:.3g} | {which} | {own:.2g} | {lead:.2g} |"
        )

    for workers, seconds in seen.items():
        line(workers, parts, n, seconds, "measured")
        line(workers, parts, n, model.seconds(n, d, p, parts, workers), "the model's")
    for workers in WORKERS:
        count = max(20, workers)
        line(workers, count, whole, remote.seconds(whole, d, p, count, workers), "projected")
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
