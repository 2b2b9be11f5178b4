from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rfbench import kernels
from rfbench.checking.samplers import CHECK_ROWS, CHECK_TARGET, NEW_ROWS
from rfbench.samplers import LeverageRFF, SurrogateLeverage
from rfbench.samplers.leverage import compute_ridge_leverage
from tests.support.nightly import at_night

from .unbiased import assert_mean, points

AS_RUN: dict[str, Any] = {
    "resample": False,
    "per_column": True,
    "reweight": "inverse",
    "feature_map": "paired",
    "bandwidth": 2.0,
}
PAIRED: dict[str, Any] = {"feature_map": "paired", "bandwidth": 2.0, "random_state": 0}


def unnormalised(sampler: Any, rows: Any = CHECK_ROWS) -> Any:
    """Return cos and sin of a paired map of which every column was kept."""
    phases = rows @ sampler.feature_map_.frequencies
    return np.hstack([np.cos(phases), np.sin(phases)])


def fold(columns: Any) -> Any:
    return columns.reshape(2, -1).sum(axis=0)


def whole_pool(cls: Any, **options: Any) -> Any:
    words = {"n_components": 20, "resample": False, "random_state": 0, **options}
    return cls(**{"feature_map": "paired", "bandwidth": 2.0, **words}).fit(CHECK_ROWS, CHECK_TARGET)


@pytest.mark.parametrize("alpha", [1e-3, 0.05, 3.0])
def test_leverage_scores_equal_the_definition(alpha: float) -> None:
    """Against an explicit inverse, to 1e-9 relative."""
    sampler = whole_pool(LeverageRFF, alpha=alpha)
    Z = unnormalised(sampler)
    n, size = len(CHECK_ROWS), 20
    p = np.diag(Z.T @ Z @ np.linalg.inv(Z.T @ Z / size + n * alpha * np.eye(2 * size)))
    assert_allclose(sampler.scores_, fold(p), rtol=1e-9)
    assert_allclose(sampler.pool_weights_, fold(p) / p.sum(), rtol=1e-9)
    apart = whole_pool(LeverageRFF, alpha=alpha, per_column=True)
    assert_allclose(apart.scores_, p, rtol=1e-9)
    assert apart.pool_weights_.shape == (2 * size,)
    assert_allclose(apart.pool_weights_.sum(), 1.0)


def test_ridge_leverage_of_a_singular_gram_matrix_is_accurate() -> None:
    Z = CHECK_ROWS[:, :2]
    gram = np.hstack([Z, Z]).T @ np.hstack([Z, Z])
    assert_allclose(compute_ridge_leverage(gram, 1e-30), 0.5, rtol=1e-9)
    assert_allclose(compute_ridge_leverage(gram, 1e-3 * gram[0, 0]), 0.5, rtol=2e-3)
    assert_allclose(compute_ridge_leverage(np.diag([4.0, 1.0]), 1.0), [0.8, 0.5])


@pytest.mark.parametrize("target", ["binary", "classes"])
def test_surrogate_scores_equal_the_definition(target: str) -> None:
    """Against equations 12 and 14 written out, to 1e-9 relative."""
    labels = CHECK_TARGET if target == "binary" else np.arange(len(CHECK_ROWS)) % 3
    Y = CHECK_TARGET[:, None] if target == "binary" else np.eye(3)[labels]
    for equation in (12, 14):
        for centred in (False, True):
            sampler = SurrogateLeverage(
                20,
                equation=equation,
                center_target=centred,
                resample=False,
                per_column=True,
                feature_map="paired",
                random_state=0,
            ).fit(CHECK_ROWS, labels)
            Z = unnormalised(sampler)
            coded = Y - Y.mean(axis=0) if centred else Y
            p = ((coded.T @ Z) ** 2).sum(axis=0)
            if equation == 12:
                p += len(CHECK_ROWS) * (Z**2).sum(axis=0)
            assert_allclose(sampler.scores_, p, rtol=1e-9)
            assert_allclose(sampler.pool_weights_, p / p.sum(), rtol=1e-9)


