import numpy as np
import pytest

from rfbench import metrics


def test_classification_metrics_equal_manual_computation():
    found = metrics.compute_classification_metrics(np.array([0, 1, 2, 2]), np.array([0, 1, 1, 2]))
    assert found == {"error": 25.0, "accuracy": 75.0}


def test_regression_metrics_equal_manual_computation():
    truth, predicted = np.array([1.0, 2.0, 5.0]), np.array([1.0, 3.0, 3.0])
    found = metrics.compute_regression_metrics(predicted, truth)
    assert found["relative_squared_error"] == pytest.approx(5 / 30)
    assert found["relative_rmse"] == pytest.approx(np.sqrt(5 / 30))
    assert found["rmse"] == pytest.approx(np.sqrt(5 / 3))
    assert found["mae_range"] == pytest.approx(1.0 / 4)
    mean = 8 / 3
    total = (1 - mean) ** 2 + (2 - mean) ** 2 + (5 - mean) ** 2
    assert found["r2"] == pytest.approx(1 - 5 / total)


def test_constant_target_gives_nan_instead_of_an_error():
    found = metrics.compute_regression_metrics(np.array([0.5, 0.5]), np.zeros(2))
    assert np.isnan(found["relative_squared_error"])
    assert np.isnan(found["r2"])
    assert found["rmse"] == 0.5
