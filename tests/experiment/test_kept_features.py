import csv
import shutil

import numpy as np
import pytest

from rfbench.api import read_config
from rfbench.errors import ConfigError
from rfbench.experiment import runner
from rfbench.experiment.context import Context
from rfbench.experiment.extras import make_kept_feature_rows
from rfbench.experiment.plan import plan_trials
from rfbench.experiment.run_plan import plan_run
from rfbench.experiment.trial import run_trial
from rfbench.results import kept_features
from rfbench.results.merging import merge, read_valid_rows
from rfbench.samplers import LKRF

KEEPING = """\
dataset: {sphere: {d: 2, n_train: 150, n_test: 60}}
scaling: none
bandwidth: 1.0
M: {kept_by: lkrf}
samplers:
  - rks
  - lkrf: {pool_size: 60, rho: 5, estimator: all, weighted: true}
solver: {name: ridge, alphas: 0.1}
trials: 3
kept_features: true
"""
LINEAR = """\
dataset: {hyperplane: {d: 30, n_train: 200, n_test: 60, informative: 6}}
scaling: none
kernel: linear
M: [3, 30]
samplers:
  - lkrf: {pool_size: d, rho: 0.5, estimator: paper, weighted: false}
solver: {name: ridge, alphas: 0.1}
trials: 1
kept_features: true
"""


def in_file(folder):
    with (folder / kept_features.KEPT_FEATURES_FILE).open(newline="") as file:
        return list(csv.DictReader(file))


def in_order(folder):
    return sorted(tuple(line.values()) for line in in_file(folder))


def trials_of(folder, sampler="lkrf"):
    return {row["trial_id"]: row for row in read_valid_rows(folder) if row["sampler"] == sampler}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the folder of a finished run."""
    top = tmp_path_factory.mktemp("kept")
    (top / "tiny.yaml").write_text(KEEPING)
    runner.run_plan(plan_run([read_config(top / "tiny.yaml")], top / "whole"))
    return top / "whole"


def test_stored_features_equal_the_features_of_the_fitted_map():
    X = np.random.default_rng(0).standard_normal((200, 2))
    y = np.sign(np.linalg.norm(X, axis=1) - 1.2)
    sampler = LKRF(7, pool_size=80, rho=4.0, estimator="all", bandwidth=1.0, random_state=3)
    features = sampler.fit(X, y).feature_map_
    lines = make_kept_feature_rows(sampler, 5, 7)
    assert len(lines) == sampler.kept_ < 80
    assert np.array_equal([[line["w1"], line["w2"]] for line in lines], features.frequencies.T)
    assert np.array_equal([line["b"] for line in lines], features.offsets)
    assert np.allclose([line["weight"] for line in lines], features.weights**2)
    assert sum(line["weight"] for line in lines) == pytest.approx(1)
    assert {(line["trial"], line["M"]) for line in lines} == {(5, 7)}
    for line in lines:
        assert sampler.pool_weights_[line["feature"]] == line["weight"]
    drawn = LKRF(7, pool_size=80, rho=4.0, estimator="draw", bandwidth=1.0, random_state=3)
    assert make_kept_feature_rows(drawn.fit(X, y), 5, 7) == lines


def test_relevant_coordinates_have_the_largest_stored_weights(experiment_of, tmp_path):
    work = plan_run([experiment_of(LINEAR)], tmp_path / "r")
    runner.run_plan(work)
    by_trial = kept_features.read_by_trial(tmp_path / "r")
    assert by_trial.keys() == trials_of(tmp_path / "r").keys()
    small, large = ([(line["feature"], line["weight"]) for line in v] for v in by_trial.values())
    assert small == large
    assert {int(feature) for feature, _ in small[:4]} <= set(range(6))
    assert "w1" not in in_file(tmp_path / "r")[0]


def test_each_trial_stores_its_kept_features_once(experiment_of, tmp_path, whole):
    folder = shutil.copytree(whole, tmp_path / "r")
    work = plan_run([experiment_of(KEEPING)], folder)
    content = (folder / kept_features.KEPT_FEATURES_FILE).read_bytes()
    found = kept_features.read_by_trial(folder)
    assert {trial_id: len(lines) for trial_id, lines in found.items()} == {
        trial_id: int(row["kept"]) for trial_id, row in trials_of(folder).items()
    }
    assert runner.run_plan(work).done == 0
    assert (folder / kept_features.KEPT_FEATURES_FILE).read_bytes() == content
    assert runner.run_plan(work, retry=["ok"]).done == 6
    assert in_order(folder) == in_order(whole)


@pytest.mark.parametrize("lost", ["row", "lines"])
def test_crash_before_the_row_neither_loses_nor_repeats_kept_features(
    experiment_of, tmp_path, monkeypatch, lost, whole
):
    folder = tmp_path / "r"
    work = plan_run([experiment_of(KEEPING)], folder)
    target, name = (runner.Store, "append") if lost == "row" else (kept_features, "write")
    with monkeypatch.context() as patch:
        patch.setattr(target, name, _die)
        with pytest.raises(KeyboardInterrupt):
            runner.run_plan(work)
    assert not set(runner.Store(folder).read_statuses()) & trials_of(whole).keys()
    runner.run_plan(work)
    assert in_order(folder) == in_order(whole)
    assert len(read_valid_rows(folder)) == 6


def _die(*arguments):
    raise KeyboardInterrupt


def test_merge_includes_the_kept_features(experiment_of, tmp_path, whole):
    first, second, third = (tmp_path / f"r{number}" for number in range(3))
    for number, folder in enumerate((first, second, third)):
        work = plan_run([experiment_of(KEEPING)], folder)
        runner.run_plan(work.select([f"trial={number}"]))
    assert merge(first, [second, third, second]).added == 4
    assert in_order(first) == in_order(whole)


def test_kept_features_key_changes_trial_identities_only_if_true(experiment_of):
    plain = KEEPING.replace("kept_features: true\n", "")
    old = {trial.id for trial in plan_trials(experiment_of(plain))}
    assert old == {
        trial.id for trial in plan_trials(experiment_of(plain + "kept_features: false\n"))
    }
    assert not old & {trial.id for trial in plan_trials(experiment_of(KEEPING))}
    assert kept_features.KEPT_FEATURES_KEY not in run_trial(
        plan_trials(experiment_of(plain))[1], Context()
    )


def test_unsupported_kept_features_are_rejected_with_the_line(experiment_of):
    with pytest.raises(ConfigError, match=r"line 10: the data have 11 columns.* at most 10"):
        experiment_of(KEEPING.replace("d: 2", "d: 11"))
    assert experiment_of(KEEPING.replace("d: 2", "d: 10")).kept_features
