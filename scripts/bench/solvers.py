"""Bar 8: CPU seconds of solvers on a feature matrix, compared with scikit-learn, on one thread.

`python -m scripts.bench.solvers` prints a line per case. A ratio above 1 means that rfbench is
faster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV

from rfbench.solvers import LogisticClassifier, RidgeClassifier, RidgeRegressor
from rfbench.solvers.newton import Multinomial, Newton, TwoClasses
from scripts.bench import timing
from scripts.bench.case import Bar, Case
from scripts.bench.ridge import MOST_OF_LIMIT

Array = NDArray[Any]
ALPHAS = np.logspace(-3, 3, 11)
FOLDS = ((300, 2000), (1000, 4000), (1000, 100), (5000, 400), (20_000, 1000))
SINGLE = ((1000, 4000), (20_000, 1000))
ROUNDS, LONG = 3, 2.0
TOLERANCES = 10.0 ** -np.arange(4, 11)  # tolerances of LogisticRegression, its default first
NO_SLOWER = (Bar(8, "ratio", least=1.0),)


def rows(n: int, p: int, classes: int = 0, dtype: str = "float64") -> tuple[Array, Array]:
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
    return (np.sqrt(2 / p) * np.cos(phases)).astype(dtype), y


def in_turn(*works: Callable[[], object]) -> list[float]:
    """Return the smallest CPU seconds of each work; slow work is run once."""
    return timing.in_turn(works, ROUNDS, time.process_time, LONG)


def limit_seconds(n: int, p: int, dtype: str) -> float:
    """Return the limit for the Gram matrix of the shorter side q, and for the fits.

    The limit counts n p q operations, and 4 q^3 / 3 for a tridiagonal form of all rows and of each
    of five folds, at the rate of SYRK.
    """
    block = np.asfortranarray(np.random.default_rng(0).standard_normal((min(n, p), 384)), dtype)
    gram = np.zeros((len(block), len(block)), dtype, order="F")
    syrk = blas.dsyrk if dtype == "float64" else blas.ssyrk
    seconds = timing.rate(lambda: syrk(1.0, block, 1.0, gram, overwrite_c=1))
    flop = seconds / (384.0 * len(block) ** 2)
    return flop * (n * p * min(n, p) + 6 * 4 * min(n, p) ** 3 / 3)


def folds_case(n: int, p: int) -> Case:
    """Time five folds and eleven penalties, compared with RidgeCV's leave-one-out."""
    Z, y = rows(n, p)
    model = RidgeRegressor(ALPHAS.tolist(), selection="cv5", random_state=0)
    ours, theirs, folds = in_turn(
        lambda: model.fit(Z, y),
        lambda: RidgeCV(ALPHAS).fit(Z, y),
        lambda: RidgeCV(ALPHAS, cv=5).fit(Z, y),
    )
    reference = "RidgeCV (leave-one-out)"
    limit = limit_seconds(n, p, "float64")
    bars = (*NO_SLOWER, Bar(8, "limit_ratio", most=MOST_OF_LIMIT))
    name, note = "ridge, five folds", f"with the same five folds RidgeCV takes {folds:.3g} s"
    return Case(name, ours, n, None, p, reference, theirs, limit, note=note, bars=bars)


def single_case(n: int, p: int) -> Case:
    """Time five folds in float32, compared with float64."""
    (single, y), (double, _) = rows(n, p, dtype="float32"), rows(n, p)
    model = RidgeRegressor(ALPHAS.tolist(), selection="cv5", random_state=0)
    ours, reference = in_turn(lambda: model.fit(single, y), lambda: model.fit(double, y))
    limit, bars = limit_seconds(n, p, "float32"), (Bar(8, "ratio", least=1 / 0.65),)
    return Case("ridge, float32", ours, n, None, p, "float64", reference, limit, bars=bars)


