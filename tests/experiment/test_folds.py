"""Trials whose features are fitted without the fold that chooses, and their identities."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_digits

from rfbench import clock, config, datasets
from rfbench.datasets import Dataset
from rfbench.experiment.context import Context
from rfbench.experiment.plan import Job, draw_integer_seed, plan_trials
from rfbench.experiment.trial import run_job, run_trial
from rfbench.samplers import EERF, LKRF, RKS
from rfbench.solvers import RidgeClassifier
from tests.support.trials import measured

from .conftest import SMALL

GRID = "bandwidth={cv: [0.5, 1.0]}"
WIDE = "bandwidth={cv: [0.5, 1.0], widen: true}"
EERF_40 = "eerf: {pool_size: 40, score_rows: 1.0}"


def ids(experiment):
    return {trial.id for trial in plan_trials(experiment)}


def by_label(experiment):
    found = {}
    for trial in plan_trials(experiment):
        found.setdefault(trial.sampler.label, set()).add(trial.id)
    return found


@pytest.mark.parametrize(
    ("override", "chooses"),
    [
        ("solver.selection=cv5", True),
        ("solver.selection=validation", True),
        ("solver={name: ridge, alphas: [0.01, 1.0]}", True),
        ("solver={name: ridge, alphas: 1.0}", False),
        ("solver.selection=test", False),
        ("solver={class: sklearn.linear_model.RidgeClassifierCV}", False),
    ],
)
def test_features_in_folds_is_in_the_identity_of_affected_trials(experiment_of, override, chooses):
    """Of a sampler that looks at the target, whose trial chooses on its training rows."""
    nested = by_label(experiment_of(SMALL, override))
    once = by_label(experiment_of(SMALL, override, "features_in_folds=once"))
    assert nested["rks"] == once["rks"]
    assert bool(nested["eerf"] & once["eerf"]) is not chooses


def test_wider_grid_changes_identities_of_methods_with_a_bandwidth(experiment_of):
    text = SMALL.replace(f"- {EERF_40}", "- pairs")
    text = text.replace("bandwidth: 1.0", "bandwidth: {cv: [0.5, 1.0]}")
    narrow, wide = by_label(experiment_of(text)), by_label(experiment_of(text, WIDE))
    assert not narrow["rks"] & wide["rks"]
    assert narrow["pairs"] == wide["pairs"]


def test_manifest_of_an_earlier_version_means_features_fitted_once(experiment_of):
    experiment = experiment_of()
    dumped = experiment.model_dump(mode="json")
    assert (
        config.build_experiment_from_manifest(dumped, "tiny").model_dump()
        == experiment.model_dump()
    )
    del dumped["features_in_folds"]
    assert config.build_experiment_from_manifest(dumped, "tiny").features_in_folds == "once"


def test_trial_result_equals_refitting_features_without_each_fold(experiment_of):
    """M, and the bandwidth, are chosen by brute force over folds that nothing has seen."""
    experiment = experiment_of(SMALL, GRID, "M=8", "trials=1", f"samplers=[{EERF_40}]")
    (trial,) = plan_trials(experiment)
    row, data = run_trial(trial, Context()), Context().prepare(trial)
    seed, folds_seed = (draw_integer_seed(0, role, 0) for role in ("features", "folds"))
    folds = RidgeClassifier(random_state=folds_seed)._make_folds("cv5", len(data.y_train))
    loss = {}
    for sigma in (1.0, 0.5):
        for alpha in (1.0, 0.01):
            wrong = 0
            for g in range(5):
                held = folds == g
                X, y = data.X_train[~held], data.y_train[~held]
                made = EERF(8, pool_size=40, score_rows=1.0, bandwidth=sigma, random_state=seed)
                fitted = RidgeClassifier(alpha).fit(X, y, features=made.fit(X, y))
                wrong += np.sum(fitted.predict(data.X_train[held]) != data.y_train[held])
            loss[sigma, alpha] = wrong / len(folds)
    best = min(loss, key=loss.get)  # of equal ones the first: the largest
    assert (row["bandwidth"], row["alpha"]) == best
    assert row["selection_loss"] == pytest.approx(loss[best])
    assert (row["features_in_folds"], row["at_edge"]) == ("nested", True)


def test_number_of_features_is_chosen_without_the_fold(experiment_of):
    """Plain features, as many as lkrf keeps: in a fold, as it keeps without its rows."""
    lkrf = "lkrf: {pool_size: 60, rho: 5, estimator: all, score_rows: 1.0}"
    own = ("M={kept_by: lkrf}", f"samplers=[rks, {lkrf}]", "trials=1", "solver.alphas=1.0")
    trial = plan_trials(experiment_of(SMALL, *own))[0]
    row, data = run_trial(trial, Context()), Context().prepare(trial)
    assert (row["sampler"], row["features_in_folds"]) == ("rks", "nested")
    seed, folds_seed = (draw_integer_seed(0, role, 0) for role in ("features", "folds"))
    folds = RidgeClassifier(random_state=folds_seed)._make_folds("cv5", len(data.y_train))
    wrong, sizes = 0, []
    for g in range(5):
        held = folds == g
        X, y = data.X_train[~held], data.y_train[~held]
        shared = {"bandwidth": 1.0, "random_state": seed}
        kept = LKRF(1, pool_size=60, rho=5, estimator="all", score_rows=1.0, **shared)
        sizes.append(kept.fit(X, y).kept_)
        fitted = RidgeClassifier(1.0).fit(X, y, features=RKS(sizes[-1], **shared).fit(X))
        wrong += np.sum(fitted.predict(data.X_train[held]) != data.y_train[held])
    assert len(set(sizes)) > 1
    assert row["selection_loss"] == pytest.approx(wrong / len(folds))


def test_fitting_features_in_folds_counts_as_training_time(experiment_of, monkeypatch):
    """Every look at the clock is a second later than the one before."""
    ticks = itertools.count()
    monkeypatch.setattr(clock.time, "perf_counter", lambda: float(next(ticks)))
    own = ("samplers=[rks, swim]", "M=8", "trials=1")
    times = {}
    for how in ("nested", "once"):
        (job,) = [Job(tuple(plan_trials(experiment_of(SMALL, *own, f"features_in_folds={how}"))))]
        times[how] = {row["label"]: row for row in run_job(job)}
    nested, once = times["nested"]["swim"], times["once"]["swim"]
    assert nested["t_pp"] == once["t_pp"]
    assert nested["t_train"] > once["t_train"] + 5 * once["t_pp"]
    assert times["nested"]["rks"]["t_train"] == times["once"]["rks"]["t_train"]


def test_transformer_gets_the_target_only_if_it_declares_so(experiment_of, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n"
        "class Plain:\n"
        "    def __init__(self, n_components=1): self.n_components = n_components\n"
        "    def fit(self, X, y=None):\n"
        "        assert (y is not None) == getattr(self, 'needs_target', False)\n"
        "        return self\n"
        "    def transform(self, X): return np.tanh(X)\n"
        "class Looks(Plain):\n"
        "    needs_target = True\n"
        "class Undeclared(Plain):\n"
        "    def fit(self, X, y): return super().fit(X, y)\n"
    )
    listed = ", ".join(f"{{class: 'mine.py:{name}'}}" for name in ("Plain", "Looks", "Undeclared"))
    own = (f"samplers=[{listed}]", "M=8", "trials=1")
    rows = {r["label"]: r for r in measured(experiment_of(SMALL, *own, allow_imports=True))}
    assert (rows["Plain"]["status"], rows["Plain"]["features_in_folds"]) == ("ok", None)
    assert (rows["Looks"]["status"], rows["Looks"]["features_in_folds"]) == ("ok", "nested")
    assert rows["Undeclared"]["status"] == "failed"
    assert "'y'" in rows["Undeclared"]["message"]


@pytest.fixture
def subjects(monkeypatch):
    """Rows of twelve subjects, whose labels nobody knows from other subjects."""
    draws = np.random.default_rng(0)
    groups = draws.integers(0, 12, 240)
    X = draws.standard_normal((12, 4))[groups] + 0.1 * draws.standard_normal((240, 4))
    y = draws.integers(0, 2, 12)[groups]
    found = Dataset("har-train", X, y, "binary", ("no", "yes"), None, groups, "0")
    monkeypatch.setattr(datasets, "load", lambda *args, **kwargs: found)
    monkeypatch.setattr(datasets, "hash_data", lambda *args: "0")
    monkeypatch.setattr(datasets, "fetch", lambda *args, **kwargs: [])
    return groups


def test_folds_of_a_trial_do_not_split_groups(experiment_of, subjects):
    own = ("dataset=har-train", "split={leave_groups: 0.3}", "M=40", "trials=3", "bandwidth=0.5")
    rows = measured(experiment_of(SMALL, *own))
    assert {row["status"] for row in rows} == {"ok"}
    assert min(row["selection_loss"] for row in rows) > 0.1  # with cut groups it is 0
    trial = plan_trials(experiment_of(SMALL, *own))[0]
    np.testing.assert_array_equal(
        Context().prepare(trial).groups, subjects[Context().prepare(trial).train_rows]
    )
    assert trial.has_group_folds
    assert not plan_trials(experiment_of(SMALL, *own, "solver.selection=test"))[0].has_group_folds
    ridge = "solver={class: rfbench.solvers.RidgeClassifier, alphas: [0.01, 1.0]}"
    assert plan_trials(experiment_of(SMALL, *own, ridge, allow_imports=True))[0].has_group_folds
    by_class = "samplers=[{class: rfbench.samplers.RKS}, {class: rfbench.samplers.EERF}]"
    two = [
        measured(experiment_of(SMALL, *own, samplers, allow_imports=True))
        for samplers in ("samplers=[rks, eerf]", by_class)
    ]
    chosen = [
        sorted((row["alpha"], row["selection_loss"], row["error"]) for row in rows) for rows in two
    ]
    assert chosen[0] == chosen[1]
    boosting = "solver={class: sklearn.ensemble.HistGradientBoostingClassifier, early_stopping: %s}"
    for stops in ("true", "false"):
        trial = plan_trials(experiment_of(SMALL, *own, boosting % stops))[0]
        assert trial.has_group_folds is (stops == "true")


def test_duplicate_rows_are_in_one_split_part_and_one_fold(experiment_of, monkeypatch):
    X, y = (np.concatenate([part[:300], part[:100]]) for part in load_digits(return_X_y=True))
    monkeypatch.setattr("sklearn.datasets.load_digits", lambda **_: (X, y))
    entry = datasets.find_entry("digits")
    known = {"rows": 400, "classes": dict.fromkeys(entry.classes)}
    trials = []
    for together in (True, False):
        own = entry.model_copy(update={**known, "equal_rows_together": together})
        monkeypatch.setattr(datasets.catalog, "read_catalog", lambda own=own: {"digits": own})
        trial = plan_trials(experiment_of(SMALL, "dataset=digits", "split={test_size: 0.3}"))[0]
        found = Context().prepare(trial)
        train, test = ([*map(bytes, X[rows])] for rows in (found.train_rows, found.test_rows))
        assert bool({*train} & {*test}) is not together
        assert trial.has_group_folds is together
        if together:
            pairs = {*zip(train, found.groups.tolist(), strict=True)}
            assert len(pairs) == len({*train}) == len({*found.groups}) < len(train)
        trials.append(trial.id)
    assert trials[0] != trials[1]


def test_trial_row_reports_how_far_the_bandwidth_grid_was_widened(experiment_of):
    """From ten times too small: further up, until the best lies inside."""
    small = experiment_of(SMALL, "bandwidth={cv: [0.05, 0.1], widen: true}", "samplers=rks", "M=40")
    rows = measured(small)
    assert {row["status"] for row in rows} == {"ok"}
    for row in rows:
        assert row["bandwidth"] > 0.1
        assert "bandwidths tried" in row["message"]
        assert row["bandwidth_rule"] == "cv: 0.05, 0.1; widened"
        assert row["at_edge"] in (True, False)
    narrow = measured(experiment_of(SMALL, "bandwidth={cv: [0.05, 0.1]}", "samplers=rks", "M=40"))
    assert {row["at_edge"] for row in narrow} == {True}
    assert [row["at_edge"] for row in measured(experiment_of(SMALL, "M=8", "trials=1"))] == 2 * [
        None
    ]
