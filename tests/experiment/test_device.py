"""Rows of a device: those of the CPU in float64, with an identity of their own in less."""

import numpy as np
import pytest

from rfbench.config import from_document
from rfbench.errors import ConfigError, MethodError, ResultsError
from rfbench.experiment.plan import plan
from rfbench.experiment.replay import Passed, replay, replay_any
from rfbench.experiment.run_plan import plan_run
from rfbench.results import read
from rfbench.results.maintenance import rows_of
from rfbench.results.schema import METRICS
from rfbench.results.store import Store
from rfbench.yamlfile import Document
from tests.support.command_line import call

CONFIG = {
    "dataset": {"sphere": {"d": 3, "n_train": 120, "n_test": 60}},
    "bandwidth": 2.0,
    "M": [5, 12],
    "samplers": ["rks", {"eerf": {"pool_size": 20}}],
    "solver": {"name": "ridge", "alphas": [0.01, 1.0], "selection": "cv5"},
    "trials": 1,
}


def experiment(**changes):
    return from_document(Document({**CONFIG, **changes}, "the configuration"), "device")


def test_in_float64_a_device_has_the_identity_of_the_cpu():
    own = [trial.id for trial in plan(experiment())]
    for device in ("cuda", "torch-cpu"):
        assert [trial.id for trial in plan(experiment(device=device))] == own


