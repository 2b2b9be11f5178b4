"""`bandwidth: cv`: chosen with the penalty by the same rows, against loops over scikit-learn."""

import itertools
import json
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.kernel_ridge import KernelRidge

from rfbench import registry
from rfbench.clock import Clock
from rfbench.errors import ConfigError
from rfbench.experiment.context import Context
from rfbench.experiment.plan import Job, draw_integer_seed, plan_trials
from rfbench.experiment.replay import list_similar_trials
from rfbench.experiment.trial import run_job, run_trial
from rfbench.kernels import Gaussian

from .conftest import SMALL

GRID = [0.25, 0.5, 1.0, 2.0, 4.0]
TUNED = SMALL.replace("bandwidth: 1.0", f"bandwidth: {{cv: {GRID}}}")


def ok(text, experiment_of, *overrides):
    found = plan_trials(experiment_of(text, "samplers=rks", *overrides))
    rows = list(run_job(Job(tuple(found))))
    assert {row["status"] for row in rows} == {"ok"}, rows[0]["message"]
    by_id = {trial.id: trial for trial in found}
    return [(by_id[row["trial_id"]], row) for row in rows]


def folds_of(trial, n):
    generator = np.random.default_rng(draw_integer_seed(0, "folds", trial.number))
    order = generator.permutation(n)
    if trial.experiment.solver.selection == "validation":
        groups = np.full(n, -1)
        groups[order[: round(0.2 * n)]] = 0
        return groups, 1
    return order % 5, 5


def features_of(trial, bandwidth, X):
    sampler = registry.SAMPLERS.find(trial.sampler.name)
    seed = draw_integer_seed(0, "features", trial.number)
    made = sampler(trial.M, bandwidth=bandwidth, random_state=seed)
    return made.fit_transform(X)


def least(loss):
    """Return the pair with the smallest loss, of equal ones the largest."""
    return max(loss, key=lambda pair: (-round(loss[pair], 9), *pair))


@pytest.fixture
def curve(monkeypatch):
    """Rows of a smooth function of three columns."""
    X = np.random.default_rng(0).uniform(-1, 1, (90, 3))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2
    made = SimpleNamespace(
        X_train=X[:60], X_test=X[60:], y_train=y[:60], y_test=y[60:],
        task="regression", groups=None,
    )  # fmt: skip
    monkeypatch.setattr(Context, "prepare", lambda self, trial: made)
    return made


@pytest.mark.parametrize(
    ("solver", "selection"), [("ridge", "cv5"), ("ridge", "validation"), ("kernel-ridge", "cv5")]
)
def test_chosen_bandwidth_for_regression_equals_exhaustive_search(
    experiment_of, curve, solver, selection
):
    own = (f"solver.name={solver}", "solver.intercept=false", f"solver.selection={selection}")
    for trial, row in ok(TUNED, experiment_of, *own):
        groups, k = folds_of(trial, 60)
        loss = {}
        for bandwidth, alpha in itertools.product(GRID, [0.01, 1.0]):
            if solver == "ridge":
                Z = features_of(trial, bandwidth, curve.X_train)
                model = linear_model.Ridge(alpha, fit_intercept=False)
            else:
                Z = Gaussian(bandwidth)(curve.X_train, curve.X_train)
                model = KernelRidge(alpha=alpha, kernel="precomputed")
            loss[bandwidth, alpha] = 0.0
            for g in range(k):
                rest, held = groups != g, groups == g
                whole = solver == "ridge"
                fitted = model.fit(Z[rest] if whole else Z[np.ix_(rest, rest)], curve.y_train[rest])
                found = fitted.predict(Z[held] if whole else Z[np.ix_(held, rest)])
                loss[bandwidth, alpha] += np.sum((found - curve.y_train[held]) ** 2)
        assert (row["bandwidth"], row["alpha"]) == least(loss)
        assert row["bandwidth_rule"] == "cv: 0.25, 0.5, 1.0, 2.0, 4.0"
        assert row["selection"] == selection


def test_bandwidth_selected_on_test_rows_has_the_smallest_test_error(experiment_of):
    tested = ok(TUNED, experiment_of, "solver.selection=test")
    for trial, row in tested:
        fixed = [
            run_trial(other, Context())["error"]
            for b in GRID
            for other in plan_trials(
                experiment_of(TUNED, "samplers=rks", "solver.selection=test", f"bandwidth={b}")
            )
            if (other.M, other.number) == (trial.M, trial.number)
        ]
        assert row["error"] == min(fixed)


