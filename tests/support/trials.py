"""Trials run in this process."""

from rfbench.experiment.plan import group_into_jobs
from rfbench.experiment.run_plan import plan_run
from rfbench.experiment.trial import run_job


def measured(experiment, **keywords):
    """Return the rows of all trials of a configuration."""
    work = plan_run([experiment], None, **keywords)
    rows = [row for job in group_into_jobs(work.trials) for row in run_job(job)]
    assert len(rows) == len(work.trials)
    return rows
