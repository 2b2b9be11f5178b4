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

from .conftest import SMALL

IMPORTED = "{class: sklearn.kernel_approximation.RBFSampler}"
PREFIXES = sorted(name for name, cls in SAMPLERS.items() if cls.has_prefixes)


@pytest.fixture
def curve(experiment_of):
    """Return a function that reads a configuration of some samplers and three sizes."""

    def build(samplers, *overrides):
        own = (f"samplers=[{samplers}]", "M=3,16,5", "kernel_error_rows=40", "trials=1")
        return experiment_of(SMALL, *own, *overrides)

    return build


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
def test_shared_work_gives_the_results_of_work_alone(curve, name, feature_map):
    pool = "" if "pool_size" not in SAMPLERS[name]().get_params() else ": {pool_size: 40}"
    own = (f"{name}{pool}", f"feature_map={feature_map}")
    assert_same(rows_of(curve(*own)), rows_of(curve(*own, "timing=isolated")))


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
def test_for_every_selection_with_and_without_a_matrix(curve, monkeypatch, solver, limit):
    monkeypatch.setattr(memory, "MATRIX_BYTES", limit)
    own = ("rks", f"solver={solver}")
    assert_same(rows_of(curve(*own)), rows_of(curve(*own, "timing=isolated")))


def test_several_classes_and_one_vs_one(curve):
    digits = ("dataset=digits", "split={test_size: 0.5}", "rows=300", "solver.selection=cv3")
    for scheme in ("one-vs-rest", "one-vs-one"):
        own = ("orf", *digits, f"solver.multiclass={scheme}")
        assert_same(rows_of(curve(*own)), rows_of(curve(*own, "timing=isolated")))


def test_one_that_cannot_share_and_all_beside_it_are_measured_alone(curve):
    """An upper bound beside a time would make the other method look fast."""
    for sampler in ("lkrf: {pool_size: 40}", "eerf: {pool_size: 10*M}", IMPORTED):
        for every in ([sampler], [sampler, "rks"], ["rks", sampler]):
            trials = plan(curve(", ".join(every)))
            assert [shares_work(trial) for trial in trials] == [False] * len(trials)
            rows = [row for job in jobs(trials) for row in run_job(job)]
            assert {(row["status"], row["timing"]) for row in rows} == {("ok", "isolated")}
    assert all(shares_work(trial) for trial in plan(curve("rks, eerf: {pool_size: 40}")))


def test_the_way_of_timing_is_no_part_of_the_identity(curve):
    alone, beside = plan(curve("rks")), plan(curve("rks, lkrf: {pool_size: 40}"))
    assert {trial.id for trial in alone} <= {trial.id for trial in beside}


def test_features_of_training_rows_are_booked_as_such():
    train, other = np.random.default_rng(0).standard_normal((2, 30, 3))
    made = curves.Curve(RKS(5, bandwidth=1.0, random_state=0).fit(train), Clock(), train)
    made.matrix(train)
    assert made.clock.wall["features"] > 0
    assert made.clock.wall["test"] == 0
    booked = made.clock.wall["features"]
    made.matrix(other)
    assert made.clock.wall["test"] > 0
    assert made.clock.wall["features"] == booked


def test_a_size_that_is_added_later_is_measured_in_the_same_way(curve):
    (row,) = rows_of(curve("rks", "M=5")).values()
    assert (row["timing"], row["shared_M"]) == ("shared", 5)
    assert rows_of(curve("rks"))[5]["shared_M"] == 16


def test_every_size_is_charged_the_shared_work(curve):
    rows = rows_of(curve("eerf: {pool_size: 40}"))
    assert len({row["t_pp"] for row in rows.values()}) == 1
    assert min(row["t_features"] for row in rows.values()) > 0
    assert np.isfinite([row["t_test"] for row in rows.values()]).all()


@pytest.mark.parametrize(
    ("samplers", "said"), [("lkrf", True), ("eerf: {pool_size: 40}", False), ("orf", False)]
)
def test_a_run_says_that_its_sizes_share_nothing(tmp_path, samplers, said):
    path = tmp_path / "tiny.yaml"
    path.write_text(SMALL)
    words = ("--set", f"samplers=[rks, {samplers}]", "--dry-run", "--out", tmp_path)
    output = call("run", path, *words)
    assert ("timing: isolated" in output) is said
