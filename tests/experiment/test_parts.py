"""Trials whose rows are parted, on this machine; for other workers see test_remote.py."""

import pytest

from rfbench.experiment import runner
from rfbench.experiment.run_plan import plan_run
from tests.support.runs import without_times

from .conftest import SMALL


@pytest.mark.parametrize("solver", ["ridge", "ridge, timing: isolated"])
def test_rows_are_those_of_the_whole(experiment_of, tmp_path, solver):
    overrides = ["timing=isolated"] if "isolated" in solver else []
    plans = {}
    for name, more in (("parted", ["solver.partitions=5"]), ("whole", [])):
        experiment = experiment_of(SMALL, "trials=1", *overrides, *more)
        plans[name] = plan_run([experiment], tmp_path / name)
        assert runner.run(plans[name], n_jobs=2).failed == 0
    rows = {name: without_times(tmp_path / name) for name in plans}
    for part, whole in zip(*(sorted(rows[n], key=lambda r: (r["label"], r["M"]))
                             for n in ("parted", "whole")), strict=True):  # fmt: skip
        assert part["trial_id"] != whole["trial_id"]
        assert float(part["rmse"]) == pytest.approx(float(whole["rmse"]), rel=1e-10)
