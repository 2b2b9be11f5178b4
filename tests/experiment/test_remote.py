"""Workers on other machines: a dask scheduler with two workers on the loopback interface."""

import os
import shutil
import signal
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from rfbench import datasets
from rfbench.datasets import own, packed
from rfbench.errors import ConfigError, DataError, ExecutorError, MethodError
from rfbench.experiment import clusters, remote, runner
from rfbench.experiment.plan import jobs
from rfbench.experiment.run_plan import plan_run
from rfbench.experiment.worker import Limits
from tests.support.command_line import call
from tests.support.runs import FAULTY, rows_of, wait_until, without_times

from .conftest import SLEEPER, SMALL

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as found:
        yield found


def pids(cluster):
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        return set(client.run(os.getpid).values())


def run(plan, cluster, **keywords):
    return runner.run(plan, executor=clusters.find(f"dask:{cluster.scheduler_address}"), **keywords)


FAULTS = {"exit": "crashed", "memory": "memory"}


def test_rows_are_the_local_ones_and_a_fault_costs_its_trial(
    experiment_of, tmp_path, cluster, monkeypatch
):
    """The code of a class travels: the folder of the configuration is not the workers'."""
    (tmp_path / "mine.py").write_text(FAULTY.read_text())
    methods = "".join(
        f"  - {{class: 'mine.py:Faulty', label: {name}, fault: {name}}}\n" for name in FAULTS
    )
    experiment = experiment_of(
        SMALL.replace("solver:", methods + "solver:"), "trials=1", allow_imports=True
    )
    local, far = (plan_run([experiment], tmp_path / name) for name in ("local", "far"))
    before = pids(cluster)
    limits = Limits(memory=2 * 2**30)
    assert runner.run(local, limits=limits).failed == len(FAULTS)
    assert run(far, cluster, limits=limits).failed == len(FAULTS)
    assert pids(cluster) == before  # no worker was lost
    for folder in (local.folder, far.folder):
        bad = {(r["label"], r["M"]): r["status"] for r in rows_of(folder) if r["status"] != "ok"}
        assert bad == {(name, "8"): status for name, status in FAULTS.items()}
    assert _comparable(far.folder) == _comparable(local.folder)
    assert run(far, cluster).done == 0


def test_a_trial_that_takes_too_long_ends_and_its_worker_does_not(experiment_of, tmp_path, cluster):
    plan, before = plan_run([experiment_of(SLEEPER, allow_imports=True)], tmp_path), pids(cluster)
    assert run(plan, cluster, limits=Limits(timeout=0.5)).failed == 1
    assert [row["status"] for row in rows_of(plan.folder)] == ["timeout"]
    assert pids(cluster) == before


def _comparable(folder):
    """Return rows without the message of a crash, which names a line of a thread's stack."""
    return [row | {"message": ""} for row in without_times(folder)]


def test_a_worker_that_is_killed_costs_no_row(experiment_of, tmp_path, cluster):
    plan = plan_run([experiment_of(SMALL, "trials=10")], tmp_path / "r")
    victims = iter(pids(cluster))

    def kill(row):
        if len(rows_of(plan.folder)) == 4:
            os.kill(next(victims), signal.SIGKILL)

    summary = run(plan, cluster, on_row=kill)
    assert (summary.done, summary.failed, summary.left) == (40, 0, 0)
    assert next(victims, None) is not None  # one of two
    rows = rows_of(plan.folder)
    assert len(rows) == len({row["trial_id"] for row in rows}) == 40


def test_a_scheduler_that_is_gone_ends_the_run_and_another_one_goes_on(
    experiment_of, tmp_path, cluster
):
    plan = plan_run([experiment_of(SMALL, "trials=10")], tmp_path / "r")
    words = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(processes=False, protocol="tcp://", **words) as own:

        def stop(row):
            if len(rows_of(plan.folder)) == 4:
                own.close()

        with pytest.raises(ExecutorError, match="scheduler"):
            run(plan, own, on_row=stop)
    found = len(rows_of(plan.folder))
    assert 4 <= found < 40
    summary = run(plan, cluster)
    assert (summary.found, summary.done, summary.failed) == (found, 40 - found, 0)
    assert len({row["trial_id"] for row in rows_of(plan.folder)}) == len(rows_of(plan.folder)) == 40


