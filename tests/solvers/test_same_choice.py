"""Solvers of one system make the same choice.

Cholesky, eigenvectors, conjugate gradients, or a tridiagonal form.
"""

import numpy as np
import pytest

from rfbench.compute import ridge
from rfbench.solvers import RidgeClassifier, RidgeRegressor
from tests.support.nightly import at_night

ALPHAS = np.logspace(-3, 3, 9)
TOGETHER = {"FEWEST_TOGETHER": 2, "COLUMNS_PER_SIDE": 1, "MOST_TRIDIAGONAL": 0}
TRIDIAGONAL = {"FEWEST_TOGETHER": 2, "TRIDIAGONAL_PER_SIDE": 1}
CHOLESKY = {"FEWEST_TOGETHER": 10**9}
EIGENVECTORS = CHOLESKY | {"lapack": None}


class RefusingLapack:
    """LAPACK, but that no matrix is positive definite."""

    @staticmethod
    def dpotrf(work, **_):
        return work, 1


def drawn(seed):
    """Return a solver, its rows and targets and their groups: any kind, on either side."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 60)), int(rng.integers(2, 80))
    X = rng.standard_normal((n, p)) * rng.uniform(0.1, 3, p) + rng.uniform(-2, 2)
    y = X[:, : min(p, 3)].sum(axis=1) + rng.uniform(0, 3) * rng.standard_normal(n)
    groups = None if rng.random() < 0.7 else rng.integers(0, 8, n)
    words = {
        "alphas": ALPHAS.tolist(),
        "alpha_convention": str(rng.choice(["absolute", "per-sample"])),
        "selection": str(rng.choice(["cv3", "cv5", "validation"])),
        "intercept": bool(rng.random() < 0.7),
        "random_state": seed,
    }
    if rng.random() < 0.4:
        return RidgeRegressor(**words), X, y, groups
    k = int(rng.integers(2, 5))
    return RidgeClassifier(**words), X, np.digitize(y, np.quantile(y, np.arange(1, k) / k)), groups


@pytest.mark.parametrize("seeds", [range(40), *at_night(range(40, 2000))], ids=len)
def test_all_ridge_algorithms_select_the_same_penalty(seeds, monkeypatch):
    sides = {True: 0, False: 0}
    for seed in seeds:
        solver, X, y, groups = drawn(seed)
        sides[X.shape[1] >= len(X)] += 1
        chosen = {}
        for how in (TOGETHER, TRIDIAGONAL, CHOLESKY, EIGENVECTORS):
            with monkeypatch.context() as patch:
                for name, value in how.items():
                    patch.setattr(ridge, name, RefusingLapack if name == "lapack" else value)
                fitted = solver.fit(X, y, groups=groups)
                chosen[str(how)] = fitted.alpha_, fitted.selection_loss_
        choices, values = zip(*chosen.values(), strict=True)
        assert len(set(choices)) == 1, (seed, chosen)
        np.testing.assert_allclose(values, values[0], rtol=1e-8, err_msg=str(seed))
    assert min(sides.values()) > len(seeds) / 5
