import dataclasses

import pytest

from rfbench import solvers
from rfbench.experiment.plan import group_into_jobs, make_sampler_identity, plan_trials
from rfbench.samplers import EERF

from .conftest import SMALL

CODE = {
    "RKS": "from rfbench.samplers import RKS\nclass Mine(RKS):\n    pass\n",
    "Ridge": "from sklearn.linear_model import RidgeClassifier as Mine\n",
}


def ids(experiment):
    return {trial.id for trial in plan_trials(experiment)}


def test_plan_has_one_trial_per_sampler_feature_count_and_trial_number(experiment_of):
    trials = plan_trials(experiment_of())
    assert len(trials) == len({trial.id for trial in trials}) == 2 * 2 * 2
    assert [trial.number for trial in trials] == sorted(trial.number for trial in trials)


def test_identity_of_each_method_is_computed_once_for_all_trials(experiment_of, monkeypatch):
    """What they say of themselves is the same for all: asking them takes a millisecond."""
    asked, ask = [], make_sampler_identity
    monkeypatch.setattr(
        "rfbench.experiment.plan.make_sampler_identity",
        lambda spec: asked.append(spec) or ask(spec),
    )
    trials = plan_trials(experiment_of(SMALL, "trials=20"))
    assert len({trial.id for trial in trials}) == len(trials) == 2 * 2 * 20
    assert len(asked) == 2 * 2
    monkeypatch.undo()
    for trial in trials:
        alone = dataclasses.replace(trial)
        assert "setting" not in vars(alone)
        assert (alone.setting, alone.id) == (trial.setting, trial.id)


def test_adding_trials_or_feature_counts_keeps_existing_trial_identities(experiment_of):
    old = ids(experiment_of())
    assert old < ids(experiment_of(SMALL, "trials=3"))
    assert old < ids(experiment_of(SMALL, "M=4,8,16"))
    assert old == ids(experiment_of(SMALL, "title=another", "protocol=tuned"))


def test_changed_measurement_setting_changes_all_trial_identities(experiment_of):
    old = ids(experiment_of())
    for override in (
        "seed=1",
        "bandwidth=2",
        "feature_map=paired",
        "solver.alphas=0.01,2",
        "solver.intercept=false",
        "scaling=standard",
        "dtype=float32",
        "dataset.sphere.d=4",
        "threads=2",
    ):
        assert not old & ids(experiment_of(SMALL, override)), override


def test_sampler_parameter_changes_only_trial_identities_of_the_sampler(experiment_of):
    old = ids(experiment_of())
    new = ids(experiment_of(SMALL, "samplers.eerf.pool_size=50"))
    assert len(old & new) == len(old) / 2


def test_value_that_equals_the_default_keeps_the_trial_identity(experiment_of):
    for value, same in (("auto", True), ("true", False), ("false", False)):
        written = ids(experiment_of(SMALL, f"samplers.eerf.center_target={value}"))
        assert (written == ids(experiment_of())) is same


def test_solver_revision_changes_only_trial_identities_of_the_solver(experiment_of, monkeypatch):
    ridge, every = ids(experiment_of()), []
    for revision in (1, solvers.get_solver_revision("logistic"), 3):
        monkeypatch.setattr(solvers.LogisticClassifier, "revision", revision)
        every.append(ids(experiment_of(SMALL, "solver.name=logistic")))
    assert len(set.union(*every)) == 3 * len(ridge)
    assert ids(experiment_of()) == ridge


def test_sampler_revision_changes_only_trial_identities_of_the_sampler(experiment_of, monkeypatch):
    before = ids(experiment_of())
    monkeypatch.setattr(EERF, "revision", 2)
    assert len(before & ids(experiment_of())) == len(before) // 2


@pytest.mark.parametrize(
    ("override", "base"),
    [("samplers=[{class: 'mine.py:Mine'}]", "RKS"), ("solver={class: 'mine.py:Mine'}", "Ridge")],
)
def test_code_of_an_imported_method_is_part_of_the_identity(
    experiment_of, tmp_path, override, base
):
    def planned(code):
        (tmp_path / "mine.py").write_text(code)
        return ids(experiment_of(SMALL, override, allow_imports=True))

    code = CODE[base]
    first = planned(code)
    assert not planned(code + "# another\n") & first
    assert planned(code) == first


def test_sampler_label_is_not_part_of_the_trial_identity(experiment_of):
    labelled = SMALL.replace("pool_size: 40", "pool_size: 40, label: mine")
    assert ids(experiment_of()) == ids(experiment_of(labelled))


def test_job_contains_one_sampler_and_one_trial_number(experiment_of):
    gathered = group_into_jobs(plan_trials(experiment_of()))
    assert len(gathered) == 4
    for job in gathered:
        assert len({(trial.sampler.label, trial.number) for trial in job}) == 1
        assert [trial.M for trial in job] == [4, 8]
