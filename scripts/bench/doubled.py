"""Cost of halving and doubling a constant: CPU seconds relative to the time with its own value.

`python -m scripts.bench.doubled` prints a line per constant and task. Arguments are names of
constants. Each number is the minimum of several runs, in turn. The comments of the constants
contain these numbers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from rfbench import samplers, solvers
from rfbench.compute.hadamard import fwht_inplace
from rfbench.compute.ridge import solve_shifted_systems
from rfbench.experiment import kernel_error
from rfbench.kernels import Gaussian
from rfbench.samplers.landmarks import compute_kernel_diagonal
from rfbench.solvers.class_sums import ClassSums
from rfbench.solvers.kernel_model import KernelRegressor
from scripts.bench import timing

Work = Callable[[], object]
ALPHAS = np.logspace(-6, 4, 11)
REPEATS = 5


def rows(n: int, d: int, dtype: str = "float64") -> tuple[Any, Any]:
    """Return Gaussian rows, and a wave of the first two columns."""
    X = np.random.default_rng(0).standard_normal((n, d)).astype(dtype)
    return X, np.sin(2 * X[:, 0]) + X[:, 1]


def ridge(n: int, d: int, M: int, dtype: str = "float64") -> Work:
    """Return a fit of ridge regression on random kitchen sinks, by five folds."""
    X, y = rows(n, d, dtype)
    features = samplers.RKS(M, bandwidth=3.0, random_state=0).fit(X)
    solver = solvers.RidgeRegressor(ALPHAS, selection="cv5", random_state=0)
    return lambda: solver.fit(X, y, features=features)


def logistic(n: int, M: int) -> Work:
    """Return a fit of logistic regression on random kitchen sinks, by five folds."""
    X, y = rows(n, 20)
    features = samplers.RKS(M, bandwidth=3.0, random_state=0).fit(X)
    solver = solvers.LogisticClassifier(ALPHAS, selection="cv5", random_state=0)
    return lambda: solver.fit(X, y > 0, features=features)


def penalties(p: int, count: int) -> Work:
    """Return the solutions of p equations for several penalties."""
    Z, y = rows(2 * p, p)
    gram, moment = np.asfortranarray(Z.T @ Z), (Z.T @ y)[:, None]
    alphas, largest = np.logspace(-2, 4, count), float(gram.diagonal().max())
    return lambda: solve_shifted_systems(
        lambda w: np.copyto(w, gram), moment, alphas, 1e-13, largest
    )


def largest_eigenvalue(n: int) -> Work:
    """Return the spectral norm of a kernel matrix of n rows."""
    matrix = Gaussian(3.0)(rows(n, 10)[0], rows(n, 10)[0])
    return lambda: kernel_error._largest(matrix)


def fit(model: Any, n: int) -> Work:
    """Return the fit of a sampler or model on n rows."""
    X, y = rows(n, 10)
    return lambda: model.fit(X, y)


def transform(sampler: Any, n: int, d: int = 10) -> Work:
    """Return the features of n rows by a sampler that was fitted on 500."""
    X, y = rows(n, d)
    sampler.fit(X[:500], y[:500])
    return lambda: sampler.transform(X)


def predict(model: Any, n: int, classes: bool = False) -> Work:
    """Return the predictions of n rows by a model that was fitted on 2,000."""
    X, y = rows(n, 10)
    model.fit(X[:2000], y[:2000] > 0 if classes else y[:2000])
    return lambda: model.predict(X)


def transformed_columns() -> Work:
    """Return the Hadamard transform of each column of a matrix."""
    matrix = rows(4096, 512)[0]
    return lambda: fwht_inplace(matrix / 64, 0)


# Tasks for each constant.
TASKS: dict[str, dict[str, Callable[[], Work]]] = {
    "compute.blocks._BLOCK_BYTES": {"ridge, M = 100": lambda: ridge(50_000, 10, 100)},
    "compute.blocks._SMALL_ROWS": {"ridge, M = 400": lambda: ridge(5000, 20, 400)},
    "compute.blocks._LARGE_ROWS": {"ridge, float32": lambda: ridge(5000, 20, 400, "float32")},
    "compute.blocks._L3_BYTES": {
        "ridge, M = 1200": lambda: ridge(5000, 20, 1200),
        "ridge, M = 1700": lambda: ridge(5000, 20, 1700),
    },
    "compute.hadamard._STRIP_BYTES": {"transform of columns": transformed_columns},
    "compute.ridge.COLUMNS_PER_SIDE": {
        "200 equations": lambda: penalties(200, 11),
        "450 equations": lambda: penalties(450, 11),
    },
    "compute.ridge.FEWEST_TOGETHER": {
        "5 penalties": lambda: penalties(600, 5),
        "11 penalties": lambda: penalties(600, 11),
    },
    "experiment.kernel_error.LANCZOS_FROM": {
        "300 rows": lambda: largest_eigenvalue(300),
        "600 rows": lambda: largest_eigenvalue(600),
    },
    "samplers.landmarks.DIAGONAL_ROWS": {
        "diagonal": lambda: lambda: compute_kernel_diagonal(Gaussian(3.0), rows(20_000, 10)[0])
    },
    "samplers.low_precision._KEY_ROWS": {
        "transform": lambda: transform(samplers.LowPrecision(200, bandwidth=3.0), 20_000)
    },
    "samplers.pool.BLOCK_FREQUENCIES": {
        "eerf": lambda: fit(samplers.EERF(100, bandwidth=3.0, score_rows=5000), 5000)
    },
    "samplers.pool.BLOCK_ROWS": {
        "eerf": lambda: fit(samplers.EERF(100, bandwidth=3.0, score_rows=5000), 5000)
    },
    "samplers.projected.PROJECTED_BLOCK_BYTES": {
        "transform of tefm-g": lambda: transform(samplers.TEFMG(100, bandwidth=3.0), 20_000)
    },
    "samplers.ses.BLOCK_PAIRS": {"ses": lambda: fit(samplers.SES(100, bandwidth=3.0), 5000)},
    "samplers.structured._CHUNK_ELEMENTS": {
        "transform of sorf": lambda: transform(samplers.SORF(500, bandwidth=3.0), 20_000, 50)
    },
    "samplers.tefm.STRIP_BYTES": {
        "tefm-s": lambda: fit(samplers.TEFMS(100, bandwidth=3.0), 100_000)
    },
    "solvers.class_sums.BATCH_ROWS": {"predict": lambda: predict(ClassSums(3.0), 20_000, True)},
    "solvers.design.DESIGN_BLOCK_BYTES": {"ridge, M = 400": lambda: ridge(5000, 20, 400)},
    "solvers.fits.BLOCK_VALUES": {
        "predict": lambda: predict(solvers.KernelRidgeRegressor(1.0, bandwidth=3.0), 20_000)
    },
    "solvers.kernel_model.ROWS_AT_ONCE": {
        "300 landmarks": lambda: fit(KernelRegressor(n_components=300), 20_000)
    },
    "solvers.newton.PRODUCTS_PER_FACTORIZATION": {"logistic, M = 400": lambda: logistic(5000, 400)},
}


def compare(constant: str, work: Work) -> tuple[float, float]:
    """Return the relative seconds with half and with twice the value of a constant."""
    place, name = constant.rsplit(".", 1)
    module = import_module(f"rfbench.{place}")
    value = getattr(module, name)

    def with_value(other: Any) -> Work:
        def task() -> None:
            setattr(module, name, other)
            work()

        return task

    tasks = [with_value(other) for other in (value, type(value)(value / 2), value * 2)]
    try:
        own, half, twice = timing.in_turn(tasks, REPEATS, time.process_time)
    finally:
        setattr(module, name, value)
    return half / own, twice / own


def main() -> None:
    """Print a line per constant and task."""
    with threadpool_limits(limits=1):
        for constant, tasks in TASKS.items():
            if not sys.argv[1:] or constant.rsplit(".", 1)[1] in sys.argv[1:]:
                for task, make in tasks.items():
                    half, twice = compare(constant, make())
                    print(f"{constant}, {task}: halved {half:.2f}, doubled {twice:.2f}", flush=True)


if __name__ == "__main__":
    main()