def test_parts_of_a_problem_are_done_by_the_workers(experiment_of, tmp_path, cluster, monkeypatch):
    experiment = experiment_of(SMALL, "solver.partitions=3", "trials=1")
    near, far = (plan_run([experiment], tmp_path / name) for name in ("near", "far"))
    assert runner.run(near, n_jobs=2).failed == run(far, cluster).failed == 0
    assert without_times(far.folder) == without_times(near.folder)
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        done = client.run(lambda: sys.modules["rfbench.experiment.trial"].warm_up.cache_info())
    assert sum(found.misses for found in done.values()) > 0


def at_work():
    return any(remote._running.values())


def test_a_run_that_is_cut_off_leaves_no_trial_at_work(experiment_of, tmp_path, cluster):
    own = f"- {{class: '{FAULTY}:Faulty', label: f, fault: sleep, at: 4}}"
    experiment = experiment_of(SMALL.replace("- rks", own), "trials=1", allow_imports=True)

    def cut(row):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(plan_run([experiment], tmp_path), cluster, on_row=cut)
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        wait_until(lambda: not any(client.run(at_work).values()))


def test_on_the_command_line(tmp_path, cluster, no_pictures):
    path = tmp_path / "tiny.yaml"
    path.write_text(SMALL)
    words = ("run", path, "--out", tmp_path, "--trials", "1")
    said = call(*words, "--executor", f"dask:{cluster.scheduler_address}")
    assert "4 run, 0 failed" in said
    assert {row["workers"] for row in rows_of(tmp_path / "tiny")} == {"2"}
    assert "4 were there already" in call(*words)


def test_rows_of_the_user_travel_to_a_worker_that_lacks_them(experiment_of, tmp_path, cluster):
    """The workers have another data folder, and the file is gone when they look for it."""
    path, folder = tmp_path / "mine.csv", tmp_path / "elsewhere" / "data"
    folder.mkdir(parents=True)
    path.write_text(own_file())
    near, far = (plan_run([experiment_of(OWN, "trials=3")], tmp_path / n) for n in ("near", "far"))
    assert runner.run(near).failed == 0
    path.unlink()
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        (before,) = set(client.run(os.getcwd).values())
        client.run(os.chdir, str(folder.parent))
        try:
            assert run(far, cluster).failed == 0
        finally:
            client.run(os.chdir, before)
    assert len(list((folder / "cache").glob("own-*"))) == 1
    assert without_times(far.folder) == without_times(near.folder)


# What a worker does, with no process but the children.

OWN = SMALL.replace(
    "{sphere: {d: 3, n_train: 120, n_test: 60}}\n",
    "{file: mine.csv, target: y}\nsplit: {test_size: 0.3}\n",
)


def own_file(skip=0):
    lines = [f"{k % 5},{k % 3}.5,{k}.0" for k in range(skip, 40)]
    return "\n".join(["a,b,y", *lines])


@pytest.fixture
def job(experiment_of):
    return jobs(plan_run([experiment_of()], None).trials, 9)[0]


def do(job, rows=None, **versions):
    return remote.do_remotely("run", job, Limits(), remote.versions() | versions, {}, rows)


def test_another_version_is_refused(job):
    for name in remote.versions():
        with pytest.raises(ExecutorError, match=f"{name} .* 0.0.0"):
            do(job, **{name: "0.0.0"})


def test_data_of_the_catalogue_that_a_worker_lacks_are_named(job, monkeypatch):
    monkeypatch.setattr(datasets, "data_sha256", lambda *args: "of another content")
    with pytest.raises(ExecutorError, match=r"has no sphere, .*\n?.*rfbench data fetch"):
        do(job)


