from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

from rfbench.checking.samplers import CHECK_ROWS, NEW_ROWS
from rfbench.errors import MethodError
from rfbench.samplers import (
    RKS,
    TEFMG,
    TEFMS,
    CompactFeatures,
    Nystroem,
    TruncatedSVD,
)
from rfbench.solvers.design import Design

ORTHONORMAL: list[tuple[Any, Any]] = [(TEFMG, {}), (TEFMS, {}), (TruncatedSVD, {})]
BY_MATRIX: list[tuple[Any, Any]] = [*ORTHONORMAL, (CompactFeatures, {})]


def problem(n: int = 150, d: int = 10) -> Any:
    rows = np.random.default_rng(3).standard_normal((n, d))
    rows[:, 4:] *= 0.2
    return rows


def norm(matrix: Any) -> float:
    return float(np.abs(np.linalg.eigvalsh(matrix)).max())


def error(cls: Any, rows: Any, reference: Any, seed: int = 0, **options: Any) -> float:
    words = {"n_components": 25, "bandwidth": 3.0, "feature_map": "paired", **options}
    features = cls(random_state=seed, **words).fit(rows).transform(rows)
    return norm(reference - features @ features.T) / norm(reference)


@pytest.mark.parametrize(("cls", "options"), [*BY_MATRIX, (Nystroem, {})], ids=str)
@pytest.mark.parametrize(("dtype", "k", "by_row"), [(float, 2, 0), (float, 7, 1), ("f4", 2, 1)])
def test_projection_matrix_is_multiplied_into_the_coefficients(
    cls: Any, options: Any, dtype: Any, k: int, by_row: int, monkeypatch: Any
) -> None:
    """A row is then never projected; the products are the same."""
    rows, new = CHECK_ROWS.astype(dtype), NEW_ROWS.astype(dtype)
    fitted = cls(6, bandwidth=2.0, random_state=5, **options).fit(rows)
    coefficients = np.random.default_rng(0).standard_normal((6, k)).astype(dtype)
    expected = fitted.transform(new) @ coefficients
    kind, calls = type(fitted.feature_map_), []
    write = kind.transform_into
    monkeypatch.setattr(kind, "transform_into", lambda *args: calls.append(1) or write(*args))
    products = Design(new, fitted).multiply(coefficients)
    assert len(calls) == by_row
    assert_allclose(products, expected, rtol=1e-9 if dtype is float else 1e-5, atol=1e-12)
    products = Design(new[:k], fitted).multiply(coefficients)  # nothing to gain with so few rows
    assert len(calls) == by_row + 1
    assert_allclose(products, expected[:k], rtol=1e-9 if dtype is float else 1e-5, atol=1e-12)


@pytest.mark.parametrize(("cls", "options"), BY_MATRIX, ids=str)
@pytest.mark.parametrize("feature_map", ["offset", "paired"])
def test_projected_features_equal_rks_features_times_a_matrix(
    cls: Any, options: Any, feature_map: str
) -> None:
    words: dict[str, Any] = {"bandwidth": 2.0, "feature_map": feature_map, "random_state": 5}
    fitted = cls(6, base_size=11, **words, **options).fit(CHECK_ROWS).feature_map_
    base = RKS(11, **words).fit(CHECK_ROWS).transform(NEW_ROWS)
    assert fitted.inner.n_columns == base.shape[1] == (22 if feature_map == "paired" else 11)
    assert fitted.matrix.shape == (base.shape[1], 6)
    assert_allclose(fitted.transform(NEW_ROWS), base @ fitted.matrix, atol=1e-12)


@pytest.mark.parametrize(("cls", "options"), ORTHONORMAL, ids=str)
@pytest.mark.parametrize("n", [60, 3])
def test_projection_matrix_is_orthonormal_even_with_few_rows(
    cls: Any, options: Any, n: int
) -> None:
    matrix = (
        cls(8, bandwidth=2.0, random_state=0, **options).fit(CHECK_ROWS[:n]).feature_map_.matrix
    )
    assert_allclose(matrix.T @ matrix, np.eye(8), atol=1e-10)


def test_tefm_g_inner_products_equal_the_explicit_computation() -> None:
    """Inner products from the explicit sketch and its QR decomposition, to 1e-8."""
    rows = problem(40)
    words: dict[str, Any] = {"bandwidth": 3.0, "random_state": 1}
    F = RKS(20, **words).fit(rows).transform(rows)
    theta = np.random.default_rng(1).spawn(5)[3].standard_normal((40, 5))
    Q = np.linalg.qr(F.T @ theta).Q
    ours = TEFMG(5, **words).fit(rows).transform(rows)
    assert_allclose(ours @ ours.T, F @ Q @ Q.T @ F.T, atol=1e-8)


def test_tefm_s_inner_products_equal_the_explicit_computation() -> None:
    """Inner products from the explicit sketch with the Hadamard matrix of scipy, to 1e-9."""
    rows = problem(50)
    words: dict[str, Any] = {"bandwidth": 3.0, "random_state": 1}
    F = RKS(20, **words).fit(rows).transform(rows)
    ours = TEFMS(5, **words).fit(rows).transform(rows)
    random = np.random.default_rng(1).spawn(5)[3]
    chosen = random.choice(64, size=5, replace=False)
    signed = np.zeros((64, 20))
    signed[:50] = random.choice([-1.0, 1.0], size=(50, 1)) * F
    Q = np.linalg.qr((linalg.hadamard(64) @ signed)[chosen].T).Q
    assert_allclose(ours @ ours.T, F @ Q @ Q.T @ F.T, atol=1e-9)


def test_svd_features_equal_numpy_svd_with_fixed_signs() -> None:
    """Against the SVD of numpy of explicit features, to 1e-8."""
    rows = problem(60)
    words: dict[str, Any] = {"bandwidth": 3.0, "random_state": 1}
    F = RKS(20, **words).fit(rows).transform(rows)
    _, singular, right = np.linalg.svd(F)
    sampler = TruncatedSVD(5, **words).fit(rows)
    matrix = sampler.feature_map_.matrix
    assert_allclose(np.abs(right[:5] @ matrix), np.eye(5), atol=1e-8)
    assert (matrix.max(axis=0) == np.abs(matrix).max(axis=0)).all()
    assert_allclose(np.linalg.norm(sampler.transform(rows), axis=0), singular[:5])


def test_base_size_limit_counts_two_columns_per_paired_frequency() -> None:
    TruncatedSVD(100, base_size=50, feature_map="paired").check_parameters()
    with pytest.raises(MethodError, match="base_size"):
        TruncatedSVD(
            100, base_size=50, feature_map="paired", kernel="arc-cosine-1"
        ).check_parameters()
