"""Who is to blame when a worker is gone, with no process at all."""

import itertools
import threading

import pytest

from rfbench.errors import WriteError
from rfbench.experiment import children, runner, schedule, worker
from rfbench.experiment.journal import FOLDER, Journal, leftovers
from rfbench.experiment.plan import Job, jobs
from rfbench.experiment.run_plan import plan_run
from rfbench.experiment.schedule import Schedule
from rfbench.experiment.trial import describe
from rfbench.experiment.worker import Limits
from tests.support.executors import Fake


@pytest.fixture
def trials(experiment_of, monkeypatch):
    """Eight trials that take no time."""

    def instant(job, folder, limits):
        return [describe(trial) | {"status": "ok"} for trial in job.trials]

    monkeypatch.setattr(children, "do_job", instant)
    return plan_run([experiment_of()], None).trials


def rows_of(fake, folder, work, suspects=(), stopping=None):
    made = Schedule(folder, fake, Limits(), stopping).rows(work, suspects)
    return {row["trial_id"]: row["status"] for row in made}


def begin(number, report="", done=0):
    """Return what a worker does that dies in a job's trial of this number."""

    def act(job, folder, limits):
        journal = Journal(folder, job.trials[0].id)
        for trial in job.trials[:done]:
            journal.begin(trial.id)
            journal.add({"trial_id": trial.id, "status": "ok"})
        journal.begin(job.trials[number].id)
        journal.trace.write_text(report)

    return act


def test_a_suspect_is_repeated_last_and_alone_and_may_be_innocent(trials, tmp_path):
    first, second = Job(tuple(trials[:4])), Job(tuple(trials[4:]))
    fake = Fake(2, {0: begin(1, done=1)})
    found = rows_of(fake, tmp_path, [first, second])
    assert found == dict.fromkeys((t.id for t in trials), "ok")
    assert fake.jobs == [first, second, Job(first.trials[2:]), Job((trials[1],))]
    assert not list((tmp_path / FOLDER).iterdir())


def test_the_guilty_one_dies_again_however_long_that_takes(trials, tmp_path, monkeypatch):
    answers = itertools.cycle([lambda *words, **keywords: (set(), None), schedule.wait])
    monkeypatch.setattr(schedule, "wait", lambda *w, **k: next(answers)(*w, **k))
    fake = Fake(1, {0: begin(0), 2: begin(0)})
    found = rows_of(fake, tmp_path, [Job(tuple(trials))])
    assert {t for t, status in found.items() if status == "crashed"} == {trials[0].id}
    assert len(found) == 8


def test_a_timeout_is_not_repeated(trials, tmp_path):
    fake = Fake(1, {0: begin(0, "Timeout (0:00:03)!\n")})
    assert rows_of(fake, tmp_path, [Job(tuple(trials))])[trials[0].id] == "timeout"
    assert fake.jobs[1:] == [Job(tuple(trials[1:]))]


def test_a_worker_that_dies_before_it_begins_makes_its_first_trial_the_suspect(trials, tmp_path):
    fake = Fake(1, {0: lambda *words: None})
    assert len(rows_of(fake, tmp_path, [Job(tuple(trials))])) == 8
    assert fake.jobs[-1] == Job(tuple(trials[:1]))


def test_once_it_is_stopping_no_job_begins_and_a_suspect_is_kept_in_mind(trials, tmp_path):
    stopping = threading.Event()

    def die(*words):
        stopping.set()
        begin(0)(*words)

    fake = Fake(1, {0: die})
    assert rows_of(fake, tmp_path, jobs(trials, 1), stopping=stopping) == {}
    assert len(fake.jobs) == 1
    (note,) = leftovers(tmp_path)
    assert note.read() == ([], trials[0].id)


def test_trials_that_had_begun_when_a_run_was_cut_off_run_last_with_those_that_share_their_work(
    trials, tmp_path
):
    begun = trials[0], trials[5]
    for trial in begun:
        begin(0)(Job((trial,)), tmp_path, None)
    fake = Fake(2)
    plan = runner.RunPlan(tmp_path, [trials[0].experiment], trials, trials)
    assert runner.run(plan, executor=fake).done == 8
    assert [job.trials[0] for job in fake.jobs[-2:]] == list(begun)
    for job in fake.jobs[-2:]:
        assert len(job.trials) == 1
    assert len(fake.jobs) > 2
    assert fake.ended == ["closed"]
    assert not (tmp_path / FOLDER).exists()


def test_no_more_jobs_are_in_flight_than_there_are_workers(trials, tmp_path):
    most = []
    fake = Fake(3)
    work = Schedule(tmp_path, fake, Limits())
    for _ in work.rows([Job((trial,)) for trial in trials]):
        most.append(len(fake.jobs) - len(most))
    assert max(most) == 3


def test_after_the_deadline_no_job_begins_and_those_of_slow_starters_are_ended(
    trials, tmp_path, monkeypatch
):
    now = iter([0.0, *[20.0] * 99])
    monkeypatch.setattr(worker.time, "monotonic", lambda: next(now))

    fake = Fake(1, {0: lambda *words: None})
    limits = Limits(deadline=10.0)
    jobs_ = [Job((trial,)) for trial in trials]
    rows = list(Schedule(tmp_path, fake, limits).rows(jobs_))
    assert [(row["trial_id"], row["status"]) for row in rows] == [(trials[0].id, "timeout")]
    assert fake.jobs == jobs_[:1]


def test_a_full_disk_ends_it_with_a_sentence(trials, tmp_path, monkeypatch):
    def full(job, folder, limits):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(children, "do_job", full)
    with pytest.raises(WriteError, match="No space left"):
        rows_of(Fake(), tmp_path, jobs(trials))
