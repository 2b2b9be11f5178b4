import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from rfbench import kernels
from rfbench.checking.samplers import CHECK_ROWS, NEW_ROWS
from rfbench.samplers import Nystroem
from rfbench.samplers.declaration import ANY, DOT_PRODUCTS
from rfbench.samplers.landmarks import compute_schur_diagonal

WAYS = ("uniform", "kmeans", "rpcholesky", "recursive-rls")


@pytest.mark.parametrize("kernel", [*ANY, *DOT_PRODUCTS])
@pytest.mark.parametrize("landmarks", WAYS)
@pytest.mark.parametrize("n_components", [60, 75])
def test_nystroem_is_exact_if_each_row_is_a_landmark(
    kernel: str, landmarks: str, n_components: int
) -> None:
    """Against the exact kernel, to 1e-9."""
    sampler = Nystroem(
        n_components, kernel=kernel, landmarks=landmarks, bandwidth=2.0, random_state=0
    ).fit(CHECK_ROWS)
    if landmarks == "uniform":
        assert set(sampler.landmark_rows_) == set(range(60))
    features, new = sampler.transform(CHECK_ROWS), sampler.transform(NEW_ROWS)
    exact = sampler.kernel_(CHECK_ROWS, CHECK_ROWS)
    assert features.shape == (60, n_components)
    assert_allclose(features @ features.T, exact, atol=1e-9 * np.abs(exact).max())
    across = sampler.kernel_(NEW_ROWS, CHECK_ROWS)
    assert_allclose(new @ features.T, across, atol=1e-8 * np.abs(across).max())


@pytest.mark.parametrize("landmarks", WAYS)
def test_inner_products_equal_the_pseudo_inverse_formula(landmarks: str) -> None:
    sampler = Nystroem(20, bandwidth=2.0, landmarks=landmarks, random_state=0).fit(CHECK_ROWS)
    points, k = sampler.feature_map_.landmarks, sampler.kernel_
    if landmarks != "kmeans":
        assert_array_equal(points, CHECK_ROWS[sampler.landmark_rows_])
    cross = k(NEW_ROWS, points)
    expected = cross @ np.linalg.pinv(k(points, points), hermitian=True) @ cross.T
    features = sampler.transform(NEW_ROWS)
    assert_allclose(features @ features.T, expected, atol=1e-10)


@pytest.mark.parametrize("kernel", ["gaussian", "linear", "arc-cosine-1"])
def test_ridge_leverage_from_all_rows_equals_the_definition(kernel: str) -> None:
    """Against an explicit inverse, to 1e-8 relative."""
    k = kernels.make(kernel, 2.0)
    K = k(CHECK_ROWS, CHECK_ROWS)
    for alpha in (1e-3, 0.1):
        expected = np.diag(K @ np.linalg.inv(K + 60 * alpha * np.eye(60)))
        for rows in (CHECK_ROWS, sparse.csr_array(CHECK_ROWS)):
            scores = compute_schur_diagonal(k, rows, rows, 60 * alpha) / (60 * alpha)
            assert_allclose(scores, expected, rtol=1e-8)


def test_duplicate_landmarks_give_the_exact_kernel() -> None:
    rows = np.repeat(CHECK_ROWS[:5], 12, axis=0)
    sampler = Nystroem(30, bandwidth=2.0, random_state=0).fit(rows)
    features = sampler.transform(rows)
    assert_allclose(features @ features.T, sampler.kernel_(rows, rows), atol=1e-9)


@pytest.mark.parametrize("landmarks", ["uniform", "recursive-rls", "rpcholesky", "kmeans"])
def test_more_landmarks_than_rows_are_noted(landmarks):
    X = np.random.default_rng(0).standard_normal((9, 2))
    for M, noted in ((9, False), (20, True)):
        fitted = Nystroem(M, landmarks=landmarks, bandwidth=1.0, random_state=0).fit(X)
        assert any("9 rows give 9 landmarks" in note for note in fitted.notes_) == noted
