"""Parts of a run, as a job array has them."""

import os
import subprocess

import pytest

from rfbench import results
from rfbench.experiment import runner
from rfbench.experiment.run_plan import plan_run
from rfbench.results.maintenance import merge, started, status_of
from tests.support.command_line import call
from tests.support.runs import rows_of, without_times

from .conftest import SMALL


@pytest.mark.parametrize("count", [1, 3, 8, 100])
@pytest.mark.parametrize("timing", ["shared", "isolated"])
def test_the_parts_are_disjoint_make_the_whole_and_are_alike_in_size(
    experiment_of, tmp_path, count, timing
):
    plan = plan_run([experiment_of(SMALL, "trials=10", f"timing={timing}")], tmp_path)
    parts = [plan.shard(k + 1, count) for k in range(count)]
    found = [trial.id for part in parts for trial in part.trials]
    assert sorted(found) == sorted(trial.id for trial in plan.trials)
    sizes = [len(part.trials) for part in parts]
    work = len(plan.trials) // 10 if count <= 3 else 2  # the trials of one job
    assert max(sizes) - min(sizes) <= work
    assert len({part.folder for part in parts}) == count
    assert [p.trials for p in parts] == [plan.shard(k + 1, count).trials for k in range(count)]


def test_merged_shards_have_the_rows_of_one_run(experiment_of, tmp_path, finished):
    plan = plan_run([experiment_of()], tmp_path / "tiny")
    runner.run(plan.shard(1, 2))
    found = status_of(tmp_path / "tiny")
    assert (found.planned, found.missing, found.counts) == (8, 4, {"ok": 4})
    assert started([tmp_path, finished]) == sorted([tmp_path / "tiny", finished])
    runner.run(plan.shard(2, 2))
    assert status_of(tmp_path / "tiny").missing == 0
    assert merge(tmp_path / "tiny", []).added == 8
    assert without_times(tmp_path / "tiny") == without_times(finished)
    assert merge(tmp_path / "tiny", []).added == 0
    assert results.find([tmp_path]) == [tmp_path / "tiny"]
    # Merged rows count as done, in other parts as well.
    assert runner.run(plan.shard(1, 4)).done == 0


@pytest.mark.parametrize("shard", ["0/3", "4/3", "3", "a/b", "-1/3"])
def test_what_is_no_shard_is_refused(tmp_path, shard):
    path = tmp_path / "tiny.yaml"
    path.write_text(SMALL)
    assert "3/20" in call("run", path, f"--shard={shard}", code=2)


SBATCH = """\
#!/bin/sh
n=$(ls "$(dirname "$0")" | grep -c job || true)
cat > "$(dirname "$0")/job$n"
echo "$@" > "$(dirname "$0")/words$n"
echo 42
"""


def test_the_script_for_slurm_submits_parts_that_merge(tmp_path, no_pictures):
    """`sbatch` and `rfbench` are stand-ins that keep what they are given, which is run here."""
    path, out, bin = tmp_path / "tiny.yaml", tmp_path / "out", tmp_path / "bin"
    path.write_text(SMALL)
    bin.mkdir()
    (bin / "sbatch").write_text(SBATCH)
    (bin / "rfbench").write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {bin}/said\n")
    for file in bin.iterdir():
        file.chmod(0o755)
    environment = os.environ | {"PATH": f"{bin}:{os.environ['PATH']}"}
    words = ("slurm", path, "--shards", "2", "--out", out, "--trials", "1", "--sbatch", "--time=9")
    subprocess.run(["sh"], input=call(*words), text=True, env=environment, check=True)
    assert "--time=9" in (bin / "words0").read_text()
    assert "--dependency=afterany:42" in (bin / "words1").read_text()
    for job, part in (("job0", 1), ("job0", 2), ("job1", 0)):
        task = environment | {"SLURM_ARRAY_TASK_ID": str(part)}
        subprocess.run(["sh", bin / job], env=task, check=True)
        call(*(bin / "said").read_text().splitlines())
    assert len(rows_of(out / "tiny")) == 4
