import numpy as np
import pytest

from rfbench.experiment.context import Context
from rfbench.experiment.plan import draw_integer_seed, plan_trials
from rfbench.experiment.trial import run_trial
from rfbench.samplers import RKS
from rfbench.solvers import RidgeClassifier

from .conftest import SMALL

ASKED = SMALL + "train_error: true\n"


def test_training_error_equals_manual_computation(experiment_of):
    for trial in plan_trials(experiment_of(ASKED)):
        if trial.sampler.name != "rks":
            continue
        row = run_trial(trial, Context())
        prepared = Context().prepare(trial)
        seed = draw_integer_seed(0, "features", trial.number)
        Z = RKS(trial.M, bandwidth=1.0, random_state=seed).fit_transform(prepared.X_train)
        solver = RidgeClassifier(row["alpha"]).fit(Z, prepared.y_train)
        wrong = np.mean(solver.predict(Z) != prepared.y_train)
        assert row["train_error"] == pytest.approx(100 * wrong)


def test_training_error_is_optional_and_changes_the_trial_identity(experiment_of):
    asked, plain = plan_trials(experiment_of(ASKED))[0], plan_trials(experiment_of(SMALL))[0]
    assert asked.id != plain.id
    assert plain.id == plan_trials(experiment_of(SMALL + "train_error: false\n"))[0].id
    first, second = run_trial(asked, Context()), run_trial(plain, Context())
    assert "train_error" not in second
    assert first["error"] == second["error"]
