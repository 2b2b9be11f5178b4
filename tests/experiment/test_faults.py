import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from rfbench.errors import ResultsError
from rfbench.experiment import runner
from rfbench.experiment.context import Context
from rfbench.experiment.executors import LocalExecutor
from rfbench.experiment.journal import Journal
from rfbench.experiment.plan import jobs
from rfbench.experiment.run_plan import plan_run
from rfbench.experiment.trial import run_trial
from rfbench.experiment.worker import Limits
from rfbench.results.store import Store
from tests.support.runs import FAULTY, command, descendants, rows_of

from .conftest import SMALL

NIGHTLY = bool(os.environ.get("RFBENCH_NIGHTLY"))
KILLS = 50 if NIGHTLY else 5


def without_times(folder):
    kept = [
        {
            k: v
            for k, v in row.items()
            if not k.startswith(("t_", "cpu_", "peak_rss_mb", "workers", "check"))
        }
        for row in rows_of(folder)
    ]
    return sorted(kept, key=lambda row: row["trial_id"])


def faulty(fault):
    own = f"- {{class: '{FAULTY}:Faulty', label: faulty, fault: {fault}}}"
    return SMALL.replace("- rks", own)


@pytest.mark.parametrize(
    ("fault", "status", "message"),
    [
        ("raise", "failed", "ZeroDivisionError: on purpose"),
        ("segfault", "crashed", "Segmentation fault"),
        ("exit", "crashed", "worker"),
        ("sleep", "timeout", "longer than --timeout"),
        ("memory", "memory", "memory"),
    ],
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fault_costs_its_own_trial_and_no_other(
    experiment_of, tmp_path, fault, status, message, n_jobs
):
    experiment = experiment_of(faulty(fault), "trials=1", allow_imports=True)
    work = plan_run([experiment], tmp_path / "r")
    timeout = 3.0 if fault == "sleep" else None
    memory = 2**30 if fault == "memory" else None
    summary = runner.run(work, n_jobs=n_jobs, limits=Limits(memory, timeout))
    rows = {(row["label"], row["M"]): row for row in rows_of(tmp_path / "r")}
    assert len(rows) == 4
    assert {k: r["status"] for k, r in rows.items() if r["status"] != "ok"} == {
        ("faulty", "8"): status
    }
    assert message in rows["faulty", "8"]["message"]
    assert (summary.done, summary.failed) == (4, 1)
    assert (tmp_path / "r" / "failures").exists() or status == "memory"
    assert not (tmp_path / "r" / ".unfinished").exists()


def test_failed_trials_are_repeated_on_request_only(experiment_of, tmp_path):
    experiment = experiment_of(faulty("raise"), "trials=1", allow_imports=True)
    work = plan_run([experiment], tmp_path / "r")
    assert runner.run(work).failed == 1
    assert runner.run(work).done == 0
    again = runner.run(work, retry=["failed"])
    assert (again.done, again.failed) == (1, 1)
    assert runner.run(work, retry=["crashed"]).done == 0


def test_fail_fast_begins_nothing_more(experiment_of, tmp_path):
    experiment = experiment_of(faulty("raise"), "trials=20", allow_imports=True)
    summary = runner.run(plan_run([experiment], tmp_path / "r"), fail_fast=True)
    assert summary.failed >= 1
    assert summary.left > 0


LONG = SMALL.replace("trials: 2", "trials: 6").replace("n_train: 120", "n_train: 2500")


def start(path, out):
    words = command(path, out, "--jobs", "2")
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def left_behind(process):
    """Return the temporary files and shared memory of a run, whose names have its number."""
    places = [Path("/dev/shm"), Path(tempfile.gettempdir())]
    kinds = re.compile(rf"(sem\.loky|loky|joblib|rfbench|psm)\D.*\b{process.pid}\b")
    found = [p for place in places if place.is_dir() for p in place.iterdir()]
    return [p for p in found if kinds.search(p.name.replace("_", "-"))]


def wait_until(met, seconds=60.0):
    limit = time.monotonic() + seconds
    while not met() and time.monotonic() < limit:
        time.sleep(0.02)


def test_killed_at_random_moments_no_row_is_lost_or_doubled(experiment_of, tmp_path):
    experiment = experiment_of(LONG.replace("trials: 6", "trials: 40"), name="long")
    path = tmp_path / "long.yaml"
    runner.run(plan_run([experiment], tmp_path / "whole"), n_jobs=2)
    expected = without_times(tmp_path / "whole")
    moments = random.Random(0)
    folder = tmp_path / "out" / "long"
    kept = []
    seen = 0
    for _ in range(KILLS):
        process = start(path, tmp_path / "out")
        wait_until(lambda process=process: left_behind(process) or process.poll() is not None)
        limit = time.monotonic() + moments.uniform(0.0, 3.0)
        while time.monotonic() < limit and process.poll() is None:
            time.sleep(0.02)
        workers = descendants(process)
        seen += len(left_behind(process))
        process.kill()
        process.wait()
        _, alive = psutil.wait_procs(workers, timeout=10)
        assert not alive
        wait_until(lambda process=process: not left_behind(process), 10.0)
        assert left_behind(process) == []
        if (folder / "trials.csv").exists():
            Store(folder).done()
            now = [row["trial_id"] for row in rows_of(folder)]
            assert now[: len(kept)] == kept
            kept = now
    assert seen > 0  # there was something to leave behind
    summary = runner.run(plan_run([experiment], folder), n_jobs=2)
    assert summary.done + summary.found == len(expected)
    assert without_times(folder) == expected


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_stops_after_the_trials_in_flight(experiment_of, tmp_path, number):
    experiment_of(LONG.replace("trials: 6", "trials: 400"), name="long")
    folder = tmp_path / "out" / "long"
    process = start(tmp_path / "long.yaml", tmp_path / "out")
    limit = time.monotonic() + 60
    while not (folder / "trials.csv").exists() and time.monotonic() < limit:
        time.sleep(0.05)
    workers = descendants(process)
    process.send_signal(number)
    assert process.wait(timeout=60) == 1
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert not alive
    rows = rows_of(folder)
    assert 0 < len(rows) < 1600
    assert {row["status"] for row in rows} == {"ok"}
    assert not (folder / ".unfinished").exists()


def test_two_signals_stop_now_and_leave_a_note_of_what_was_cut_off(experiment_of, tmp_path):
    slow = LONG.replace("- rks", f"- {{class: '{FAULTY}:Faulty', label: faulty, fault: sleep}}")
    experiment_of(slow, name="long", allow_imports=True)
    words = command(tmp_path / "long.yaml", tmp_path / "out", "--jobs", "2", "--allow-imports")
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    unfinished = tmp_path / "out" / "long" / ".unfinished"
    limit = time.monotonic() + 60
    while not any(f.stat().st_size for f in unfinished.glob("*.jsonl")):
        assert time.monotonic() < limit
        time.sleep(0.05)
    time.sleep(0.5)
    workers = descendants(process)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, message = process.communicate(timeout=30)
    assert process.returncode != 0
    assert "Traceback" not in message
    _, alive = psutil.wait_procs(workers, timeout=10)
    assert not alive
    notes = [Journal(path).read() for path in unfinished.iterdir()]
    assert [rows for rows, _ in notes] == [[]] * len(notes)
    assert 1 <= len({begun for _, begun in notes}) <= 2


def test_a_second_run_on_the_same_folder_is_refused_and_names_the_first(experiment_of, tmp_path):
    work = plan_run([experiment_of()], tmp_path / "r")
    with (
        Store(tmp_path / "r").lock(),
        pytest.raises(ResultsError, match=f"process {os.getpid()}, since"),
    ):
        runner.run(work)
    assert runner.run(work).done == 8


def test_a_dead_process_keeps_no_lock(tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from rfbench.results.store import Store\n"
        "with Store(Path(sys.argv[1])).lock(): os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    with Store(tmp_path).lock():
        assert "process" in (tmp_path / ".owner").read_text()


def test_rows_of_a_job_that_was_cut_off_are_rescued(experiment_of, tmp_path):
    work = plan_run([experiment_of()], tmp_path / "r")
    job = jobs(work.trials)[0]
    with Journal.open(tmp_path / "r", job) as journal:
        journal.begin(job.trials[0].id)
        journal.add(run_trial(job.trials[0], Context())[0])
        journal.begin(job.trials[1].id)
    with Journal.of(tmp_path / "r", job).path.open("a") as file:
        file.write('{"row": {"trial_id": "torn')
    summary = runner.run(work)
    assert (summary.found, summary.done) == (1, 7)
    assert len({row["trial_id"] for row in rows_of(tmp_path / "r")}) == 8


@pytest.mark.parametrize("fault", ["kill the run", "terminate the run"])
def test_a_trial_that_ends_the_run_itself_costs_no_other_in_the_next(
    experiment_of, tmp_path, fault
):
    """It is met first, then last and alone; both times it ends the run."""
    experiment_of(faulty(fault), "trials=1", name="long", allow_imports=True)
    words = command(tmp_path / "long.yaml", tmp_path / "out", "--jobs", "1", "--allow-imports")
    folder = tmp_path / "out" / "long"
    for _ in range(2):
        process = subprocess.run(words, capture_output=True, check=False, timeout=120)
        assert process.returncode != 0
    measured = {("faulty", "4"), ("eerf", "4"), ("eerf", "8")}
    assert {(row["label"], row["M"]) for row in rows_of(folder)} == measured


def test_trials_that_had_begun_when_a_run_was_cut_off_run_last_and_alone(
    experiment_of, tmp_path, monkeypatch
):
    folder = tmp_path / "r"
    work = plan_run([experiment_of()], folder)
    begun, other = jobs(work.trials, 2)[:2]
    for job in (begun, other):
        with Journal.open(folder, job) as journal:
            journal.begin(job.trials[0].id)
    gathered = []
    rows = LocalExecutor.rows

    def note(executor, jobs):
        gathered.append([[trial.id for trial in job.trials] for job in jobs])
        yield from rows(executor, jobs)

    monkeypatch.setattr(LocalExecutor, "rows", note)
    assert runner.run(work, n_jobs=2).done == 8
    last = {begun.trials[0].id, other.trials[0].id}
    assert [len(each) for each in gathered[1:]] == [1, 1]
    assert {trial for each in gathered[1:] for (trial,) in each} == last
    assert last.isdisjoint(trial for job in gathered[0] for trial in job)
    assert not (folder / ".unfinished").exists()


def test_a_full_disk_keeps_the_earlier_rows(experiment_of, tmp_path):
    experiment = experiment_of(name="tiny")
    path, folder = tmp_path / "tiny.yaml", tmp_path / "out" / "tiny"
    plan_run([experiment], folder)
    words = command(path, tmp_path / "out", "--jobs", "1")
    code = f"""
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3500, 3500))
from rfbench.cli import main
sys.argv = ["rfbench", *{words[3:]!r}]
main()
"""
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert found.returncode == 1, found.stderr
    assert "could not" in found.stderr
    assert "File too large" in found.stderr
    assert "Traceback" not in found.stderr
    kept = len(rows_of(folder)) if (folder / "trials.csv").exists() else 0
    summary = runner.run(plan_run([experiment], folder))
    assert summary.found >= kept
    assert summary.found + summary.done == 8
    assert len({row["trial_id"] for row in rows_of(folder)}) == len(rows_of(folder)) == 8
