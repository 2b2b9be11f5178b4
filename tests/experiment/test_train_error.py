import itertools
import time
from types import SimpleNamespace

import numpy as np
import pytest

from rfbench.experiment.context import Context
from rfbench.experiment.plan import Job, plan
from rfbench.experiment.seeds import integer_for
from rfbench.experiment.trial import run_job, run_trial, training_error
from rfbench.samplers import RKS
from rfbench.solvers import RidgeClassifier, RidgeRegressor

from .conftest import SMALL

ASKED = SMALL + "train_error: true\n"


def test_the_training_error_by_hand(experiment_of):
    for trial in plan(experiment_of(ASKED)):
        if trial.sampler.name != "rks":
            continue
        row = run_trial(trial, Context())
        prepared = Context().prepared(trial)
        seed = integer_for(0, "features", trial.number)
        Z = RKS(trial.M, bandwidth=1.0, random_state=seed).fit_transform(prepared.X_train)
        solver = RidgeClassifier(row["alpha"]).fit(Z, prepared.y_train)
        wrong = np.mean(solver.predict(Z) != prepared.y_train)
        assert row["train_error"] == pytest.approx(100 * wrong)


def test_of_a_real_target_it_is_the_relative_squared_error():
    X = np.random.default_rng(0).standard_normal((50, 2))
    y = np.sin(X[:, 0]) + 3.0
    solver = RidgeRegressor(0.1).fit(X, y)
    residual = solver.predict(X) - y
    prepared = SimpleNamespace(X_train=X, y_train=y, task="regression")
    expected = np.sum(residual**2) / np.sum(y**2)
    assert training_error(solver, prepared) == pytest.approx(expected)


def test_no_second_is_booked_for_it(experiment_of, monkeypatch):
    """Every look at the clock is a second, so that times are whole numbers of looks."""

    def times(text):
        monkeypatch.setattr(time, "perf_counter", itertools.count().__next__)
        fixed = ("solver.alphas=0.1", "solver.selection=fixed")
        trials = plan(experiment_of(text, *fixed))
        chosen = [t for t in trials if t.number == 0 and t.sampler.name == "rks"]
        rows = list(run_job(Job(tuple(chosen))))
        assert [row["status"] for row in rows] == ["ok", "ok"]
        return [{k: v for k, v in row.items() if k.startswith("t_")} for row in rows]

    assert times(ASKED) == times(SMALL)


def test_it_is_measured_on_request_only_and_that_is_another_trial(experiment_of):
    asked, plain = plan(experiment_of(ASKED))[0], plan(experiment_of(SMALL))[0]
    assert asked.id != plain.id
    assert plain.id == plan(experiment_of(SMALL + "train_error: false\n"))[0].id
    first, second = run_trial(asked, Context()), run_trial(plain, Context())
    assert "train_error" not in second
    assert first["error"] == second["error"]
