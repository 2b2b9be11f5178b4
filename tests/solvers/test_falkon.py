"""FALKON: the fit of ridge regression on Nystroem features, without a matrix of them."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rfbench.errors import MemoryLimit
from rfbench.samplers import RKS, Nystroem
from rfbench.samplers.nystroem import NystroemMap
from rfbench.solvers import FalkonClassifier, FalkonRegressor, RidgeClassifier, RidgeRegressor
from rfbench.solvers.falkon import Equations
from rfbench.testing.solvers import NEW_ROWS, REAL, ROWS, THREE

EXACT: dict[str, Any] = {"tol": 1e-11, "max_iter": 500, "random_state": 0}
GENERATOR = np.random.default_rng(2)
X = GENERATOR.standard_normal((400, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 5.0 + 0.1 * GENERATOR.standard_normal(400)
CLASSES = np.digitize(Y, [4.5, 5.5])


@pytest.mark.parametrize("landmarks", ["uniform", "kmeans", "rpcholesky"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "arc-cosine-1"])
def test_is_ridge_regression_on_nystroem_features(
    landmarks: str, intercept: bool, kernel: str
) -> None:
    features = Nystroem(40, kernel=kernel, bandwidth=1.0, landmarks=landmarks, random_state=0)
    features.fit(X)
    for alpha in (1.0, 1e-2):
        words: dict[str, Any] = {"alphas": alpha, "intercept": intercept}
        ridge = RidgeRegressor(**words).fit(X, Y, features=features)
        falkon = FalkonRegressor(**words, **EXACT).fit(X, Y, features=features)
        assert falkon.converged_ is True
        assert_allclose(falkon.decisions(X), ridge.decisions(X), atol=1e-6)
        assert falkon.n_columns_ == 40


def test_minimises_the_objective() -> None:
    """Against the normal equations of its definition, with an explicit kernel matrix."""
    features = Nystroem(25, bandwidth=1.0, random_state=0).fit(X)
    K = features.kernel_(X, features.feature_map_.landmarks)
    C = features.kernel_(features.feature_map_.landmarks, features.feature_map_.landmarks)
    centred = K - K.mean(axis=0)
    beta = np.linalg.solve(centred.T @ centred + 0.5 * C, centred.T @ (Y - Y.mean()))
    found = FalkonRegressor(0.5, **EXACT).fit(X, Y, features=features)
    expected = K @ beta + Y.mean() - K.mean(axis=0) @ beta
    assert_allclose(found.predict(X), expected, atol=1e-7)
    assert_allclose(K @ found.coef_[0] + found.intercept_, found.predict(X), atol=1e-9)


@pytest.mark.parametrize("selection", ["cv4", "validation"])
@pytest.mark.parametrize("convention", ["absolute", "per-sample"])
def test_folds_choose_as_those_of_ridge_do(selection: str, convention: str) -> None:
    features = Nystroem(30, bandwidth=1.0, random_state=0).fit(X)
    words: dict[str, Any] = {
        "alphas": [1e-4, 1e-2, 1.0, 100.0],
        "alpha_convention": convention,
        "selection": selection,
    }
    for y, solvers in (
        (Y, (RidgeRegressor, FalkonRegressor)),
        (CLASSES, (RidgeClassifier, FalkonClassifier)),
    ):
        ridge = solvers[0](**words, random_state=0).fit(X, y, features=features)
        falkon = solvers[1](**words, **EXACT).fit(X, y, features=features)
        assert falkon.alpha_ == ridge.alpha_
        assert falkon.selection_loss_ == pytest.approx(ridge.selection_loss_, rel=1e-6)
        assert_allclose(falkon.decisions(X), ridge.decisions(X), atol=1e-6)


def test_other_features_are_ridge_regression_too() -> None:
    features = RKS(60, bandwidth=1.0, random_state=0).fit(X)
    ridge = RidgeRegressor(1e-3).fit(X, Y, features=features)
    falkon = FalkonRegressor(1e-3, **EXACT).fit(X, Y, features=features)
    assert falkon.converged_ is True
    assert_allclose(falkon.decisions(X), ridge.decisions(X), atol=1e-7)
    assert falkon.alpha_scale_free_ == pytest.approx(ridge.alpha_scale_free_)


def test_landmarks_that_coincide_do_no_harm() -> None:
    rows = np.repeat(X[:15], 4, axis=0)
    features = Nystroem(40, bandwidth=1.0, random_state=0).fit(rows)
    ridge = RidgeRegressor(0.1).fit(rows, Y[:60], features=features)
    falkon = FalkonRegressor(0.1, **EXACT).fit(rows, Y[:60], features=features)
    assert_allclose(falkon.predict(rows), ridge.predict(rows), atol=1e-5)


def test_what_has_not_converged_says_so() -> None:
    features = Nystroem(100, bandwidth=1.0, random_state=0).fit(X)
    short = FalkonRegressor(1e-7, max_iter=3).fit(X, Y, features=features)
    assert short.converged_ is False
    assert "after 3 iterations" in short.notes_[0]
    residual = float(short.notes_[0].split()[2])
    assert residual > 1e-6
    beyond = FalkonRegressor(1e-7, tol=1e-30, max_iter=40).fit(X, Y, features=features)
    assert beyond.converged_ is False
    fine = FalkonRegressor(1e-2).fit(X, Y, features=features)
    assert fine.converged_ is True
    assert float(fine.notes_[0].split()[2]) <= 1e-6


def test_the_residual_is_not_that_of_the_recurrence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first product alone is wrong: the recurrence ends, and its solution is none."""
    features, calls, real = (
        Nystroem(30, bandwidth=1.0, random_state=0).fit(X),
        [],
        Equations.multiply,
    )

    def wrong_once(self: Any, V: Any, columns: Any) -> Any:
        calls.append(1)
        return real(self, V, columns) * (1.0 if len(calls) > 1 else 1.1)

    monkeypatch.setattr(Equations, "multiply", wrong_once)
    found = FalkonRegressor(1e-2).fit(X, Y, features=features)
    assert len(calls) < 100
    assert found.converged_ is False