def test_leverage_features_equal_the_explicit_computation() -> None:
    s, n = 16, len(CHECK_ROWS)
    sampler = LeverageRFF(s, alpha=0.05, random_state=0, **AS_RUN).fit(CHECK_ROWS)
    base = np.sqrt(1 / s) * unnormalised(sampler)
    G = base.T @ base
    p = np.diag(G @ np.linalg.inv(G + n * 0.05 * np.eye(2 * s)))
    q = p / p.sum()
    assert_allclose(sampler.transform(CHECK_ROWS), base / np.sqrt(q), rtol=1e-9, atol=1e-12)
    raw = unnormalised(sampler).T @ unnormalised(sampler)
    other = np.diag(raw @ np.linalg.inv(raw + n * 0.05 * np.eye(2 * s)))
    with pytest.raises(AssertionError):
        assert_allclose(sampler.pool_weights_, other / other.sum(), rtol=1e-3)
    lighter = LeverageRFF(s, alpha=0.05 / s, random_state=0, **AS_RUN).fit(CHECK_ROWS)
    assert_allclose(lighter.pool_weights_, other / other.sum(), rtol=1e-9)


def test_surrogate_leverage_features_equal_the_explicit_computation() -> None:
    s = 16
    sampler = SurrogateLeverage(s, equation=14, random_state=0, **AS_RUN).fit(
        CHECK_ROWS, CHECK_TARGET
    )
    base, new = (np.sqrt(1 / s) * unnormalised(sampler, rows) for rows in (CHECK_ROWS, NEW_ROWS))
    q = (base.T @ CHECK_TARGET) ** 2
    q /= q.sum()
    assert_allclose(sampler.transform(NEW_ROWS), new / np.sqrt(q), rtol=1e-9, atol=1e-9)


UNBIASED: list[tuple[Any, dict[str, Any]]] = [
    (LeverageRFF, {}),
    (LeverageRFF, {"per_column": True}),
    (LeverageRFF, {"feature_map": "offset"}),
    (LeverageRFF, {"kernel": "laplacian"}),
    (LeverageRFF, {"kernel": "arc-cosine-1"}),
    (LeverageRFF, {"kernel": "linear"}),
    (SurrogateLeverage, {"equation": 12}),
    (SurrogateLeverage, {"equation": 12, "per_column": True}),
    (SurrogateLeverage, {"equation": 12, "feature_map": "offset"}),
    (SurrogateLeverage, {"equation": 12, "kernel": "arc-cosine-1"}),
    (SurrogateLeverage, {"equation": 14}),
]


def estimates_of(cls: Any, options: Any, seeds: int) -> Any:
    """Return the estimated kernel matrices of the seeds, a new pool each."""
    words = {"feature_map": "paired", "pool_size": 80, "bandwidth": 2.0, **options}
    fitted = (
        cls(40, random_state=seed, **words).fit(CHECK_ROWS, CHECK_TARGET) for seed in range(seeds)
    )
    features = [sampler.transform(points(5)) for sampler in fitted]
    return np.array([Z @ Z.T for Z in features])


def exact(kernel: str = "gaussian", bandwidth: float = 2.0) -> Any:
    return kernels.make(kernel, bandwidth)(points(5), points(5))


@pytest.mark.parametrize(
    "case", [UNBIASED[0], UNBIASED[6], *at_night(*UNBIASED[1:6], *UNBIASED[7:])], ids=str
)
def test_importance_weighted_leverage_features_are_unbiased(case: Any) -> None:
    """To 4 standard errors of 400 pools; a wrong bandwidth or no weights fail."""
    cls, options = case
    wrong = [exact(bandwidth=2.0 * factor) for factor in (2**0.5, 0.5**0.5)]
    usual = "kernel" not in options
    kernel = options.get("kernel", "gaussian")
    # The standard errors are at most 2 % of the kernel: a bias of 8 % is found.
    assert_mean(estimates_of(cls, options, 200), exact(kernel), wrong if usual else [])
