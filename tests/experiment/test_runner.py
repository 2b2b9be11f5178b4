import json
from types import SimpleNamespace

import numpy as np
import pytest

from rfbench import config
from rfbench.experiment import runner, worker_process
from rfbench.experiment.context import Context
from rfbench.experiment.fanout import FanOut
from rfbench.experiment.run_plan import SMOKE_SIZE, plan_run
from rfbench.experiment.trial import run_trial
from rfbench.results import reader
from rfbench.samplers import EERF
from rfbench.solvers import RidgeClassifier
from tests.support.command_line import call
from tests.support.runs import rows_of, without_times

from .conftest import SMALL


def run(experiment, folder, **keywords):
    work = plan_run([experiment], folder)
    return work, runner.run_plan(work, **keywords)


def test_rerun_measures_only_missing_trials(experiment_of, folder):
    content = (folder / "trials.csv").read_bytes()
    _, second = run(experiment_of(), folder)
    assert (second.done, second.found) == (0, 8)
    assert (folder / "trials.csv").read_bytes() == content
    _, third = run(experiment_of(SMALL, "trials=3"), folder)
    assert (third.done, third.found) == (4, 8)
    assert (folder / "trials.csv").read_bytes().startswith(content)


@pytest.mark.parametrize("trials", [2, 3])
def test_rows_are_parsed_once_before_the_first_trial(folder, tmp_path, monkeypatch, trials):
    """Both by `rfbench run`, whose bar counts what is there, and by the run itself."""
    parsed, before, lines, run = [], [], reader._lines, FanOut.run
    monkeypatch.setattr(reader, "_lines", lambda file: parsed.append(file) or lines(file))
    monkeypatch.setattr(FanOut, "run", lambda *words: before.append(len(parsed)) or run(*words))
    (tmp_path / f"{folder.name}.yaml").write_text(SMALL)
    words = f"run {tmp_path / folder.name}.yaml --out {folder.parent} --trials {trials} --jobs 1"
    output = call(*words.split())
    assert f"trials:  {4 * (trials - 2)} run, 0 failed, 8 measured before" in output
    assert before == [1]


def test_two_workers_give_the_same_results_as_one(experiment_of, tmp_path, finished):
    run(experiment_of(), tmp_path / "two", n_jobs=2)
    assert without_times(tmp_path / "two") == without_times(finished)


def test_row_equals_manual_computation_from_the_components(experiment_of):
    work = plan_run([experiment_of()], None)
    trial = next(t for t in work.trials if t.sampler.name == "eerf" and t.M == 8 and t.number == 1)
    row = run_trial(trial, Context())
    from rfbench.experiment.plan import draw_integer_seed

    prepared = Context().prepare(trial)
    sampler = EERF(
        8,
        pool_size=40,
        score_rows=1.0,
        bandwidth=1.0,
        random_state=draw_integer_seed(0, "features", 1),
    ).fit(prepared.X_train, prepared.y_train)
    solver = RidgeClassifier(
        [0.01, 1.0], selection="cv5", random_state=draw_integer_seed(0, "folds", 1)
    ).fit(prepared.X_train, prepared.y_train, features=sampler)
    predicted = solver.predict(prepared.X_test)
    assert row["error"] == pytest.approx(100 * np.mean(predicted != prepared.y_test))
    assert row["alpha"] == solver.alpha_
    assert (row["status"], row["columns"], row["M"], row["feature_bytes"]) == ("ok", 8, 8, 64)
    assert (row["n_train"], row["n_test"], row["d"]) == (120, 60, 3)
    features = sampler.transform(prepared.X_train)
    norm = np.mean(np.sum(features**2, axis=1))
    assert row["alpha_scale_free"] == pytest.approx(solver.alpha_ / norm)


@pytest.mark.parametrize("estimator", ["all", "top"])
def test_samplers_use_the_number_of_features_kept_by_lkrf(experiment_of, estimator):
    lkrf = f"- lkrf: {{pool_size: 60, rho: 5, estimator: {estimator}}}"
    text = SMALL.replace("M: [4, 8]", "M: {kept_by: lkrf}")
    text = text.replace("- eerf: {pool_size: 40, score_rows: 1.0}", lkrf)
    trials = plan_run([experiment_of(text)], None).trials
    rows = [run_trial(trial, Context()) for trial in trials if trial.number == 0]
    assert [row["status"] for row in rows] == ["ok", "ok"]
    (size,) = {row[name] for row in rows for name in ("M", "columns")}
    assert size >= 60 / 6
    assert estimator == "top" or rows[1]["kept"] == size


def test_rows_not_selected_by_the_only_option_remain_in_the_results(experiment_of, folder):
    from rfbench import results

    work = plan_run([experiment_of()], folder)
    assert runner.run_plan(work.select(["sampler=rks"])).done == 0
    assert len(results.read_results_folder(folder).rows) == 8


