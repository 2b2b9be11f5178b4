"""`rfbench new` writes a configuration that runs."""

import numpy as np
import pandas as pd
import pytest

from rfbench.api import read_config
from rfbench.experiment.context import Context
from rfbench.experiment.plan import plan_trials
from rfbench.experiment.run_plan import make_smoke_variant
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
def test_configuration_written_by_new_is_valid_and_runs(folder, target, task):
    words = ["new", "my data/prices #1.csv", "--target", target, "--out", "my data/one.yaml"]
    call(*words)
    experiment = read_config(folder / "my data" / "one.yaml")
    assert experiment.dataset[0].entry.task == task
    for trial in plan_trials(make_smoke_variant(experiment)):
        row = run_trial(trial, Context())
        assert row["status"] == "ok", row["message"]
    call(*words, code=2)  # it is not overwritten


def test_svmlight_file_needs_no_target_option(folder):
    (folder / "rows.svm").write_text("0 1:1 9:2\n1 2:3 9:1\n" * 20)
    call("new", "rows.svm")
    assert read_config(folder / "rows.yaml").dataset[0].entry.task == "binary"
    call("new", "rows.svm", "--target", "0", code=2)


@pytest.mark.parametrize(
    "words",
    [
        ["my data/prices #1.csv"],
        ["my data/prices #1.csv", "--target", "prize"],
        ["my data/prices #1.csv", "--target", "price", "--separator", "XX"],
        ["none.csv", "--target", "a"],
        ["digits"],
    ],
)
def test_new_rejects_missing_files(folder, words):
    call("new", *words, code=2)
    assert not list(folder.glob("*.yaml"))


def test_example_option_writes_a_training_table_and_rows_to_predict(folder):
    for _ in range(2):  # the second call changes nothing
        call("new", "--example")
    flats, new = pd.read_csv("flats.csv"), pd.read_csv("new.csv")
    assert list(new) == [name for name in flats if name != "price"]
    assert flats["built"].isna().any()
    # The invented price depends on the area: a line explains most of it.
    assert np.corrcoef(flats["area"], flats["price"])[0, 1] > 0.7
    call("new", "flats.csv", "--target", "price")
    (trial, *_) = plan_trials(make_smoke_variant(read_config(folder / "flats.yaml")))
    assert run_trial(trial, Context())["status"] == "ok"


def test_example_does_not_overwrite_user_files(folder):
    (folder / "new.csv").write_text("mine")
    message = call("new", "--example", code=2)
    assert "new.csv exists already" in message
    assert (folder / "new.csv").read_text() == "mine"
    assert not (folder / "flats.csv").exists()
