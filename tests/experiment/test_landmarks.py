"""Trials with landmarks: what is timed, and what a row says of an iterative fit."""

import pytest

from rfbench.experiment.footprint import estimate
from rfbench.experiment.plan import plan
from tests.support.trials import measured

from .conftest import SMALL

THREE = "samplers=[nystroem, nystroem: {landmarks: kmeans, label: kmeans}, rks]"
OWN = (THREE, "M=30", "bandwidth=2", "trials=1")


@pytest.fixture
def rows_of(experiment_of):
    def run(solver):
        rows = measured(experiment_of(SMALL, *OWN, f"solver={solver}"))
        assert {row["status"] for row in rows} == {"ok"}, rows
        return {row["label"]: row for row in rows}

    return run


def test_falkon_measures_what_ridge_does(rows_of):
    ridge = rows_of("{alphas: [0.01, 1], selection: cv3}")
    falkon = rows_of("{name: falkon, tol: 1e-9, alphas: [0.01, 1], selection: cv3}")
    for label, row in falkon.items():
        assert (row["error"], row["alpha"]) == (ridge[label]["error"], ridge[label]["alpha"])
        assert row["relative_squared_error"] == pytest.approx(
            ridge[label]["relative_squared_error"], rel=1e-6
        )
        assert row["converged"] is True
        assert row["columns"] == ridge[label]["columns"] == 30


def test_a_fit_that_did_not_converge_is_a_row_that_says_so(rows_of):
    row = rows_of("{name: falkon, alphas: 1e-6, max_iter: 2}")["nystroem"]
    assert row["converged"] is False
    assert "after 2 iterations" in row["message"]


def test_the_inverse_root_is_left_out_of_a_trial(rows_of, monkeypatch):
    def refused(*_):
        raise AssertionError("not needed")

    monkeypatch.setattr("rfbench.samplers.nystroem._inverse_root", refused)
    rows_of("{name: falkon, alphas: 1}")


def test_falkon_is_not_counted_a_matrix_per_fold(experiment_of):
    folds = "solver={name: %s, alphas: [0.1, 1], selection: cv5}"
    falkon, ridge = (
        estimate(plan(experiment_of(SMALL, *OWN, folds % name))[2]) for name in ("falkon", "ridge")
    )
    assert falkon < ridge
