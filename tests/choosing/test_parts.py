"""Ridge on features, probabilities from scores, weighted decisions."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss

from rfbench.choosing.parts import (
    FeatureClassifier,
    FeatureRegressor,
    WeightedClasses,
    coded,
    fitted_link,
    linked,
)
from rfbench.choosing.search import class_weights
from rfbench.samplers import RKS, Nystroem

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((150, 3))
Y = np.sin(2 * X[:, 0]) + 0.1 * RANDOM.standard_normal(150)
NEW = RANDOM.standard_normal((40, 3))


def test_with_all_rows_as_landmarks_it_is_kernel_ridge():
    model = FeatureRegressor(Nystroem(150, bandwidth=1.0, random_state=0), alpha=1e-3).fit(X, Y)
    exact = KernelRidge(kernel="rbf", gamma=0.5, alpha=150e-3).fit(X, Y - Y.mean())
    expected = np.clip(exact.predict(NEW) + Y.mean(), Y.min(), Y.max())
    np.testing.assert_allclose(model.predict(NEW), expected, atol=1e-5)


@pytest.mark.parametrize("features", [RKS(20, random_state=0), Nystroem(20, random_state=0)])
def test_on_features_it_is_ridge_of_scikit_learn(features):
    model = FeatureRegressor(features, alpha=1e-2).fit(X, Y)
    fitted = clone(features).fit(X)
    ridge = Ridge(alpha=150e-2, fit_intercept=False).fit(fitted.transform(X), Y - Y.mean())
    expected = np.clip(ridge.predict(fitted.transform(NEW)) + Y.mean(), Y.min(), Y.max())
    np.testing.assert_allclose(model.predict(NEW), expected, atol=1e-5)


def test_a_path_is_the_fits_one_by_one():
    model = FeatureRegressor(Nystroem(30, bandwidth=1.0, random_state=0))
    path = model.fit_path(X, Y[:, None], [1e-4, 1e-1])
    scores = model.scores_path(NEW, path)
    for alpha, each in zip([1e-4, 1e-1], scores, strict=True):
        alone = clone(model).set_params(alpha=alpha).fit(X, Y).predict(NEW)
        np.testing.assert_allclose(alone, np.clip(each[:, 0], Y.min(), Y.max()), atol=1e-9)


def test_rows_that_coincide_are_no_fault():
    same = np.repeat(X[:5], 30, axis=0)
    fitted = FeatureRegressor(Nystroem(50, bandwidth=1.0, random_state=0), alpha=1e-9)
    assert np.isfinite(fitted.fit(same, Y).predict(NEW)).all()


def test_predictions_stay_within_the_training_target():
    model = FeatureRegressor(RKS(100, bandwidth=0.3, random_state=0), alpha=1e-9).fit(X, Y)
    said = model.predict(10 * NEW)
    assert Y.min() <= said.min() <= said.max() <= Y.max()


def test_classes_are_told_and_their_probabilities_add_up():
    rows, labels = load_wine(return_X_y=True)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    names = np.array(["b", "a", "c"])[labels]
    model = FeatureClassifier(Nystroem(60, random_state=0), alpha=1e-4).fit(rows[::2], names[::2])
    shares = model.predict_proba(rows[1::2])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert (model.predict(rows[1::2]) == names[1::2]).mean() > 0.9


def test_the_link_of_two_classes_is_even():
    scores = np.array([[0.0], [3.0], [-3.0]])
    shares = linked(scores, (2.0, 1.5))
    assert shares[0].tolist() == [0.5, 0.5]
    np.testing.assert_allclose(shares[1], shares[2][::-1])
    softplus = np.log1p(np.exp(np.array([-6.0, 6.0]))) ** 1.5
    np.testing.assert_allclose(shares[1], softplus / softplus.sum())
    assert np.isfinite(linked(np.array([[1e4], [-1e4]]), (9.0, 9.0))).all()


def test_the_fitted_link_is_calibrated():
    """Scores of labels drawn from the link itself: its log-loss is nearly that of the truth."""
    random = np.random.default_rng(1)
    scores = random.standard_normal((4000, 3))
    truth = linked(scores, (1.5, 2.5))
    codes = (random.random(4000)[:, None] > truth.cumsum(axis=1)).sum(axis=1)
    fitted = linked(scores[2000:], fitted_link(scores[:2000], codes[:2000]))
    best = log_loss(codes[2000:], truth[2000:])
    assert log_loss(codes[2000:], fitted) < best + 0.005


def test_scores_of_a_rare_class_are_calibrated_as_by_logistic_regression():
    random = np.random.default_rng(3)
    scores = -0.9 + 0.2 * random.standard_normal((6000, 1))
    chance = 1 / (1 + np.exp(-8 * scores[:, 0] - 3))
    codes = (random.random(6000) < chance).astype(int)
    truth = np.column_stack([1 - chance, chance])
    fitted = linked(scores[3000:], fitted_link(scores[:3000], codes[:3000]))
    constant = np.full(3000, codes[:3000].mean())
    losses = [log_loss(codes[3000:], p) for p in (truth[3000:], fitted, constant)]
    assert losses[0] < losses[1] < losses[2]


def test_codes_are_one_column_per_class_and_one_of_two():
    assert coded([0, 1], 2).tolist() == [[-1.0], [1.0]]
    assert coded([0, 2], 3).tolist() == [[1.0, -1.0, -1.0], [-1.0, -1.0, 1.0]]


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
