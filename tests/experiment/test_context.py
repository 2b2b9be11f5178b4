"""What the trials of a job share is made once, read-only, and gone with the job."""

import gc
import weakref

import numpy as np
import pytest

from rfbench import datasets
from rfbench.experiment.context import Context
from rfbench.experiment.plan import Job, draw_integer_seed, group_into_jobs, plan_trials
from rfbench.experiment.trial import run_job, run_trial
from rfbench.kernels import Gaussian
from rfbench.samplers import RKS

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


def test_rows_of_a_job_are_prepared_once_and_released_after_it(experiment_of, made):
    first, second, _ = group_into_jobs(plan_trials(experiment_of(SMALL, "trials=3")))
    assert {row["status"] for row in run_job(first)} == {"ok"}
    assert len(made) == 1
    gc.collect()
    assert made[0]() is None
    assert {row["status"] for row in run_job(second)} == {"ok"}
    assert len(made) == 2


def test_trials_of_one_job_use_their_own_training_rows(experiment_of):
    trials = plan_trials(experiment_of(SMALL.replace("bandwidth: 1.0", "bandwidth: median")))
    apart = [row for job in group_into_jobs(trials) for row in run_job(job)]
    mixed = list(run_job(Job(tuple(trials))))
    error = {row["trial_id"]: row["error"] for row in apart}
    assert {row["trial_id"]: row["error"] for row in mixed} == error
    assert len({row["bandwidth"] for row in mixed}) == 2


def test_first_drawn_sample_does_not_depend_on_the_number_of_samples(experiment_of):
    two = plan_trials(experiment_of(f"{SMALL}\nkernel_error_rows: 20\nkernel_error_draws: 2\n"))[0]
    context = Context()
    rows, exact = context.compute_exact_kernel(two, Gaussian(1.0), 20)
    assert rows.shape[0] == 40
    np.testing.assert_allclose(exact.matrix, Gaussian(1.0)(rows[:20], rows[20:]))
    first, once = context.compute_exact_kernel(plan_trials(experiment_of())[0], Gaussian(1.0), 20)
    np.testing.assert_array_equal(first, rows[:20])
    assert once.matrix.shape == (20, 20)
    assert (rows[:20] != rows[20:]).any()


def test_kernel_errors_are_means_over_draws_of_features(experiment_of):
    """Of the first draw and of two more, by hand."""
    keys = "\nkernel_error_rows: 20\nkernel_error_draws: 2\nkernel_error_repeats: 3\n"
    trial, context = plan_trials(experiment_of(SMALL + keys))[0], Context()
    row = run_trial(trial, context)
    rows, exact = context.compute_exact_kernel(trial, Gaussian(row["bandwidth"]), 20)
    first = draw_integer_seed(trial.experiment.seed, "features", trial.number)
    more = [int(np.random.SeedSequence([first, i]).generate_state(1)[0]) for i in (1, 2)]
    errors = []
    for seed in (first, *more):
        sampler = RKS(row["M"], bandwidth=row["bandwidth"], random_state=seed).fit(rows)
        errors.append(exact.compute_errors(sampler.transform(rows))["kernel_error_frobenius"])
    assert row["kernel_error_frobenius"] == pytest.approx(np.mean(errors), rel=1e-12)
    assert len(set(errors)) == 3
    assert "kernel_error_spectral" not in row


@pytest.mark.parametrize(("convention", "penalty"), [("per-sample", 10.0), ("absolute", 10 / 120)])
def test_kernel_error_penalty_is_the_median_of_the_penalty_grid(experiment_of, convention, penalty):
    keys = "solver.alphas=[0.1, 0.5, 9]", f"solver.alpha_convention={convention}"
    _, exact = Context().compute_exact_kernel(
        plan_trials(experiment_of(SMALL, *keys))[0], Gaussian(1.0), 20
    )
    shifted = exact.matrix + penalty * np.eye(20)
    np.testing.assert_allclose(exact.factor @ exact.factor.T, shifted, atol=1e-12)


def test_kernel_of_a_job_is_computed_once_per_bandwidth(experiment_of):
    trial, context = plan_trials(experiment_of())[0], Context()
    rows, exact = context.compute_exact_kernel(trial, Gaussian(1.0), 20)
    np.testing.assert_allclose(
        exact.matrix, np.exp(-np.square(rows[:, None] - rows[None]).sum(axis=2) / 2), atol=1e-12
    )
    assert exact.norm == pytest.approx(np.linalg.norm(exact.matrix, 2))
    assert context.compute_exact_kernel(trial, Gaussian(1.0), 20)[1] is exact
    assert (
        context.compute_exact_kernel(trial, Gaussian(2.0), 20)[1].matrix[0, 1] > exact.matrix[0, 1]
    )
    with pytest.raises(ValueError, match="read-only"):
        exact.matrix[0, 0] = 2.0
