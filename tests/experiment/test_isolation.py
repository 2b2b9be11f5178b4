"""A plug-in may spoil its own rows, never those of the other methods."""

import shutil
import sys
from pathlib import Path

import pytest

from rfbench.experiment import fanout
from rfbench.experiment.plan import RAN_USER_CODE
from tests.support.trials import measured as of_trials

from .conftest import SMALL

NOT_MEASURED = ("t_", "cpu_", "peak_", "trial_id", "setting", "timing", "shared_M")
HOSTILE = Path(__file__).with_name("hostile.py")


@pytest.fixture
def rows_of(experiment_of, tmp_path, monkeypatch):
    """Return a function that runs some samplers, all trials of a job in one process."""
    shutil.copy(HOSTILE, tmp_path)
    monkeypatch.chdir(tmp_path)

    def run(samplers, *overrides):
        own = (f"samplers={samplers}", "kernel_error_rows=17", *overrides)
        return of_trials(experiment_of(SMALL, *own, allow_imports=True))

    return run


def measured(rows, label):
    """Return what was measured of a method, but for its times, by size and trial."""
    return {
        (row["M"], row["trial"]): {
            key: value for key, value in row.items() if not key.startswith(NOT_MEASURED)
        }
        for row in rows
        if row["label"] == label
    }


def beside(hostile):
    return f"[{{class: 'hostile.py:{hostile}', label: hostile}}, rks]"


@pytest.mark.parametrize(
    "hostile", ["ChangesRows", "ChangesTarget", "ChangesTestRows", "KernelOfItsOwn"]
)
def test_user_method_that_modifies_its_input_fails_only_its_own_trials(rows_of, hostile):
    rows = rows_of(beside(hostile))
    assert measured(rows, "rks") == measured(rows_of("[rks]"), "rks")
    assert len(measured(rows, "rks")) == 4
    for row in measured(rows, "hostile").values():
        assert row["status"] == "failed"
        assert "read-only" in row["message"]


def test_writing_to_read_only_rows_fails_the_trial_and_ends_its_process(rows_of):
    rows = rows_of("[{class: 'hostile.py:ForcesRows', label: hostile}]", "M=4")
    for row in rows:
        assert row["status"] == "failed"
        assert "changed the prepared rows" in row["message"]
        assert row[RAN_USER_CODE]
        assert "error" not in row
    other = rows_of("[{class: 'hostile.py:ForcesRows', label: hostile}]", "M=8")
    assert not any(RAN_USER_CODE in row or row["status"] != "ok" for row in other)


@pytest.mark.parametrize("hostile", ["ColumnsFollowRows", "MoreColumnsForTestRows"])
@pytest.mark.parametrize("solver", ["ridge", "{class: sklearn.svm.LinearSVC}"])
def test_wrong_number_of_columns_is_a_failed_row_with_a_message(rows_of, hostile, solver):
    rows = rows_of(beside(hostile), f"solver={solver}")
    assert measured(rows, "rks") == measured(rows_of("[rks]", f"solver={solver}"), "rks")
    assert {row["status"] for row in measured(rows, "rks").values()} == {"ok"}
    for row in measured(rows, "hostile").values():
        assert row["status"] == "failed"
        assert "columns" in row["message"]
        assert "traceback" not in row


def test_row_of_code_with_global_state_depends_on_earlier_trials(rows_of, monkeypatch):
    """The limit of the claim that rows do not depend on `--jobs`; the documentation states it."""
    monkeypatch.setattr(sys, "n_fits", 0, raising=False)
    first, again = (measured(rows_of(beside("KeepsState")), "hostile") for _ in range(2))
    assert first.keys() == again.keys()
    assert first != again
    readme = Path(fanout.__file__).with_name("README.md").read_text()
    assert "User code that changes global state of its process" in " ".join(readme.split())
