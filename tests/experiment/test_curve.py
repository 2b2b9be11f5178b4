import numpy as np
import pytest

from rfbench import memory
from rfbench.clock import Clock
from rfbench.experiment.plan import jobs, plan, shares_work
from rfbench.experiment.trial import run_job
from rfbench.registry import SAMPLERS
from rfbench.results.schema import METRICS
from rfbench.samplers import RKS
from rfbench.solvers import curve as curves
from tests.support.command_line import call
from tests.support.trials import measured

TEXT = """\
dataset: {sphere: {d: 3, n_train: 150, n_test: 80}}
scaling: none
bandwidth: 1.0
M: [3, 16, 5]
samplers:
  - SAMPLER
solver: {name: ridge, alphas: [0.01, 1.0], selection: cv5}
kernel_error_rows: 40
trials: 1
"""
IMPORTED = "{class: sklearn.kernel_approximation.RBFSampler}"
PREFIXES = sorted(name for name, cls in SAMPLERS.items() if cls.has_prefixes)


def rows_of(experiment):
    rows = {row["M"]: row for row in measured(experiment)}
    assert {row["status"] for row in rows.values()} == {"ok"}, rows
    return rows


def assert_same(shared, isolated):
    assert {row["timing"] for row in shared.values()} == {"shared"}
    assert {row["timing"] for row in isolated.values()} == {"isolated"}
    for M, row in isolated.items():
        assert shared[M]["columns"] == row["columns"]
        for metric in (*METRICS, "alpha", "alpha_scale_free"):
            if metric in row:
                assert shared[M][metric] == pytest.approx(row[metric], rel=1e-8, abs=1e-8), metric


@pytest.mark.parametrize("name", PREFIXES)
@pytest.mark.parametrize("feature_map", ["offset", "paired"])
def test_shared_work_gives_the_results_of_work_alone(experiment_of, name, feature_map):
    pool = "" if "pool_size" not in SAMPLERS[name]().get_params() else ": {pool_size: 40}"
    text = TEXT.replace("SAMPLER", f"{name}{pool}")
    own = ("feature_map=" + feature_map,)
    shared = rows_of(experiment_of(text, *own))
    assert_same(shared, rows_of(experiment_of(text, *own, "timing=isolated")))


@pytest.mark.parametrize(
    "solver",
    [
        "{alphas: 0.1}",
        "{alphas: [0.01, 1.0], selection: test}",
        "{alphas: [0.01, 1.0], selection: validation, alpha_convention: per-sample}",
        "{name: logistic, alphas: [0.1, 1.0], selection: cv5}",
    ],
)
@pytest.mark.parametrize("limit", [0, 2**30])
def test_for_every_selection_with_and_without_a_matrix(experiment_of, monkeypatch, solver, limit):
    monkeypatch.setattr(memory, "MATRIX_BYTES", limit)
    text = TEXT.replace("SAMPLER", "rks").replace(
        "{name: ridge, alphas: [0.01, 1.0], selection: cv5}", solver
    )
    assert_same(rows_of(experiment_of(text)), rows_of(experiment_of(text, "timing=isolated")))


def test_several_classes_and_one_vs_one(experiment_of):
    text = TEXT.replace("SAMPLER", "orf").replace(
        "dataset: {sphere: {d: 3, n_train: 150, n_test: 80}}",
        "dataset: digits\nsplit: {test_size: 0.5}\nrows: 300",
    )
    for scheme in ("one-vs-rest", "one-vs-one"):
        own = text.replace("selection: cv5}", f"selection: cv3, multiclass: {scheme}}}")
        assert_same(rows_of(experiment_of(own)), rows_of(experiment_of(own, "timing=isolated")))


def test_one_that_cannot_share_and_all_beside_it_are_measured_alone(experiment_of):
    """An upper bound beside a time would make the other method look fast."""
    for sampler in ("lkrf: {pool_size: 40}", "eerf: {pool_size: 10*M}", IMPORTED):
        for every in ([sampler], [sampler, "rks"], ["rks", sampler]):
            text = TEXT.replace("SAMPLER", "\n  - ".join(every))
            trials = plan(experiment_of(text, "trials=1"))
            assert [shares_work(trial) for trial in trials] == [False] * len(trials)
            rows = [row for job in jobs(trials) for row in run_job(job)]
            assert {(row["status"], row["timing"]) for row in rows} == {("ok", "isolated")}
    both = plan(experiment_of(TEXT.replace("SAMPLER", "rks\n  - eerf: {pool_size: 40}")))
    assert all(shares_work(trial) for trial in both)


def test_the_way_of_timing_is_no_part_of_the_identity(experiment_of):
    alone = plan(experiment_of(TEXT.replace("SAMPLER", "rks")))
    beside = plan(experiment_of(TEXT.replace("SAMPLER", "rks\n  - lkrf: {pool_size: 40}")))
    assert {trial.id for trial in alone} <= {trial.id for trial in beside}


def test_features_of_training_rows_are_booked_as_such():
    train, other = np.random.default_rng(0).standard_normal((2, 30, 3))
    curve = curves.Curve(RKS(5, bandwidth=1.0, random_state=0).fit(train), Clock(), train)
    curve.matrix(train)
    assert curve.clock.wall["features"] > 0
    assert curve.clock.wall["test"] == 0
    booked = curve.clock.wall["features"]
    curve.matrix(other)
    assert curve.clock.wall["test"] > 0
    assert curve.clock.wall["features"] == booked


def test_a_size_that_is_added_later_is_measured_in_the_same_way(experiment_of):
    text = TEXT.replace("SAMPLER", "rks")
    (row,) = rows_of(experiment_of(text, "M=5")).values()
    assert (row["timing"], row["shared_M"]) == ("shared", 5)
    assert rows_of(experiment_of(text))[5]["shared_M"] == 16


def test_every_size_is_charged_the_shared_work(experiment_of):
    text = TEXT.replace("SAMPLER", "eerf: {pool_size: 40}")
    rows = rows_of(experiment_of(text))
    assert len({row["t_pp"] for row in rows.values()}) == 1
    assert min(row["t_features"] for row in rows.values()) > 0
    assert np.isfinite([row["t_test"] for row in rows.values()]).all()


@pytest.mark.parametrize(
    ("samplers", "said"), [("lkrf", True), ("eerf: {pool_size: 40}", False), ("orf", False)]
)
def test_a_run_says_that_its_sizes_share_nothing(tmp_path, samplers, said):
    path = tmp_path / "tiny.yaml"
    path.write_text(TEXT.replace("SAMPLER", f"rks\n  - {samplers}"))
    output = call("run", path, "--dry-run", "--out", tmp_path)
    assert ("timing: isolated" in output) is said
