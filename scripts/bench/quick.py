"""The quick benchmark: rfbench, scikit-learn and the limit of the machine, for one and two threads.

A case has several sides: rfbench with several settings, and scikit-learn. Each round runs all sides
with one thread and then with two. The table has the medians of the rounds.
"""

from __future__ import annotations

import functools
import os
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import RidgeCV
from threadpoolctl import threadpool_limits

from rfbench import samplers
from rfbench.compute import wave_kernels, waves
from rfbench.compute.blocks import choose_block_rows
from rfbench.solvers import LogisticClassifier, RidgeRegressor
from scripts.bench import report, solvers
from scripts.bench.limit import IN_CACHE
from scripts.bench.ridge import ALPHAS, problem
from scripts.bench.timing import Clock, rate, seconds_of

Array = NDArray[Any]
Work = Callable[[], object]
THREADS = (1, 2)
REFERENCE = "scikit-learn"
# Each case runs until these seconds have passed, for at least two and at most fifteen rounds.
SECONDS, LEAST_ROUNDS, MOST_ROUNDS = 4.0, 2, 15
# RidgeCV gets only as many rows as this number of multiplications allows; its time is then scaled.
MULTIPLICATIONS = 5e9
RIDGE_SIZES = (
    (1000, 10, 100),
    (5000, 20, 400),
    (20_000, 50, 1000),
    (100_000, 10, 100),
    (100_000, 10, 1000),
    (500, 10, 2000),
    (2000, 50, 5000),
)
"""n, d, M of ridge regression."""
LONGEST = (100_000, 10, 1000)  # measured in float64 only
MAP_SIZES = ((20_000, 10, 500), (20_000, 50, 500), (20_000, 200, 500), (20_000, 784, 2000))
MAPS = ("rks", "sorf", "fastfood")
LOGISTIC_SIZES = ((5000, 400, 2), (20_000, 1000, 2), (5000, 400, 10))
"""n, M and classes of logistic regression."""
# The default tolerance of LogisticRegression.
TOLERANCE = 1e-4
# Larger tolerances of LogisticClassifier, the largest first.
LOOSE = (0.1, 0.03, 0.01, 1e-3, TOLERANCE)
KINDS = {"float64": "d", "float32": "s"}
TITLE = """\
# Speed with one and with two threads

The [glossary](../glossary.md) defines the terms of this page.

The command `scripts/bench/run --quick` wrote this page. Each time is the median of two to fifteen
rounds, in seconds. Each round runs rfbench and scikit-learn in turn, with one thread and with two
threads. A ratio above 1 means that rfbench is faster than scikit-learn. In the cases "ridge", the
time includes the random features and the search for one of 11 penalties. In these cases, the
columns "scikit-learn" show the time of RBFSampler and RidgeCV (leave-one-out). The columns "x
limit" show the time of rfbench divided by a computed limit. For ridge regression, the limit is the
time of the projections, the cosines, the Gram matrix of the shorter side, and six tridiagonal
forms of the Gram matrix. The time of a tridiagonal form is computed from 4/3 of the cubed size and
the rate of the products of the Gram matrix. For features, the limit is the time of the dense
projection and the cosines. Each line of logistic regression compares fits that are about equally
accurate. The first line of a size has the accuracy of scikit-learn's default tolerance."""
HEAD = [
    "case",
    *("n", "d", "M"),
    *("1 thread", REFERENCE, "ratio", "x limit"),
    *("2 threads", REFERENCE, "ratio", "x limit", "2 / 1"),
]


@dataclass(frozen=True)
class Line:
    """A line of the table: medians by number of threads.

    Attributes
    ----------
    name : str
    n, M : int
        Numbers of rows and features.
    d : int or None
        Number of columns, if the features are part of the work.
    ours, theirs : mapping of int to float
        Seconds of rfbench and of scikit-learn.
    limit : mapping of int to float
        Seconds of the limit; empty if the case has none.
    """

    name: str
    n: int
    d: int | None
    M: int
    ours: Mapping[int, float]
    theirs: Mapping[int, float]
    limit: Mapping[int, float]

    def cells(self) -> list[str]:
        """Return the cells of the line."""
        sizes = ["" if size is None else f"{size:,}" for size in (self.n, self.d, self.M)]
        numbers: list[float | None] = []
        for threads in THREADS:
            ours, limit = self.ours[threads], self.limit.get(threads)
            theirs = self.theirs[threads]
            numbers += [ours, theirs, theirs / ours, ours / limit if limit else None]
        numbers.append(self.ours[2] / self.ours[1])
        return [self.name, *sizes, *("" if x is None else f"{x:.3g}" for x in numbers)]


