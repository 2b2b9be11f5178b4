"""Trials with landmarks: what is timed, and what a row says of an iterative fit."""

import pytest

from rfbench.config import read
from rfbench.experiment.footprint import estimate
from rfbench.experiment.plan import jobs, plan
from rfbench.experiment.trial import run_job

TEXT = """\
dataset: {sphere: {d: 3, n_train: 200, n_test: 50}}
bandwidth: 2.0
trials: 1
M: 30
samplers:
  - nystroem
  - nystroem: {landmarks: kmeans, label: kmeans}
  - rks
"""


def experiment(folder, text):
    path = folder / "tried.yaml"
    path.write_text(TEXT + text)
    return plan(read(path))


def rows_of(folder, text):
    rows = [row for job in jobs(experiment(folder, text)) for row in run_job(job)]
    assert {row["status"] for row in rows} == {"ok"}, rows
    return {row["label"]: row for row in rows}


def test_falkon_measures_what_ridge_does(tmp_path):
    ridge = rows_of(tmp_path, "solver: {alphas: [0.01, 1], selection: cv3}\n")
    falkon = rows_of(
        tmp_path,
        "solver: {name: falkon, tol: 1e-9, alphas: [0.01, 1], selection: cv3}\n",
    )
    for label, row in falkon.items():
        assert (row["error"], row["alpha"]) == (ridge[label]["error"], ridge[label]["alpha"])
        assert row["relative_squared_error"] == pytest.approx(
            ridge[label]["relative_squared_error"], rel=1e-6
        )
        assert row["converged"] is True
        assert row["columns"] == ridge[label]["columns"] == 30


def test_a_fit_that_did_not_converge_is_a_row_that_says_so(tmp_path):
    row = rows_of(tmp_path, "solver: {name: falkon, alphas: 1e-6, max_iter: 2}\n")["nystroem"]
    assert row["converged"] is False
    assert "after 2 iterations" in row["message"]


def test_the_inverse_root_is_left_out_of_a_trial(tmp_path, monkeypatch):
    def refused(*_):
        raise AssertionError("not needed")

    monkeypatch.setattr("rfbench.samplers.nystroem._inverse_root", refused)
    rows_of(tmp_path, "solver: {name: falkon, alphas: 1}\n")


def test_falkon_is_not_counted_a_matrix_per_fold(tmp_path):
    solver = "solver: {name: %s, alphas: [0.1, 1], selection: cv5}\n"
    falkon, ridge = (
        estimate(experiment(tmp_path, solver % name)[2]) for name in ("falkon", "ridge")
    )
    assert falkon < ridge
