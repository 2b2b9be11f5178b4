"""Logistic regression and the support vector machines."""

import numpy as np
import pytest
from sklearn.svm import SVC, LinearSVC

from rfbench.solvers import KernelSVMClassifier, SVMClassifier
from rfbench.solvers.coding import Coding, Targets
from rfbench.solvers.design import Design


@pytest.mark.parametrize("intercept", [True, False])
def test_svm_equals_scikit_learn_for_both_multiclass_schemes(several, intercept):
    X, y = several
    theirs = LinearSVC(C=2.0, dual=False, tol=1e-8, fit_intercept=intercept).fit(X, y)
    rest = SVMClassifier(0.5, tol=1e-8, intercept=intercept).fit(X, y)
    np.testing.assert_allclose(rest.compute_decisions(X), theirs.decision_function(X), atol=1e-4)
    pairs = SVMClassifier(0.5, tol=1e-8, multiclass="one-vs-one").fit(X, y)
    for column, (i, j) in enumerate(Coding(4, "one-vs-one").pairs):
        rows = (y == i) | (y == j)
        pair = SVMClassifier(0.5, tol=1e-8).fit(X[rows], y[rows])
        np.testing.assert_allclose(pairs.coef_[column], pair.coef_[0], atol=1e-9)
    assert pairs.score(X, y) > 0.7


def test_kernel_svm_equals_scikit_learn(several):
    X, y = several
    ours = KernelSVMClassifier(0.5, bandwidth=2.0, tol=1e-8).fit(X, y)
    theirs = SVC(C=2.0, gamma=1 / 8, tol=1e-8, decision_function_shape="ovo").fit(X, y)
    np.testing.assert_allclose(ours.compute_decisions(X), -theirs.decision_function(X), atol=1e-5)
    pair = y < 2
    two = KernelSVMClassifier(0.5, bandwidth=2.0, tol=1e-8).fit(X[pair], y[pair])
    rival = SVC(C=2.0, gamma=1 / 8, tol=1e-8).fit(X[pair], y[pair])
    np.testing.assert_allclose(two.decision_function(X), rival.decision_function(X), atol=1e-5)


def test_class_pair_with_an_empty_class_predicts_the_other_class(several):
    X, y = several
    solver = KernelSVMClassifier([0.5, 5.0], bandwidth=2.0, selection="validation", random_state=0)
    solver.fit(X, y)
    coding, rest = solver.coding_, y != 3
    columns = Targets(coding.encode(y), y, coding).select_rows(rest)
    path = solver._path(solver.kernel_(X[rest], X[rest]), X[rest], columns)
    theirs = SVC(C=2.0, gamma=1 / 8, tol=1e-6, decision_function_shape="ovo").fit(X[rest], y[rest])
    with_it = [pair for pair, (_, j) in enumerate(coding.pairs) if j == 3]
    others = [pair for pair, (_, j) in enumerate(coding.pairs) if j < 3]
    found = path.compute_decisions(Design(X))[1]
    np.testing.assert_array_equal(found[:, with_it], -1.0)
    np.testing.assert_allclose(found[:, others], -theirs.decision_function(X), atol=1e-4)
