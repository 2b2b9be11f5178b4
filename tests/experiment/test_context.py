"""What the trials of a job share is made once, read-only, and gone with the job."""

import gc
import weakref

import numpy as np
import pytest

from rfbench import datasets
from rfbench.experiment.context import Context
from rfbench.experiment.plan import Job, jobs, plan
from rfbench.experiment.trial import run_job
from rfbench.kernels import Gaussian

from .conftest import SMALL


@pytest.fixture
def made(monkeypatch):
    """The rows that were prepared, as weak references."""
    found, prepare = [], datasets.prepare

    def note(*words, **keywords):
        rows = prepare(*words, **keywords)
        found.append(weakref.ref(rows))
        return rows

    monkeypatch.setattr(datasets, "prepare", note)
    return found


def test_the_rows_of_a_job_are_prepared_once_and_gone_with_it(experiment_of, made):
    first, second, _ = jobs(plan(experiment_of(SMALL, "trials=3")))
    assert {row["status"] for row in run_job(first)} == {"ok"}
    assert len(made) == 1
    gc.collect()
    assert made[0]() is None
    assert {row["status"] for row in run_job(second)} == {"ok"}
    assert len(made) == 2


def test_a_job_of_several_numbers_gives_each_trial_its_own_rows(experiment_of):
    trials = plan(experiment_of(SMALL.replace("bandwidth: 1.0", "bandwidth: median")))
    apart = [row for job in jobs(trials) for row in run_job(job)]
    mixed = list(run_job(Job(tuple(trials))))
    error = {row["trial_id"]: row["error"] for row in apart}
    assert {row["trial_id"]: row["error"] for row in mixed} == error
    assert len({row["bandwidth"] for row in mixed}) == 2


def test_the_kernel_of_a_job_is_made_once_per_bandwidth(experiment_of):
    trial, context = plan(experiment_of())[0], Context()
    rows, exact = context.exact_kernel(trial, Gaussian(1.0), 20)
    np.testing.assert_allclose(
        exact.matrix, np.exp(-np.square(rows[:, None] - rows[None]).sum(axis=2) / 2), atol=1e-12
    )
    assert exact.norm == pytest.approx(np.linalg.norm(exact.matrix, 2))
    assert context.exact_kernel(trial, Gaussian(1.0), 20)[1] is exact
    assert context.exact_kernel(trial, Gaussian(2.0), 20)[1].matrix[0, 1] > exact.matrix[0, 1]
    with pytest.raises(ValueError, match="read-only"):
        exact.matrix[0, 0] = 2.0