def test_searched_bandwidth_gives_same_row_as_fixed_bandwidth(experiment_of):
    """Each size chooses for itself; one trial alone gives the same."""
    for trial, row in ok(TUNED, experiment_of):
        assert row["timing"] == "isolated"
        alone = run_trial(trial, Context())
        fixed = experiment_of(TUNED, "samplers=rks", f"bandwidth={row['bandwidth']}")
        twin = next(t for t in plan_trials(fixed) if (t.M, t.number) == (trial.M, trial.number))
        known = run_trial(twin, Context())
        for column in ("bandwidth", "alpha", "error", "columns"):
            assert row[column] == alone[column] == known[column]


def test_search_time_counts_as_training_time(experiment_of, monkeypatch):
    """Every look at the clock is a second."""
    monkeypatch.setattr("time.perf_counter", itertools.count().__next__)
    trial = plan_trials(experiment_of(TUNED, "samplers=rks"))[0]
    twin = plan_trials(experiment_of(TUNED, "samplers=rks", "bandwidth=1"))[0]
    row, fixed = run_trial(trial, Context()), run_trial(twin, Context())
    for part in ("t_pp", "t_features", "t_test"):
        assert row[part] == fixed[part]
    assert row["t_train"] > 5 * fixed["t_train"]
    clock, search = Clock(), Clock()
    search.wall.update(pp=1.0, features=2.0, train=3.0, test=4.0)
    clock.add(search, to="train")
    assert clock.wall == {"pp": 0.0, "features": 0.0, "train": 10.0, "test": 0.0}


def test_bandwidth_cv_is_the_documented_grid_after_serialization(experiment_of):
    short = experiment_of(TUNED, "bandwidth=cv")
    spelt = experiment_of(
        TUNED, "bandwidth={cv: [0.25*median, 0.5*median, median, 2*median, 4*median]}"
    )
    assert (
        plan_trials(short)[0].id
        == plan_trials(spelt)[0].id
        != plan_trials(experiment_of(TUNED))[0].id
    )
    text = experiment_of(TUNED, "bandwidth={cv: log:0.1:10:3}")
    assert text.bandwidth.cv == [0.1, 1.0, 10.0]
    manifest = json.loads(json.dumps({"config": short.model_dump(mode="json")}))
    again = list_similar_trials({"dataset": "sphere", "trial": "0", "M": "4"}, manifest)
    assert again[0].id == plan_trials(short)[0].id


@pytest.mark.parametrize(
    ("overrides", "word"),
    [
        (["solver.alphas=1", "solver.selection=fixed"], "selection is fixed"),
        (["solver.name=none", "kernel_error_rows=50"], "no solver"),
        (["kernel=arc-cosine-1"], "has none"),
        (["M={kept_by: rks}"], "kept_by"),
        (["samplers.rks.bandwidth=2"], "rks has its own bandwidth"),
        (["bandwidth={cv: []}"], "list"),
        (["bandwidth={cv: [1, -1]}"], "at least 1e-150"),
        (["bandwidth={cv: [mean]}"], "median"),
        (["bandwidth={of: [1]}"], "cv"),
    ],
)
def test_cv_bandwidth_without_a_selection_is_rejected(experiment_of, overrides, word):
    with pytest.raises(ConfigError, match=word):
        experiment_of(TUNED, *overrides)


def test_cv_bandwidth_of_a_transformer_without_bandwidth_is_rejected(experiment_of):
    text = TUNED.replace("- rks", "- {class: sklearn.preprocessing.StandardScaler}")
    with pytest.raises(ConfigError, match="no bandwidth"):
        experiment_of(text, allow_imports=True)


def test_no_bandwidth_search_for_methods_without_bandwidth(experiment_of, monkeypatch):
    monkeypatch.setattr("time.perf_counter", itertools.count().__next__)
    trial = plan_trials(experiment_of(TUNED, "samplers=swim"))[0]
    twin = plan_trials(experiment_of(TUNED, "samplers=swim", "bandwidth=1"))[0]
    row, fixed = run_trial(trial, Context()), run_trial(twin, Context())
    assert (row["error"], row["t_train"]) == (fixed["error"], fixed["t_train"])
