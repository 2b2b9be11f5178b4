"""`rfbench new` writes a configuration that runs; `choose` takes a file, and rows in memory."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from rfbench import choosing, config
from rfbench.choosing import choose, choose_for, stages
from rfbench.experiment.context import Context
from rfbench.experiment.plan import plan
from rfbench.experiment.run_plan import smoke_variant
from rfbench.experiment.trial import run_trial
from tests.support.command_line import call


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RFBENCH_DATA", str(tmp_path / "data"))
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.standard_normal((60, 3)), columns=["a", "b, c", "d"])
    table["word"] = random.choice(["x", "y"], 60)
    table["price: EUR"] = table["a"] * 3 + random.standard_normal(60) * 0.1
    table["kind"] = np.where(table["d"] > 0, "up", "down")
    (tmp_path / "my data").mkdir()
    table.to_csv(tmp_path / "my data" / "prices #1.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(("target", "task"), [("price: EUR", "regression"), ("kind", "binary")])
def test_what_new_writes_is_read_and_runs(folder, target, task):
    words = ["new", "my data/prices #1.csv", "--target", target, "--out", "my data/one.yaml"]
    call(*words)
    experiment = config.read(folder / "my data" / "one.yaml")
    assert experiment.dataset[0].entry.task == task
    for trial in plan(smoke_variant(experiment)):
        row = run_trial(trial, Context())
        assert row["status"] == "ok", row["message"]
    call(*words, code=2)  # it is not overwritten


def test_a_file_whose_target_stands_apart_needs_none_named(folder):
    (folder / "rows.svm").write_text("0 1:1 9:2\n1 2:3 9:1\n" * 20)
    call("new", "rows.svm")
    assert config.read(folder / "rows.yaml").dataset[0].entry.task == "binary"
    call("new", "rows.svm", "--target", "0", code=2)


@pytest.mark.parametrize(
    "words",
    [
        ["my data/prices #1.csv"],
        ["my data/prices #1.csv", "--target", "prize"],
        ["none.csv", "--target", "a"],
        ["digits"],
    ],
)
def test_new_refuses_what_is_not_there(folder, words):
    call("new", *words, code=2)
    assert not list(folder.glob("*.yaml"))


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(stages, "METHODS", {"rks": {}, "orf": {}})
    monkeypatch.setattr(stages, "LARGEST_SIZE", 20)
    monkeypatch.setattr(choosing, "DRAWS", 2)


def test_a_file_is_chosen_for_and_its_code_runs(folder, short, capsys):
    spec = {"file": "my data/prices #1.csv", "target": "price: EUR"}
    found = choose_for(spec, budget=900.0, n_jobs=1, out=folder / "out")
    exec(found.code, {})
    assert (found.metric, found.n_train, found.n_test) == ("rmse", 45, 15)
    assert float(capsys.readouterr().out) < 3.0
    assert "word" in found.note


@pytest.mark.parametrize("of", [np.asarray, pd.DataFrame])
def test_rows_in_memory(folder, short, of):
    X, y = load_wine(return_X_y=True)
    found = choose(of(X), y, budget=900.0, n_jobs=1, out=folder / "out")
    assert (found.metric, found.rows, found.d) == ("error", 178, 13)
    assert found.features.error < 15
    exec(found.code, {})
