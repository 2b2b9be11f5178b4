import dataclasses
import json
import re

import pytest

from rfbench.errors import MethodError, ResultsError
from rfbench.experiment import runner
from rfbench.experiment.environment import blas
from rfbench.experiment.replay import replay
from rfbench.experiment.run_plan import plan_run
from rfbench.results.maintenance import merge, rows_of, status_of
from rfbench.results.schema import METRICS
from rfbench.results.store import Store
from tests.support.command_line import call

from .conftest import SMALL


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Return two folders with different trials of one experiment, and two of other experiments."""
    from rfbench import config

    top = tmp_path_factory.mktemp("keep")

    def run(name, *overrides, numbers):
        path = top / "tiny.yaml"
        path.write_text(SMALL)
        work = plan_run([config.read(path, overrides)], top / name)
        chosen = [trial for trial in work.trials if trial.number in numbers]
        work = dataclasses.replace(work, trials=chosen)
        runner.run(work)
        return top / name

    return {
        "first": run("first", "trials=4", numbers=(0, 1)),
        "second": run("second", "trials=4", numbers=(1, 2)),
        "other": run("other", "seed=1", numbers=(0,)),
        "data": run("data", "dataset.sphere.d=4", numbers=(0,)),
    }


@pytest.fixture
def first(folders, tmp_path):
    """Return a copy of the first folder, to change."""
    import shutil

    return shutil.copytree(folders["first"], tmp_path / "copy")


def test_merge_adds_what_is_missing_and_nothing_twice(first, folders):
    assert merge(first, [folders["second"]]) == 4
    rows = rows_of(first)
    assert sorted({row["trial"] for row in rows}) == ["0", "1", "2"]
    assert len(rows) == len({row["trial_id"] for row in rows}) == 12
    assert "0 rows added" in call("merge", first, folders["second"])


def test_merge_refuses_what_cannot_be_compared(first, folders):
    with pytest.raises(ResultsError, match="differ in seed"):
        merge(first, [folders["other"]])
    with pytest.raises(ResultsError, match="other data|differ in dataset"):
        merge(first, [folders["data"]])
    with pytest.raises(ResultsError, match="with itself"):
        merge(first, [first])
    manifest = json.loads((first / "manifest.json").read_text())
    [sphere] = manifest["data"]
    manifest["data"][sphere] = "0" * 64
    (first / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ResultsError, match="sphere .* has hash"):
        merge(first, [folders["second"]])
    assert len(rows_of(first)) == 8


def shown(folder):
    """Return what `rfbench status` has of one folder, by column."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "400")
        lines = call("status", folder).splitlines()
    head, cells = (re.split(" {2,}", line) for line in lines[:2])
    return dict(zip(head, cells, strict=True))


def test_status_counts(first):
    found = status_of(first)
    assert (found.counts, found.missing, found.older) == ({"ok": 8}, 8, 0)
    assert found.seconds_left > 0
    manifest = json.loads((first / "manifest.json").read_text())
    said = shown(first)
    assert (said["planned"], said["ok"], said["missing"]) == ("16", "8", "8")
    manifest["settings"] = manifest["settings"][:1]
    (first / "manifest.json").write_text(json.dumps(manifest))
    assert shown(first)["of earlier configurations"] == "4"


def test_status_has_a_column_for_each_way_to_end(first):
    rows = rows_of(first)
    for row, end in zip(rows, ("timeout", "failed"), strict=False):
        Store(first).append({**row, "status": end})
    said = shown(first)
    assert (said["ok"], said["failed"], said["timeout"]) == (str(len(rows) - 2), "1", "1")
    assert "crashed" not in said


def test_status_of_a_folder_without_a_manifest(first):
    (first / "manifest.json").unlink()
    assert "manifest" in call("status", first, code=2)


@pytest.mark.parametrize("which", [1, 2, 3, 8])
def test_replay_repeats_a_row(first, which):
    output = call("replay", first, which)
    assert "differs" not in output
    row = rows_of(first)[which - 1]
    assert row["trial_id"] in output
    repeated = replay(first, row["trial_id"][:12])
    assert repeated.differences == {}
    assert {m: float(row[m]) for m in METRICS if row[m]} == {
        m: repeated.again[m] for m in METRICS if m in repeated.again
    }


def test_replay_finds_a_changed_number(first):
    store = Store(first)
    row, *others = store.rows()
    store.csv.write_bytes(b"")
    for one in ({**row, "rmse": "0.123"}, *others):
        store.append(one)
    output = call("replay", first, 1, code=1)
    assert "differs" in output
    assert f"{blas()[0]['core']} now" in output


def test_replay_of_no_row(first):
    assert "no rows that '99' names" in call("replay", first, 99, code=2)
    manifest = json.loads((first / "manifest.json").read_text())
    manifest["config"]["seed"] = 5
    (first / "manifest.json").write_text(json.dumps(manifest))
    assert "cannot be repeated" in call("replay", first, 1, code=2)


def test_code_that_the_folder_names_needs_permission_and_its_file(
    experiment_of, tmp_path, monkeypatch
):
    (tmp_path / "mine.py").write_text(
        "from sklearn.kernel_approximation import RBFSampler as Mine\n"
    )
    text = SMALL.replace("- rks", "- {class: 'mine.py:Mine'}")
    experiment = experiment_of(text, "trials=1", "M=4", allow_imports=True)
    folder = tmp_path / "r"
    runner.run(plan_run([experiment], folder))
    with pytest.raises(MethodError, match="--allow-imports"):
        replay(folder, "1")
    with pytest.raises(MethodError, match=r"mine\.py .*not there"):
        replay(folder, "1", allow_imports=True)
    monkeypatch.chdir(tmp_path)
    assert replay(folder, "1", allow_imports=True).differences == {}