def one_penalty_case(n: int, p: int, classes: int = 0) -> Case:
    """Time one penalty, compared with Ridge; for classes, with Ridge on columns of -1 and +1."""
    Z, y = rows(n, p, classes)
    sides = 2 * np.eye(classes)[y.astype(int)] - 1 if classes else y
    cls = RidgeClassifier if classes else RidgeRegressor
    ours, theirs = in_turn(lambda: cls(1.0).fit(Z, y), lambda: Ridge(1.0).fit(Z, sides))
    name = "ridge, one penalty" + (f", {classes} classes" if classes else "")
    return Case(name, ours, n, None, p, "Ridge", theirs, bars=NO_SLOWER)


def compute_logistic_objective(model: Any, Z: Array, y: Array, alpha: float) -> float:
    """Return the objective of a fitted logistic regression, for the classes 0 to k - 1."""
    coefficients = np.atleast_2d(model.coef_)
    decisions = Z @ coefficients.T + np.ravel(model.intercept_)
    codes: Any = y.astype(np.intp)
    signed = len(coefficients) == 1
    loss: Any = TwoClasses(2.0 * codes[:, None] - 1) if signed else Multinomial(codes)
    return float(loss.compute_value(decisions) + alpha / 2 * np.sum(coefficients**2))


def fit_reference(Z: Array, y: Array, tol: float) -> LogisticRegression:
    """Return scikit-learn's fit of the objective with the penalty 0.1."""
    return LogisticRegression(C=10.0, tol=tol, max_iter=10_000).fit(Z, y)


def find_tolerance(find_gap: Callable[[float], float], tolerances: Any, gap: float) -> float:
    """Return the first tolerance with at most the gap; raise ValueError if there is none."""
    for tol in tolerances:
        if find_gap(tol) <= gap:
            return float(tol)
    raise ValueError(f"No tolerance has a gap of at most {gap:.1g}.")


def logistic_case(n: int, p: int, classes: int, gap: float) -> Case:
    """Time one penalty, compared with LogisticRegression at an equally accurate tolerance."""
    Z, y = rows(n, p, classes)
    model = LogisticClassifier(0.1, tol=gap)
    loss = TwoClasses(2 * y[:, None] - 1) if classes == 2 else Multinomial(y.astype(np.intp))

    def proven(tol: float) -> float:
        fitted = fit_reference(Z, y, tol)
        theta = np.vstack([fitted.coef_.T, fitted.intercept_])
        decisions = Z @ theta[:-1] + theta[-1]
        return Newton(Z, loss, intercept=True).compute_relative_gap(0.1, theta, decisions)

    tol = find_tolerance(proven, TOLERANCES, gap)
    ours, reference, default = in_turn(
        lambda: model.fit(Z, y),
        lambda: fit_reference(Z, y, tol),
        lambda: fit_reference(Z, y, TOLERANCES[0]),
    )
    sound = model.gap_ is not None and model.gap_ <= gap
    name = f"logistic, {classes} classes, gap {gap:g}"
    note = f"its default takes {default:.3g} s, to a gap of {proven(TOLERANCES[0]):.2g}"
    reference_name = f"LogisticRegression, tol {tol:g}"
    bars = NO_SLOWER
    return Case(
        name, ours, n, None, p, reference_name, reference, note=note, bars=bars, sound=sound
    )


def solver_cases() -> Iterator[Case]:
    """Measure every case."""
    for n, p in FOLDS:
        yield folds_case(n, p)
    for n, p in SINGLE:
        yield single_case(n, p)
    yield one_penalty_case(225, 5000)
    yield one_penalty_case(20_000, 50, 100)
    for classes in (2, 10):
        for gap in (1e-4, 1e-8):
            yield logistic_case(5000, 400, classes, gap)


def main() -> None:
    """Print a line per case."""
    from threadpoolctl import threadpool_limits

    from scripts.bench import report

    with threadpool_limits(limits=1):
        for case in solver_cases():
            print(report.line(case), flush=True)


if __name__ == "__main__":
    main()
