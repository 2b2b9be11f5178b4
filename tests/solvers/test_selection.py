import itertools

import numpy as np
import pytest

from rfbench.config.specs import SolverSpec
from rfbench.errors import MethodError
from rfbench.registry import SOLVERS
from rfbench.solvers import RidgeClassifier, RidgeRegressor, make

CLASSIFIERS = [name for name, tasks in SOLVERS.items() if "classification" in tasks]


def test_largest_of_tied_penalties_is_selected(rng):
    X = np.concatenate([rng.uniform(1, 2, (20, 1)), rng.uniform(-2, -1, (20, 1))])
    y = np.repeat([1, 0], 20)
    alphas = [1e-3, 1e-1, 1e1]
    solver = RidgeClassifier(alphas, selection="cv4", random_state=0).fit(X, y)
    assert solver.score(X, y) == 1.0
    assert solver.alpha_ == 10.0


def test_absolute_penalty_is_recorded_for_per_sample_penalties(binary):
    X, y = binary
    solver = RidgeClassifier(0.5, alpha_convention="per-sample").fit(X, y)
    assert (solver.alpha_, solver.alpha_absolute_) == (0.5, 40.0)
    np.testing.assert_allclose(solver.coef_, RidgeClassifier(40.0).fit(X, y).coef_)


def test_unseen_evaluation_label_counts_as_an_error(rng):
    X, y = rng.standard_normal((20, 2)), np.repeat([0, 4], 10)
    solver = RidgeClassifier(1.0).fit(X, y)
    assert solver._truth([0, 4, 2, 9]).tolist() == [0, 1, -1, -1]


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        *itertools.product(["svm", "ridge"], ["one-vs-rest", "one-vs-one"]),
        ("kernel-svm", None),
    ],
)
@pytest.mark.parametrize("selection", ["cv5", "cv13", "validation"])
def test_classes_missing_from_folds_are_handled(rng, name, scheme, selection):
    X, y = rng.standard_normal((13, 2)), np.array([0] * 6 + [1] * 5 + [2, 3])
    words = {"selection": selection, "random_state": 0}
    words |= {} if scheme is None else {"multiclass": scheme}
    assert set(make(name, alphas=[0.1, 1.0], **words).fit(X, y).predict(X)) <= {0, 1, 2, 3}


def test_more_folds_than_rows_are_rejected(rng):
    with pytest.raises(MethodError, match="needs at least 9 rows"):
        RidgeRegressor([1.0, 2.0], selection="cv9").fit(rng.standard_normal((5, 2)), np.arange(5.0))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_configuration_without_penalty_uses_constructor_defaults(name):
    assert SolverSpec.model_validate(name).list_arguments() == {}
    parameters = make(name).get_params()
    for word in ("alphas", "alpha_convention", "selection", "intercept"):
        default = getattr(SolverSpec(), word)
        value = parameters.get(word, default)
        assert value == (default[0] if word == "alphas" and value != default else default)


def test_logistic_fold_without_a_class_raises_error_with_one_sentence(rng):
    X, y = rng.standard_normal((20, 2)), np.array([0] * 19 + [1])
    with pytest.raises(MethodError, match="lack 1 of the classes"):
        make("logistic", alphas=[1.0, 2.0], random_state=0).fit(X, y)
