"""What a row says of its times, under clocks of which every look is a step."""

import time

import pytest

from rfbench.experiment.plan import group_into_jobs, plan_trials
from rfbench.experiment.trial import run_job
from rfbench.samplers.metric import LearnedMetric


@pytest.fixture
def ticking(monkeypatch):
    """Make every look at the clock 1 s of wall time, and CPU time ten times that."""
    looks = [0.0]

    def wall():
        looks[0] += 1.0
        return looks[0]

    monkeypatch.setattr(time, "perf_counter", wall)
    monkeypatch.setattr(time, "process_time", lambda: 10.0 * looks[0])


def rows_of(experiment):
    rows = [row for job in group_into_jobs(plan_trials(experiment)) for row in run_job(job)]
    assert {row["status"] for row in rows} == {"ok"}
    return rows


METRICS = """\
dataset: {sphere: {d: 3, n_train: 60, n_test: 20}}
scaling: none
bandwidth: {cv: [0.5, 1.0, 2.0]}
M: 4
samplers: [{rfm-rff: {rounds: 1}}]
solver: {name: ridge, alphas: [0.01, 1.0], selection: cv3}
trials: 1
"""


@pytest.fixture
def slow_metric(monkeypatch):
    """Let the fit of a metric take 1,000 readings of the clock."""
    learn = LearnedMetric.fit

    def fit(metric, *rows):
        for _ in range(1000):
            time.perf_counter()
        return learn(metric, *rows)

    monkeypatch.setattr(LearnedMetric, "fit", fit)


def test_training_time_includes_each_metric_learned_in_the_search(
    experiment_of, ticking, slow_metric
):
    """One of all rows and three of folds, for three bandwidths; and that of the features again."""
    (row,) = rows_of(experiment_of(METRICS))
    assert 1000 <= row["t_pp"] < 2000
    assert 4000 <= row["t_train"] < 5000


KEEPER = """\
from typing import ClassVar

from rfbench.parameters import estimator
from rfbench.samplers import RFMFeatures


@estimator
class Keeper(RFMFeatures):
    '''Metric as of `rfm-rff`, with a number of features that this class determines.'''

    keeps_some: ClassVar[bool] = True

    @property
    def n_kept(self):
        return 4
"""


def test_untimed_reference_sampler_does_not_reduce_the_measured_time(
    experiment_of, ticking, slow_metric, tmp_path
):
    """The reference is fitted outside of the clock. Its metric would cost the next fit no time."""
    (tmp_path / "keeper.py").write_text(KEEPER)
    text = (
        METRICS.replace("bandwidth: {cv: [0.5, 1.0, 2.0]}", "bandwidth: 1.0")
        .replace("M: 4", "M: {kept_by: reference}")
        .replace(
            "[{rfm-rff: {rounds: 1}}]",
            f"[rfm-rff: {{rounds: 1}}, {{class: '{tmp_path / 'keeper.py'}:Keeper', rounds: 1, "
            "label: reference}]",
        )
    )
    row, _ = rows_of(experiment_of(text, allow_imports=True))
    assert row["label"] == "rfm-rff"
    assert row["M"] == 4
    assert 1000 <= row["t_pp"] < 2000
    assert 3000 <= row["t_train"] < 4000  # the metric of each fold
