"""Scalings by ranks and by quartiles: closed forms, invariances, bounds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kstest, norm

from rfbench.datasets.scaling import RankScaler, SmoothClipScaler

BOTH = pytest.mark.parametrize("scaler", [RankScaler, SmoothClipScaler])


@BOTH
class TestBoth:
    def test_scaled_training_rows_have_zero_mean_and_unit_variance(self, scaler):
        X = np.random.default_rng(0).lognormal(size=(300, 2), sigma=3)
        Z = scaler().fit_transform(X)
        assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
        assert_allclose(Z.std(axis=0), 1)

    def test_scaling_preserves_order_and_bounds_outliers(self, scaler):
        X = np.random.default_rng(0).normal(size=(200, 1))
        scaled = scaler().fit(X)
        Z = scaled.transform(np.linspace(-1e12, 1e12, 1001)[:, None])
        assert np.all(np.diff(Z[:, 0]) >= 0)
        assert np.abs(Z).max() < 5

    def test_scaling_maps_constant_columns_to_zero_and_bounds_rare_values(self, scaler):
        X = np.column_stack([np.full(1000, 7.0), np.arange(1000) == 0]).astype(float)
        scaled = scaler().fit(X)
        assert_array_equal(scaled.transform([[7.0, 0], [9.0, 0]])[:, 0], 0)
        high, low = scaled.transform([[7.0, 1], [7.0, 0]])[:, 1]
        assert_allclose(high - low, 1 / 0.3)

    def test_robust_scaling_does_not_change_under_affine_maps(self, scaler):
        X = np.random.default_rng(0).normal(size=(100, 3))
        assert_allclose(scaler().fit_transform(5 * X + 3), scaler().fit_transform(X), atol=1e-9)

    def test_nan_in_rows_raises_value_error_in_scalers(self, scaler):
        with pytest.raises(ValueError, match="NaN"):
            scaler().fit(np.array([[np.nan], [1.0]]))


def test_rank_scaling_does_not_change_under_monotone_maps():
    x = np.random.default_rng(0).normal(size=(500, 1))
    Z = RankScaler().fit_transform(x)
    assert kstest(Z[:, 0], norm.cdf).pvalue > 0.5
    assert_allclose(RankScaler().fit_transform(np.exp(3 * x)), Z, atol=1e-9)
    ranks = np.argsort(np.argsort(x[:, 0]))
    expected = np.clip(norm.ppf(np.clip(ranks / 499, 1e-7, 1 - 1e-7)), -3, 3)
    assert_allclose(Z[:, 0], (expected - expected.mean()) / expected.std(), atol=1e-6)


def test_smooth_clip_equals_its_formula():
    x = np.random.default_rng(0).normal(size=(101, 1)) ** 3
    lower, median, upper = np.quantile(x, [0.25, 0.5, 0.75])
    z = (x - median) / (upper - lower)
    expected = z / np.sqrt(1 + (z / 3) ** 2)
    assert_allclose(
        SmoothClipScaler().fit_transform(x), (expected - expected.mean()) / expected.std()
    )


def test_zero_interquartile_range_is_replaced_by_half_the_range():
    x = np.r_[np.zeros(90), np.linspace(0, 8, 10)][:, None]
    assert SmoothClipScaler().fit(x).width_ == [4.0]
