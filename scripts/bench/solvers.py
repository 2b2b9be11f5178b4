"""Solvers alone, on features as a matrix: median CPU seconds of one thread, against scikit-learn.

`python -m scripts.bench.solvers` prints a line per size; a ratio is how many times as fast we are.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV

from rfbench.solvers import LogisticClassifier, RidgeRegressor
from scripts.bench.case import Bar, Case

Array = NDArray[np.float64]
ALPHAS = np.logspace(-3, 3, 11)
SIZES = (
    (300, 2000),
    (1000, 4000),
    (2000, 2000),
    (5000, 400),
    (5000, 1600),
    (50_000, 200),
)
ROUNDS = 5
SAME_GAP = 1e-8


def rows(n: int, p: int, classes: int = 0) -> tuple[Array, Array]:
    """Return random cosine features of Gaussian rows, and a target: a wave, or classes."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n, 8))
    if classes:
        centres = 1.2 * generator.standard_normal((3 * classes, 8))
        groups = generator.integers(0, len(centres), n)
        X, y = X + centres[groups], (groups % classes).astype(np.float64)
    else:
        y = np.sin(2 * X[:, 0]) + 0.1 * generator.standard_normal(n)
    phases = X @ generator.standard_normal((8, p)) / 3 + generator.uniform(0, 2 * np.pi, p)
    return np.sqrt(2 / p) * np.cos(phases), y


def medians(ours: Callable[[], object], theirs: Callable[[], object]) -> tuple[float, float]:
    """Return the median CPU seconds of each, run in turn."""
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for work, seconds in zip((ours, theirs), spent, strict=True):
            start = time.process_time()
            work()
            seconds.append(time.process_time() - start)
    return statistics.median(spent[0]), statistics.median(spent[1])


def ridge_case(n: int, p: int) -> Case:
    """Time the choice of a penalty by leave-one-out, against RidgeCV's."""
    Z, y = rows(n, p)
    model = RidgeRegressor(ALPHAS.tolist(), selection="loo")
    ours, theirs = medians(lambda: model.fit(Z, y), lambda: RidgeCV(ALPHAS).fit(Z, y))
    same = model.alpha_ == RidgeCV(ALPHAS).fit(Z, y).alpha_
    return Case(
        "ridge, leave-one-out",
        ours,
        n,
        None,
        p,
        "RidgeCV",
        theirs,
        bars=(Bar(8, "ratio", least=1.0),),
        sound=bool(same),
    )


def folds_case(n: int, p: int) -> Case:
    """Time five folds, against RidgeCV's."""
    Z, y = rows(n, p)
    model = RidgeRegressor(ALPHAS.tolist(), selection="cv5", random_state=0)
    ours, theirs = medians(lambda: model.fit(Z, y), lambda: RidgeCV(ALPHAS, cv=5).fit(Z, y))
    return Case("ridge, five folds", ours, n, None, p, "RidgeCV(cv=5)", theirs)


def one_penalty_case(n: int, p: int) -> Case:
    """Time one penalty, against Ridge."""
    Z, y = rows(n, p)
    ours, theirs = medians(lambda: RidgeRegressor(1.0).fit(Z, y), lambda: Ridge(1.0).fit(Z, y))
    return Case("ridge, one penalty", ours, n, None, p, "Ridge", theirs)


def logistic_case(n: int, p: int, classes: int) -> Case:
    """Time one penalty, against LogisticRegression with a tolerance that gives the same optimum."""
    Z, y = rows(n, p, classes)
    model = LogisticClassifier(0.1)

    def theirs() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return LogisticRegression(C=10.0, tol=SAME_GAP, max_iter=10_000).fit(Z, y)

    ours, reference = medians(lambda: model.fit(Z, y), theirs)
    return Case(
        f"logistic, {classes} classes",
        ours,
        n,
        None,
        p,
        "LogisticRegression",
        reference,
        bars=(Bar(8, "ratio", least=3.0 if classes > 2 else 1.0),),
        sound=model.gap_ is not None and model.gap_ <= SAME_GAP,
    )


def solver_cases() -> Iterator[Case]:
    """Measure every size."""
    for n, p in SIZES:
        yield ridge_case(n, p)
    yield folds_case(300, 2000)
    yield folds_case(1000, 4000)
    yield one_penalty_case(225, 5000)
    yield logistic_case(5000, 400, 2)
    yield logistic_case(5000, 400, 10)


def main() -> None:
    """Print the table."""
    from rich.console import Console
    from threadpoolctl import threadpool_limits

    from scripts.bench import report

    console = Console(highlight=False, soft_wrap=True)
    with threadpool_limits(limits=1):
        for case in solver_cases():
            console.print(report.line(case))


if __name__ == "__main__":
    main()
