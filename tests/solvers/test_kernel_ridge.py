import numpy as np
import pytest
from sklearn import kernel_ridge

from rfbench.errors import MethodError
from rfbench.registry import KERNELS
from rfbench.solvers import (
    KernelRidgeClassifier,
    KernelRidgeRegressor,
    KernelSVMClassifier,
    RidgeRegressor,
)


def test_model_equals_scikit_learn_without_intercept(regression):
    X, y = regression
    ours = KernelRidgeRegressor(0.3, bandwidth=1.5, intercept=False).fit(X, y)
    theirs = kernel_ridge.KernelRidge(alpha=0.3, kernel="rbf", gamma=1 / 4.5).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8)
    np.testing.assert_allclose(ours.dual_coef_[:, 0], theirs.dual_coef_, atol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alphas", [0.3, 0.0, [1e-3, 0.1, 1.0, 100.0]])
def test_model_equals_ridge_on_features_of_the_linear_kernel(regression, intercept, alphas):
    X, y = regression
    shared = {"intercept": intercept, "random_state": 0}
    exact = KernelRidgeRegressor(alphas, kernel="linear", **shared).fit(X, y)
    features = X / np.sqrt(X.shape[1])
    ridge = RidgeRegressor(alphas, **shared).fit(features, y)
    assert exact.alpha_ == ridge.alpha_
    assert exact.alpha_scale_free_ == pytest.approx(ridge.alpha_scale_free_)
    new = X[:7] + 0.3
    np.testing.assert_allclose(
        exact.predict(new), ridge.predict(new / np.sqrt(X.shape[1])), rtol=1e-7
    )


@pytest.mark.parametrize("kernel", list(KERNELS))
def test_each_kernel_is_supported(binary, kernel):
    X, y = binary
    solver = KernelRidgeClassifier([0.1, 10.0], kernel=kernel, random_state=0).fit(X, y)
    assert solver.score(X, y) > 0.6
    assert (solver.bandwidth_ == 1.0) == (not KERNELS[kernel].has_bandwidth)


@pytest.mark.parametrize("cls", [KernelRidgeClassifier, KernelSVMClassifier])
def test_too_many_rows_are_rejected_with_their_number(binary, cls, monkeypatch):
    X, y = binary
    monkeypatch.setattr("rfbench.memory.count_free_bytes", lambda: 8 * cls.matrices * 40**2)
    with pytest.raises(MethodError, match=r"80 rows .* GiB of memory are free"):
        cls().fit(X, y)


@pytest.mark.parametrize("alpha", [1e-10, 1e-4])
def test_float32_rows_work_with_small_penalties(regression, alpha):
    X, y = regression
    X = X.astype(np.float32)
    single = KernelRidgeRegressor(alpha, bandwidth=3.0).fit(X, y)
    double = KernelRidgeRegressor(alpha, bandwidth=3.0).fit(X.astype(float), y)
    assert single.notes_ == double.notes_
    np.testing.assert_allclose(single.dual_coef_, double.dual_coef_, rtol=1e-9)
    np.testing.assert_allclose(single.predict(X), double.predict(X.astype(float)), rtol=1e-9)
