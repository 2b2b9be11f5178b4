"""The cost of one fit with its settings given, and the order of several runs."""

import pytest

from rfbench.experiment.context import Context
from rfbench.experiment.plan import plan_trials
from rfbench.experiment.trial import run_trial
from rfbench.solvers import Solver
from tests.support.command_line import call
from tests.support.runs import rows_of

from .conftest import SMALL

TUNED = SMALL.replace("bandwidth: 1.0", "bandwidth: {cv: [0.5, 1.0, 2.0]}") + "refit_time: true\n"


@pytest.mark.parametrize("number", [0, 3])
def test_refit_time_changes_no_other_number(experiment_of, number):
    trial = plan_trials(experiment_of(TUNED))[number]
    plain = plan_trials(experiment_of(TUNED.replace("refit_time: true", "refit_time: false")))[
        number
    ]
    with_time, without = (run_trial(each, Context()) for each in (trial, plain))
    assert "t_refit" not in without
    assert 0 < with_time["t_refit"] < 10
    varies = ("t_", "cpu_", "trial_id", "setting", "peak_rss")
    same = [k for k in without if not k.startswith(varies)]
    assert {k: with_time[k] for k in same} == {k: without[k] for k in same}


def test_single_refit_uses_one_penalty_and_no_folds(experiment_of, monkeypatch):
    """A fit per bandwidth, the fit, and the fit alone."""
    fitted, fit = [], Solver.fit

    def noted(self, *rows, **words):
        fitted.append(self)
        return fit(self, *rows, **words)

    monkeypatch.setattr(Solver, "fit", noted)
    row = run_trial(plan_trials(experiment_of(TUNED))[0], Context())
    assert row["status"] == "ok", row["message"]
    assert [len(solver.alphas) for solver in fitted] == [2, 2, 2, 2, 1]
    assert fitted[-1].resolve_selection() == "fixed"
    assert fitted[-1].alpha_ == row["alpha"]


def test_first_trials_of_all_runs_precede_second_trials(tmp_path, monkeypatch, no_pictures):
    from rfbench.cli import running

    (tmp_path / "two.yaml").write_text(
        SMALL.replace("dataset: {sphere: {d: 3, n_train: 120, n_test: 60}}\n", "")
        + "title: t\ndatasets:\n"
        + "".join(f"  {n}: {{dataset: {{sphere: {{d: {d}, n_train: 60, n_test: 30}}}}}}\n"
                  for n, d in (("a", 2), ("b", 3)))
    )  # fmt: skip
    order = []
    own = running.run_missing_trials

    def measure(plan, options):
        order.append((plan.folder.name, sorted({trial.number for trial in plan.trials})))
        return own(plan, options)

    monkeypatch.setattr(running, "run_missing_trials", measure)
    words = ("run", tmp_path / "two.yaml", "--out", tmp_path / "out", "--jobs", 1)
    call(*words, "--trial-by-trial", "--quiet")
    assert order[:4] == [("two_a", [0]), ("two_b", [0]), ("two_a", [1]), ("two_b", [1])]
    rows = rows_of(tmp_path / "out" / "two_a")
    assert len(rows) == 8
    assert "0 run" in call(*words, "--trial-by-trial")
    assert rows_of(tmp_path / "out" / "two_a") == rows
