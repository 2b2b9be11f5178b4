import shutil
from pathlib import Path

import pytest

from rfbench import datasets
from rfbench.errors import ConfigError, MethodError
from rfbench.experiment import runner
from rfbench.experiment.environment import list_blas_libraries
from rfbench.experiment.replay import (
    CHANGED_METHOD,
    ENDED_BADLY,
    NO_DATA,
    OTHER_DATA,
    replay_random_rows,
    replay_row,
)
from rfbench.experiment.run_plan import plan_run
from rfbench.registry import SAMPLERS
from rfbench.results import manifest as manifests
from rfbench.results.merging import read_valid_rows
from rfbench.results.schema import METRICS, is_metric_reproduced
from rfbench.results.store import Store
from tests.support.command_line import call

from .conftest import SMALL


@pytest.fixture
def first(finished, tmp_path):
    """Return a copy of a run's folder, to change."""
    return shutil.copytree(finished, tmp_path / "copy")


@pytest.mark.parametrize("which", [1, 8])
def test_replay_reproduces_a_row(first, which):
    output = call("replay", first, which)
    assert "differs" not in output
    row = read_valid_rows(first)[which - 1]
    assert row["trial_id"] in output
    repeated = replay_row(first, row["trial_id"][:12])
    assert repeated.differences == {}
    assert {m: float(row[m]) for m in METRICS if row[m]} == {
        m: repeated.again[m] for m in METRICS if m in repeated.again
    }


def test_replay_detects_a_changed_number(first):
    store = Store(first)
    row, *others = store.read_rows()
    store.csv.write_bytes(b"")
    for one in ({**row, "rmse": "0.123"}, *others):
        store.append(one)
    output = call("replay", first, 1, code=1)
    assert "differs" in output
    assert f"{list_blas_libraries()[0]['core']} now" in output


def test_replay_without_a_matching_row_raises_error(first):
    assert "no rows that match '99'" in call("replay", first, 99, code=2)
    manifest = manifests.read(first)
    manifest["config"]["seed"] = 5
    manifests.write(first, manifest)
    assert "cannot be measured again" in call("replay", first, 1, code=2)


def test_replay_of_user_code_needs_permission_and_the_file(experiment_of, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "from sklearn.kernel_approximation import RBFSampler as Mine\n"
    )
    text = SMALL.replace("- rks", "- {class: 'mine.py:Mine'}")
    experiment = experiment_of(text, "trials=1", "M=4", allow_imports=True)
    folder = tmp_path / "r"
    runner.run_plan(plan_run([experiment], folder))
    with pytest.raises(ConfigError, match="--allow-imports"):
        replay_row(folder, "1")
    with pytest.raises(MethodError, match=r"mine\.py .*does not exist"):
        replay_row(folder, "1", allow_imports=True)
    monkeypatch.chdir(tmp_path)
    assert replay_row(folder, "1", allow_imports=True).differences == {}


def test_ten_fast_published_rows_are_reproduced():
    """Their data need no file, so they are the same ten everywhere."""
    repeated = replay_random_rows([Path("results/published/quickstart")], 10)
    assert [each.is_reproduced for each in repeated] == [True] * 10


@pytest.mark.parametrize(("dtype", "within"), [("float64", 1e-9), ("float32", 1e-4)])
def test_tolerance_depends_on_the_dtype(dtype, within):
    assert is_metric_reproduced(40.0, 40.0 * (1 + within * 0.9), dtype)
    assert not is_metric_reproduced(40.0, 40.0 * (1 + within * 1.1), dtype)
    assert is_metric_reproduced(0.0, within * 0.9, dtype)
    assert not is_metric_reproduced(0.5, 0.5 + within * 1.1, dtype)
    assert not is_metric_reproduced(0.5, float("nan"), dtype)


def why(folder):
    return {each.why for each in replay_random_rows([folder], 8)}


def changed(folder, **config):
    content = manifests.read(folder)
    content["config"] |= config
    manifests.write(folder, content)


def test_rows_that_cannot_be_replayed_report_the_reason(first, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(SAMPLERS.find("rks"), "revision", 9)
        patch.setattr(SAMPLERS.find("eerf"), "revision", 9)
        assert why(first) == {CHANGED_METHOD}
    with monkeypatch.context() as patch:
        patch.setattr(datasets, "is_on_disk", lambda name: False)
        assert why(first) == {NO_DATA}
    with monkeypatch.context() as patch:
        patch.setattr(datasets, "hash_data", lambda *args: "0" * 64)
        assert why(first) == {OTHER_DATA}
    for row in read_valid_rows(first):
        Store(first).append({**row, "status": "timeout"})
    assert why(first) == {ENDED_BADLY}


def test_verify_replays_rows_and_detects_a_changed_number(first):
    output = call("verify", first, "--replay", 3, "--seed", 1)
    assert "3 rows measured again: 3 agree" in output
    assert output == call("verify", first, "--replay", 3, "--seed", 1)
    assert output != call("verify", first, "--replay", 3, "--seed", 2)
    for row in read_valid_rows(first):
        Store(first).append({**row, "rmse": "0.123"})
    output = call("verify", first, "--replay", 100, code=1)
    assert "8 rows measured again: 0 agree" in output
    assert "rmse: 0.123 then" in output
