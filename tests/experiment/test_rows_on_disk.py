"""Rows on disk in trials: the numbers of rows in memory, and what needs memory is refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rfbench import memory
from rfbench.api import read_config as read
from rfbench.experiment.context import Context
from rfbench.experiment.plan import plan_trials
from rfbench.experiment.trial import run_trial
from rfbench.rows import RowSource
from tests.support.command_line import call

N, D = 300, 5
COMMON = "split: {test_size: 0.3}\nsolver: {name: ridge, alphas: [0.01, 1.0]}\nM: 6\ntrials: 1\n"
EVERY = """
samplers:
  [rks, orf, qmc, sorf, uniform-pool, eerf: {pool_size: 20}, lkrf: {pool_size: 20},
   lkrf: {pool_size: 20, penalty: validation, label: v}, greedy: {pool_size: 20},
   leverage-rff, surrogate-leverage, ses, tefm-g, svd, nystroem, nystroem: {landmarks:
   recursive-rls, label: l}]
"""
TASK = {"real": "regression", "labels": "classification"}
SAME = ("error", "relative_squared_error", "rmse", "alpha", "bandwidth", "n_train", "columns",
        "selection_loss", "kernel_error", "train_error", "message")  # fmt: skip


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A CSV and the same rows in a folder of arrays, with labels and with a real target."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RFBENCH_DATA", str(tmp_path))
    X = np.random.default_rng(3).standard_normal((N, D)) * [1, 2, 3, 0.1, 50] + 7
    y = np.sin(X[:, 0]) + X[:, 3] - 7
    for name, target in (("real", y), ("labels", np.digitize(y, [-0.4, 0.4]))):
        table = pd.DataFrame(X, columns=list("abcde")).assign(y=target)
        table.to_csv(f"{name}.csv", index=False)
        Path(name).mkdir()
        np.save(f"{name}/X.npy", X)
        np.save(f"{name}/y.npy", target)
    return tmp_path


def configuration(dataset, text):
    """Return a configuration in which the text replaces what is common."""
    common = [line for line in COMMON.splitlines() if f"{line.split(':')[0]}:" not in text]
    return "\n".join([f"dataset: {dataset}", *common, text])


def rows(folder, dataset, text):
    (folder / "c.yaml").write_text(configuration(dataset, text))
    context, found = Context(), []
    for trial in plan_trials(read(folder / "c.yaml")):
        row = run_trial(trial, context)
        assert row["status"] == "ok", row["message"]
        found.append({key: repr(row[key]) for key in SAME if key in row})
    return found, context.prepare(trial).X_train


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("real", EVERY),
        ("labels", EVERY),
        ("labels", "samplers: [rks]\nscaling: standard\nkernel_error_rows: 20\ntrain_error: true"),
        ("real", "samplers: [rks]\nscaling: minmax-all\ndtype: float32\nbandwidth: cv"),
        ("real", "samplers: [rks]\nscaling: rank"),
        ("real", "samplers: [rks]\nscaling: robust"),
        ("real", "samplers: [rks]\nscaling: row-standard\nbandwidth: knn50-sample"),
    ],
    ids=["every sampler", "classes", "standard", "float32", "rank", "robust", "row-standard"],
)
def test_trials_on_memory_mapped_rows_equal_trials_in_memory(data, name, text):
    expected, in_memory = rows(data, f"{{file: {name}.csv, target: y, task: {TASK[name]}}}", text)
    found, on_disk = rows(data, f"{{path: {name}, task: {TASK[name]}}}", text)
    assert found == expected
    assert isinstance(in_memory, np.ndarray)
    assert isinstance(on_disk, RowSource)


@pytest.mark.parametrize(
    "text",
    [
        "samplers: [rks]\nsolver: kernel-ridge",
        "samplers: [rks]\nsolver: kernel-svm",
        "samplers: [rks]\nbandwidth: knn50",
        "samplers: [class: sklearn.kernel_approximation.RBFSampler]",
    ],
)
def test_method_that_needs_all_rows_fails_with_an_explanation(data, text):
    (data / "c.yaml").write_text(configuration("{path: labels, task: classification}", text))
    row = run_trial(plan_trials(read(data / "c.yaml"))[0], Context())
    assert row["status"] == "failed"
    assert "Set `rows:` to a number of rows that fits into memory" in row["message"]


@pytest.mark.parametrize("text", ["solver: logistic", "solver: svm", "samplers: [tefm-s]"])
def test_feature_matrix_is_built_if_it_fits_in_memory(data, monkeypatch, text):
    text = text if "samplers" in text else f"samplers: [rks]\n{text}"
    (data / "c.yaml").write_text(configuration("{path: labels, task: classification}", text))
    trial = plan_trials(read(data / "c.yaml"))[0]
    assert run_trial(trial, Context())["status"] == "ok"
    monkeypatch.setattr(memory, "count_free_bytes", lambda: 1000.0)
    assert run_trial(trial, Context())["status"] == "memory"


def test_run_on_memory_mapped_data_succeeds(data, no_pictures):
    (data / "c.yaml").write_text(f"dataset: {{path: real}}\n{COMMON}samplers: [rks]")
    assert "1 trial" in call("run", "c.yaml", "--dry-run")
    assert "real" in call("run", "c.yaml", "--jobs", "1")
