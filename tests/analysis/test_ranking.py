"""Which method: closed forms on small hand-made comparisons."""

from typing import Any

import pandas as pd
import pytest

from rfbench.analysis import ranking
from rfbench.analysis.frame import of
from rfbench.analysis.ranking import groups
from tests.support.comparisons import ERRORS, gathered, rows
from tests.support.frames import results


def test_only_tuned_comparisons_outside_the_papers_count() -> None:
    made = rows(ERRORS)
    folders = {
        "paper": results(made, "paper", paper="liu2020", item="table3"),
        "smoke": results(made, "smoke", smoke=True),
        "own": results([row | {"protocol": "own"} for row in made], "own"),
        "alone": results([row for row in made if row["sampler"] == "rks"], "alone"),
        "no-rks": results([row | {"sampler": "qmc"} for row in made], "no-rks"),
        "along-d": results(
            [row | {"d": d} for row in made if row["M"] == 100 for d in (64, 65)], "along-d"
        ),
        "M-follows": results(made, "M-follows", M={"kept_by": "lkrf"}),
        "empty": results([], "empty"),
    }
    for folder in folders.values():
        assert ranking.gather(of([folder])) is None
    counted = results(made, "counted")
    assert gathered(*folders.values(), counted).folders == [counted.folder]


def test_of_two_folders_with_a_data_set_the_one_with_more_trials_counts() -> None:
    few, many = results(rows(ERRORS, 3), "few"), results(rows(ERRORS, 5), "many")
    extra = results(rows({("pol", "rks", 100): 3.0, ("pol", "orf", 100): 4.0}), "extra")
    assert gathered(few, many).folders == [many.folder]
    assert gathered(many, few, extra).folders == [extra.folder, many.folder]


def test_another_rule_for_the_bandwidth_is_another_view() -> None:
    """The one chosen by folds stands first; rows of 20,000 do not mix with rows of 5,000."""
    median = results(rows(ERRORS, 5, bandwidth_rule="median"), "median")
    folds = results(rows(ERRORS, 3, bandwidth_rule="{'cv': [1, 2]}"), "folds")
    large = results(rows(ERRORS, 3, bandwidth_rule="median"), "large")
    large.manifest["config"]["rows"] = 20_000
    found = gathered(median, large, folds)
    assert found.folders == [folds.folder]
    assert [one.folders for one in found.others] == [[median.folder], [large.folder]]


def test_an_accuracy_is_turned_into_an_error() -> None:
    made = [row | {"accuracy": 100 - row["error"]} for row in rows(ERRORS)]
    assert gathered(results(made, metric="accuracy")).at(100).loc["eeg", "orf"] == 20.0


def test_errors_that_differ_in_their_last_digit_are_tied() -> None:
    tied = ERRORS | {("eeg", "orf", 100): 30.0 + 1e-13}
    scores = gathered(results(rows(tied))).complete(100).scores
    assert scores.loc["eeg", "orf"] == scores.loc["eeg", "rks"]


def test_gaps_leave_out_methods_first_then_data_sets() -> None:
    names = ("a", "b", "c")
    errors = {(d, m, 100): 10.0 for d in names for m in ("rks", "orf", "svd")}
    del errors["a", "svd", 100], errors["b", "svd", 100], errors["c", "orf", 100]
    ranked = gathered(results(rows(errors))).complete(100)
    assert list(ranked.scores.columns) == ["orf", "rks"]
    assert list(ranked.scores.index) == ["a", "b"]
    assert (ranked.methods, ranked.gaps, ranked.few) == (["svd"], ["c"], {})


def test_what_lacks_the_larger_share_goes() -> None:
    """A method that refuses one data set of four goes; a data set with one method of four goes."""
    errors = {(d, m, 100): 10.0 for d in "abcd" for m in ("rks", "orf", "svd", "qmc", "ses")}
    del errors["a", "svd", 100]
    few = {("e", m, 100): 10.0 for m in ("rks", "orf")}
    ranked = gathered(results(rows(errors | few))).complete(100)
    assert (ranked.methods, ranked.gaps) == (["svd"], ["e"])
    assert list(ranked.scores.index) == list("abcd")


def regression(dataset: str, r2: float) -> list[dict[str, Any]]:
    """Rows of rks and orf; orf has the given R^2 at M = 200, the others less."""
    found = []
    for row in rows({key: error for key, error in ERRORS.items() if key[0] == "eeg"}):
        best = (row["sampler"], row["M"]) == ("orf", 200)
        changes = {"error": "", "relative_rmse": row["error"], "r2": r2 if best else r2 - 0.01}
        found.append(row | changes | {"dataset": dataset})
    return found


def test_few_trials_of_one_method_leave_the_data_set_out_of_ranks() -> None:
    made = rows(ERRORS, 10)
    made = [r for r in made if (r["dataset"], r["sampler"]) != ("eeg", "orf") or r["trial"] < 2]
    comparison = gathered(results(made))
    ranked = comparison.complete(100)
    assert list(ranked.scores.index) == ["digits"]
    assert ranked.few == {"eeg": (2, 10)}


def test_a_data_set_where_nothing_is_learnt_is_named_and_left_out() -> None:
    made = regression("news", 0.049) + regression("cpu", 0.9) + regression("pol", 0.05)
    comparison = gathered(results(made, metric="relative_rmse"))
    assert comparison.unlearnt == pytest.approx({"news": 0.049})
    assert list(comparison.complete(100).scores.index) == ["cpu", "pol"]


def test_a_poor_r2_of_a_classification_does_not_count() -> None:
    assert gathered(results([row | {"r2": 0.0} for row in rows(ERRORS)])).unlearnt == {}


def test_groups_are_as_large_as_the_difference_allows_and_none_is_inside_another() -> None:
    ranks = pd.Series({"a": 1.0, "b": 1.5, "c": 2.5, "d": 4.0})
    assert groups(ranks, 1.2) == [["a", "b"], ["b", "c"]]
    assert groups(ranks, 1.6) == [["a", "b", "c"], ["c", "d"]]
    assert groups(ranks, 0.1) == []
    assert groups(ranks, 3.0) == [["a", "b", "c", "d"]]
