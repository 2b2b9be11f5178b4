"""Extras run after the fit of a trial: without a solver too, and without a trace elsewhere."""

import itertools

import pytest

from rfbench.experiment import extras, trial
from rfbench.experiment.context import Context
from rfbench.experiment.plan import plan_trials
from rfbench.experiment.trial import run_trial
from rfbench.results import kept_features, predictions

from .conftest import SMALL

KEPT = SMALL.replace("eerf: {pool_size: 40, score_rows: 1.0}", "lkrf: {pool_size: 40, rho: 2.0}")
# Each by its key, with the columns and files that it adds to the row of a method that has them.
ASKED = {
    "kernel_error_rows: 30": {
        *("kernel_error_spectral", "kernel_error_frobenius"),
        *("kernel_error_delta1", "kernel_error_delta2"),
    },
    "kept_features: true": {kept_features.KEPT_FEATURES_KEY},
    "predictions: true": {predictions.PREDICTIONS_KEY, "log_loss", "balanced_error", "auc"},
    "refit_time: true": {"t_refit", "cpu_refit"},
    "train_error: true": {"train_error"},
}
# Extras on features, which also run without a solver.
OF_FEATURES = {"kernel_error_rows: 30", "kept_features: true"}
IDENTITY = ("trial_id", "setting", "peak_rss_mb")


@pytest.fixture
def rows_of(experiment_of, monkeypatch):
    """Return a function that measures with keys added; every look at the clock is a second."""

    def rows(text, *keys):
        own = plan_trials(
            experiment_of(text + "".join(f"{key}\n" for key in keys), "trials=1", "M=8")
        )
        measured = []
        for each in own:
            monkeypatch.setattr("time.perf_counter", itertools.count().__next__)
            monkeypatch.setattr("time.process_time", itertools.count().__next__)
            measured.append(run_trial(each, Context()))
        assert {row["status"] for row in measured} == {"ok"}
        return [{k: v for k, v in row.items() if k not in IDENTITY} for row in measured]

    return rows


@pytest.mark.parametrize("key", ASKED)
def test_optional_measurement_changes_no_other_column_or_time(rows_of, key):
    plain, asked = rows_of(KEPT), rows_of(KEPT, key)
    added = set()
    for one, other in zip(plain, asked, strict=True):
        assert {k: other[k] for k in one} == one
        added |= set(other) - set(one)
    assert added == ASKED[key]


def test_optional_measurements_together_equal_each_one_alone(rows_of):
    together = rows_of(KEPT, *ASKED)
    for key, columns in ASKED.items():
        alone = rows_of(KEPT, key)
        for one, other in zip(alone, together, strict=True):
            own = [k for k in columns & set(one) if not k.endswith("_refit")]
            assert {k: other[k] for k in own} == {k: one[k] for k in own}


def test_optional_feature_measurements_run_without_a_solver(rows_of):
    text = KEPT.replace(
        "solver: {name: ridge, alphas: [0.01, 1.0], selection: cv5}", "solver: none"
    )
    assert OF_FEATURES <= set(ASKED)
    alone = text[: text.index("  - lkrf")] + text[text.index("solver:") :]
    (row,) = rows_of(alone, *(key for key in ASKED if key != "kept_features: true"))
    for key in set(ASKED) - {"kept_features: true"}:
        assert (ASKED[key] & set(row)) == (ASKED[key] if key in OF_FEATURES else set())


def test_each_optional_measurement_is_tested_in_this_file(rows_of, monkeypatch):
    added = {}

    def record(extra):
        def measured(fitted):
            found = extra(fitted)
            added.setdefault(extra.__name__, set()).update(found)
            return found

        return measured

    monkeypatch.setattr(trial, "EXTRAS", tuple(map(record, extras.EXTRAS)))
    rows_of(KEPT)
    assert added == {extra.__name__: set() for extra in extras.EXTRAS}
    rows_of(KEPT, *ASKED)
    assert [name for name, columns in added.items() if not columns] == []
    assert set().union(*added.values()) == set().union(*ASKED.values())


def test_optional_measurement_does_not_overwrite_other_columns(experiment_of, monkeypatch):
    def meddling(fitted):
        return {"error": -1.0, "train_error": 1.0}

    monkeypatch.setattr(trial, "EXTRAS", (*extras.EXTRAS, meddling))
    row = run_trial(plan_trials(experiment_of(SMALL))[0], Context())
    assert (row["error"] >= 0, row["train_error"]) == (True, 1.0)
