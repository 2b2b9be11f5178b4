"""Who is to blame when a child dies, and what becomes of the other trials.

The children here are small programs that speak as `rfbench.experiment.worker` does and measure
nothing, so that one starts in a moment.
"""

import errno
import os
import signal
import sys

import psutil
import pytest

from rfbench.api import read_config
from rfbench.errors import ConfigError, ExecutorError, WriteError
from rfbench.experiment import fanout, runner, worker, worker_process
from rfbench.experiment.fanout import FanOut
from rfbench.experiment.plan import Job, list_known_columns
from rfbench.experiment.run_plan import plan_run
from rfbench.experiment.worker import Limits
from rfbench.results.manifest import MEASURING
from rfbench.results.store import BEGUN, Store
from tests.support.runs import FAULTY, end_idle, wait_until

from .conftest import SMALL

CHILD = """
import json, os, pickletools, signal, sys, time
class Pipe:  # which cannot tell where it is
    read, readline = sys.stdin.buffer.read, sys.stdin.buffer.readline
def order():
    return [code.name for code, *_ in pickletools.genops(Pipe)]
def say(row):
    print(json.dumps(row), flush=True)
say({})
while found := order():
    if len(found) > 3:  # a trial; None ends a job
        trial = open(%(now)r).read()
        row = {"trial_id": trial, "status": "ok"}
        exec(%(acts)r.get(trial, ""))
        say(row)
"""
FORK = "if os.fork() == 0: time.sleep(600); os._exit(0)\n"


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    """Eight trials."""

    path = tmp_path_factory.mktemp("trials") / "tiny.yaml"
    path.write_text(SMALL)
    return plan_run([read_config(path)], None).trials


