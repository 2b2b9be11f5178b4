"""No solver fits, or predicts with, features that are not finite."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LinearRegression

from rfbench.clock import Clock
from rfbench.errors import MethodError
from rfbench.registry import SOLVERS
from rfbench.samplers import RKS
from rfbench.solvers import ExternalSolver, make
from rfbench.solvers.curve import Curve, Prefix
from rfbench.solvers.design import Design

SOLVER_TASKS = [(name, task) for name, tasks in SOLVERS.items() for task in tasks]
PLACE = (57, 2)


class Spoilt:
    """A transformer that passes the rows on; where the first entry is above 100, with a hole."""

    def __init__(self, value):
        self.value = value

    def transform(self, X):
        Z = X.copy()
        Z[X[:, 0] > 100, 1] = self.value
        return Z


def rows(task, spoilt):
    X = np.random.default_rng(0).standard_normal((70, 3))
    y = (X[:, 0] > 0).astype(int) if task == "classification" else X[:, 0]
    if spoilt:
        X[PLACE[0], 0] = 101.0
    return X, y


def spoil(X, solver, value):
    """Return the rows and the feature map that give a value; exact kernels have rows only."""
    if getattr(solver, "uses_features", True):
        return X, Spoilt(value)
    return np.where(X > 100, value, X), None


@pytest.fixture(autouse=True)
def _as_in_a_trial():
    with sklearn.config_context(assume_finite=True), np.errstate(invalid="ignore"):
        yield


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("name", "task"), SOLVER_TASKS)
def test_training_rows_are_refused(name, task, value):
    solver = make(name, task, **({"bandwidth": 1.0} if name.startswith("kernel") else {}))
    X, y = rows(task, spoilt=True)
    X, features = spoil(X, solver, value)
    with pytest.raises(MethodError, match="not finite"):
        solver.fit(X, y, features=features)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize(("name", "task"), SOLVER_TASKS)
def test_test_rows_are_refused(name, task, value):
    solver = make(name, task, **({"bandwidth": 1.0} if name.startswith("kernel") else {}))
    X, y = rows(task, spoilt=False)
    solver.fit(X, y, features=spoil(X, solver, value)[1])
    X, _ = spoil(rows(task, spoilt=True)[0], solver, value)
    with pytest.raises(MethodError, match="not finite"):
        solver.decisions(X)


def test_an_estimator_from_elsewhere_is_given_finite_features():
    X, y = rows("regression", spoilt=True)
    with pytest.raises(MethodError, match="not finite"):
        ExternalSolver(LinearRegression(), classification=False).fit(X, y, features=Spoilt(np.nan))


@pytest.mark.parametrize("name", ["ridge", "svm"])
def test_the_shared_features_of_a_curve_are_refused(name):
    X, y = rows("classification", spoilt=False)
    sampler = RKS(8, bandwidth=1.0, random_state=0).fit(X)
    X[PLACE] = np.nan
    with pytest.raises(MethodError, match="not finite"):
        make(name).fit(X, y, features=Prefix(Curve(sampler, Clock(), X), 4))


def test_large_features_whose_sum_overflows_are_finite():
    X = np.full((70, 3), 1.5e308)
    assert np.isfinite(Design(X).matrix()).all()