def test_in_less_the_device_is_part_of_the_identity():
    changes = [
        {"dtype": "float32"},
        *({"dtype": "float32", "device": device} for device in ("cuda", "torch-cpu")),
        *({"dtype": "tf32", "device": device} for device in ("cuda", "torch-cpu")),
    ]
    ids = {trial.id for change in changes for trial in plan(experiment(**change))}
    assert len(ids) == len(changes) * len(plan(experiment()))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dtype": "tf32"}, "dtype is tf32, and device is cpu"),
        ({"device": "cuda", "solver": "logistic"}, "the solver is logistic"),
        ({"device": "cuda", "solver": "none", "kernel_error_rows": 50}, "the solver is none"),
        ({"device": "cuda", "samplers": ["nystroem"]}, "nystroem cannot be computed on a device"),
        ({"device": "cuda", "solver": {**CONFIG["solver"], "selection": "loo"}}, "'loo'"),
        ({"device": "cuda", "solver": {**CONFIG["solver"], "selection": "test"}}, "'test'"),
        ({"device": "gpu"}, "device"),
        ({"solver": {"name": "ridge", "device": "cuda"}}, "`device` stands in `solver`"),
    ],
)
def test_what_a_device_cannot_serve_is_refused_before_it_runs(changes, message):
    with pytest.raises((ConfigError, MethodError), match=message):
        experiment(**changes)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return the folders of the same trials by numpy and by torch, in one process."""
    pytest.importorskip("torch")
    from rfbench.experiment.plan import Job
    from rfbench.experiment.trial import run_job

    out = {}
    for device in ("cpu", "torch-cpu"):
        folder = tmp_path_factory.mktemp(device) / "device"
        planned = plan_run([experiment(device=device)], folder)
        from rfbench.experiment.run_plan import manifest
        from rfbench.results import manifest as manifests

        folder.mkdir()
        manifests.write(folder, manifest(planned))
        for row in run_job(Job(tuple(planned.trials))):
            assert row["status"] == "ok", row["message"]
            Store(folder).append({**row, "workers": 1})
        out[device] = folder
    return out


def test_its_rows_are_those_of_the_cpu(folders):
    cpu, torch = (
        {row["trial_id"]: row for row in rows_of(folders[name])} for name in ("cpu", "torch-cpu")
    )
    assert cpu.keys() == torch.keys()
    for name, row in cpu.items():
        other = torch[name]
        assert (row["device"], other["device"]) == ("cpu", "torch-cpu")
        assert other["accelerator"] == other["device_memory_mb"] == ""
        assert other["timing"] == "isolated"
        for metric in (m for m in METRICS if row[m]):
            assert float(other[metric]) == pytest.approx(float(row[metric]), rel=1e-9), metric
        for column in ("alpha", "selection_loss", "features_in_folds", "columns", "setting"):
            assert other[column][:12] == row[column][:12], column
        assert float(other["t_features"]) > 0
        assert float(other["t_train"]) > 0


def test_times_of_a_device_are_those_of_another_machine(folders):
    from rfbench.analysis.frame import of

    machines = {name: set(of([read(folder)]).groups["machine"]) for name, folder in folders.items()}
    assert machines["torch-cpu"] == {f"{name} torch-cpu" for name in machines["cpu"]}


def test_a_row_is_repeated_on_its_device_or_on_another(folders):
    torch = folders["torch-cpu"]
    assert replay(torch, "1").again["device"] == "torch-cpu"
    assert replay(torch, "1", device="cpu").agrees
    rows = rows_of(folders["cpu"])
    for row in rows:
        other = replay(folders["cpu"], row["trial_id"], device="torch-cpu")
        assert (other.agrees, other.again["device"]) == (True, "torch-cpu"), other.differences
    import torch as library

    if not library.cuda.is_available():
        with pytest.raises(MethodError, match="torch sees no GPU"):
            replay(torch, "1", device="cuda")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": "classification", "solver": "logistic"}, "the solver is logistic"),
        ({"samplers": "[nystroem]"}, "nystroem cannot be computed on a device"),
        ({"solver.selection": "loo"}, "selection is 'loo'"),
    ],
)
def test_a_row_that_a_device_cannot_serve_is_not_repeated_there(changes, message, tmp_path):
    """It would be computed by numpy, and said to be of the device."""
    changes = {name: value for name, value in changes.items() if name != "task"}
    sets = [part for name, value in changes.items() for part in ("--set", f"{name}={value}")]
    call(
        "run", "quickstart", "--smoke", "--set", "M=10", "--set", "samplers=rks", *sets,
        "--jobs", "1", "--out", tmp_path,
    )  # fmt: skip
    folder = tmp_path / "smoke" / "quickstart"
    for device in ("cuda", "torch-cpu"):
        with pytest.raises((ConfigError, MethodError), match=message):
            replay(folder, "1", device=device)


def test_rows_drawn_at_random_are_repeated_on_their_own_device(folders, monkeypatch):
    torch = folders["torch-cpu"]
    drawn = list(replay_any([torch], 2))
    assert [(each.agrees, each.again["device"]) for each in drawn] == [(True, "torch-cpu")] * 2
    import torch as library

    if not library.cuda.is_available():
        rows = [{**row, "device": "cuda"} for row in rows_of(torch)]
        monkeypatch.setattr("rfbench.experiment.replay.rows_of", lambda folder: rows)
        assert {type(each) for each in replay_any([torch], 2)} == {Passed}


def test_a_row_in_less_is_repeated_on_its_device_alone(folders, tmp_path):
    out = call(
        "run", "quickstart", "--smoke", "--device", "torch-cpu", "--set", "dtype=tf32",
        "--set", "M=10", "--set", "samplers=rks", "--jobs", "1", "--out", tmp_path,
    )  # fmt: skip
    assert "1 run, 0 failed" in out
    folder = tmp_path / "smoke" / "quickstart"
    (row,) = rows_of(folder)
    assert (row["dtype"], row["device"]) == ("tf32", "torch-cpu")
    assert replay(folder, "1").agrees
    with pytest.raises(ResultsError, match="measured in tf32 on torch-cpu"):
        replay(folder, "1", device="cpu")


def test_packed_rows_are_streamed(tmp_path):
    """Rows that stay on disk, in blocks of the two buffers, give the fit of those in memory."""
    pytest.importorskip("torch")
    from rfbench.rows import RowSource
    from rfbench.samplers import RKS
    from rfbench.solvers import RidgeRegressor

    X = np.random.default_rng(0).standard_normal((3000, 4))
    np.save(tmp_path / "rows.npy", X)
    source = RowSource(tmp_path / "rows.npy", 4, np.arange(3000))
    y, features = np.sin(X[:, 0]), RKS(8, bandwidth=2.0, random_state=0).fit(X)
    options = {"alphas": [0.1, 1.0], "selection": "cv5", "random_state": 0}
    held = RidgeRegressor(**options).fit(X, y, features=features)
    disk = RidgeRegressor(**options, device="torch-cpu").fit(source, y, features=features)
    np.testing.assert_allclose(disk.coef_, held.coef_, rtol=1e-9)
    np.testing.assert_allclose(disk.predict(source), held.predict(X), rtol=1e-9, atol=1e-9)
