"""Ridge on a kernel's features as a model; probabilities from scores."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics import log_loss

from rfbench.errors import MethodError
from rfbench.samplers import RKS, Nystroem
from rfbench.samplers.metric import apply_metric
from rfbench.solvers import ExternalSolver
from rfbench.solvers.kernel_model import KernelClassifier, KernelRegressor
from rfbench.solvers.probabilities import apply_link, fit_link

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((150, 3))
Y = np.sin(2 * X[:, 0]) + 0.1 * RANDOM.standard_normal(150)
NEW = RANDOM.standard_normal((40, 3))
Y_NEW = np.sin(2 * NEW[:, 0])
GAUSSIAN = {"kernel": "gaussian"}


def test_all_rows_as_landmarks_give_kernel_ridge():
    model = KernelRegressor(150, **GAUSSIAN).fit(X, Y)
    bandwidth = model.map_.kernel.bandwidth
    exact = KernelRidge(kernel="rbf", gamma=0.5 / bandwidth**2, alpha=150e-3).fit(X, Y - Y.mean())
    expected = np.clip(exact.predict(NEW) + Y.mean(), Y.min(), Y.max())
    np.testing.assert_allclose(model.predict(NEW), expected, atol=1e-5)


@pytest.mark.parametrize(("kind", "features"), [("frequencies", RKS), ("uniform", Nystroem)])
def test_kernel_model_on_features_equals_scikit_learn_ridge(kind, features):
    model = KernelRegressor(20, features=kind, alphas=[1e-2], **GAUSSIAN).fit(X, Y)
    fitted = features(20, bandwidth="1*median", random_state=0).fit(X)
    ridge = Ridge(alpha=150e-2, fit_intercept=False).fit(fitted.transform(X), Y - Y.mean())
    expected = np.clip(ridge.predict(fitted.transform(NEW)) + Y.mean(), Y.min(), Y.max())
    np.testing.assert_allclose(model.predict(NEW), expected, atol=1e-5)


def test_selected_bandwidth_and_penalty_equal_those_of_separate_fits():
    keys = {"factors": [0.5, 1.0, 2.0], "alphas": [1e-5, 1e-3, 1e-1]}
    chosen = KernelRegressor(30, **keys, **GAUSSIAN).fit(X, Y, X_val=NEW, y_val=Y_NEW)
    losses = {}
    for factor in keys["factors"]:
        for alpha in keys["alphas"]:
            model = KernelRegressor(30, factors=[factor], alphas=[alpha], **GAUSSIAN).fit(X, Y)
            losses[factor, alpha] = np.mean((model._scores(NEW)[:, 0] - Y_NEW) ** 2)
            if (factor, alpha) == (chosen.factor_, chosen.alpha_):
                np.testing.assert_allclose(model.predict(NEW), chosen.predict(NEW), atol=1e-8)
                np.testing.assert_allclose(chosen.evaluation_[:, 0], chosen.predict(NEW))
    assert chosen.evaluation_loss_ == pytest.approx(min(losses.values()))
    assert losses[chosen.factor_, chosen.alpha_] == pytest.approx(min(losses.values()))
    assert chosen.arrays_["chosen"][:2].tolist() == [chosen.factor_, chosen.alpha_]
    assert "evaluation_" not in vars(pickle.loads(pickle.dumps(chosen)))
    with pytest.raises(MethodError, match="no rows X_val"):
        KernelRegressor(30, **keys).fit(X, Y)


def test_bandwidth_search_stops_when_the_loss_increases(monkeypatch):
    tried = []
    path = KernelRegressor._path
    monkeypatch.setattr(KernelRegressor, "_path", lambda *a: tried.append(a[3]) or path(*a))
    model = KernelRegressor(30, factors=[60.0, 30.0, 0.02, 1.0], **GAUSSIAN)
    model.fit(X, Y, X_val=NEW, y_val=Y_NEW)
    assert tried == [0.02, 1.0, 30.0]
    assert model.factor_ == 1.0


def test_rows_transformed_by_the_stored_metric_reproduce_the_model():
    keys = {"kernel": "gaussian", "factors": [1.0], "alphas": [1e-4, 1e-2]}
    model = KernelRegressor(60, metric="diagonal", **keys).fit(X, Y, X_val=NEW, y_val=Y_NEW)
    root = model.arrays_["root"]
    assert root[0] > 2 * root[1:].max()
    again = KernelRegressor(60, **keys).fit(
        apply_metric(root, X), Y, X_val=apply_metric(root, NEW), y_val=Y_NEW
    )
    np.testing.assert_allclose(again.evaluation_, model.evaluation_)


def test_evaluation_rows_are_used_for_selection_only_if_there_is_a_choice():
    for factors, selection in (([0.5, 1.0], "test"), ([1.0], "fixed")):
        model = KernelRegressor(30, factors=factors, **GAUSSIAN)
        solver = ExternalSolver(model, classification=False)
        solver.fit(X, Y, evaluation=(NEW, Y_NEW))
        assert solver.report_.selection == selection
        said = solver.evaluation_decisions_
        assert (said is None) == (selection == "fixed")
        if said is not None:
            np.testing.assert_array_equal(said, solver.compute_decisions(NEW))


def test_duplicate_rows_are_accepted():
    same = np.repeat(X[:5], 30, axis=0)
    assert np.isfinite(KernelRegressor(50, alphas=[1e-9]).fit(same, Y).predict(NEW)).all()


@pytest.mark.parametrize("features", ["frequencies", "uniform"])
def test_predictions_stay_within_the_training_target(features):
    model = KernelRegressor(50, features=features, factors=[0.3], alphas=[1e-9], **GAUSSIAN)
    said = model.fit(X, Y).predict(10 * NEW)
    assert Y.min() <= said.min() <= said.max() <= Y.max()


def test_classes_are_predicted_and_probabilities_sum_to_one():
    rows, labels = load_wine(return_X_y=True)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    names = np.array(["b", "a", "c"])[labels]
    model = KernelClassifier(60, alphas=[1e-5, 1e-4], **GAUSSIAN)
    model.fit(rows[::2], names[::2], X_val=rows[1::2], y_val=names[1::2])
    shares = model.predict_proba(rows[1::2])
    np.testing.assert_allclose(shares, model.evaluation_)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert (model.predict(rows[1::2]) == names[1::2]).mean() > 0.9


def test_fitted_link_function_gives_calibrated_probabilities():
    """Scores of labels drawn from the link itself: its log-loss is nearly that of the truth."""
    random = np.random.default_rng(1)
    scores = random.standard_normal((4000, 3))
    truth = apply_link(scores, (1.5, 2.5))
    codes = (random.random(4000)[:, None] > truth.cumsum(axis=1)).sum(axis=1)
    fitted = apply_link(scores[2000:], fit_link(scores[:2000], codes[:2000]))
    best = log_loss(codes[2000:], truth[2000:])
    assert log_loss(codes[2000:], fitted) < best + 0.005
