import json
import re
import shutil

import pytest

from rfbench.errors import MethodError
from rfbench.experiment import runner
from rfbench.experiment.environment import blas
from rfbench.experiment.replay import replay
from rfbench.experiment.run_plan import plan_run
from rfbench.results.maintenance import rows_of
from rfbench.results.schema import METRICS
from rfbench.results.store import Store
from tests.support.command_line import call

from .conftest import SMALL


@pytest.fixture
def first(finished, tmp_path):
    """Return a copy of a run's folder, to change."""
    return shutil.copytree(finished, tmp_path / "copy")


def shown(folder):
    """Return what `rfbench status` has of one folder, by column."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "400")
        lines = call("status", folder).splitlines()
    head, cells = (re.split(" {2,}", line) for line in lines[:2])
    return dict(zip(head, cells, strict=True))


def test_status_has_a_column_for_each_way_to_end(first):
    manifest = json.loads((first / "manifest.json").read_text())
    manifest["trials"] += [f"{number:064}" for number in range(5)]
    (first / "manifest.json").write_text(json.dumps(manifest))
    for row, end in zip(rows_of(first), ("timeout", "failed"), strict=False):
        Store(first).append({**row, "status": end})
    said = shown(first)
    assert (said["planned"], said["missing"], said["ok"]) == ("13", "5", "6")
    assert (said["failed"], said["timeout"]) == ("1", "1")
    assert "crashed" not in said
    manifest["settings"] = manifest["settings"][:1]
    (first / "manifest.json").write_text(json.dumps(manifest))
    assert shown(first)["of earlier configurations"] == "4"


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


def test_a_row_of_an_older_file_has_no_value_in_newer_columns():
    assert "kernel_error" not in call("replay", "results/published/quickstart", 7)
