"""How landmarks are found: k-means, randomly pivoted Cholesky, recursive ridge leverage."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.cluster import KMeans

from rfbench import kernels
from rfbench.checking.samplers import CHECK_ROWS
from rfbench.errors import MemoryLimitError
from rfbench.samplers import Nystroem, landmarks

GAUSSIAN = kernels.make("gaussian", 2.0)
FOUND = ("kmeans", "rpcholesky", "recursive-rls")
# 300 rows of 4 columns, for the stored numbers of the reference implementations.
REFERENCE_ROWS = np.random.default_rng(20).standard_normal((300, 4))


def fitted(X: Any, m: int, found: str, seed: int = 0, **words: Any) -> Nystroem:
    words = {"bandwidth": 2.0, **words}
    sampler = Nystroem(m, landmarks=found, random_state=seed, **words)
    assert sampler.fit(X) is sampler
    return sampler


def trace_error(X: Any, sampler: Nystroem) -> float:
    return float(
        landmarks.compute_kernel_diagonal(sampler.kernel_, X).sum()
        - np.sum(sampler.transform(X) ** 2)
    )


@pytest.mark.parametrize("found", FOUND)
def test_landmarks_of_duplicate_or_one_dimensional_rows_are_valid(found: str) -> None:
    twice = np.repeat(CHECK_ROWS[:5], 12, axis=0)
    line = CHECK_ROWS[:, :1]
    for rows in (twice, line):
        sampler = fitted(rows, 30, found)
        assert sampler.transform(rows).shape == (60, 30)
        assert trace_error(rows, sampler) < 1e-6
    if found != "recursive-rls":  # which draws rows, not different rows
        kept = fitted(twice, 4, found).feature_map_.landmarks
        assert len(np.unique(kept.round(9), axis=0)) == 4


@pytest.mark.parametrize("found", ["kmeans", "rpcholesky"])
def test_fewer_distinct_landmarks_than_requested_are_noted(found: str) -> None:
    assert fitted(CHECK_ROWS, 10, found).notes_ == []
    assert fitted(np.repeat(CHECK_ROWS[:5], 12, axis=0), 10, found).notes_ == [
        "5 different landmarks are enough to represent all rows"
    ]


# k-means


def test_kmeans_landmarks_are_close_to_a_fixed_point_of_k_means() -> None:
    """Each is the mean of the rows nearest to it, its loss within 10 % of KMeans."""
    rows = np.random.default_rng(1).standard_normal((500, 3))
    sampler = fitted(rows, 6, "kmeans")
    found = sampler.feature_map_.landmarks
    assert sampler.landmark_rows_ is None
    nearest = np.argmin(((rows[:, None] - found) ** 2).sum(axis=2), axis=1)
    means = np.array([rows[nearest == j].mean(axis=0) for j in range(6)])
    assert_allclose(found, means, atol=0.1)  # 20 rounds are not all
    best = KMeans(6, n_init=20, random_state=0).fit(rows).inertia_
    ours = ((rows - found[nearest]) ** 2).sum()
    assert best <= ours < 1.1 * best


def test_centroids_of_many_rows_are_computed_on_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landmarks, "KMEANS_ROWS", 40)
    assert fitted(CHECK_ROWS, 10, "kmeans").notes_ == ["landmarks are selected from 40 of 60 rows"]
    sampler = fitted(CHECK_ROWS, 50, "kmeans")
    assert sampler.notes_ == ["landmarks are selected from 50 of 60 rows"]
    rows = {tuple(row) for row in CHECK_ROWS}
    assert all(tuple(point) in rows for point in sampler.feature_map_.landmarks)


# Randomly pivoted Cholesky


def left_of(K: Any, chosen: list[int]) -> Any:
    """Return what the chosen rows leave of the diagonal, by an explicit inverse."""
    if not chosen:
        return np.diag(K).copy()
    block = K[:, chosen]
    left = np.diag(K - block @ np.linalg.inv(K[np.ix_(chosen, chosen)]) @ block.T).copy()
    left[chosen] = 0.0
    return np.maximum(left, 0.0)


def test_rpcholesky_pivots_equal_those_from_explicit_inverses() -> None:
    """With the same random numbers, the same rows."""
    K = GAUSSIAN(CHECK_ROWS, CHECK_ROWS)
    generator, expected = np.random.default_rng(5), []
    for _ in range(15):
        left = left_of(K, expected)
        expected.append(int(generator.choice(60, size=1, p=left / left.sum())[0]))
        generator.random(1)
    found = landmarks.choose_pivots(GAUSSIAN, CHECK_ROWS, 15, 1, np.random.default_rng(5))
    assert found.tolist() == expected


def test_pivots_equal_those_of_the_reference_implementation() -> None:
    """Stored numbers of eepperly/Randomly-Pivoted-Cholesky@b7ea228 (MIT), with these generators."""
    one_by_one = [153, 43, 92, 249, 166, 228, 91, 87, 29, 56, 232, 139]
    in_blocks = [153, 285, 43, 284, 248, 122, 164, 8, 221]
    in_blocks += [85, 145, 288, 163, 48, 292, 189, 256, 175]
    for block_size, pivots in ((1, one_by_one), (10, in_blocks)):
        generator = np.random.default_rng(1)
        words = (GAUSSIAN, REFERENCE_ROWS, len(pivots), block_size, generator)
        assert landmarks.choose_pivots(*words).tolist() == pivots


def test_rpcholesky_uses_a_sample_if_the_factor_is_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(landmarks, "FACTOR_BYTES", 8 * 10 * 30)
    sampler = fitted(CHECK_ROWS, 10, "rpcholesky")
    assert sampler.notes_ == ["landmarks are selected from 30 of 60 rows"]
    assert len(set(sampler.landmark_rows_)) == 10
    assert fitted(CHECK_ROWS, 25, "rpcholesky").notes_ == [
        "landmarks are selected from 50 of 60 rows"
    ]
    monkeypatch.setattr("rfbench.memory.count_free_bytes", lambda: 100.0)
    with pytest.raises(MemoryLimitError, match="30 rows and 10 landmarks"):
        fitted(CHECK_ROWS, 10, "rpcholesky")


# Recursive ridge leverage


def test_recursive_leverage_equals_the_reference_implementation() -> None:
    """Stored numbers of axelv/recursive-nystrom@4e50162 (MIT), with this generator."""
    chosen, scores = landmarks.draw_by_recursive_leverage(
        GAUSSIAN, REFERENCE_ROWS, 20, np.random.RandomState(1)
    )
    expected = [197, 185, 179, 91, 274, 209, 204, 292, 182, 141]
    expected += [241, 262, 1, 85, 18, 296, 285, 186, 33, 125]
    assert chosen.tolist() == expected
    first = [0.023454735814370013, 0.01733972336877518, 0.0181538449358468, 0.024756752075723178]
    assert_allclose(scores[:4], first, rtol=1e-9)
    assert scores.sum() == pytest.approx(7.028234446658957, rel=1e-9)


def test_recursive_leverage_is_close_to_the_definition() -> None:
    """The scores l_i = (K (K + penalty I)^-1)_ii of the penalty that the recursion takes."""
    rows = np.random.default_rng(6).standard_normal((800, 2))
    rows[::40] *= 6.0
    kernel = kernels.make("gaussian", 1.0)
    K = kernel(rows, rows)
    values = np.linalg.eigvalsh(K)
    m = 100
    k = int(np.ceil(m / (4 * np.log(m))))
    exact = np.diag(K @ np.linalg.inv(K + values[:-k].sum() / k * np.eye(800)))
    _, scores = landmarks.draw_by_recursive_leverage(kernel, rows, m, np.random.default_rng(7))
    assert np.corrcoef(exact, scores)[0, 1] > 0.9
    assert 0.5 < np.median(scores / exact) < 2.0
