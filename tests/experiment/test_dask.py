"""Workers of dask: a scheduler with two of them on the loopback interface."""

import os
import signal
from unittest import mock

import pytest

from rfbench.errors import ExecutorError
from rfbench.experiment import fanout, runner
from rfbench.experiment.run_plan import plan_run
from tests.support.command_line import call
from tests.support.nightly import nightly
from tests.support.runs import rows_of, without_times

from .conftest import SMALL

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def cluster():
    words = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    # It sets variables of this process, which later workers would start with.
    with mock.patch.dict(os.environ), distributed.LocalCluster(**words) as found:
        yield found


def pids(cluster):
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        return set(client.run(os.getpid).values())


def run(plan, cluster, **keywords):
    workers, client = fanout.find_executor(f"dask:{cluster.scheduler_address}")
    assert workers == 2
    return runner.run_plan(plan, n_jobs=workers, client=client, **keywords)


def test_dask_rows_equal_local_rows_even_if_a_worker_is_killed(
    experiment_of, tmp_path, cluster, finished
):
    plan = plan_run([experiment_of()], tmp_path / "r")
    victims = iter(pids(cluster))

    def kill(row):
        if len(rows_of(plan.folder)) == 2:
            os.kill(next(victims), signal.SIGKILL)

    summary = run(plan, cluster, on_row=kill)
    assert (summary.done, summary.failed, summary.left) == (8, 0, 0)
    assert next(victims, None) is not None  # one of two
    assert without_times(plan.folder) == without_times(finished)
    assert {row["workers"] for row in rows_of(plan.folder)} == {"2"}


@pytest.mark.parametrize(
    ("threads", "jobs", "late"), [(1, None, True), (1, None, False), (3, 1, False)]
)
def test_worker_that_joins_late_runs_one_trial_at_a_time(
    experiment_of, tmp_path, monkeypatch, threads, jobs, late
):
    ran_on, take = [], fanout.acquire_worker

    def taken(code):
        ran_on.append(distributed.get_worker().address)  # ValueError if this is no worker
        return take(code)

    monkeypatch.setattr(fanout, "acquire_worker", taken)
    plan = plan_run([experiment_of(SMALL, "trials=1")], tmp_path / "r")
    words = {"threads_per_worker": threads, "dashboard_address": ":0", "protocol": "tcp://"}
    with distributed.LocalCluster(processes=False, n_workers=int(not late), **words) as own:
        workers, client = fanout.find_executor(f"dask:{own.scheduler_address}", jobs)
        own.scale(1)
        summary = runner.run_plan(plan, n_jobs=workers, client=client)
    assert workers == 1
    assert (summary.done, summary.failed, len(ran_on)) == (4, 0, 4)


@pytest.mark.parametrize("older", [False, True])
def test_rows_of_workers_with_other_code_are_rejected(experiment_of, tmp_path, cluster, older):
    def change():
        from rfbench import source
        from rfbench.experiment import fanout

        source.before, fanout.before = source.hash_code, fanout.run_pickled_job
        if older:  # its code asks for no hash
            fanout.run_pickled_job = lambda here, content: [{"trial_id": "1", "status": "ok"}]
        else:
            source.hash_code = lambda: "another hash"

    def undo():
        from rfbench import source
        from rfbench.experiment import fanout

        source.hash_code, fanout.run_pickled_job = source.before, fanout.before

    plan = plan_run([experiment_of()], tmp_path / "r")
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        client.run(change)
        try:
            with pytest.raises(ExecutorError, match="unknown" if older else "another hash in /"):
                run(plan, cluster)
        finally:
            client.run(undo)
    assert not (plan.folder / "trials.csv").exists() or rows_of(plan.folder) == []


@nightly
def test_run_resumes_with_a_new_scheduler(experiment_of, tmp_path, cluster):
    plan = plan_run([experiment_of(SMALL, "trials=10")], tmp_path / "r")
    words = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(processes=False, protocol="tcp://", **words) as own:

        def stop(row):
            if len(rows_of(plan.folder)) == 4:
                own.close()

        with pytest.raises(ExecutorError):
            run(plan, own, on_row=stop)
    found = len(rows_of(plan.folder))
    assert 4 <= found < 40
    summary = run(plan, cluster)
    assert (summary.found, summary.done, summary.failed) == (found, 40 - found, 0)
    assert len({row["trial_id"] for row in rows_of(plan.folder)}) == len(rows_of(plan.folder)) == 40


@nightly
def test_command_line_runs_on_a_dask_scheduler(tmp_path, cluster, no_pictures):
    path = tmp_path / "tiny.yaml"
    path.write_text(SMALL)
    words = ("run", path, "--out", tmp_path, "--trials", "1")
    said = call(*words, "--executor", f"dask:{cluster.scheduler_address}")
    assert "4 run, 0 failed" in said
    assert "4 measured before" in call(*words)