def in_rounds(
    sides: Mapping[str, Work], clock: Clock = time.perf_counter, seconds: float = SECONDS
) -> dict[str, dict[int, float]]:
    """Return the median seconds of each side, by number of threads; all sides run in each round."""
    found: dict[str, dict[int, list[float]]] = {name: {k: [] for k in THREADS} for name in sides}
    start, rounds = time.monotonic(), 0
    while rounds < LEAST_ROUNDS or (rounds < MOST_ROUNDS and time.monotonic() - start < seconds):
        for threads in THREADS:
            with threadpool_limits(limits=threads):
                for name, work in sides.items():
                    found[name][threads].append(seconds_of(work, clock))
        rounds += 1
    return {
        name: {threads: statistics.median(each) for threads, each in by_threads.items()}
        for name, by_threads in found.items()
    }


def find_limit(
    n: int, d: int, M: int, kind: str, clock: Clock, *, fits: bool = True
) -> dict[int, float]:
    """Return the limit in seconds by number of threads; without `fits`, of the features alone."""
    generator = np.random.default_rng(0)
    rows = min(choose_block_rows(M, np.dtype(kind).itemsize), n)
    block = np.asfortranarray(generator.standard_normal((d, rows)), kind)
    frequencies = np.asfortranarray(generator.standard_normal((M, d)), kind)
    features = np.zeros((M, rows), kind, order="F")
    angles, offsets = np.ones(IN_CACHE, kind), np.ones(M, kind)
    gemm, syrk = (getattr(blas, KINDS[kind] + name) for name in ("gemm", "syrk"))
    side = min(n, M)
    part = np.asfortranarray(generator.standard_normal((side, min(max(n, M), 384))), kind)
    gram = np.zeros((side, side), kind, order="F")
    seconds = functools.partial(rate, clock=clock)
    limit = {}
    for threads in THREADS:
        with threadpool_limits(limits=threads):
            project = seconds(lambda: gemm(1.0, frequencies, block, c=features, overwrite_c=1))
            cosine = seconds(lambda: wave_kernels.cos(angles, offsets, 1.0)) / angles.size
            limit[threads] = n * (project / rows + M * cosine)
            if fits:
                flop = seconds(lambda: syrk(1.0, part, 1.0, gram, overwrite_c=1)) / part.size / side
                limit[threads] += flop * (float(n) * M * side + 6 * 4 * side**3 / 3)
    return limit


def ridge_lines(
    n: int, d: int, M: int, kinds: Iterable[str], clock: Clock, seconds: float = SECONDS
) -> Iterator[Line]:
    """Yield the lines of ridge regression: five folds and leave-one-out, in each precision."""
    fitted = max(1, min(n, int(MULTIPLICATIONS / M**2) if n >= M else n))
    sides: dict[str, Work] = {}
    for kind in kinds:
        rows = problem(n, d)
        X, y = rows.X.astype(kind), rows.y
        for selection in ("cv5", "loo"):
            sides[f"{selection} {kind}"] = _ridge_work(X, y, rows.bandwidth, M, selection)

        def theirs(X: Array = X, y: Array = y, width: float = rows.bandwidth) -> object:
            features = RBFSampler(gamma=0.5 / width**2, n_components=M, random_state=0)
            return RidgeCV(ALPHAS).fit(features.fit_transform(X[:fitted]), y[:fitted])

        sides[f"{REFERENCE} {kind}"] = theirs
    medians = in_rounds(sides, clock, seconds)
    for kind in kinds:
        limit = find_limit(n, d, M, kind, clock)
        reference = {k: n / fitted * s for k, s in medians[f"{REFERENCE} {kind}"].items()}
        part = f", its time from {fitted:,} rows" if fitted < n else ""
        for selection, words in (("cv5", "five folds"), ("loo", "leave-one-out")):
            name = f"ridge, {words}, {kind}{part}"
            yield Line(name, n, d, M, medians[f"{selection} {kind}"], reference, limit)


def _ridge_work(X: Array, y: Array, bandwidth: float, M: int, selection: str) -> Work:
    def work() -> object:
        features = samplers.RKS(M, bandwidth=bandwidth, random_state=0).fit(X)
        return RidgeRegressor(ALPHAS, selection=selection, random_state=0).fit(
            X, y, features=features
        )

    return work


