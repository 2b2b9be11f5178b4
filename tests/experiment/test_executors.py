"""Jobs over worker processes."""

import errno
import threading
from dataclasses import dataclass

import pytest

from rfbench.errors import WriteError
from rfbench.experiment import executors
from rfbench.experiment.journal import FOLDER, Journal
from rfbench.experiment.plan import Job
from rfbench.experiment.worker import Limits


@dataclass(frozen=True)
class Instant:
    """Stands in for a trial that takes no time."""

    id: str


def do_job(job, folder, limits):
    with Journal.open(folder, job), Journal.of(folder, job).traces():
        return [{"trial_id": trial.id} for trial in job.trials]


def test_workers_open_their_journals_while_others_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(executors, "do_job", do_job)
    jobs = [Job((Instant(str(i)),)) for i in range(1500)]
    rows = executors.LocalExecutor(tmp_path, 2, Limits(), threading.Event()).rows(jobs)
    assert sorted(int(row["trial_id"]) for row in rows) == list(range(1500))
    assert list((tmp_path / FOLDER).iterdir()) == []


def test_without_shared_memory_no_worker_starts_and_a_sentence_says_so(tmp_path, monkeypatch):
    def refuse(**words):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(executors, "get_reusable_executor", refuse)
    rows = executors.LocalExecutor(tmp_path, 1, Limits(), threading.Event()).rows(
        [Job((Instant("1"),))]
    )
    with pytest.raises(WriteError, match="shared memory"):
        next(rows)