def test_kernel_errors_are_measured_without_a_solver(experiment_of):
    text = SMALL.replace(
        "solver: {name: ridge, alphas: [0.01, 1.0], selection: cv5}", "solver: none"
    ).replace("  - eerf: {pool_size: 40, score_rows: 1.0}\n", "")
    experiment = experiment_of(text, "kernel_error_rows=50", "feature_map=paired", "M=2,2000")
    rows = [run_trial(t, Context()) for t in plan_run([experiment], None).trials]
    rks = {row["M"]: row for row in rows if row["sampler"] == "rks" and row["trial"] == 0}
    assert rks[2000]["kernel_error_spectral"] < 0.1 < rks[2]["kernel_error_spectral"]
    assert rks[2000]["kernel_error_frobenius"] < 0.1
    assert "error" not in rks[2]


def test_manifest_records_configuration_data_versions_and_machine(finished):
    manifest = json.loads((finished / "manifest.json").read_text())
    assert manifest["config"]["M"] == [4, 8]
    assert manifest["data"].keys() == {'sphere {"d": 3, "n_test": 60, "n_train": 120}'}
    assert {"numpy", "python"} <= manifest["versions"].keys()
    (machine,) = manifest["machines"].values()
    assert machine["blas"]
    assert {row["machine"] for row in rows_of(finished)} == manifest["machines"].keys()
    assert str(finished.parent) not in json.dumps(manifest)
    settings = {row["setting"] for row in rows_of(finished)}
    assert set(manifest["settings"]) == settings


def test_smoke_run_is_small_and_labeled(experiment_of):
    text = SMALL.replace("n_train: 120", "n_train: 3000").replace(
        "pool_size: 40", "pool_size: 5000"
    )
    work = plan_run([experiment_of(text, "M=10,200,1000")], None, smoke=True)
    assert {trial.M for trial in work.trials} == {10, SMOKE_SIZE}
    row = run_trial(work.trials[0], Context())
    assert row["dataset"] == "sphere[400 rows]"
    assert row["n_train"] <= 400


@pytest.fixture
def started(monkeypatch):
    """Note, in order, what is started and read; no worker is idle before."""
    events, start, read = [], worker_process.WorkerProcess.__init__, config.read_runs

    def begin(child, **words):
        start(child, **words)
        events.append(child)

    monkeypatch.setattr(worker_process, "_idle", [])
    monkeypatch.setattr(worker_process.WorkerProcess, "__init__", begin)
    monkeypatch.setattr(
        config, "read_runs", lambda *words, **more: events.append("read") or read(*words, **more)
    )
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "2")
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    yield events
    for child in worker_process._idle:
        child.close()


def test_first_worker_starts_before_the_configuration_is_read(started, tmp_path, no_pictures):
    """Each imports for two seconds: in turn, the smallest run takes four."""
    (tmp_path / "tiny.yaml").write_text(SMALL)
    words = ["run", tmp_path / "tiny.yaml", "--out", tmp_path, "--jobs", 1]
    call(*words)
    (child,) = (event for event in started if event != "read")
    assert started == [child, "read"]
    assert child in worker_process._idle
    assert [row["status"] for row in rows_of(tmp_path / "tiny")] == ["ok"] * 8


@pytest.mark.parametrize("reason", ["results", "dry run", "one core", "dask", "wrong variable"])
def test_worker_that_may_be_unused_is_not_started_early(
    started, tmp_path, monkeypatch, no_pictures, reason
):
    (tmp_path / "tiny.yaml").write_text(SMALL)
    words, code = ["run", tmp_path / "tiny.yaml", "--out", tmp_path / "out"], 0
    if reason == "results":
        (tmp_path / "out" / "tiny").mkdir(parents=True)
        words += ["--jobs", 1]
    elif reason == "dry run":
        words += ["--dry-run"]
    elif reason == "one core":
        monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    elif reason == "dask":
        words, code = [*words, "--executor", "dask:127.0.0.1:1"], 1
    else:
        monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "many")
        code = 2
    call(*words, code=code)
    assert started[0] == "read"


def test_unused_worker_ends_with_the_command(started, tmp_path):
    (tmp_path / "tiny.yaml").write_text(SMALL.replace("M:", "N:"))
    assert "no key 'N'" in call("run", tmp_path / "tiny.yaml", "--out", tmp_path, code=2)
    child, *_ = started
    assert worker_process._idle == []
    assert child._process.returncode is not None


def test_failure_to_start_an_early_worker_is_reported_when_needed(started, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(worker_process, "subprocess", SimpleNamespace(Popen=refuse, PIPE=-1))
    (tmp_path / "tiny.yaml").write_text(SMALL)
    output = call("run", tmp_path / "tiny.yaml", "--out", tmp_path, "--jobs", 1, code=1)
    assert output.count("No worker process could be started.") == 1
    assert started == ["read"]