@pytest.mark.parametrize("change", ["unlink", "other"])
def test_a_worker_asks_for_rows_that_it_lacks_and_keeps_them(
    experiment_of, tmp_path, monkeypatch, change
):
    path = tmp_path / "mine.csv"
    path.write_text(own_file())
    trials = plan_run([experiment_of(OWN)], None).trials
    job, spec = jobs(trials, 9)[0], trials[0].dataset
    _, rows, sha256 = own.read(spec.name, spec.parameters, spec.folder)
    monkeypatch.setattr(packed, "cache_folder", lambda: tmp_path / "worker")
    assert own.is_here(spec.name, spec.parameters, spec.folder, sha256)  # the file
    shutil.rmtree(tmp_path / "worker")
    path.write_text(own_file(skip=1))
    if change == "unlink":
        path.unlink()
    assert not own.is_here(spec.name, spec.parameters, spec.folder, sha256)
    assert do(job) is None
    own.keep(sha256, rows)
    _, kept, _ = own.read(spec.name, spec.parameters, spec.folder, sha256)
    assert (kept.X == rows.X).all()
    assert (kept.y == rows.y).all()


def test_rows_that_a_worker_cannot_keep_are_a_sentence(experiment_of, tmp_path, monkeypatch):
    (tmp_path / "mine.csv").write_text(own_file())
    spec = plan_run([experiment_of(OWN)], None).trials[0].dataset
    _, rows, sha256 = own.read(spec.name, spec.parameters, spec.folder)
    monkeypatch.setattr(packed, "cache_folder", lambda: tmp_path / "mine.csv")  # no folder
    with pytest.raises(DataError, match="cannot be kept"):
        own.keep(sha256, rows)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("nobody", ConfigError),
        ("dask:", ConfigError),
        ("dsk:1", ConfigError),
        ("ray", ConfigError),
        ("dsk:tcp://10.0.0.1:8786", ConfigError),
        ("dask:no-scheme://x", ExecutorError),
        ("nowhere:factory", MethodError),
    ],
)
def test_what_is_no_executor_is_refused(text, error):
    with pytest.raises(error):
        clusters.find(text, allow_imports=True)


def test_any_executor_of_concurrent_futures(experiment_of, tmp_path, monkeypatch):
    path = tmp_path / "mine.py"
    path.write_text("from concurrent.futures import ThreadPoolExecutor\n"
                    "def make(): return ThreadPoolExecutor(2)\n")  # fmt: skip
    with pytest.raises(MethodError, match="--allow-imports"):
        clusters.find(f"{path}:make")
    executor = clusters.find(f"{path}:make", allow_imports=True)
    assert executor.workers() == 2
    plan = plan_run([experiment_of(SMALL, "trials=1")], tmp_path / "r")
    assert runner.run(plan, executor=executor).done == 4


class FakeRay(ModuleType):
    """The few names of ray that the page on runs uses, with a thread per CPU."""

    def __init__(self):
        super().__init__("ray")
        self.pool, self.calls = None, 0

    def init(self):
        self.pool = ThreadPoolExecutor(3)

    def cluster_resources(self):
        return {"CPU": 3.0, "memory": 1e9}

    def remote(self, function):
        def submit(*args):
            self.calls += 1
            future = self.pool.submit(function, *args)
            return SimpleNamespace(future=lambda: future)  # of an ObjectRef

        return SimpleNamespace(remote=submit)

    def shutdown(self):
        self.pool.shutdown(cancel_futures=True)
        self.pool = None


def test_the_executor_of_ray_that_the_page_shows(experiment_of, tmp_path, monkeypatch):
    page = (Path(runner.__file__).parent / "README.md").read_text(encoding="utf-8")
    shown = page.partition("`rays.py` may be:\n\n")[2].partition("\n\nand then")[0]
    (tmp_path / "rays.py").write_text(textwrap.dedent(shown))
    ray = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.chdir(tmp_path)
    plans = {name: plan_run([experiment_of(SMALL)], tmp_path / name) for name in ("r", "local")}
    executor = clusters.find("rays.py:Ray", allow_imports=True)
    assert executor.workers() == 3
    assert runner.run(plans["r"], executor=executor).failed == 0
    assert ray.calls > 1
    assert ray.pool is None
    runner.run(plans["local"], n_jobs=1)
    assert without_times(tmp_path / "r") == without_times(tmp_path / "local")
