"""Rows in a learnt metric, weighted decisions."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from rfbench.choosing.judge import mean_root
from rfbench.choosing.parts import InMetric, WeightedClasses, class_weights

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((150, 3))


def test_distances_are_those_of_the_metric():
    root = np.diag([2.0, 1.0, 0.5]) + 0.1
    Z = InMetric(root).fit_transform(X)
    a, b = X[0] - X[1], Z[0] - Z[1]
    assert b @ b == pytest.approx(a @ root @ root @ a)
    np.testing.assert_allclose(InMetric(np.array([2.0, 1.0, 0.5])).transform(X), X * [2, 1, 0.5])


def test_of_several_splits_it_is_the_root_of_the_mean_metric():
    roots = [np.diag([1.0, 2.0]) + 0.3, np.diag([0.5, 1.0]), np.array([2.0, 1.0])]
    root = mean_root(roots)
    metrics = [each @ each if each.ndim == 2 else np.diag(each**2) for each in roots]
    np.testing.assert_allclose(root @ root, np.mean(metrics, axis=0))
    diagonal = mean_root([np.array([1.0, 2.0]), np.array([3.0, 0.0])])
    np.testing.assert_allclose(diagonal**2, [5.0, 2.0])


def test_weights_move_the_threshold():
    labels = np.array(["no", "yes"])[(X[:, 0] > 1).astype(int)]
    model = WeightedClasses(LogisticRegression(), (0.2, 0.8)).fit(X, labels)
    expected = np.where(model.predict_proba(X)[:, 1] > 0.2, "yes", "no")
    assert model.predict(X).tolist() == expected.tolist()


def test_the_threshold_is_the_best_for_the_metric():
    random = np.random.default_rng(2)
    truth = (random.random(3000) < 0.05).astype(int)
    score = np.clip(0.05 + 0.15 * truth + 0.05 * random.standard_normal(3000), 0, 1)
    shares = np.column_stack([1 - score, score])
    threshold, rest = class_weights("balanced-error", truth, shares, 2)
    assert threshold + rest == pytest.approx(1)
    assert 0.08 < threshold < 0.18  # half way between .05 and .2
    assert class_weights("log-loss", truth, shares, 2) == ()
    # Of noise no threshold is significantly better than a half.
    noise = np.random.default_rng(4).dirichlet([20, 20], 300)
    assert class_weights("error", truth[:300] ^ (random.random(300) < 0.5), noise, 2) == ()
    # Of more classes: one over their shares.
    assert class_weights(
        "balanced-error", np.repeat([0, 1, 2], [60, 30, 10]), np.eye(3)[[0] * 100], 3
    ) == (pytest.approx((1 / 0.6, 1 / 0.3, 10.0), rel=1e-3))
