"""Bars 1 and 2: random features with ridge regression, one thread, float64."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import Ridge, RidgeCV

from rfbench import samplers
from rfbench.solvers import RidgeRegressor
from scripts.bench.case import Bar, Case
from scripts.bench.limit import Limit
from scripts.bench.timing import best_of, fastest, seconds_of

Array = NDArray[np.float64]
ALPHAS = np.logspace(-3, 3, 11).tolist()
SIZES = (
    (100_000, 10, 100, 25),
    (100_000, 10, 1000, 14),
    (20_000, 50, 1000, 10),
    (60_000, 784, 450, 5),
)
"""n, d, M, and the required speed relative to scikit-learn."""
MOST_OF_LIMIT = 1.3


@dataclass(frozen=True)
class Problem:
    """Rows to fit, a fifth as many rows to predict, and the bandwidth."""

    X: Array
    y: Array
    X_new: Array
    y_new: Array
    bandwidth: float


def problem(n: int, d: int) -> Problem:
    """Draw Gaussian rows, with a wave of one coordinate and noise as the target."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n + n // 5, d))
    y = np.sin(2 * X[:, 0]) + 0.1 * generator.standard_normal(len(X))
    return Problem(X[:n], y[:n], X[n:].copy(), y[n:], math.sqrt(d))


def fit_and_predict(rows: Problem, sampler: str, M: int, selection: str = "test") -> Any:
    """Draw the features, fit every penalty and predict the new rows, with rfbench."""
    features = samplers.make(sampler, n_components=M, bandwidth=rows.bandwidth, random_state=0)
    model = RidgeRegressor(ALPHAS, selection=selection, random_state=0)
    features.fit(rows.X)
    if selection == "test":
        return model.fit(rows.X, rows.y, features=features, evaluation=(rows.X_new, rows.y_new))
    return model.fit(rows.X, rows.y, features=features).predict(rows.X_new)


class NumpyORF:
    """Orthogonal random features as in pyrfm: numpy's QR, numpy's cosine."""

    def __init__(self, n_components: int, gamma: float) -> None:
        self.n_components, self.gamma = n_components, gamma

    def fit(self, X: Array) -> NumpyORF:
        """Draw the frequencies."""
        generator = np.random.RandomState(0)
        d = X.shape[1]
        blocks = []
        for _ in range(math.ceil(self.n_components / d)):
            q, _ = np.linalg.qr(generator.standard_normal((d, d)))
            blocks.append(q * np.sqrt(generator.chisquare(d, size=d)))
        directions = np.concatenate(blocks, axis=1)[:, : self.n_components]
        self.frequencies = directions * math.sqrt(2 * self.gamma)
        self.offsets = generator.uniform(0, 2 * np.pi, self.n_components)
        return self

    def transform(self, X: Array) -> Array:
        """Return the features."""
        return math.sqrt(2 / self.n_components) * np.cos(X @ self.frequencies + self.offsets)


def reference_seconds(rows: Problem, features: Any, fits: int) -> float:
    """Time a transformer and one Ridge fit per penalty, extrapolated from `fits` of the fits."""
    start = time.perf_counter()
    features.fit(rows.X)
    Z, Z_new = features.transform(rows.X), features.transform(rows.X_new)
    ready = time.perf_counter()
    for alpha in ALPHAS[:fits]:
        Ridge(alpha).fit(Z, rows.y).predict(Z_new)
    return ready - start + (time.perf_counter() - ready) * len(ALPHAS) / fits


def ridge_case(n: int, d: int, M: int, bar: float | None, *, rounds: int, fits: int) -> Case:
    """Time one size against scikit-learn and the limit; `fits` of the reference's are timed."""
    rows = problem(n, d)
    gamma = 0.5 / rows.bandwidth**2
    limit = Limit(n, n // 5, d, M, len(ALPHAS))
    ours = theirs = math.inf
    for i in range(rounds):
        limit.measure()
        ours = min(ours, best_of(lambda: fit_and_predict(rows, "rks", M)))
        if i == 0 or fits == len(ALPHAS):
            features = RBFSampler(gamma=gamma, n_components=M, random_state=0)
            theirs = min(theirs, reference_seconds(rows, features, fits))
        ours = min(ours, best_of(lambda: fit_and_predict(rows, "rks", M)))
    part = "" if fits == len(ALPHAS) else f", from {fits} of them"
    bars = (Bar(2, "limit_ratio", most=MOST_OF_LIMIT),)
    return Case(
        "rks, ridge path, prediction",
        ours,
        n,
        d,
        M,
        f"RBFSampler, {len(ALPHAS)} Ridge fits{part}",
        theirs,
        limit.seconds,
        note=str(limit),
        bars=bars if bar is None else (Bar(1, "ratio", least=bar), *bars),
    )


def orf_case(n: int, d: int, M: int) -> Case:
    """Time orthogonal features, compared with numpy's QR and cosine, and Ridge fits."""
    rows = problem(n, d)
    ours = fastest(lambda: fit_and_predict(rows, "orf", M), 3)
    theirs = reference_seconds(rows, NumpyORF(M, 0.5 / rows.bandwidth**2), len(ALPHAS))
    ours = min(ours, fastest(lambda: fit_and_predict(rows, "orf", M), 2))
    name = "orf, ridge path, prediction"
    return Case(name, ours, n, d, M, f"ORF by numpy QR, {len(ALPHAS)} Ridge fits", theirs)


def nystroem_case(n: int, d: int, M: int) -> Case:
    """Time Nystroem features and the choice of a penalty against scikit-learn's."""
    rows = problem(n, d)

    def theirs() -> Array:
        features = Nystroem(gamma=0.5 / rows.bandwidth**2, n_components=M, random_state=0)
        model = RidgeCV(ALPHAS).fit(features.fit_transform(rows.X), rows.y)
        return np.asarray(model.predict(features.transform(rows.X_new)))

    def ours() -> object:
        return fit_and_predict(rows, "nystroem", M, "cv5")

    best = fastest(ours, 2)
    reference = seconds_of(theirs)
    best = min(best, fastest(ours, 1))
    name = f"nystroem, five-fold choice of {len(ALPHAS)}, prediction"
    return Case(name, best, n, d, M, "Nystroem, RidgeCV (leave-one-out)", reference)
