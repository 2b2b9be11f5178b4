"""The features that a sampler scored are not made again for the fit."""

import pytest

from rfbench import memory
from rfbench.experiment.plan import group_into_jobs, plan_trials
from rfbench.experiment.trial import run_job
from rfbench.results.schema import METRICS
from rfbench.samplers.feature_map import FeatureMap

from .conftest import SMALL

N, N_TEST, M = 120, 60, 8
RIDGE = "{name: ridge, alphas: [0.01, 1.0], selection: cv5}"
# Beside each: the candidates, and the frequencies of the paired map that come of them.
SAMPLERS = [
    ("leverage-rff: {alpha: 0.05}", M, M),
    ("leverage-rff: {pool_size: 4*M, reweight: inverse}", 4 * M, M),
    ("surrogate-leverage: {equation: 12, per_column: true}", M, 2 * M),
    ("surrogate-leverage: {resample: false, per_column: true, reweight: inverse}", M, M),
    ("surrogate-leverage: {equation: 12, resample: false, pool_size: 600}", 600, 600),
]


@pytest.fixture
def measured(experiment_of, monkeypatch):
    """Return a function that runs one trial; its row, and how many projections w'x it took."""

    def run(sampler, feature_map="paired", solver=RIDGE, limit=2**30):
        taken = []
        project = FeatureMap._project

        def counting(self, rows, out=None):
            taken.append(rows.shape[0] * self.n_frequencies)
            return project(self, rows, out)

        own = (f"samplers=[{sampler}]", f"feature_map={feature_map}", f"solver={solver}")
        (job,) = group_into_jobs(
            plan_trials(experiment_of(SMALL, *own, f"M={M}", "trials=1", "features_in_folds=once"))
        )
        with monkeypatch.context() as patch:
            patch.setattr(memory, "MATRIX_BYTES", limit)
            patch.setattr(FeatureMap, "_project", counting)
            (row,) = run_job(job)
        assert row["status"] == "ok", row
        return row, sum(taken)

    return run


def assert_same(row, other):
    for metric in (*METRICS, "alpha", "alpha_scale_free", "columns"):
        if metric in row:
            assert row[metric] == pytest.approx(other[metric], rel=1e-10, abs=1e-10), metric


@pytest.mark.parametrize("feature_map", ["offset", "paired"])
@pytest.mark.parametrize(("sampler", "pool", "paired"), SAMPLERS)
def test_each_feature_of_a_row_is_computed_once(measured, sampler, pool, paired, feature_map):
    row, taken = measured(sampler, feature_map)
    kept = paired if feature_map == "paired" else row["columns"]
    assert taken == N * pool + N_TEST * kept
    again, more = measured(sampler, feature_map, limit=0)
    assert more > taken
    assert_same(row, again)
    assert "computed again" not in row["message"]
    assert "computed again" in again["message"]


@pytest.mark.parametrize(
    "solver",
    [
        "{name: ridge, alphas: 0.1, intercept: false}",
        "{name: ridge, alphas: [0.01, 1.0], selection: validation, alpha_convention: per-sample}",
        "{name: logistic, alphas: [0.1, 1.0], selection: cv5}",
        "{name: svm, alphas: 0.1}",
    ],
)
@pytest.mark.parametrize("sampler", [SAMPLERS[1][0], SAMPLERS[3][0]])
def test_each_solver_gives_the_same_result_from_stored_features(measured, sampler, solver):
    row, taken = measured(sampler, solver=solver)
    again, more = measured(sampler, solver=solver, limit=0)
    assert taken < more
    assert_same(row, again)


def test_scoring_features_on_a_subset_of_rows_stores_no_features(measured):
    sampler = "surrogate-leverage: {equation: 14, score_rows: 0.5}"
    row, taken = measured(sampler)
    again, more = measured(sampler, limit=0)
    assert row["message"] == again["message"] == ""
    assert taken == more
