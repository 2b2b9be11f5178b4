"""Which method: closed forms on small hand-made comparisons."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

from rfbench import results
from rfbench.analysis import ranking as choice
from rfbench.analysis.ranking import against
from rfbench.report import which_method
from rfbench.report.conclusions import conclusions
from rfbench.report.in_short import answers
from rfbench.report.summary import DASH

from .conftest import Write

Errors = dict[tuple[str, str, int], float]


def rows(errors: Errors, trials: int = 3, **changes: Any) -> list[dict[str, Any]]:
    """Rows whose mean error is the given one, half a point apart from trial to trial."""
    return [
        {
            "protocol": "tuned", "dataset": dataset, "sampler": method, "M": M, "trial": t,
            "error": error + 0.5 * (t - (trials - 1) / 2), **changes,
        }
        for (dataset, method, M), error in errors.items()
        for t in range(trials)
    ]  # fmt: skip


def gathered(*folders: Path) -> choice.Comparison:
    found = choice.gather([results.read(folder) for folder in folders])
    assert found is not None
    return found


ERRORS: Errors = {
    ("digits", "rks", 100): 20.0, ("digits", "rks", 200): 10.0,
    ("digits", "orf", 100): 10.4, ("digits", "orf", 200): 12.0,
    ("eeg", "rks", 100): 30.0, ("eeg", "rks", 200): 28.0,
    ("eeg", "orf", 100): 20.0, ("eeg", "orf", 200): 20.0,
}  # fmt: skip


def test_only_tuned_comparisons_outside_the_papers_count(write: Write) -> None:
    made = rows(ERRORS)
    folders = {
        "paper": write(made, "paper", paper="liu2020", item="table3"),
        "smoke": write(made, "smoke", smoke=True),
        "own": write([row | {"protocol": "own"} for row in made], "own"),
        "alone": write([row for row in made if row["sampler"] == "rks"], "alone"),
        "no-rks": write([row | {"sampler": "qmc"} for row in made], "no-rks"),
        "along-d": write(
            [row | {"d": d} for row in made if row["M"] == 100 for d in (64, 65)], "along-d"
        ),
        "M-follows": write(made, "M-follows", M={"kept_by": "lkrf"}),
        "empty": write([], "empty"),
    }
    for folder in folders.values():
        assert choice.gather([results.read(folder)]) is None
    counted = write(made, "counted")
    assert gathered(*folders.values(), counted).folders == [counted]


def test_of_two_folders_with_a_data_set_the_one_with_more_trials_counts(write: Write) -> None:
    few, many = write(rows(ERRORS, 3), "few"), write(rows(ERRORS, 5), "many")
    extra = write(rows({("pol", "rks", 100): 3.0, ("pol", "orf", 100): 4.0}), "extra")
    assert gathered(few, many).folders == [many]
    assert gathered(many, few, extra).folders == [extra, many]


def test_an_accuracy_is_turned_into_an_error(write: Write) -> None:
    made = [row | {"accuracy": 100 - row["error"]} for row in rows(ERRORS)]
    assert gathered(write(made, metric="accuracy")).at(100).loc["eeg", "orf"] == 20.0


def test_errors_that_differ_in_their_last_digit_are_tied(write: Write) -> None:
    tied = ERRORS | {("eeg", "orf", 100): 30.0 + 1e-13}
    scores = gathered(write(rows(tied))).complete(100).scores
    assert scores.loc["eeg", "orf"] == scores.loc["eeg", "rks"]


def test_the_smallest_size_near_the_best_error(write: Write) -> None:
    lines = gathered(write(rows(ERRORS))).lines
    best, sizes = choice.smallest_near(lines[lines["dataset"] == "digits"])
    assert best == 10.0
    assert sizes == {"rks": 200, "orf": 100}
    best, sizes = choice.smallest_near(lines[lines["dataset"] == "eeg"])
    assert (best, sizes) == (20.0, {"rks": None, "orf": 100})


def test_a_wide_standard_error_does_not_widen_what_is_near(write: Write) -> None:
    spread = [row | {"error": 4 * row["error"] - 30} for row in rows(ERRORS)]
    lines = gathered(write(spread)).lines
    lines = lines[lines["dataset"] == "digits"].assign(se=5.0)
    assert choice.smallest_near(lines) == (10.0, {"rks": 200, "orf": None})


def test_times_over_those_of_the_baseline(write: Write) -> None:
    made = rows(ERRORS, t_pp=0.0, t_features=0.0, t_train=1.0)
    for row in made:
        if row["sampler"] == "orf":
            row["t_train"] = {"digits": 2.0, "eeg": 8.0}[row["dataset"]]
    table = choice.time_ratios(gathered(write(made)), 100)
    assert list(table.index) == ["rks", "orf"]
    assert table.loc["orf", "ratio"] == pytest.approx(4)
    assert tuple(table.loc["orf", ["low", "high"]]) == pytest.approx((2, 8))
    assert tuple(table.loc["orf", ["datasets", "bound"]]) == (2, "")


def test_a_shared_time_below_the_largest_size_is_a_bound(write: Write) -> None:
    def shared(*names: str) -> choice.Comparison:
        made = [
            row | {"timing": "shared" if row["sampler"] in names else "isolated"}
            for row in rows(ERRORS)
        ]
        return gathered(write(made, "-".join(names)))

    base, other, both = shared("rks"), shared("orf"), shared("rks", "orf")
    assert choice.time_ratios(base, 100).loc["orf", "bound"] == ">="
    assert choice.time_ratios(other, 100).loc["orf", "bound"] == "<="
    assert list(choice.time_ratios(both, 100).index) == ["rks"]
    assert choice.time_ratios(both, 200).loc["orf", "bound"] == ""
    assert choice.at_equal_time(both).empty
    assert set(choice.at_equal_time(other)["M"]) == {200}
    page = which_method.page(both, Path())
    assert "## In the same time" not in page
    assert "Errors in the same time are not compared" in page
    assert "## In the same time" in which_method.page(other, Path())
    assert "≥ 1 (1" in which_method.page(base, Path())
    assert "upper bounds" in which_method.page(base, Path())
    assert f"| orf | 1 (1{DASH}1, 2 data sets) | {DASH} |" in which_method.page(both, Path())


@pytest.mark.parametrize(
    ("time", "error", "verdict"),
    [
        (2.0, 14.9, "better"),  # halfway between 1 s (20 %) and 4 s (10 %) on the logarithm: 15 %
        (2.0, 15.1, "worse"),
        (2.0, 15.0, "open"),
        (0.5, 19.0, "better"),
        (0.5, 21.0, "open"),
        (8.0, 9.0, "open"),
        (8.0, 11.0, "worse"),
    ],
)
def test_in_the_same_time(write: Write, time: float, error: float, verdict: str) -> None:
    errors = {("digits", "rks", 100): 20.0, ("digits", "rks", 200): 10.0}
    blank = {"t_pp": 0.0, "t_features": 0.0}
    made = [row | {"t_train": 1.0 if row["M"] == 100 else 4.0} for row in rows(errors)]
    made += rows({("digits", "orf", 100): error}, t_train=time)
    table = choice.at_equal_time(gathered(write([row | blank for row in made])))
    assert len(table) == 1
    line = table.iloc[0]
    assert {name: line[name] for name in ("better", "worse", "open")} == {
        name: int(name == verdict) for name in ("better", "worse", "open")
    }


def test_gaps_leave_out_methods_first_then_data_sets(write: Write) -> None:
    names = ("a", "b", "c")
    errors = {(d, m, 100): 10.0 for d in names for m in ("rks", "orf", "svd")}
    del errors["a", "svd", 100], errors["b", "svd", 100], errors["c", "orf", 100]
    ranked = gathered(write(rows(errors))).complete(100)
    assert list(ranked.scores.columns) == ["orf", "rks"]
    assert list(ranked.scores.index) == ["a", "b"]
    assert (ranked.methods, ranked.gaps, ranked.few) == (["svd"], ["c"], {})


def scores(n: int, gap: float, seed: int = 0) -> pd.DataFrame:
    """Errors of four methods on n data sets of different difficulty; ``good`` is the best."""
    noise = np.random.default_rng(seed).uniform(0.99, 1.01, (n, 4))
    level = np.geomspace(1, 30, n)[:, None]
    names = ["rks", "good", "bad", "same"]
    return pd.DataFrame(level * noise * [1, 1 - gap, 1 + gap, 1], columns=names)


def test_against_the_baseline_is_wilcoxon_on_quotients_with_holm() -> None:
    table = scores(12, 0.2)
    found = against(table, "rks")
    assert set(found.index) == {"good", "bad", "same"}
    logs = np.log(table)
    p = {name: scipy_stats.wilcoxon(logs[name] - logs["rks"]).pvalue for name in found.index}
    small, middle, large = sorted(p.values())
    expected = [3 * small, max(3 * small, 2 * middle), max(3 * small, 2 * middle, large)]
    assert sorted(found["p"]) == pytest.approx(expected)
    assert expected[0] < 0.05 < expected[2]
    for name in found.index:
        assert found.loc[name, "quotient"] == pytest.approx(
            math.exp((logs[name] - logs["rks"]).mean())
        )
        assert found.loc[name, "smaller"] == (table[name] < table["rks"]).sum()


def test_units_of_a_data_set_play_no_part() -> None:
    table = scores(9, 0.1)
    other = table.mul(np.geomspace(1e-3, 1e3, 9), axis=0)
    pd.testing.assert_frame_equal(against(table, "rks"), against(other, "rks"))


def test_data_sets_without_any_error_are_left_out_of_quotients() -> None:
    table = scores(9, 0.1)
    table.loc[0, "good"] = 0.0
    assert set(against(table, "rks")["n"]) == {8}
    assert against(table * 0, "rks").empty
    assert "errors are zero" in conclusions(table * 0, "rks")[-1]


def test_conclusions_name_what_is_significant() -> None:
    said = " ".join(conclusions(scores(20, 0.3), "rks"))
    assert "the methods differ" in said
    assert "significantly smaller error: good; significantly larger error: bad; the other 1" in said
    assert "best average rank is that of good: 1.0 of 4, over 20 data sets" in said
    assert "Behind good by more than that: " in said


def test_conclusions_from_nothing_but_noise_claim_nothing() -> None:
    said = " ".join(conclusions(scores(20, 0.0, seed=3), "rks"))
    assert "no difference can be shown" in said
    assert "No method is behind" in said
    assert "smaller error: none; significantly larger error: none" in said


def test_few_data_sets_say_that_they_are_few() -> None:
    said = " ".join(conclusions(scores(4, 0.5), "rks"))
    assert "nothing can be significant" in said
    assert "can give is 0.38" in said  # 3 comparisons times 2^-3
    assert "Nothing can be tested: 4 methods on 1 data set" in conclusions(scores(1, 0.5), "rks")[0]


def test_the_page_has_the_numbers_of_the_rows(write: Write, tmp_path: Path) -> None:
    folder = write(rows(ERRORS, 4), "mine")
    text = which_method.page(gathered(folder), tmp_path)
    line = next(line for line in text.splitlines() if line.startswith("| orf | 1.0 | 10.40"))
    values = np.array([10.4 + 0.5 * (t - 1.5) for t in range(4)])
    assert f"{values.mean():.2f} ± {values.std(ddof=1) / 2:.2f}" in line
    assert "[mine](results/mine)" in text
    assert "2 methods on 2 data sets" in text
    assert "digits | test error (%) | 1437 | 360 | 64 | 2 | 4 | 0 |" in text
    assert "![average ranks at M = 100](which_method_M100.png)" in text


def test_one_trial_has_no_spread_and_a_failed_cell_says_so(write: Write) -> None:
    made = rows(ERRORS, 1)
    made[0] |= {"status": "failed", "error": ""}
    text = which_method.page(gathered(write(made)), Path())
    assert f"10.4 ± {DASH}" in text
    assert "failed (1)" in text
    assert "Left out, some method has no value there: digits." in text


def test_nothing_run_is_said() -> None:
    text = which_method.page(None, Path())
    assert "Nothing was run that could say so" in text
    assert "|" not in text


def test_the_diagrams_depend_on_the_rows_only(write: Write, tmp_path: Path) -> None:
    comparison = gathered(write(rows(ERRORS)))
    first = which_method.diagrams(comparison, tmp_path)
    assert [file.name for file in first] == ["which_method_M100.png", "which_method_M200.png"]
    before = [file.read_bytes() for file in first]
    assert [f.read_bytes() for f in which_method.diagrams(comparison, tmp_path)] == before


def test_the_answers_in_short(write: Write) -> None:
    """orf beats rks on eeg at both sizes, and on digits at the smaller one."""
    made = [row | {"cpu_pp": 1.0 if row["sampler"] == "orf" else 0.5} for row in rows(ERRORS)]
    made = [row | {"cpu_features": 0.25, "cpu_train": 0.25} for row in made]
    said = answers(gathered(write(made)))
    assert said.which.startswith(
        "At M = 200, over 2 data sets, the best average ranks are orf (1.5), "
    )
    better = {key: (5.0 if key[1] == "orf" else error) for key, error in ERRORS.items()}
    better[("digits", "orf", 100)] = 10.0
    changes = [row | {"cpu_pp": 1.0 if row["sampler"] == "orf" else 0.5} for row in rows(better)]
    changes = [row | {"cpu_features": 0.25, "cpu_train": 0.25} for row in changes]
    said = answers(gathered(write(changes, "better")))
    quotient = math.sqrt(5 / 10 * 5 / 28)
    assert (
        f"The error of orf is {quotient:.2f} times that of rks (geometric mean; 0.18 to 0.50"
        in said.which
    )
    assert (
        "Significantly better than rks at every size (M = 100\N{EN DASH}200): none." in said.which
    )
    assert (
        "rks needs, of the sizes that were run, 200 on 1, more than 200 on 1 of 2" in said.how_many
    )
    fall = 1 - math.sqrt(10 / 20 * 28 / 30)
    assert f"that of rks falls by {fall:.0%}" in said.how_many
    assert "is 1.5 times that of rks (1.5 to 1.5)." in said.cost
    assert "on more than half of the data sets: at M = 100 none, but most are open" in said.cost
    assert len(said.lines()) == 3


def test_without_data_sets_to_rank_nothing_is_answered(write: Write) -> None:
    one = {key: error for key, error in ERRORS.items() if key[0] == "eeg"}
    assert answers(gathered(write(rows(one)))).lines() == []


def test_the_methods_that_win_in_the_same_time_are_named(write: Write) -> None:
    """At equal times orf is better on both data sets at M = 100, on eeg alone at M = 200."""
    made = [
        row | {"cpu_pp": row["M"], "cpu_features": 0, "cpu_train": 0}
        for row in rows(ERRORS | {("digits", "orf", 100): 19.0})
    ]
    assert answers(gathered(write(made))).cost.endswith(
        "on more than half of the data sets: at M = 100 orf (2 of 2); at M = 200 none."
    )
