import re

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from rfbench.compute import ridge
from rfbench.compute.gram import accumulate_normal_equations, accumulate_parts
from rfbench.compute.ridge import compute_residual_sum_of_squares, solve_ridge
from rfbench.errors import MethodError

N, P, T = 120, 8, 3
rng = np.random.default_rng(0)
Z = rng.standard_normal((N, P)) + 1
Y = Z @ rng.standard_normal((P, T)) + rng.standard_normal((N, T)) + 5
WEIGHTS = rng.uniform(0.1, 2, N)
ALPHAS = [1e-6, 0.1, 1.0, 100.0]


def equations(z=Z, y=Y, **options):
    sum_up = accumulate_parts if "parts" in options else accumulate_normal_equations
    return sum_up(np.positive, z, y, z.shape[1], **options)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_solution_equals_scikit_learn(intercept, weights):
    path = solve_ridge(equations(weights=weights), ALPHAS, intercept=intercept)
    for i, alpha in enumerate(ALPHAS):
        other = Ridge(alpha, fit_intercept=intercept).fit(Z, Y, sample_weight=weights)
        np.testing.assert_allclose(path.coef[i].T, other.coef_, atol=1e-9)
        np.testing.assert_allclose(path.intercept[i], other.intercept_, atol=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
def test_solving_does_not_modify_the_gram_matrix(intercept):
    mine = equations()
    before = mine.gram.copy()
    solve_ridge(mine, [0.0, 1.0], intercept=intercept)
    np.testing.assert_array_equal(mine.gram, before)


def test_summed_fold_equations_of_a_feature_subset_give_the_ridge_solution():
    folds = np.arange(N) % 3
    parts = equations(parts=folds)
    for fold in range(3):
        rest = folds != fold
        others = parts[fold - 1] + parts[fold - 2]
        path = solve_ridge(others.select_columns(np.arange(5), 2.0), ALPHAS, intercept=True)
        for i, alpha in enumerate(ALPHAS):
            other = Ridge(alpha).fit(2 * Z[rest, :5], Y[rest])
            np.testing.assert_allclose(path.coef[i].T, other.coef_, atol=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
def test_zero_penalty_and_repeated_columns_give_minimum_norm_solution(intercept):
    z = np.hstack([Z, Z[:, :3]])
    path = solve_ridge(equations(z), [0.0, 1.0], intercept=intercept)
    centre = z.mean(0) if intercept else 0.0
    expected = np.linalg.pinv(z - centre) @ (Y - Y.mean(0) if intercept else Y)
    np.testing.assert_allclose(path.coef[0], expected, atol=1e-8)
    assert path.notes == [["solved by eigendecomposition, in 8 of 11 directions"], []]


def test_only_penalties_too_small_for_cholesky_use_eigendecomposition():
    z = np.hstack([Z, Z])
    path = solve_ridge(equations(z), [1e-20, 1e-3, 1e-20], intercept=True)
    assert [not texts for texts in path.notes] == [False, True, False]
    np.testing.assert_allclose(path.coef[0], path.coef[1], atol=1e-3)


def test_zero_features_predict_the_mean():
    path = solve_ridge(equations(np.empty((N, 0))), [1.0], intercept=True)
    assert path.coef.shape == (1, 0, T)
    np.testing.assert_allclose(path.intercept[0], Y.mean(0))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_residual_sum_of_squares_equals_the_sum_over_rows(intercept, weights):
    mine = equations(weights=weights)
    path = solve_ridge(mine, ALPHAS, intercept=intercept)
    left = Y - (Z @ path.coef + path.intercept[:, None])
    w = np.ones(N) if weights is None else weights
    np.testing.assert_allclose(
        compute_residual_sum_of_squares(mine, path.coef, path.intercept),
        np.einsum("ant,n->at", left**2, w),
        rtol=1e-9,
    )


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nonfinite_features_or_targets_are_rejected(value):
    z, y = Z.copy(), Y.copy()
    z[3, 2] = y[5, 1] = value
    for mine in (equations(z), equations(y=y)):
        with pytest.raises(MethodError, match="not finite"):
            solve_ridge(mine, ALPHAS, intercept=False)


FAR = Z + 1e8 * np.arange(1, P + 1)


@pytest.mark.parametrize("alpha", [0.0, 1e-6, 1.0])
def test_centered_columns_with_large_means_keep_their_precision(alpha):
    mine = equations(FAR, center=True)
    path = solve_ridge(mine, alpha, intercept=True)
    other = Ridge(alpha, solver="svd").fit(FAR - FAR.mean(0), Y - Y.mean(0))
    np.testing.assert_allclose(path.coef[0].T, other.coef_, rtol=1e-6)
    assert path.notes == [[]]
    left = Y - Y.mean(0) - (FAR - FAR.mean(0)) @ path.coef[0]
    squares = compute_residual_sum_of_squares(mine, path.coef, path.intercept)[0]
    np.testing.assert_allclose(squares, (left**2).sum(0), rtol=1e-4)


def test_uncentered_columns_with_large_means_get_a_note_and_small_weights():
    path = solve_ridge(equations(Z + 1e9), 1e-9, intercept=True)
    assert path.notes[0]
    assert abs(path.coef).max() < 1


def test_constant_column_gets_zero_weight():
    z = np.hstack([Z, np.full((N, 1), 0.1)])
    path = solve_ridge(equations(z, center=True), 1e-12, intercept=True)
    assert not path.coef[0, -1].any()


def smooth(dtype, n=400, p=300):
    """Return features whose Gram matrix has no more rank than its precision has digits."""
    generator = np.random.default_rng(1)
    phases = generator.standard_normal((n, 2)) @ generator.standard_normal((2, p)) / 2
    phases += generator.uniform(0, 6, p)
    return (np.cos(phases) * (2 / p) ** 0.5).astype(dtype), np.sin(phases[:, :1])


@pytest.mark.parametrize("alpha", [0.0, 1e-10, 1e-8])
def test_eigenvectors_below_float32_resolution_are_dropped(alpha):
    z, y = smooth("float32")
    train, test = np.arange(0, 400, 2), np.arange(1, 400, 2)
    mine = accumulate_normal_equations(
        np.positive, z[train], y[train], 300, dtype="float32", center=True
    )
    path = solve_ridge(mine, alpha, intercept=True)
    kept = int(re.search(r"in (\d+) of", path.notes[0][0])[1])
    assert 5 < kept < 100
    left = y[test] - (z[test] @ path.coef[0].astype("float32") + path.intercept[0])
    assert np.sqrt(np.mean(left**2)) < 1e-3


def test_negative_loss_beyond_rounding_error_is_never_selected():
    z, y = smooth("float32")
    mine = accumulate_normal_equations(np.positive, z, y, 300, dtype="float32", center=True)
    values, vectors = np.linalg.eigh(mine.gram)
    wild = np.sqrt(2 * mine.target_squares[0] / -values[0]) * vectors[:, :1]
    assert values[0] < 0
    wild *= np.sign(-wild[:, 0] @ mine.moment[:, 0]) or 1.0
    fair = solve_ridge(mine, 1e-2, intercept=True)
    offset = mine.compute_intercepts(wild)
    losses = compute_residual_sum_of_squares(
        mine, np.stack([fair.coef[0], wild]), np.stack([fair.intercept[0], offset])
    )
    assert np.isinf(losses[1, 0])
    assert 0 < losses[0, 0] < np.inf


def test_losses_that_differ_by_rounding_error_are_equal():
    y = Z @ np.ones((P, 1))
    mine = equations(Z, y)
    path = solve_ridge(mine, [1e-9, 1e-10], intercept=True)
    losses = compute_residual_sum_of_squares(mine, path.coef, path.intercept)
    assert losses[0, 0] == losses[1, 0] > 0


def decaying(p, decay):
    """Return a matrix with eigenvalues from 1 down to 10**-decay, and two sides."""
    rng = np.random.default_rng(0)
    vectors = np.linalg.qr(rng.standard_normal((p, p)))[0]
    return (vectors * np.logspace(0, -decay, p)) @ vectors.T, rng.standard_normal((p, 2))


@pytest.mark.parametrize("decay", [2, 4, 15])
@pytest.mark.parametrize("scale", [1e-170, 1e-30, 1.0, 1e60, 1e150])
def test_joint_solve_for_all_penalties_equals_eigendecomposition(decay, scale):
    K, rhs = decaying(80, decay)
    rhs[:, 1] = 0.0
    penalties = np.logspace(1, -10, 12)
    solved = ridge._solve_together(np.asfortranarray(scale * K), rhs, scale * penalties, 1e-13)
    values, vectors = np.linalg.eigh(K)
    exact = [vectors @ (vectors.T @ rhs / (values + a)[:, None]) for a in penalties]
    solved = solved * scale
    done = np.isfinite(solved).all(axis=(1, 2))
    assert done[penalties >= 1e-5].all()
    assert done.all() == (decay < 5)  # of what float32 rounds nothing is said
    error = np.linalg.norm(solved - exact, axis=1)[done, 0] / np.linalg.norm(exact, axis=1)[done, 0]
    assert (error < 1e-15 / np.minimum(penalties[done], 1e-5) + 1e-12).all()
    assert not solved[done][:, :, 1].any()


@pytest.mark.parametrize("decay", [2, 4, 9])
@pytest.mark.parametrize("scale", [1e-170, 1e-30, 1.0, 1e60, 1e150])
def test_tridiagonal_solver_is_backward_stable(decay, scale):
    K, rhs = decaying(80, decay)
    rhs[:, 1] = 0.0
    penalties = np.logspace(1, -6, 12)
    work = np.asfortranarray(scale * K)
    solved = ridge._solve_tridiagonal(work, rhs, scale * penalties) * scale
    for own, alpha in zip(solved, penalties, strict=True):
        exact = K.astype(np.longdouble) + np.longdouble(alpha) * np.eye(80)
        residual = exact @ own - rhs
        # Backward stable: the residual is the rounding of K times the solution.
        assert np.linalg.norm(residual[:, 0]) <= 1e-14 * (1 + alpha) * np.linalg.norm(own[:, 0])
        assert not own[:, 1].any()


def test_tridiagonal_solver_returns_nan_for_indefinite_systems():
    K, rhs = decaying(30, 2)
    K -= 0.5 * np.eye(30)
    solved = ridge._solve_tridiagonal(np.asfortranarray(K), rhs, np.array([1.0, 0.1]))
    assert np.isfinite(solved[0]).all()
    assert np.isnan(solved[1]).all()
    np.testing.assert_allclose(solved[0], np.linalg.solve(K + np.eye(30), rhs), rtol=1e-11)


@pytest.mark.parametrize(
    ("p", "t", "count", "which"),
    [
        *[(12, 1, 8, "tridiagonal"), (12, 4, 8, "tridiagonal"), (12, 5, 8, None)],
        *[(12, 1, 7, None), (21, 1, 8, "together"), (21, 8, 8, None)],
    ],
)
def test_linear_solver_is_chosen_by_numbers_of_penalties_and_targets(
    p, t, count, which, monkeypatch
):
    monkeypatch.setattr(ridge, "MOST_TRIDIAGONAL", 20)
    monkeypatch.setattr(ridge, "COLUMNS_PER_SIDE", 3)
    called = []
    for name in ("tridiagonal", "together"):
        real = getattr(ridge, f"_solve_{name}")
        taken = lambda *a, name=name, real=real: called.append(name) or real(*a)  # noqa: E731
        monkeypatch.setattr(ridge, f"_solve_{name}", taken)
    K, rhs = decaying(p, 2)
    load = lambda work: np.copyto(work, K)  # noqa: E731
    many = np.repeat(rhs[:, :1], t, axis=1)
    solved, _ = ridge.solve_shifted_systems(load, many, np.logspace(1, -2, count), 1e-13, 1.0)
    assert called == ([] if which is None else [which])
    exact = np.linalg.solve(K + 0.01 * np.eye(p), many)
    np.testing.assert_allclose(solved[-1], exact, rtol=1e-9)


def test_penalties_that_the_joint_solver_fails_on_use_cholesky(monkeypatch):
    K, rhs = decaying(40, 12)
    penalties = np.logspace(1, -14, 16)

    def solve():
        load = lambda work: np.copyto(work, K)  # noqa: E731
        return ridge.solve_shifted_systems(load, rhs, penalties, 40 * 2.2e-16, 1.0)

    monkeypatch.setattr(ridge, "FEWEST_TOGETHER", 100)
    apart, words = solve()
    monkeypatch.setattr(ridge, "FEWEST_TOGETHER", 8)
    monkeypatch.setattr(ridge, "COLUMNS_PER_SIDE", 1)
    monkeypatch.setattr(ridge, "MOST_TRIDIAGONAL", 0)
    found = []
    real = ridge._solve_together
    monkeypatch.setattr(ridge, "_solve_together", lambda *a: found.append(real(*a)) or found[-1])
    together, same_words = solve()
    (own,) = found
    assert len(own) < len(penalties)  # those that Cholesky might refuse are not tried
    assert 5 < np.isfinite(own).all(axis=(1, 2)).sum() < len(own)
    assert same_words == words
    scale = np.linalg.norm(apart, axis=1, keepdims=True)
    np.testing.assert_allclose(together / scale, apart / scale, rtol=0, atol=1e-3)
    np.testing.assert_allclose((together / scale)[:8], (apart / scale)[:8], rtol=0, atol=1e-9)
    monkeypatch.setattr(ridge, "MOST_STEPS", 1)
    np.testing.assert_array_equal(solve()[0], apart)