class Run:
    """A fan-out over one child at a time that does what `acts` says in a trial, by its identity."""

    def __init__(self, folder, monkeypatch):
        self.now = folder / "now"
        self.events, self.rows, self.starts, self.patch = [], {}, [], monkeypatch
        popen = worker_process.subprocess.Popen

        def start(*args, **keywords):
            self.starts.append(popen(*args, **keywords))
            return self.starts[-1]

        monkeypatch.setattr(worker_process.subprocess, "Popen", start)
        self.made = FanOut(self.record, Limits(), self.begin)

    def acts(self, **acts):
        text = CHILD % {"now": str(self.now), "acts": acts}
        self.patch.setattr(worker_process, "CHILD_CODE", text)

    def begin(self, trial_id):
        self.now.write_text(trial_id)
        self.events.append(("begun", trial_id))

    def record(self, row):
        self.events.append(("row", row["trial_id"]))
        self.rows[row["trial_id"]] = row

    def notes_what_begins(self):
        """See what a run of `runner` begins."""
        begin = Store.mark_started
        self.patch.setattr(
            Store, "mark_started", lambda *words: (self.begin(words[1]), begin(*words))
        )

    @property
    def statuses(self):
        return {trial_id: row["status"] for trial_id, row in self.rows.items()}

    def order(self):
        return [trial_id for what, trial_id in self.events if what == "begun"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    end_idle()
    made = Run(tmp_path, monkeypatch)
    made.acts()
    yield made
    end_idle()


def all_ok(trials, **others):
    return {trial.id: others.get(trial.id, "ok") for trial in trials}


def test_each_row_is_recorded_before_the_next_trial_starts(run, trials):
    for _ in range(3):
        assert run.made.run([Job(tuple(trials))]) == []
    once = [event for t in trials for event in (("begun", t.id), ("row", t.id))]
    assert run.events == once * 3
    assert len(run.starts) == 1


def test_three_runs_start_no_more_children_than_workers(run, trials):
    def instant(job, alone=False):
        child = worker_process.acquire_worker(job[0].code)
        run.made.record({"trial_id": job[0].id})
        worker_process.release_worker(child)
        return []

    run.patch.setattr(run.made, "run_job", instant)
    for _ in range(3):
        assert run.made.run([Job((t,)) for t in trials], n_jobs=2) == []
    assert len(run.starts) <= 2
    assert len(run.events) == 3 * 8


def test_child_that_exits_fails_its_trial_immediately(run, trials):
    guilty = trials[1].id
    run.acts(**{guilty: "os._exit(7)"})
    run.made.run([Job(tuple(trials))])
    assert run.statuses == all_ok(trials, **{guilty: "crashed"})
    assert "exit code 7" in run.rows[guilty]["message"]
    assert run.order() == [t.id for t in trials]
    assert len(run.starts) == 2


@pytest.mark.parametrize("again", [False, True])
def test_trial_whose_process_was_killed_is_repeated_last_and_alone(run, trials, tmp_path, again):
    suspect, once = trials[1].id, tmp_path / "once"
    kill = "os.kill(os.getpid(), signal.SIGKILL)"
    first = f"if not os.path.exists({str(once)!r}): open({str(once)!r}, 'w'); {kill}"
    run.acts(**{suspect: kill if again else first})
    assert run.made.run([Job(tuple(trials[:4])), Job(tuple(trials[4:]))]) == []
    assert run.statuses == all_ok(trials, **{suspect: "crashed"} if again else {})
    assert run.order() == [t.id for t in trials] + [suspect]
    assert not again or "signal 9" in run.rows[suspect]["message"]


def test_death_of_a_child_is_detected_despite_an_open_pipe(run, trials):
    guilty = trials[0].id
    run.acts(**{guilty: FORK + "os._exit(7)", trials[1].id: FORK + "row = []"})
    run.made.run([Job(tuple(trials))])
    assert run.statuses == all_ok(trials, **dict.fromkeys([guilty, trials[1].id], "crashed"))
    for child in run.starts[:2]:  # and the process that held it is gone
        wait_until(lambda group=child.pid: not members(group))


def members(group):
    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            pass
    return found


def test_timed_out_trial_is_not_a_crash(run, trials):
    guilty = trials[2].id
    run.made.limits = Limits(timeout=0.5)
    run.acts(**{guilty: f"os.write({'int(sys.argv[2])'}, b'where it was'); time.sleep(600)"})
    run.made.run([Job(tuple(trials))])
    statuses = run.statuses
    assert statuses[guilty] == "timeout"
    assert run.order().count(guilty) == 1
    assert run.rows[guilty]["traceback"] == "where it was"
    assert "exceeded its time limit of 0.5 s" in run.rows[guilty]["message"]


NO_ROW = "did not return a row of its trial"
NO_ROWS = {
    "row = 'ok'": NO_ROW,
    "row = {**row, 'status': 'fine'}": NO_ROW,
    "row = {**row, 'trial_id': 'another'}": NO_ROW,
    "print('{', flush=True); time.sleep(600)": NO_ROW,
    "print('[' * 100000, flush=True); time.sleep(600)": NO_ROW,
    "os.write(1, b'x' * 5000); time.sleep(600)": "closed its output",
    "os.close(1); time.sleep(600)": "closed its output",
}


@pytest.mark.parametrize("act", NO_ROWS)
def test_worker_with_invalid_answer_is_replaced_and_its_trial_crashed(run, trials, act):
    if "5000" in act:
        run.patch.setattr(worker_process, "LONGEST_ANSWER", 4000)
    run.acts(**{trials[0].id: act})
    run.made.run([Job(tuple(trials[:2]))])
    assert run.statuses == all_ok(trials[:2], **{trials[0].id: "crashed"})
    assert NO_ROWS[act] in run.rows[trials[0].id]["message"]
    assert len(run.starts) == 2


def test_user_code_that_changes_known_columns_counts_as_crashed(run, experiment_of):
    own = SMALL.replace("- rks", f"- {{class: '{FAULTY}:Faulty', label: own}}")
    plan = plan_run([experiment_of(own, "trials=1", "M=4", allow_imports=True)], None)
    (trial,) = (t for t in plan.trials if t.code)
    row = list_known_columns(trial) | {"status": "ok", "error": 1.5}
    run.acts(**{trial.id: f"row = {row!r}"})
    run.made.run([Job((trial,))])
    assert run.statuses == {trial.id: "ok"}
    run.acts(**{trial.id: f"row = {row | {'label': 'rks'}!r}"})
    end_idle()
    run.made.run([Job((trial,))])
    assert run.statuses == {trial.id: "crashed"}


def test_worker_process_that_ran_user_code_is_not_reused_for_other_code(run):
    def lent(code):
        worker_process.release_worker(child := worker_process.acquire_worker(code))
        return child

    first = lent("")
    assert lent("a.py:A") is first  # it had run nothing else
    assert lent("a.py:A") is first
    other, ours = lent("b.py:B"), lent("")
    assert len({first, other, ours}) == 3
    assert len(worker_process._idle) == 1  # there is one worker at a time
    os.kill(run.starts[-1].pid, signal.SIGKILL)
    wait_until(lambda: not ours.is_usable())
    assert lent("") is not ours  # an idle child that was killed costs nothing


def test_stopped_run_starts_no_trial_and_keeps_crashed_trials_for_later(run, trials):
    run.acts(**{trials[0].id: "os.kill(os.getpid(), signal.SIGSEGV)"})

    def begin(trial_id):
        run.begin(trial_id)
        run.made.stopping = True

    run.made.begin = begin
    assert run.made.run([Job(tuple(trials))], trials[5:6]) == [trials[5], trials[0]]
    assert run.order() == [trials[0].id]
    assert run.rows == {}


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("error", [WriteError("full"), KeyboardInterrupt()])
def test_exception_while_recording_a_row_ends_the_run_and_its_workers(run, trials, workers, error):
    def fail(row):
        raise error

    made = FanOut(fail, Limits(), run.begin)
    with pytest.raises(type(error)):
        made.run([Job((t,)) for t in trials], n_jobs=workers)
    assert not made.running
    end_idle()  # those that had begun nothing
    for child in run.starts:
        wait_until(lambda group=child.pid: not members(group))


def test_failure_to_start_a_process_or_worker_gives_one_sentence(run, trials, monkeypatch):
    run.patch.setattr(worker_process, "CHILD_CODE", "import os; os._exit(5)")
    with pytest.raises(ExecutorError, match="exit code 5"):
        run.made.run([Job(tuple(trials))])
    made = FanOut(run.record, Limits())

    def refuse(*args, **kwargs):
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(worker_process.subprocess, "Popen", refuse)
    with pytest.raises(ExecutorError, match="Resource temporarily"):
        made.run([Job(tuple(trials))])


def test_trials_interrupted_in_the_last_run_come_last(run, trials, tmp_path):
    plan = runner.RunPlan(tmp_path / "r", [trials[0].experiment], trials, trials)
    plan.folder.mkdir()
    (plan.folder / BEGUN).write_text(f"{trials[0].id}\n{trials[5].id}\nelsewhere\ncu")
    run.notes_what_begins()
    summary = runner.run_plan(plan)
    assert (summary.done, summary.failed, summary.left) == (8, 0, 0)
    assert run.order()[-2:] == [trials[0].id, trials[5].id]
    assert not (plan.folder / BEGUN).exists()


def test_stopped_run_stores_crashed_trials_for_the_next_run(run, trials, tmp_path):
    plan = runner.RunPlan(tmp_path / "r", [trials[0].experiment], trials, trials)
    plan.folder.mkdir()
    (plan.folder / BEGUN).write_text(trials[3].id)
    failed = {
        "status": "failed",
        "message": "on purpose",
        "label": "rks",
        "trial": 0,
        "dataset": "d",
    }
    run.acts(**{trials[0].id: f"row |= {failed!r}"})
    run.notes_what_begins()
    summary = runner.run_plan(plan, fail_fast=True)
    assert (summary.done, summary.failed, summary.left) == (1, 1, 7)
    assert Store(plan.folder).read_started() == {trials[3].id}


PARENT = """
import os, signal, subprocess, sys, time
CHILD = '''
import os, sys, time
from rfbench.experiment import worker
def serve(*words):
    os.fork()
    os.write(2, (str(os.getpid()) + os.linesep).encode())
    time.sleep(600)
worker._serve = serve
worker.main(int(sys.argv[1]), 2)
'''
words = [sys.executable, "-c", CHILD, str(os.getpid())]
child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, start_new_session=True)
for _ in range(2):
    print(int(child.stderr.readline()), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_child_and_its_descendants_end_with_the_parent():
    words = [sys.executable, "-c", PARENT]
    found = worker_process.subprocess.run(
        words, stdout=worker_process.subprocess.PIPE, text=True, check=False
    )
    assert found.returncode == -signal.SIGKILL
    processes = {int(word) for word in found.stdout.split()}
    assert len(processes) == 2
    wait_until(lambda: not any(map(psutil.pid_exists, processes)))


def test_child_process_uses_the_working_directory_of_its_parent(trials, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RFBENCH_ONE", "1")
    there = worker.read_folder_and_environment()
    monkeypatch.chdir("/")
    monkeypatch.delenv("RFBENCH_ONE")
    monkeypatch.setenv("RFBENCH_TWO", "2")
    worker.apply_limits(Limits(), *there)
    assert os.getcwd() == str(tmp_path)
    assert (os.environ["RFBENCH_ONE"], "RFBENCH_TWO" in os.environ) == ("1", False)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("nobody", ConfigError),
        ("dask:", ConfigError),
        ("dsk:tcp://10.0.0.1:8786", ConfigError),
        ("module:factory", ConfigError),
        ("dask:no-scheme://x", ExecutorError),
    ],
)
def test_invalid_executor_is_rejected(text, error):
    with pytest.raises(error):
        fanout.find_executor(text)


def test_worker_with_other_library_versions_rejects_job_before_reading_it():
    for name in MEASURING:
        with pytest.raises(ExecutorError, match=f"{name} .* 0.0.0"):
            fanout.run_pickled_job(fanout.collect_versions() | {name: "0.0.0"}, b"unreadable")


def test_worker_with_other_code_reports_both_code_hashes_and_folders():
    here = fanout.collect_versions()
    with pytest.raises(ExecutorError) as refused:
        fanout.run_pickled_job(here | {"code": "0000", "path": "/elsewhere"}, b"unreadable")
    assert all(word in str(refused.value) for word in (here["code"], here["path"], "0000", "/else"))


def test_idle_children_are_reused_unless_they_ended():
    end_idle()
    made, other = worker_process.acquire_worker(""), worker_process.acquire_worker("")
    for each in (made, other):
        worker_process.release_worker(each)
    other.kill()
    wait_until(lambda: not other.is_usable())
    assert worker_process.acquire_worker("") is made
    assert worker_process._idle == []  # one that ended is let go of
    made.close()
