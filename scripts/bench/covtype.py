"""Bar 5: the problem that Liu et al. (2020) omitted for lack of memory, in a separate process."""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from typing import Any

from scripts.bench.case import Bar, Case

N, D, FREQUENCIES = 290_506, 54, 6_912
ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1)
MOST_GIGABYTES = 14.0


def covtype_case(n: int = N, d: int = D, frequencies: int = FREQUENCIES) -> Case:
    """Time the five-fold choice among four penalties, and record the peak memory."""
    sizes = [str(size) for size in (n, d, frequencies)]
    threads = os.cpu_count() or 1
    command = [sys.executable, "-m", "scripts.bench.covtype", *sizes, str(threads)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout)
    peak = found["gigabytes"]
    return Case(
        f"{found['data']}, {2 * frequencies} columns, five-fold choice of {len(ALPHAS)}, "
        f"{threads} threads: peak {peak:.2f} GB",
        found["seconds"],
        n,
        d,
        frequencies,
        gigabytes=peak,
        bars=(Bar(5, "gigabytes", most=MOST_GIGABYTES),),
    )


def rows_and_labels(n: int, d: int) -> tuple[str, Any, Any]:
    """Return half of covtype if its file is on disk and the shape matches, else generated rows."""
    import numpy as np

    from rfbench import datasets
    from rfbench.errors import DataError

    generator = np.random.default_rng(0)
    if (n, d) == (N, D):
        try:
            rows = datasets.prepare(
                datasets.load("covtype"),
                split={"test_size": 0.5},
                scaling="minmax",
                target="range",
                generator=generator,
            )
        except DataError:
            pass
        else:
            return "covtype", rows.X_train, rows.y_train
    X = generator.random((n, d))
    return "generated rows", X, (np.sin(6 * X[:, :5]).sum(axis=1) > 0).astype(np.int64)


def measure(n: int, d: int, frequencies: int, threads: int) -> dict[str, Any]:
    """Fit and return data, seconds and gigabytes."""
    from threadpoolctl import threadpool_limits

    from rfbench import samplers
    from rfbench.compute import waves
    from rfbench.platforms import read_peak_rss_mb
    from rfbench.solvers import RidgeClassifier

    waves.warm_up()
    data, X, labels = rows_and_labels(n, d)
    with threadpool_limits(limits=threads):
        start = time.perf_counter()
        features = samplers.make(
            "rks",
            n_components=frequencies,
            feature_map="paired",
            bandwidth=math.sqrt(d) / 4,
            random_state=0,
        )
        model = RidgeClassifier(
            ALPHAS, alpha_convention="per-sample", selection="cv5", random_state=0
        )
        model.fit(X, labels, features=features.fit(X))
        seconds = time.perf_counter() - start
    return {"data": data, "seconds": seconds, "gigabytes": read_peak_rss_mb() / 1e3}


def _main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("n", "d", "frequencies", "threads"):
        parser.add_argument(name, type=int)
    print(json.dumps(measure(**vars(parser.parse_args()))))


if __name__ == "__main__":
    _main()