def map_lines(
    n: int, d: int, M: int, kind: str, clock: Clock, seconds: float = SECONDS
) -> Iterator[Line]:
    """Yield the lines of the features alone."""
    rows = problem(n, d)
    X = rows.X.astype(kind)
    sides: dict[str, Work] = {}
    for name in MAPS:
        ours = samplers.make(name, n_components=M, bandwidth=rows.bandwidth, random_state=0)
        sides[name] = functools.partial(ours.fit(X).transform, X)
    theirs = RBFSampler(gamma=0.5 / rows.bandwidth**2, n_components=M, random_state=0).fit(X)
    sides[REFERENCE] = lambda: theirs.transform(X)
    medians = in_rounds(sides, clock, seconds)
    limit = find_limit(n, d, M, kind, clock, fits=False)
    for name in MAPS:
        yield Line(f"features, {name}, {kind}", n, d, M, medians[name], medians[REFERENCE], limit)


def logistic_lines(
    n: int, M: int, classes: int, clock: Clock, seconds: float = SECONDS
) -> Iterator[Line]:
    """Yield the lines of logistic regression on given features, at two accuracies.

    The tolerances of the two programs have different definitions, so each line compares fits of
    about equal accuracy. The first line has scikit-learn's default tolerance, and the largest
    tolerance of rfbench that is as accurate. In the second line the roles are exchanged.
    """
    Z, y = solvers.rows(n, M, classes)

    def ours(tol: float) -> LogisticClassifier:
        return LogisticClassifier(0.1, tol=tol).fit(Z, y)

    theirs = functools.partial(solvers.fit_reference, Z, y)
    least = solvers.compute_logistic_objective(ours(1e-10), Z, y, 0.1)

    def find_gap(model: Any) -> float:
        return solvers.compute_logistic_objective(model, Z, y, 0.1) / least - 1

    default = find_gap(theirs(TOLERANCE))
    loose = solvers.find_tolerance(lambda tol: find_gap(ours(tol)), LOOSE, default)
    gap = find_gap(ours(TOLERANCE))
    tight = solvers.find_tolerance(lambda tol: find_gap(theirs(tol)), solvers.TOLERANCES, gap)
    medians = in_rounds(
        {
            "loose": lambda: ours(loose),
            "default": lambda: theirs(TOLERANCE),
            "ours": lambda: ours(TOLERANCE),
            "tight": lambda: theirs(tight),
        },
        clock,
        seconds,
    )
    name = f"logistic, {classes} classes, objective within"
    for own, other, bound in (("loose", "default", default), ("ours", "tight", gap)):
        text = f"{name} {bound:.1g} of the optimum"
        yield Line(text, n, None, M, medians[own], medians[other], {})


def measure_all(clock: Clock = time.perf_counter) -> Iterator[Line]:
    """Yield all lines of the table."""
    waves.warm_up()
    # The first fits compile the loops, or read them from the cache.
    list(ridge_lines(60, 3, 8, KINDS, clock, seconds=0.0))
    for n, d, M in RIDGE_SIZES:
        kinds = ("float64",) if (n, d, M) == LONGEST else tuple(KINDS)
        yield from ridge_lines(n, d, M, kinds, clock)
    for n, d, M in MAP_SIZES:
        for kind in KINDS:
            yield from map_lines(n, d, M, kind, clock)
    for size in LOGISTIC_SIZES:
        yield from logistic_lines(*size, clock)


def page(lines: Sequence[Line], clock: Clock = time.perf_counter) -> str:
    """Return the page of the lines."""
    marks = ["---"] + ["---:"] * (len(HEAD) - 1)
    table = "\n".join(
        f"| {' | '.join(cells)} |" for cells in (HEAD, marks, *(line.cells() for line in lines))
    )
    load = f"load of the machine at the end: {os.getloadavg()[0]:.1f} processes"
    unit = "CPU seconds of the process" if clock is time.process_time else "seconds of the wall"
    facts = f"{report.machine_lines()}\n{load}, {unit}".replace("\n", "  \n")
    return f"{TITLE}\n\n{table}\n\n{facts}\n"


def write_page(text: str, folder: Path) -> Path:
    """Write the page into a folder and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "quick.md"
    path.write_text(text, "utf-8")
    return path
