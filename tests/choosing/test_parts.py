"""Rows in a learnt metric, balanced decisions."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from rfbench.choosing.parts import BalancedDecision, in_metric, mean_root

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((150, 3))


def test_distances_are_those_of_the_metric():
    root = np.diag([2.0, 1.0, 0.5]) + 0.1
    Z = in_metric(X, root)
    a, b = X[0] - X[1], Z[0] - Z[1]
    assert b @ b == pytest.approx(a @ root @ root @ a)
    np.testing.assert_allclose(in_metric(X, np.array([2.0, 1.0, 0.5])), X * [2, 1, 0.5])


def test_of_several_splits_it_is_the_root_of_the_mean_metric():
    roots = [np.diag([1.0, 2.0]) + 0.3, np.diag([0.5, 1.0]), np.array([2.0, 1.0])]
    root = mean_root(roots)
    metrics = [each @ each if each.ndim == 2 else np.diag(each**2) for each in roots]
    np.testing.assert_allclose(root @ root, np.mean(metrics, axis=0))
    diagonal = mean_root([np.array([1.0, 2.0]), np.array([3.0, 0.0])])
    np.testing.assert_allclose(diagonal**2, [5.0, 2.0])


def test_a_balanced_decision_weighs_classes_by_one_over_their_shares():
    labels = np.array(["no", "yes"])[(X[:, 0] > 1).astype(int)]
    model = BalancedDecision(LogisticRegression()).fit(X, labels)
    share = np.mean(labels == "yes")
    expected = np.where(model.predict_proba(X)[:, 1] > share, "yes", "no")
    assert model.predict(X).tolist() == expected.tolist()
