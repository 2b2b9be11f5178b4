"""Which data sets and times play no part in the comparison of methods."""

from pathlib import Path
from typing import Any

import pytest

from rfbench.analysis.ranking import at_equal_time, time_ratios
from rfbench.report import which_method

from .conftest import Write
from .test_choice import ERRORS, gathered, rows


def regression(dataset: str, r2: float) -> list[dict[str, Any]]:
    """Rows of rks and orf; orf has the given R^2 at M = 200, the others less."""
    found = []
    for row in rows({key: error for key, error in ERRORS.items() if key[0] == "eeg"}):
        best = (row["sampler"], row["M"]) == ("orf", 200)
        changes = {"error": "", "relative_rmse": row["error"], "r2": r2 if best else r2 - 0.01}
        found.append(row | changes | {"dataset": dataset})
    return found


def test_few_trials_of_one_method_leave_the_data_set_out_of_ranks(write: Write) -> None:
    made = rows(ERRORS, 10)
    made = [r for r in made if (r["dataset"], r["sampler"]) != ("eeg", "orf") or r["trial"] < 2]
    comparison = gathered(write(made))
    ranked = comparison.complete(100)
    assert list(ranked.scores.index) == ["digits"]
    assert ranked.few == {"eeg": (2, 10)}
    text = which_method.page(comparison, Path())
    assert "fewer than 3 trials there: eeg (2\N{EN DASH}10 trials)." in text
    assert "Nothing can be tested: 2 methods on 1 data set" in text
    assert "| M = 100, 2\N{EN DASH}10 trials |" in text


def test_three_trials_are_enough(write: Write) -> None:
    comparison = gathered(write(rows(ERRORS, 3)))
    assert list(comparison.complete(100).scores.index) == ["digits", "eeg"]
    text = which_method.page(comparison, Path())
    assert "fewer than 3" not in text
    assert "| M = 100, 3 trials |" in text
    assert "| orf | Gaussian frequencies that are orthogonal" in text


def test_a_data_set_where_nothing_is_learnt_is_named_and_left_out(write: Write) -> None:
    made = regression("news", 0.049) + regression("cpu", 0.9) + regression("pol", 0.05)
    comparison = gathered(write(made, metric="relative_rmse"))
    assert comparison.unlearnt == pytest.approx({"news": 0.049})
    assert list(comparison.complete(100).scores.index) == ["cpu", "pol"]
    assert time_ratios(comparison, 100).loc["orf", "datasets"] == 3
    text = which_method.page(comparison, Path())
    assert "below 0.05): news (R^2 0.05)." not in text
    assert "below 0.05): news (R^2 0.049)." in text
    assert "| method | comes near on | cpu | pol |" in text
    assert "Without news, where nothing learns." in text


def test_a_page_on_which_nothing_at_all_is_learnt(write: Write, tmp_path: Path) -> None:
    comparison = gathered(write(regression("news", -0.1), metric="relative_rmse"))
    text = which_method.page(comparison, tmp_path)
    assert "news (R^2 -0.1)" in text
    assert "comes near" not in text
    assert which_method.diagrams(comparison, tmp_path) == []


def test_a_poor_r2_of_a_classification_does_not_count(write: Write) -> None:
    assert gathered(write([row | {"r2": 0.0} for row in rows(ERRORS)])).unlearnt == {}


def timed(**changes: Any) -> list[dict[str, Any]]:
    """Rows whose wall times are the same, and whose CPU times are 3 times as long for orf."""
    cpu = {"rks": 1.0, "orf": 3.0}
    blank = {"cpu_pp": 0.0, "cpu_features": 0.0}
    return [row | blank | {"cpu_train": cpu[row["sampler"]]} | changes for row in rows(ERRORS)]


def test_costs_are_cpu_times_where_there_are_any(write: Write) -> None:
    comparison = gathered(write(timed()))
    assert time_ratios(comparison, 100).loc["orf", "ratio"] == pytest.approx(3)
    text = which_method.page(comparison, Path())
    assert "The CPU time up to the fit (" in text
    assert "It is CPU and not wall time" in text


@pytest.mark.parametrize(
    "changes",
    [
        {"threads": 2},
        {"threads": ""},
        {"cpu_train": "", "cpu_pp": "", "cpu_features": ""},
    ],
)
def test_costs_are_wall_times_on_several_threads_or_without_cpu_times(
    write: Write, changes: dict[str, Any]
) -> None:
    comparison = gathered(write(timed(**changes)))
    assert time_ratios(comparison, 100).loc["orf", "ratio"] == pytest.approx(1)
    text = which_method.page(comparison, Path())
    assert "The wall time up to the fit (" in text
    assert "CPU" not in text


def test_a_data_set_with_one_size_of_the_baseline_is_not_compared_in_time(write: Write) -> None:
    gone = ("eeg", "rks", 100)
    made = [row for row in timed() if (row["dataset"], row["sampler"], row["M"]) != gone]
    table = at_equal_time(gathered(write(made)))
    assert (table[["better", "worse", "open"]].sum(axis=1) == 1).all()
    assert set(table["M"]) == {100, 200}