def test_the_columns_of_all_rows_are_never_held() -> None:
    rows = np.random.default_rng(0).standard_normal((40_000, 3))
    features = Nystroem(300, bandwidth=1.0, random_state=0).fit_landmarks(rows)
    solver = FalkonRegressor(1.0, max_iter=2)
    solver.fit(rows[:400], rows[:400, 0], features=features)
    tracemalloc.start()
    try:
        solver.fit(rows, rows[:, 0], features=features)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.7 * 8 * 40_000 * 300


def test_the_inverse_root_is_made_only_where_rows_go_through() -> None:
    features = Nystroem(20, bandwidth=1.0, random_state=0).fit_landmarks(X)
    FalkonRegressor(1.0).fit(X, Y, features=features).predict(X)
    assert isinstance(features.feature_map_, NystroemMap)
    assert "matrix" not in features.feature_map_.__dict__
    expected = Nystroem(20, bandwidth=1.0, random_state=0).fit(X)
    assert "matrix" in expected.feature_map_.__dict__
    assert_allclose(features.transform(X), expected.transform(X))


def test_a_preconditioner_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    features = Nystroem(20, bandwidth=1.0, random_state=0).fit(X)
    monkeypatch.setattr("rfbench.memory.free_bytes", lambda: 8.0 * 3 * 20**2 - 1)
    with pytest.raises(MemoryLimit, match="20 columns"):
        FalkonRegressor(1.0).fit(X, Y, features=features)


def test_a_target_without_spread() -> None:
    found = FalkonRegressor(1.0).fit(ROWS, np.full(len(ROWS), 3.0))
    assert found.converged_ is True
    assert_allclose(found.predict(NEW_ROWS), 3.0, atol=1e-12)


def test_several_classes_and_columns_far_from_zero() -> None:
    ridge = RidgeClassifier(1.0).fit(ROWS + 1e4, THREE)
    falkon = FalkonClassifier(1.0, **EXACT).fit(ROWS + 1e4, THREE)
    assert_allclose(falkon.decisions(ROWS + 1e4), ridge.decisions(ROWS + 1e4), atol=1e-5)
    assert FalkonRegressor(1.0, **EXACT).fit(ROWS + 1e4, REAL).converged_ is True
