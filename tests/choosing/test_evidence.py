"""Facts of the page: errors by groups of rows, and permutations of columns."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import confusion_matrix

from rfbench.choosing.evidence import measure_permutation_importances, summarize_held_out_errors
from rfbench.choosing.losses import compute_loss


def test_regression_error_groups_have_at_least_ten_rows():
    truth = np.arange(57.0)
    groups = summarize_held_out_errors(2 * truth[::-1, None], truth[::-1], 0)["groups"]
    assert [each["rows"] for each in groups] == [12, 12, 11, 11, 11]
    assert groups[0] == pytest.approx(
        {"rows": 12, "predicted": 11, "true": 5.5, "spread": np.arange(12).std()}
    )
    assert [each["predicted"] for each in groups] == [2 * each["true"] for each in groups]


def test_confusion_matrix_and_calibration_curve_equal_scikit_learn():
    random = np.random.default_rng(0)
    scores, truth = random.dirichlet([1, 1, 1], 240), random.integers(0, 3, 240)
    facts = summarize_held_out_errors(scores, truth, 3)
    assert facts["confusion"] == confusion_matrix(truth, scores.argmax(axis=1)).tolist()
    assert len(facts["groups"]) == 12
    right = scores.argmax(axis=1) == truth
    most = np.sort(scores.max(axis=1))
    assert facts["groups"][0]["predicted"] == pytest.approx(most[:20].mean())
    assert np.mean([each["true"] for each in facts["groups"]]) == pytest.approx(right.mean())
    assert summarize_held_out_errors(np.eye(21), np.arange(21), 21)["confusion"] == []


def test_permutation_importance_is_the_increase_of_the_loss():
    """For y = 3 a + b and independent columns, permuted squares are 2 x 9 var(a) and 2 var(b)."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.standard_normal((3000, 3)), columns=["b", "a", "noise"])
    y = (3 * X["a"] + X["b"]).to_numpy()
    model = LinearRegression().fit(X, y)
    rmse = lambda said, truth: compute_loss("rmse", truth, said[:, 0]).value  # noqa: E731
    found, why = measure_permutation_importances(model, X, y, rmse, np.inf, 0)
    assert [each["column"] for each in found] == ["a", "b", "noise"]
    expected = [18**0.5, 2**0.5, 0]
    assert [each["increase"] for each in found] == pytest.approx(expected, rel=0.05, abs=1e-9)
    assert why == ""
    none, why = measure_permutation_importances(model, X, y, rmse, 0.0, 0)
    assert none == []
    assert "3 columns" in why
    classes = LogisticRegression().fit(X, y > 0)
    error = lambda said, truth: compute_loss("error", truth, said).value  # noqa: E731
    found, _ = measure_permutation_importances(classes, X, (y > 0).astype(int), error, np.inf, 0)
    assert found[0]["column"] == "a"
    assert 30 < found[0]["increase"] < 60
