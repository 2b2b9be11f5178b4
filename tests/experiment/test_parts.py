"""Trials whose rows are parted: led by a process of this machine, done by the workers."""

import pytest

from rfbench.errors import ExecutorError
from rfbench.experiment import children, parts, remote, runner
from rfbench.experiment.run_plan import plan_run
from tests.support.runs import rows_of, without_times

from .conftest import SMALL


@pytest.mark.parametrize("solver", ["ridge", "ridge, timing: isolated"])
def test_rows_are_the_same_on_any_number_of_workers(experiment_of, tmp_path, solver):
    overrides = ["timing=isolated"] if "isolated" in solver else []
    plans = {}
    for name, workers, more in (
        ("one", 1, ["solver.partitions=5"]),
        ("two", 2, ["solver.partitions=5"]),
        ("whole", 1, []),
    ):
        experiment = experiment_of(SMALL, "trials=1", *overrides, *more)
        plans[name] = plan_run([experiment], tmp_path / name)
        assert runner.run(plans[name], n_jobs=workers).failed == 0
    rows = {name: without_times(tmp_path / name) for name in plans}
    assert rows["one"] == rows["two"]
    assert {row["message"] for row in rows["one"]} == {""}  # no trial left a thread behind
    assert {row["workers"] for row in rows_of(tmp_path / "two")} == {"2"}
    for part, whole in zip(*(sorted(rows[n], key=lambda r: (r["label"], r["M"]))
                             for n in ("one", "whole")), strict=True):  # fmt: skip
        assert part["trial_id"] != whole["trial_id"]
        assert float(part["rmse"]) == pytest.approx(float(whole["rmse"]), rel=1e-10)


def die():
    children.end()


def test_a_worker_that_is_lost_is_a_sentence():
    with pytest.raises(ExecutorError, match="lost"):
        parts.OnWorkers("local", 2)([die, int, int], lambda left, right: left + right)


def test_a_worker_of_another_version_does_no_part():
    wanted = remote.versions()
    assert parts.do_part(wanted, 1, int) == 0
    with pytest.raises(ExecutorError, match="numpy"):
        parts.do_part(wanted | {"numpy": "0"}, 1, int)
